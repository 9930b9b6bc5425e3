"""Recording of chat completions: what was asked and what came back, one JSON object a line.

The transport of a client is wrapped. What the server sends goes to the caller first and unchanged; a copy is kept, and
when the response has ended, or is closed, one line is appended to the file. Whatever goes wrong with that is logged
once per recorded client and never reaches the caller. Headers are not recorded, nor what a request's body holds in
fields for credentials.
"""

import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from gategrammar._completion import completion_of, loads

_Client = TypeVar("_Client")

#: The variable that names the file where no path is given.
VARIABLE = "MEM_LLM_RECORD"

_LIBRARIES = ("httpx", "httpx2")
_ENDPOINT = "/chat/completions"
#: How the names of fields end under which no text is recorded, word by word; some gateways take a key in the body.
_CREDENTIALS = re.compile(
    r"(?:.*\b)?(?:(?:api|access|private) ?keys?|auth|authorization|bearer|cookies?|credentials?|headers|passphrase|"
    r"password|secret|token)",
    re.DOTALL,
)
#: Where a word begins inside a name: behind a sign, and where letters become capital.
_WORD = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
#: Fields of a request for what the model is told: there a name is a word like any other.
_PROMPTS = frozenset({"messages", "function", "functions", "response_format"})
_LEFT_OUT = "(not recorded)"

_log = logging.getLogger(__name__)


def record(client: _Client, path: str | os.PathLike[str] | None = None) -> _Client:
    """Append every chat completion that *client* gets from now on to a file.

    A line holds ``time`` (of the request; ISO 8601, UTC), ``seconds`` (to the end of the response), ``model``,
    ``finish_reason`` (of the first choice; null where a stream was left before it came), ``request`` and ``response``:
    the two bodies, with a streamed response put together to a whole completion. Successful answers to POSTs to
    ``…/chat/completions`` are recorded, nothing else. Each line is one ``write`` at the end of the file, so processes
    can share a file on a local file system. Only its owner can read a file that is made here.

    Args:
        client: a sync or async client of httpx or httpx2, such as ``openai.OpenAI(http_client=…)`` takes.
        path: the file; from the environment variable ``MEM_LLM_RECORD`` if not given. Without one nothing is recorded.

    Returns:
        *client* itself. Recording it again to the same file changes nothing.

    Raises:
        TypeError: *client* is no client of httpx or httpx2.
    """
    library = next((name for name in map(_package, type(client).__mro__) if name in _LIBRARIES), None)
    state = vars(client) if library is not None else {}
    if library is None or "_transport" not in state:
        raise TypeError(
            f"record() takes a client of {' or '.join(_LIBRARIES)}, not {type(client).__name__}; an SDK is given a "
            "client that is recorded, for example openai.OpenAI(http_client=record(openai.DefaultHttpxClient()))"
        )
    path = os.environ.get(VARIABLE) if path is None else os.fsdecode(path)
    if not path:
        return client
    recorder = _Recorder(Path(path).absolute(), sys.modules[library])
    # Neither library has a public way to wrap the transport of a client that is already made. A mounted transport
    # serves a proxy or a scheme; None stands there for the main one.
    state["_transport"] = recorder.wrap(state["_transport"])
    state["_mounts"] = {pattern: mount and recorder.wrap(mount) for pattern, mount in state["_mounts"].items()}
    return client


def _package(base: type) -> str:
    return base.__module__.partition(".")[0]


class _Recorder:
    """What writes for one client."""

    def __init__(self, path: Path, library: Any) -> None:
        self.path = path
        # The libraries accept a stream only if it is one of their own.
        self.stream = type("RecordedStream", (_Stream, library.SyncByteStream, library.AsyncByteStream), {})
        self._first_failure = threading.Lock()
        self._torn = False

    def wrap(self, transport: Any) -> Any:
        """Return *transport* recorded, or as it is if it already is recorded to this file."""
        inner = transport
        while isinstance(inner, _Transport):
            if inner.recorder.path == self.path:
                return transport
            inner = inner.inner
        return _Transport(transport, self)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Keep what goes wrong away from the caller, and log it the first time."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a recorder must not break the call
            if self._first_failure.acquire(blocking=False):
                _log.warning(
                    "cannot record a chat completion to %s: %s: %s (not reported again for this client)",
                    self.path,
                    type(error).__name__,
                    error,
                )

    def append(self, line: dict[str, Any]) -> None:
        """Write one line with one system call.

        Raises:
            OSError: the file cannot be written to, or the device is full.
            ValueError: a number cannot be written as JSON.
        """
        # Only ASCII: lone surrogates survive, and nothing but the end of a line ends one, whoever reads it.
        data = json.dumps(line, allow_nan=False).encode("ascii") + b"\n"
        if self._torn:
            data = b"\n" + data
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            written = os.write(descriptor, data)
        finally:
            os.close(descriptor)
        self._torn = written < len(data)
        if self._torn:
            raise OSError(f"only {written} of {len(data)} bytes were written")


class _Transport:
    """A transport of either library, sync or async, whose chat completions are recorded."""

    def __init__(self, inner: Any, recorder: _Recorder) -> None:
        self.inner = inner
        self.recorder = recorder

    def __getattr__(self, name: str) -> Any:
        """Be the wrapped transport in everything else, entering and closing included."""
        return getattr(self.inner, name)

    def handle_request(self, request: Any) -> Any:
        exchange = _Exchange(self.recorder, request)
        return exchange.watched(self.inner.handle_request(request))

    async def handle_async_request(self, request: Any) -> Any:
        exchange = _Exchange(self.recorder, request)
        return exchange.watched(await self.inner.handle_async_request(request))


class _Exchange:
    """One request, and what comes back."""

    def __init__(self, recorder: _Recorder, request: Any) -> None:
        self._recorder = recorder
        self._request = request
        self._time = datetime.now(UTC)
        self._start = time.perf_counter()

    def watched(self, response: Any) -> Any:
        """Return *response*, which will be recorded when it has ended if it is a chat completion."""
        with self._recorder.guard():
            request = self._request
            if request.method != "POST" or not request.url.path.endswith(_ENDPOINT) or not response.is_success:
                return response
            if response.is_closed:  # made in this process from a body, which nobody will read from the stream
                self._record(response.content)
            else:
                response.stream = self._recorder.stream(response.stream, lambda body: self._end(response, body))
        return response

    def _end(self, response: Any, body: bytes) -> None:
        with self._recorder.guard():
            # The library's own way to undo a content encoding.
            self._record(type(response)(response.status_code, headers=response.headers, content=body).content)

    def _record(self, body: bytes) -> None:
        completion = completion_of(body.decode("utf-8", "replace"))
        if completion is None:
            return
        request = self._asked()
        self._recorder.append(
            {
                "time": self._time.isoformat(),
                "seconds": round(time.perf_counter() - self._start, 6),
                "model": completion.get("model") or (request or {}).get("model"),
                "finish_reason": completion["choices"][0].get("finish_reason"),
                "request": request,
                "response": completion,
            }
        )

    def _asked(self) -> dict[str, Any] | None:
        """Return the body of the request; None where it was a stream that is gone, or no JSON object."""
        try:
            asked = loads(self._request.content.decode())
        except (RuntimeError, ValueError):
            return None
        return _without_credentials(asked) if isinstance(asked, dict) else None


def _without_credentials(value: Any, *, secret: bool = False) -> Any:
    """Return *value* with every text replaced that stands in a field for credentials."""
    match value:
        case dict():
            return {
                name: item
                if name in _PROMPTS and not secret
                else _without_credentials(item, secret=secret or _is_credential(name))
                for name, item in value.items()
            }
        case list():
            return [_without_credentials(item, secret=secret) for item in value]
        case str() if secret:
            return _LEFT_OUT
        case _:
            return value


def _is_credential(name: str) -> bool:
    return _CREDENTIALS.fullmatch(_WORD.sub(" ", name).lower()) is not None


class _Stream:
    """The body of a response, sync or async, of which a copy is handed on when it has ended or is closed."""

    def __init__(self, inner: Any, ended: Callable[[bytes], None]) -> None:
        self._inner = inner
        self._pieces: list[bytes] = []
        self._ended: Callable[[bytes], None] | None = ended

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._inner:
                self._pieces.append(piece)
                yield piece
        except Exception:
            self._ended = None  # it broke off, so it is no answer
            raise
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._inner)
        try:
            async for piece in pieces:
                self._pieces.append(piece)
                yield piece
        except Exception:
            self._ended = None
            raise
        finally:
            if isinstance(pieces, AsyncGenerator):  # which nothing else closes in time when the caller leaves early
                await pieces.aclose()
        self._end()

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._end()

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._end()

    def _end(self) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(b"".join(self._pieces))
