"""One exchange's way through a synchronous client, and how to block it from another thread.

To end a read in another thread, one must know its socket. httpx tells it for a new connection (its trace extension)
and for a reply whose headers are in, but not for a reused connection that waits for headers. So the gate's own clients
have one connection each: the lane of a page is the socket of its client. A caller's client has as many connections as
it likes; there a reused connection that drips headers lingers until the server or the header limit ends it.
"""

import contextlib
import socket
import threading
from collections.abc import Mapping
from typing import Any


class Lane:
    """A client, the socket that it uses for us, and the word to stop.

    Args:
        client: of httpx or httpx2.
        owned: whether the gate made the client for this lane alone.
    """

    def __init__(self, client: Any, *, owned: bool) -> None:
        self.client = client
        self.owned = owned
        self.aborted = threading.Event()
        self._socket: socket.socket | None = None
        self._shared = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of what the client does: httpx's trace extension calls this."""
        # Other requests of the caller's may run over one HTTP/2 connection: that is not ours to cut.
        self._shared = event.startswith("http2.")
        self.see(info.get("return_value"))

    def see(self, stream: Any) -> None:
        """Take note of the socket under a network stream (other things are ignored)."""
        if hasattr(stream, "get_extra_info"):
            self._socket = stream.get_extra_info("socket")

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
        if isinstance(self._socket, socket.socket) and not self._shared:
            with contextlib.suppress(OSError):
                # The plain socket's method: that of a TLS socket would drop what the worker still holds on to.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the client, if it is the gate's own."""
        if self.owned:
            self.client.close()
