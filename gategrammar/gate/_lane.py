"""One exchange's way through a synchronous client, and how to block it from another thread.

To end a read in another thread, one must know its socket. httpx tells it for a new connection (its trace extension)
and for a reply whose headers are in, but not for a reused connection that waits for headers. So the gate's own clients
have one connection each: the lane of a page is the socket of its client. A caller's client has as many connections as
it likes; there a reused connection that drips headers lingers until the server or the header limit ends it.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

from gategrammar.gate._threads import Worker

#: How long a lane's connection is kept for the next page, in seconds.
_KEEP_SECONDS: Final = 5.0
ONE_CONNECTION: Final = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEEP_SECONDS)


class Lane:
    """A client, the connection that it uses for us, the thread that waits for it, and the word to stop.

    Args:
        client: of httpx or httpx2.
        owned: whether the gate made the client for this lane alone.
    """

    def __init__(self, client: Any, *, owned: bool) -> None:
        self.client = client
        self.owned = owned
        self.worker = Worker()
        self.aborted = threading.Event()
        self._stream: Any = None
        self._seen = 0.0
        self._shared = False

    def extensions(self) -> dict[str, Callable[[str, Mapping[str, Any]], None]]:
        """Return what a request of this lane needs for its connection to be known.

        Tracing costs a tenth of a request, so it is left out where the known connection is sure to be used again.
        """
        known = self.owned and self._stream is not None and time.monotonic() - self._seen < _KEEP_SECONDS / 2
        return {} if known and not self._stream.get_extra_info("is_readable") else {"trace": self._trace}

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        # Other requests of the caller's may run over one HTTP/2 connection: that is not ours to cut.
        self._shared = event.startswith("http2.")
        self.see(info.get("return_value"))

    def see(self, stream: Any) -> None:
        """Take note of the network stream in use (other things are ignored)."""
        if hasattr(stream, "get_extra_info"):
            self._stream = stream
            self._seen = time.monotonic()

    def check(self) -> None:
        """Stop the worker if it has been told to.

        Raises:
            InterruptedError: it has.
        """
        if self.aborted.is_set():
            raise InterruptedError

    def abort(self) -> None:
        """End the exchange from another thread: the read under way fails, nothing more is begun."""
        self.aborted.set()
        if self._stream is not None and not self._shared:
            # The plain socket's method: that of a TLS socket would drop what the worker still holds on to.
            with contextlib.suppress(OSError, TypeError):
                socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def close(self) -> None:
        """Let the thread end, and close the client, if it is the gate's own."""
        self.worker.end()
        if self.owned:
            self.client.close()
