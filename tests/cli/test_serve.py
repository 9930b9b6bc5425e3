"""``gategrammar serve`` as a program."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator

import httpx

from gate.programs import program


@contextlib.contextmanager
def served() -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Run the server on a free port and yield its address."""
    command = [program("gategrammar"), "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().strip(), process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)


def test_conformance() -> None:
    """The public conformance checker for such servers finds nothing wrong, SHOULDs included."""
    with served() as (url, _):
        command = [program("jevcompat"), "test", url.removesuffix("/v1/systemone")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "SHOULD 12/12" in done.stdout


def test_it_ends_by_ctrl_c() -> None:
    """Ctrl-C ends the server without a traceback; the exit code is the one of SIGINT."""
    with served() as (url, process):
        assert httpx.get(url.replace("systemone", "models")).json()["models"][0]["name"] == "local-lexical"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr is not None
        assert process.stderr.read() == "stopped\n"


def test_sizes() -> None:
    """A request without a length or with a vast one is refused before its body is read."""
    with served() as (url, _):
        assert httpx.post(url, content=iter([b"{}"])).status_code == 411
        with socket.create_connection((httpx.URL(url).host, httpx.URL(url).port or 0)) as connection:
            connection.sendall(b"POST /v1/systemone HTTP/1.1\r\nContent-Length: 1099511627776\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")
        assert httpx.post(url, content=b"{").status_code == 422


def test_port_in_use() -> None:
    """A port that is taken is named, with what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [program("gategrammar"), "serve", "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 1
    assert f"port {port} cannot be used" in done.stderr
