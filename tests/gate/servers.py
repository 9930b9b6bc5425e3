"""Real servers on loopback that misbehave as told: raw sockets, so that every byte and every pause is ours."""

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, field


@define
class Exchange:
    """One request as the server sees it, and the means to answer."""

    connection: socket.socket
    server: "Server"
    head: bytes = field(repr=False)  # holds the key
    body: bytes
    number: int

    @property
    def headers(self) -> dict[str, str]:
        """The request's headers, names in lower case."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}

    @property
    def json(self) -> Any:
        """The request's body, decoded."""
        return json.loads(self.body)

    def send(self, data: bytes) -> None:
        """Send raw bytes."""
        self.connection.sendall(data)

    def reply(self, body: bytes = b"{}", status: int = 200, headers: str = "", *, length: int | None = None) -> None:
        """Send a whole reply; *headers* are extra lines, each with its CRLF."""
        size = len(body) if length is None else length
        self.send(f"HTTP/1.1 {status} X\r\nContent-Length: {size}\r\n{headers}\r\n".encode() + body)

    def answer(self, *values: float) -> None:
        """Send noul answers: *values*, the last repeated for all further questions."""
        self.reply(answers(len(self.json["questions"]), *values))

    def drip(self, data: bytes, pause: float = 0.05) -> None:
        """Send *data* byte by byte until the server ends or the client has gone."""
        for byte in data:
            self.send(bytes([byte]))
            if self.server.ending.wait(pause):
                return

    def hang(self) -> None:
        """Say nothing until the client has gone or the server ends."""
        self.connection.settimeout(0.05)
        while not self.server.ending.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    return

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self.connection.close()


Behaviour = Callable[[Exchange], None]


def answers(count: int, *values: float, model: str = "jev-1.13.0") -> bytes:
    """Return the body of a reply to *count* noul questions."""
    filled = [*values, *[values[-1]] * count][:count]
    found = {f"m{at}": {"type": "noul", "noul": value} for at, value in enumerate(filled)}
    usage = {"input_tokens": 100, "output_tokens": count}
    return json.dumps({"model": model, "answers": found, "usage": usage}).encode()


@define
class Server:
    """Accepts connections until it ends; each request goes to *behaviour*."""

    behaviour: Behaviour
    tls: ssl.SSLContext | None = None
    exchanges: list[Exchange] = field(factory=list)
    connections: int = 0
    open: int = 0
    ending: threading.Event = field(factory=threading.Event)
    lock: threading.Lock = field(factory=threading.Lock)
    port: int = 0

    @property
    def url(self) -> str:
        """Where questions are posted."""
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1/systemone"

    def wait_until_idle(self, left: int = 0) -> None:
        """Return once no connection (or *left*) is open; the test hangs, and says where, if a client keeps more."""
        while self.open > left:
            time.sleep(0.01)

    def wait_until_asked(self) -> None:
        """Return once a request is in."""
        while not self.exchanges:
            time.sleep(0.01)

    def run(self, listener: socket.socket) -> None:
        """Accept until the listener is closed."""
        while not self.ending.is_set():
            connection, _ = listener.accept()
            with self.lock:
                self.connections += 1
                self.open += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        """Serve one connection; that the client goes away is no fault here."""
        try:
            connection.settimeout(3600)  # an idle connection is the client to close
            with contextlib.suppress(OSError, ValueError, ssl.SSLError):
                if self.tls is not None:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                for exchange in self.requests(connection):
                    self.behaviour(exchange)
        finally:
            connection.close()
            with self.lock:
                self.open -= 1

    def requests(self, connection: socket.socket) -> Iterator[Exchange]:
        """Read requests until the client closes."""
        rest = b""
        while not self.ending.is_set():
            while b"\r\n\r\n" not in rest:
                piece = connection.recv(65536)
                if not piece:
                    return
                rest += piece
            head, _, rest = rest.partition(b"\r\n\r\n")
            exchange = Exchange(connection, self, head, b"", 0)
            size = int(exchange.headers.get("content-length", "0"))
            while len(rest) < size:
                rest += connection.recv(65536)
            exchange.body, rest = rest[:size], rest[size:]
            with self.lock:
                self.exchanges.append(exchange)
                exchange.number = len(self.exchanges)
            yield exchange


@contextlib.contextmanager
def serving(behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server with *behaviour* on a free port for the length of the block."""
    server = Server(behaviour, tls)
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        server.port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, args=(listener,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.ending.set()
            socket.create_connection(listener.getsockname()).close()  # wakes accept()
            thread.join()


def always(body: bytes, status: int = 200, headers: str = "") -> Behaviour:
    """Return the behaviour of a server that has one reply for everything."""
    return lambda exchange: exchange.reply(body, status, headers)
