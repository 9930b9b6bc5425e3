"""One call of ``evaluate`` and the two ways to carry it out: blocking and awaiting."""

import asyncio
import inspect
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from attrs import field, frozen

from gategrammar.gate import reasons
from gategrammar.gate._body import ACCEPT_ENCODING, Body
from gategrammar.gate._lane import Lane
from gategrammar.gate._library import library_of
from gategrammar.gate._threads import in_thread
from gategrammar.gate.answers import Refused
from gategrammar.gate.decision import GateDecision, decide, keep_all
from gategrammar.gate.exchange import KeyResolver, Off, Outcome, Reply, Secret, awaited
from gategrammar.gate.questions import Candidate
from gategrammar.gate.settings import GateSettings

T = TypeVar("T")

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": ACCEPT_ENCODING}


@frozen(kw_only=True)
class Page:
    """One call of ``evaluate``."""

    settings: GateSettings
    endpoint: str
    task: str
    candidates: tuple[Candidate, ...]
    settled: Refused | Off | None
    started: float = field(factory=time.perf_counter)

    def remaining(self) -> float:
        return self.started + self.settings.timeout - time.perf_counter()

    def timed_out(self) -> Refused:
        return Refused(reasons.timed_out(self.settings.timeout))

    def post(self, secret: Secret | None) -> dict[str, Any]:
        """Return the arguments of ``client.stream`` but for the time-out."""
        # A caller's client may have an auth of its own. Ours replaces it where there is a key.
        signed = {} if secret is None else {"auth": secret.sign}
        return {"method": "POST", "url": self.endpoint, "headers": _HEADERS, "follow_redirects": False, **signed}

    def body(self, response: Any) -> Body:
        """Return the collector for the pieces of *response*."""
        encoding = "" if response.is_stream_consumed else response.headers.get("content-encoding", "")
        return Body(encoding, self.settings.max_response_bytes)

    def decision(self, outcome: Outcome | None) -> GateDecision:
        """Turn the outcome of the exchange (None: there was nothing to ask) into the decision."""
        elapsed = time.perf_counter() - self.started
        if outcome is None:
            return keep_all(self.candidates, self.settings, elapsed=elapsed)
        if isinstance(outcome, Off):
            return keep_all(self.candidates, self.settings, reason=outcome.reason, active=False, elapsed=elapsed)
        return decide(self.candidates, outcome, self.settings, elapsed=elapsed)


class BlockingWire:
    """A :class:`gategrammar.gate.exchange.Wire` whose methods block and never suspend."""

    def __init__(self, page: Page, lane: Lane) -> None:
        self.library = library_of(lane.client)
        self.remaining = page.remaining
        self._page = page
        self._lane = lane

    async def resolve(self, resolver: KeyResolver, reference: str) -> object:
        value = resolver(reference)
        return asyncio.run(awaited(value)) if inspect.isawaitable(value) else value

    async def post(self, secret: Secret | None, content: bytes) -> Reply:
        lane = self._lane
        arguments = self._page.post(secret) | {"content": content, "extensions": lane.extensions()}
        lane.check()
        with lane.client.stream(**arguments, timeout=max(0.001, self.remaining())) as response:
            lane.see(response.extensions.get("network_stream"))
            body = self._page.body(response)
            # A transport without a network (a judge in this process, a mock) hands over a body that is read already.
            for piece in response.iter_bytes() if response.is_stream_consumed else response.iter_raw():
                lane.check()
                if not body.feed(piece):
                    break
            return Reply(response.status_code, body.close(), response.headers)

    async def sleep(self, seconds: float) -> None:
        self._lane.aborted.wait(seconds)
        self._lane.check()


class AwaitingWire:
    """A :class:`gategrammar.gate.exchange.Wire` that awaits; time runs out from outside, by cancellation."""

    def __init__(self, page: Page, client: Any) -> None:
        self.library = library_of(client)
        self.remaining = page.remaining
        self._page = page
        self._client = client

    async def resolve(self, resolver: KeyResolver, reference: str) -> object:
        if inspect.iscoroutinefunction(resolver):
            return await resolver(reference)
        # What is no coroutine function may block the loop, and the deadline with it.
        return await awaited(await asyncio.wrap_future(in_thread(lambda: resolver(reference))))

    async def post(self, secret: Secret | None, content: bytes) -> Reply:
        unready = _Unready()
        arguments = self._page.post(secret) | {"content": content, "extensions": {"trace": unready.trace}}
        try:
            async with self._client.stream(**arguments, timeout=None) as response:
                body = self._page.body(response)
                async for piece in response.aiter_bytes() if response.is_stream_consumed else response.aiter_raw():
                    if not body.feed(piece):
                        break
                return Reply(response.status_code, body.close(), response.headers)
        finally:
            await unready.aclose()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Unready:
    """The connection that is being made: httpx forgets to close it when a cancellation meets its TLS handshake."""

    def __init__(self) -> None:
        self._stream: Any = None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of what the client does: httpx's trace extension calls this."""
        if event == "connection.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event.startswith("http"):  # a request is sent: from here on the client looks after its connection
            self._stream = None

    async def aclose(self) -> None:
        if self._stream is not None:
            await self._stream.aclose()


def completed(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("a blocking wire must not suspend")
