"""The gates: what a host calls (docs/gate.md). The order is in ``exchange.py``; here is what touches the world.

The synchronous gate does its exchange in a daemon thread, because a time-out of httpx is for one operation: a server
that sends a byte a second never runs into it. At the deadline the waiting thread goes on, and the socket is shut down
under the worker. A connection of the gate's own keeps its thread, since to start one for each page costs time. In the
asynchronous gate a cancellation does all that.
"""

import asyncio
import os
import weakref
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from gategrammar.gate import reasons
from gategrammar.gate._lane import ONE_CONNECTION, Lane
from gategrammar.gate._library import is_client
from gategrammar.gate._wires import AwaitingWire, BlockingWire, Page, completed
from gategrammar.gate.answers import Refused
from gategrammar.gate.decision import GateDecision
from gategrammar.gate.exchange import KeyResolver, Off, Outcome, Wire, ask
from gategrammar.gate.local import LocalSystemOne
from gategrammar.gate.questions import Candidate, build_request, task_text
from gategrammar.gate.settings import GateSettings, is_loopback

T = TypeVar("T")

_MOST_IDLE_LANES = 20
_gates: "weakref.WeakSet[RecallGate]" = weakref.WeakSet()


def _forked() -> None:
    """Give the gates connections of their own in a forked process.

    It shares those of its parent, and has none of the threads that wait for them.
    """
    for gate in list(_gates):
        gate._prepare()  # noqa: SLF001 - of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class _Gate:
    """What both gates share: everything but the await."""

    _client_kind: str

    def __init__(
        self,
        settings: GateSettings | Callable[[], GateSettings] | None = None,
        *,
        client: Any = None,
        resolve_key: KeyResolver | None = None,
        judge: LocalSystemOne | None = None,
    ) -> None:
        if settings is not None and not isinstance(settings, GateSettings) and not callable(settings):
            raise TypeError(
                f"settings must be GateSettings or a callable that returns them, not {type(settings).__name__}"
            )
        if client is not None and not is_client(client, self._client_kind):
            raise TypeError(f"client must be an httpx or httpx2 {self._client_kind}, not {type(client).__name__}")
        if judge is not None and not isinstance(judge, LocalSystemOne):
            raise TypeError(f"judge must be a LocalSystemOne, not {type(judge).__name__}")
        if judge is not None and client is not None:
            raise ValueError("give a client or a judge, not both: a judge in this process needs no client")
        self._settings = GateSettings() if settings is None else settings
        self._client = client
        self._resolve_key = resolve_key
        self._judge = judge
        self._closed = False
        self._tls: Any = None
        if client is None and judge is None:
            with suppress(Exception):  # broken certificates are the first page's to report
                self._tls = httpx.create_ssl_context()  # reads all certificates of the machine: once, and not in a page
        self._prepare()

    def _prepare(self) -> None:
        """Set up the gate's own connections."""
        raise NotImplementedError

    def _page(self, task: str, candidates: Iterable[Candidate]) -> Page:
        if not isinstance(task, str):
            raise TypeError(f"task must be a str, not {type(task).__name__}")
        page = tuple(candidates)
        if not all(isinstance(candidate, Candidate) for candidate in page):
            raise TypeError("candidates must be Candidate objects")
        settings = self._current_settings()
        settled = self._settled(settings, task)
        settings = settings or GateSettings()
        return Page(
            settings=settings,
            endpoint=settings.endpoint if self._judge is None else self._judge.endpoint,
            task=task,
            candidates=page,
            settled=settled if page or isinstance(settled, Off) else None,
        )

    def _current_settings(self) -> GateSettings | None:
        if isinstance(self._settings, GateSettings):
            return self._settings
        with suppress(Exception):  # a settings store may fail in any way
            settings = self._settings()
            return settings if isinstance(settings, GateSettings) else None
        return None

    def _settled(self, settings: GateSettings | None, task: str) -> Refused | Off | None:
        """Return the outcome of a page about which nothing need be asked."""
        if self._closed:
            return Refused(reasons.CLOSED)
        if settings is None:
            return Refused(reasons.SETTINGS_UNAVAILABLE)
        if not settings.enabled:
            return Off(reasons.DISABLED)
        if not settings.endpoint and self._judge is None:
            return Off(reasons.NO_ENDPOINT)
        return None if task_text(task, settings) else Refused(reasons.NO_TASK)

    def _ask(self, wire: Wire, page: Page) -> Coroutine[Any, Any, Outcome]:
        request = build_request(page.task, page.candidates, page.settings)
        return ask(wire, page.settings, self._resolve_key, request, keyless=self._judge is not None)

    def _own_client(self, kind: Callable[..., T], *, direct: bool, **options: Any) -> T:
        """Make a client of the gate's own; a *direct* one passes by the proxies of the environment."""
        if self._judge is not None:
            return kind(transport=self._judge)
        return kind(verify=self._tls or httpx.create_ssl_context(), trust_env=not direct, **options)


class RecallGate(_Gate):
    """A gate for synchronous hosts; safe to share between threads.

    Args:
        settings: :class:`GateSettings`, or a callable that returns them, asked once per page.
        client: an ``httpx.Client`` or ``httpx2.Client`` of the host's; it is used as it is and never closed.
        resolve_key: called with ``settings.api_key_env`` when the settings hold no key; sync or async.
        judge: a judge in this process, instead of a server.

    Raises:
        TypeError: an argument is of another type.
        ValueError: both a client and a judge are given.
    """

    _client_kind = "Client"

    def _prepare(self) -> None:
        self._idle: dict[bool, list[Lane]] = {True: [], False: []}
        _gates.add(self)

    def evaluate(self, task: str, candidates: Iterable[Candidate]) -> GateDecision:
        """Judge a page.

        Args:
            task: what the agent is working on, from ``current_task``.
            candidates: the page, in its order.

        Returns:
            The decision, at the latest when the settings' ``timeout`` is over. No fault of a server, network, settings
            store or key vault is raised: the page is then kept whole, and the decision says why.

        Raises:
            TypeError: the task is no str, or a candidate no :class:`Candidate`.
        """
        page = self._page(task, candidates)
        outcome: Outcome | None = page.settled
        if outcome is None and page.candidates:
            outcome = Refused(reasons.REQUEST_FAILED)
            with suppress(Exception):  # no thread to be had, broken certificates, …: the page stays whole
                outcome = self._exchange(page)
        return page.decision(outcome)

    def _exchange(self, page: Page) -> Outcome:
        direct = is_loopback(page.endpoint)
        lane = self._lane(direct=direct)
        done = lane.worker.do(lambda: completed(self._ask(BlockingWire(page, lane), page)))
        try:
            outcome = done.result(max(0, page.remaining()))
        except BaseException as error:
            lane.abort()
            done.add_done_callback(lambda _: lane.close())
            if isinstance(error, TimeoutError):
                return page.timed_out()
            raise
        self._put_back(lane, direct=direct)
        return outcome

    # The lists of idle lanes need no lock, since each step on them is one call. So nothing can be held when a signal
    # handler closes the gate, or when another thread forks.

    def _lane(self, *, direct: bool) -> Lane:
        if self._client is not None:
            return Lane(self._client, owned=False)
        with suppress(IndexError):
            return self._idle[direct].pop()
        return Lane(self._own_client(httpx.Client, direct=direct, limits=ONE_CONNECTION), owned=True)

    def _put_back(self, lane: Lane, *, direct: bool) -> None:
        if not lane.owned or len(self._idle[direct]) >= _MOST_IDLE_LANES:
            lane.close()
            return
        self._idle[direct].append(lane)
        if self._closed:  # perhaps only since this page began
            self.close()

    def close(self) -> None:
        """Close the gate's own connections; pages evaluated later are degraded."""
        self._closed = True
        for lanes in self._idle.values():
            with suppress(IndexError):
                while True:
                    lanes.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncRecallGate(_Gate):
    """The gate for asyncio. Connections are reused within one event loop.

    Arguments as for :class:`RecallGate`, but for ``client``: an ``httpx.AsyncClient`` or ``httpx2.AsyncClient``.
    """

    _client_kind = "AsyncClient"

    def _prepare(self) -> None:
        self._own: dict[bool, httpx.AsyncClient] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def evaluate(self, task: str, candidates: Iterable[Candidate]) -> GateDecision:
        """Judge a page; see :meth:`RecallGate.evaluate`. A cancellation is the caller's word and propagates."""
        page = self._page(task, candidates)
        outcome: Outcome | None = page.settled
        if outcome is None and page.candidates:
            outcome = Refused(reasons.REQUEST_FAILED)
            with suppress(Exception):  # broken certificates, …: the page stays whole
                outcome = await self._exchange(page)
        return page.decision(outcome)

    async def _exchange(self, page: Page) -> Outcome:
        try:
            async with asyncio.timeout(page.remaining()):
                client = self._client or self._shared_client(direct=is_loopback(page.endpoint))
                return await self._ask(AwaitingWire(page, client), page)
        except TimeoutError:
            return page.timed_out()

    def _shared_client(self, *, direct: bool) -> httpx.AsyncClient:
        clients = self._clients()
        if direct not in clients:
            clients[direct] = self._own_client(httpx.AsyncClient, direct=direct)
        return clients[direct]

    def _clients(self) -> dict[bool, httpx.AsyncClient]:
        """Return the gate's own clients in the running event loop.

        Where each page has an ``asyncio.run`` of its own, the connections of the last page died with its loop.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._own = loop, {}
        return self._own

    async def aclose(self) -> None:
        """Close the gate's own connections; pages evaluated later are degraded."""
        self._closed = True
        clients = self._clients()
        while clients:
            _, client = clients.popitem()
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
