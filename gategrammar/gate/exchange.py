"""One page's talk with the server (docs/gate.md): the key, the request, the tries, the reading of the reply.

Theory of operation. This module has the order of the steps and every decision between them, once, as one coroutine.
What touches the world is handed in as a :class:`Wire`, of which there are two. The asynchronous one awaits. The
synchronous one blocks inside methods that never suspend, so that its coroutine runs from end to end in one go, in a
worker thread (see ``client.py``).

Retrying is a loop of our own because the core may not carry a library for it: httpx's own retries cover connecting
only, and a caller's client cannot be given them afterwards.
"""

import inspect
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Protocol, TypeAlias

from attrs import evolve, field, frozen
from attrs.validators import instance_of

from gategrammar.gate import reasons
from gategrammar.gate._checks import is_count, is_text
from gategrammar.gate._library import is_connect_error, is_tls_error, reason_for
from gategrammar.gate.answers import Answers, Refused, read_answers
from gategrammar.gate.settings import GateSettings, is_loopback, is_usable_key

KeyResolver: TypeAlias = Callable[[str], "str | Awaitable[str | None] | None"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY = frozenset({429, 503, 529})
_FIRST_PAUSE = 0.5  # seconds


class Secret:
    """A key that shows itself nowhere but in the header of the request that it signs."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "<hidden>"

    def sign(self, request: Any) -> Any:
        """Put the key into a request: an auth function in the sense of httpx, whose headers hide it when shown."""
        request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def is_in(self, text: str | None) -> bool:
        """Tell whether a server has put the key into *text*."""
        return text is not None and self._key in text


@frozen
class Off:
    """The gate is off for this page, and why."""

    reason: str = field(validator=is_text)


Outcome: TypeAlias = Answers | Refused | Off


@frozen
class Reply:
    """A server's reply: its status, its body or why that was refused, and the headers that ask for a pause."""

    status: int = field(validator=is_count)
    body: bytes | Refused = field(repr=False, validator=instance_of((bytes, Refused)))
    headers: Mapping[str, str] = field(
        repr=False,
        validator=instance_of(Mapping),  # type: ignore[type-abstract] # good enough for isinstance()
    )


class Wire(Protocol):
    """What touches the world: one for each page, made with its deadline."""

    #: httpx or httpx2, whichever the client is of.
    library: Any
    #: Returns the seconds left until the deadline.
    remaining: Callable[[], float]

    async def resolve(self, resolver: KeyResolver, reference: str) -> object:
        """Return what the host's resolver returns, awaited."""

    async def post(self, secret: Secret | None, content: bytes) -> Reply:
        """Send one POST and read the reply, up to the cap; whatever goes wrong is raised."""

    async def sleep(self, seconds: float) -> None:
        """Wait before the next try."""


async def ask(
    wire: Wire, settings: GateSettings, resolver: KeyResolver | None, request: Mapping[str, Any], *, keyless: bool
) -> Outcome:
    """Ask about one page.

    Args:
        wire: see :class:`Wire`.
        settings: the page's.
        resolver: the host's, or None.
        request: from ``build_request``.
        keyless: whether the judge is in this process, so that no key is looked up.
    """
    key = Off(reasons.NO_KEY) if keyless else await find_key(wire, settings, resolver)
    if isinstance(key, Off) and not keyless and not is_loopback(settings.endpoint):
        return key
    secret = None if isinstance(key, Off) else key
    content = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    answers = await _tries(wire, settings, secret, content, len(request["questions"]))
    if secret is not None and isinstance(answers, Answers) and secret.is_in(answers.model):
        return evolve(answers, model=None)
    return answers


async def find_key(wire: Wire, settings: GateSettings, resolver: KeyResolver | None) -> Secret | Off:
    """Return the key: the literal one, else the resolver's, else the environment's (docs/gate.md)."""
    found: object = settings.api_key
    if _is_blank(found) and settings.api_key_env:
        if resolver is not None:
            with suppress(Exception):  # a vault that fails, in whatever way, is one that has no key
                found = await wire.resolve(resolver, settings.api_key_env)
        if _is_blank(found):
            found = os.environ.get(settings.api_key_env)
    if _is_blank(found):
        return Off(reasons.NO_KEY)
    return Secret(found) if isinstance(found, str) and is_usable_key(found) else Off(reasons.UNUSABLE_KEY)


def _is_blank(key: object) -> bool:
    return key is None or (isinstance(key, str) and not key.strip())


async def _tries(
    wire: Wire, settings: GateSettings, secret: Secret | None, content: bytes, questions: int
) -> Answers | Refused:
    attempt = 0
    outcome: Answers | Refused
    while True:
        pause: float | None = None
        try:
            reply = await wire.post(secret, content)
        except Exception as error:  # noqa: BLE001 - fail-open: whatever a transport raises keeps every candidate
            outcome = Refused(reason_for(wire.library, error, settings.timeout))
            if is_connect_error(wire.library, error) and not is_tls_error(error):
                pause = _backoff(attempt)
        else:
            outcome = read_reply(reply, settings, questions)
            if reply.status in _BUSY:
                pause = asked_pause(reply.headers, _backoff(attempt))
        if attempt >= settings.retries or pause is None or pause >= wire.remaining():
            return outcome
        await wire.sleep(pause)
        attempt += 1


def _backoff(attempt: int) -> float:
    """Return the seconds to wait where the server does not say: twice as long with each try, up to about a minute."""
    return _FIRST_PAUSE * (1 << min(attempt, 7))


def read_reply(reply: Reply, settings: GateSettings, questions: int) -> Answers | Refused:
    """Return the answers in *reply*, or why it has none."""
    if reply.status in _REDIRECTS:
        return Refused(reasons.REDIRECT)
    if reply.status != HTTPStatus.OK:
        return Refused(reasons.http_status(reply.status, reply.body if isinstance(reply.body, bytes) else b""))
    return read_answers(reply.body, settings, questions) if isinstance(reply.body, bytes) else reply.body


def asked_pause(headers: Mapping[str, str], default: float) -> float | None:
    """Return the seconds a busy server asks to wait, *default* if it does not say, None if it says no usable time."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        if name in headers:
            return _seconds(headers[name].strip(), unit)
    return default


def _seconds(text: str, unit: int) -> float | None:
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text) / unit
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


async def awaited(value: object) -> object:
    """Return *value*, or what it comes to if it is awaitable."""
    return await value if inspect.isawaitable(value) else value
