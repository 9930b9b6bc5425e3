"""``gategrammar serve``: the judge without a model, for clients in other languages."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import click

from gategrammar.cli._ending import orderly
from gategrammar.gate.local import LocalReply, LocalSystemOne

_MOST_BYTES = 8 << 20
_IDLE_SECONDS = 60


class Handler(BaseHTTPRequestHandler):
    """Hands requests to a judge; one thread each."""

    judge = LocalSystemOne()
    protocol_version = "HTTP/1.1"
    server_version = "gategrammar"
    sys_version = ""
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        """Answer GET."""
        self._answer()

    def do_POST(self) -> None:
        """Answer POST."""
        self._answer()

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            return self._send(_refusal(411, "The request needs a Content-Length."))
        if int(length) > _MOST_BYTES:
            self.close_connection = True
            return self._send(_refusal(413, f"The request is larger than {_MOST_BYTES} bytes."))
        path = self.path.partition("?")[0]
        return self._send(self.judge.respond(self.command, path, self.rfile.read(int(length))))

    def _send(self, reply: LocalReply) -> None:
        body = reply.encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: requests hold the user's memories."""


def _refusal(status: int, message: str) -> LocalReply:
    return LocalReply(status, {"detail": {"error_type": "invalid_request_error", "message": message}})


class Server(ThreadingHTTPServer):
    """Serves on this machine only; its threads do not hold up the end."""

    daemon_threads = True
    request_queue_size = 128


@click.command("serve", short_help="Serve the judge without a model on this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes any free port.")
def command(port: int) -> None:
    """Serve the lexical judge behind the System One contract, on 127.0.0.1 only, with no key.

    It compares words and knows no meaning: for trying clients and hosts out. Ends with Ctrl-C.
    """
    try:
        server = Server(("127.0.0.1", port), Handler)
    except OSError as error:
        raise click.ClickException(f"port {port} cannot be used: {error.strerror}; try --port 0") from None
    with server, orderly(lambda: click.echo("stopped", err=True)):
        click.echo(f"http://127.0.0.1:{server.server_port}/v1/systemone", err=True)
        server.serve_forever()
