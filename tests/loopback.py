"""A chat completion server on loopback that answers what a test hands it, and a message and chunks to hand."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = "<think>a</think>\n<check>yes</check>\n<update>Zoë’s  cat\u2028</update>\n<next>end</next>"
ANSWER = GOOD.partition("\n")[2]


def completion(*contents: str | None, finish_reason: str = "stop", **fields: Any) -> dict[str, Any]:
    """Return a whole chat completion with one choice per content; *fields* go into every message."""
    choices = [
        {
            "index": number,
            "message": {"role": "assistant", "content": content, **fields},
            "finish_reason": finish_reason,
            "logprobs": None,
        }
        for number, content in enumerate(contents)
    ]
    return {"id": "chat-1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": choices}


def chunk(finish_reason: str | None = None, *, index: int = 0, **delta: Any) -> dict[str, Any]:
    """Return one chunk of a streamed chat completion; *delta* are the fields of its delta."""
    choice = {"index": index, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}


def event(data: dict[str, Any] | str) -> bytes:
    """Return a server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def events(*chunks: dict[str, Any]) -> list[bytes]:
    """Return a whole stream of chunks."""
    return [event(one) for one in chunks] + [event("[DONE]")]


@dataclass
class Server:
    """What the server is to answer, and what it was asked."""

    url: str
    status: int = 200
    body: bytes | list[bytes] = b""
    #: What comes before *body*, one a request.
    bodies: list[bytes | list[bytes]] = field(default_factory=list)
    compressed: bool = False
    #: With a list as body: each piece waits for the caller to have got the one before.
    lockstep: threading.Semaphore | None = None
    #: Whether the connection is dropped where the body is promised to go on.
    dropped: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, completion: dict[str, Any]) -> None:
        """Answer with a whole completion from now on."""
        self.body = json.dumps(completion).encode()

    def hold(self) -> threading.Semaphore:
        """Return what lets one more piece of the next stream go each time it is released; one goes at once."""
        self.lockstep = threading.Semaphore(1)
        return self.lockstep

    def stream(self, *chunks: dict[str, Any]) -> None:
        """Answer with a stream of chunks from now on."""
        self.body = events(*chunks)


class _Handler(BaseHTTPRequestHandler):
    """Answers as its script says."""

    protocol_version = "HTTP/1.1"
    script: Server

    def do_POST(self) -> None:
        script = self.script
        script.asked.append({"path": self.path, "body": self.rfile.read(int(self.headers.get("content-length", 0)))})
        self.send_response(script.status)
        self.send_header("set-cookie", "session=cookie-secret")
        body = script.bodies.pop(0) if script.bodies else script.body
        if isinstance(body, bytes):
            self._whole(body)
        else:
            self._pieces(body, script.lockstep)
        self.close_connection = script.dropped

    def do_GET(self) -> None:
        self.do_POST()

    def _whole(self, body: bytes) -> None:
        if self.script.compressed:
            body = gzip.compress(body)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:-1] if self.script.dropped else body)

    def _pieces(self, body: list[bytes], lockstep: threading.Semaphore | None) -> None:
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in body:
            if lockstep is not None:
                lockstep.acquire()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if not self.script.dropped:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any, **__: Any) -> None:
        """Say nothing: the tests' output is pytest's."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True  # a caller that leaves early is a case here, not a failure


@contextmanager
def served() -> Iterator[Server]:
    """Serve until the block is left."""

    class Handler(_Handler):
        """One server's own, since a handler is made for each connection and knows only its class."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        Handler.script = server = Server(f"http://127.0.0.1:{http.server_port}/v1")
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
