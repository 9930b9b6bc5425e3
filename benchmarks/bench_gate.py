"""What the gate costs beside a bare POST of the same body, against an instant server; medians and their ratio.

The bare side is what a host without the gate would write: ``client.post(url, json=request).json()``. The server is a
process of its own, as an endpoint is: in this one it would compete with the gate for the interpreter.

Usage: python benchmarks/bench_gate.py [--rounds N] [--output FILE.json]

Each round times one bare POST and one page, so that a busy machine slows both.
"""

import asyncio
import contextlib
import json
import multiprocessing
import socket
import statistics
import threading
import time
from collections.abc import Iterator

import httpx
import timing

from gategrammar.gate import AsyncRecallGate, Candidate, GateSettings, LocalSystemOne, RecallGate, build_request

COUNT = 20
TASK = "Users are logged out while they fill in a long form. Find out why, and fix the handling of sessions."
PAGE = [
    Candidate(
        hash=f"{at:040x}",
        title=f"Session cookies of service {at} expire after 30 minutes",
        summary="Login sessions use a signed cookie with a sliding expiry. The refresh happens in middleware. " * 6,
        keywords=("session", "cookie", "login", "expiry"),
        kind="fact",
    )
    for at in range(COUNT)
]


def answer(listener: socket.socket) -> None:
    """Answer every request at once with the same bytes; never return."""
    answers = {f"m{at}": {"type": "noul", "noul": at / COUNT} for at in range(COUNT)}
    usage = {"input_tokens": 4000, "output_tokens": COUNT}
    body = json.dumps({"model": "jev-1.13.0", "answers": answers, "usage": usage}).encode()
    reply = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    def serve(connection: socket.socket) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while piece := connection.recv(1 << 20):
                rest += piece
                head, found, sent = rest.partition(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0) if found else 0
                if found and len(sent) >= size:
                    connection.sendall(reply)
                    rest = sent[size:]

    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


@contextlib.contextmanager
def instant_server() -> Iterator[str]:
    """Run a server that answers at once; give its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = multiprocessing.Process(target=answer, args=(listener,), daemon=True)
        server.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1/systemone"
        finally:
            server.terminate()


def report(name: str, bare: list[float], gate: list[float]) -> timing.Times:
    """Print one line of the table; return what was measured."""
    times = timing.measured(name, {"bare": bare, "gate": gate})
    own = statistics.median(with_gate - without for with_gate, without in zip(gate, bare, strict=True))
    plain, whole = times["bare"].median(), times["gate"].median()
    line = f"bare {plain * 1e3:7.3f} ms   gate {whole * 1e3:7.3f} ms   own {own * 1e3:7.3f} ms"
    print(f"{name:<14} {line}   {timing.ratio(times, 'gate', 'bare'):5.2f}x")
    return times


def synchronous(url: str, rounds: int) -> timing.Times:
    """Time ``RecallGate`` beside ``httpx.Client.post``."""
    settings = GateSettings(endpoint=url)
    request = build_request(TASK, PAGE, settings)
    bare, whole = [], []
    with httpx.Client() as client, RecallGate(settings) as gate:
        for _ in range(rounds):
            start = time.perf_counter()
            client.post(url, json=request).json()
            middle = time.perf_counter()
            assert not gate.evaluate(TASK, PAGE).degraded
            whole.append(time.perf_counter() - middle)
            bare.append(middle - start)
    return report("sync", bare, whole)


async def asynchronous(url: str, rounds: int) -> timing.Times:
    """Time ``AsyncRecallGate`` beside ``httpx.AsyncClient.post``."""
    settings = GateSettings(endpoint=url)
    request = build_request(TASK, PAGE, settings)
    bare, whole = [], []
    async with httpx.AsyncClient() as client, AsyncRecallGate(settings) as gate:
        for _ in range(rounds):
            start = time.perf_counter()
            (await client.post(url, json=request)).json()
            middle = time.perf_counter()
            assert not (await gate.evaluate(TASK, PAGE)).degraded
            whole.append(time.perf_counter() - middle)
            bare.append(middle - start)
    return report("async", bare, whole)


def lexical(rounds: int) -> timing.Times:
    """Time the judge in this process."""
    times = []
    with RecallGate(judge=LocalSystemOne()) as gate:
        for _ in range(rounds):
            start = time.perf_counter()
            gate.evaluate(TASK, PAGE)
            times.append(time.perf_counter() - start)
    print(f"{'local judge':<14} {statistics.median(times) * 1e3:.3f} ms")
    return timing.measured("local judge", {"gate": times})


if __name__ == "__main__":
    given = timing.arguments(__doc__, rounds=1000).parse_args()
    with instant_server() as address:
        measured = [synchronous(address, given.rounds), asyncio.run(asynchronous(address, given.rounds))]
    timing.save(given.output, [*measured, lexical(max(1, given.rounds // 10))])
