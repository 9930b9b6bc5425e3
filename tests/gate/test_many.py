"""One gate for many pages: one after another, at once, and interrupted."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import BuiltinFunctionType, MethodType
from typing import Any

import pytest

from gate.servers import Exchange, always, answers, serving
from gate.ways import OWN_WAYS, WAYS, Way, each, page, settings
from gategrammar.gate import AsyncRecallGate, RecallGate, reasons

GOOD = answers(3, 0.9, 0.1)
PAGES = 10_000


def open_files() -> int:
    """Count this process's open files, sockets among them."""
    return len(list(Path("/dev/fd").iterdir()))


def objects() -> int:
    """Count the objects alive, but for bound methods: coverage keeps four of them for each thread that ever ran."""
    gc.collect()
    return sum(not isinstance(one, MethodType | BuiltinFunctionType) for one in gc.get_objects())


def many_pages(name: str) -> None:
    """Send 10,000 pages through one gate, and see what that leaves behind."""
    way = next(way for way in OWN_WAYS if way.name == name)
    with serving(always(GOOD)) as server, way.gate(settings(server.url, timeout=30)) as evaluate:
        for _ in range(200):
            evaluate("task", page())
        server.exchanges.clear()
        before = open_files(), threading.active_count(), objects()
        for at in range(PAGES):
            assert not evaluate("task", page()).degraded
            if at % 1000 == 0:
                server.exchanges.clear()
        server.exchanges.clear()
        after = open_files(), threading.active_count(), objects()
        # One, unless the machine stood still for as long as a connection is kept.
        assert server.connections < PAGES // 1000, server.connections
    assert after[0] <= before[0], "files"
    assert after[1] <= before[1], "threads"
    assert after[2] < before[2] + 500, "objects"


@each(OWN_WAYS)
def test_ten_thousand_pages(way: Way) -> None:
    """10,000 pages through one gate reuse its connection, and leave neither sockets, threads nor objects behind."""
    # In a process of its own: what pytest, its plugins and other tests do meanwhile are objects, too.
    tests = Path(__file__).parents[1]
    code = f"import sys; sys.path.insert(0, {str(tests)!r}); from gate.test_many import *; many_pages({way.name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@each(WAYS)
def test_fifty_pages_at_once(way: Way) -> None:
    """50 concurrent pages through one gate are each decided by their own reply."""

    def by_task(exchange: Exchange) -> None:
        number = int(exchange.json["state"]["task"])
        exchange.reply(answers(3, *[0.9 if number >> bit & 1 else 0.1 for bit in range(3)]))

    def right(number: int, decision: Any) -> bool:
        kept = tuple(f"m{bit}" for bit in range(3) if number >> bit & 1)
        return decision.kept == (kept or ("m0",)) and not decision.degraded

    with serving(by_task) as server:
        given = settings(server.url, timeout=30)
        if way.is_async:

            async def all_at_once() -> list[Any]:
                client = way.library.AsyncClient() if way.library else None
                async with AsyncRecallGate(given, client=client) as gate:
                    done = await asyncio.gather(*(gate.evaluate(str(number), page()) for number in range(50)))
                if client is not None:
                    await client.aclose()
                return done

            decisions = asyncio.run(all_at_once())
        else:
            with way.gate(given) as evaluate, ThreadPoolExecutor(50) as pool:
                decisions = list(pool.map(lambda number: evaluate(str(number), page()), range(50)))
    assert all(right(number, decision) for number, decision in enumerate(decisions))


@each(WAYS)
def test_connection_is_reused(way: Way) -> None:
    """Pages one after another share a connection, after failed pages, too."""
    with serving(lambda exchange: exchange.reply(GOOD, 200 if exchange.number % 2 else 500)) as server:
        with way.gate(settings(server.url)) as evaluate:
            degraded = [evaluate("task", page()).degraded for _ in range(6)]
        assert degraded == [False, True] * 3
        assert server.connections == 1


@each(OWN_WAYS)
def test_server_that_closes_idle_connections(way: Way) -> None:
    """A kept connection that the server has closed meanwhile is replaced, and no page is lost."""

    def once(exchange: Exchange) -> None:
        exchange.reply(GOOD)
        exchange.connection.close()

    with serving(once) as server, way.gate(settings(server.url)) as evaluate:
        for _ in range(3):
            assert not evaluate("task", page()).degraded
            server.wait_until_idle()


@each(OWN_WAYS)
def test_gate_closed(way: Way) -> None:
    """A page that comes after the end is kept whole; closing twice is nothing."""
    with serving(always(GOOD)) as server:
        with way.gate(settings(server.url)) as evaluate:
            assert not evaluate("task", page()).degraded
        if not way.is_async:
            decision = evaluate("task", page())
            assert (decision.degraded, decision.reason) == (True, reasons.CLOSED)
        server.wait_until_idle()


@pytest.mark.filterwarnings("ignore:unclosed")  # the connection of a gate that was forgotten
@pytest.mark.parametrize("end", [RecallGate.close, "forgotten"])
def test_one_thread_for_pages_one_after_another(end: Any) -> None:
    """Pages that share a connection share the thread that waits for it, and it ends with the gate, closed or not."""
    threads: list[threading.Thread] = []

    def note(_: str) -> str:
        threads.append(threading.current_thread())
        return "key"

    with serving(always(GOOD)) as server:
        gate = RecallGate(settings(server.url, api_key_env="NO_SUCH_KEY"), resolve_key=note)
        assert [gate.evaluate("task", page()).degraded for _ in range(5)] == [False] * 5
        assert len(threads) == 5
        (thread,) = set(threads)
        assert thread.daemon
        if end != "forgotten":
            end(gate)
        del gate
        gc.collect()
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork()")
def test_a_fork_has_connections_of_its_own() -> None:
    """A fork of a process that uses the gate takes neither its connections nor the threads that wait for them."""
    program = textwrap.dedent(
        """
        import os, sys
        from concurrent.futures import ThreadPoolExecutor
        from gategrammar.gate import Candidate, GateSettings, RecallGate
        gate = RecallGate(GateSettings(endpoint=sys.argv[1], timeout=60))
        page = [Candidate(hash="m0"), Candidate(hash="m1"), Candidate(hash="m2")]

        def degraded():
            with ThreadPoolExecutor(4) as pool:
                return sum(pool.map(lambda _: gate.evaluate("task", page).degraded, range(8)))

        before = degraded()
        child = os.fork()
        after = degraded()
        gate.close()
        if not child:
            os._exit(after)
        _, status = os.waitpid(child, 0)
        print(before, after, os.waitstatus_to_exitcode(status))
        """
    )
    with serving(always(GOOD)) as server:
        done = subprocess.run([sys.executable, "-c", program, server.url], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("0 0 0\n", "")


def test_closed_by_a_signal_at_any_time() -> None:
    """A signal handler can close the gate while the same thread opens a connection: nothing waits for itself."""
    program = textwrap.dedent(
        """
        import os, signal, sys
        import httpx
        from gategrammar.gate import Candidate, GateSettings, RecallGate, reasons
        gate = RecallGate(GateSettings(endpoint=sys.argv[1], timeout=60))
        signal.signal(signal.SIGTERM, lambda *_: gate.close())
        make = httpx.Client.__init__

        def signalled(self, *args, **more):
            make(self, *args, **more)
            os.kill(os.getpid(), signal.SIGTERM)

        httpx.Client.__init__ = signalled
        page = [Candidate(hash="m0"), Candidate(hash="m1"), Candidate(hash="m2")]
        first, second = gate.evaluate("task", page), gate.evaluate("task", page)
        print(first.degraded, second.reason == reasons.CLOSED)
        """
    )
    with serving(always(GOOD)) as server:
        command = [sys.executable, "-c", program, server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (done.stdout, done.stderr) == ("False True\n", "")
        server.wait_until_idle()


def test_closed_client_of_the_caller() -> None:
    """A caller that has closed its client gets a degraded page, not an exception."""
    way = next(way for way in WAYS if way.name == "sync-httpx")
    with serving(always(GOOD)) as server, way.library.Client() as client:
        gate = RecallGate(settings(server.url), client=client)
    decision = gate.evaluate("task", page())
    assert (decision.degraded, decision.reason) == (True, reasons.REQUEST_FAILED)


def test_cancelled_page_leaves_the_gate_usable() -> None:
    """A cancellation from outside propagates, closes the connection, and the next page goes through."""

    async def run() -> None:
        with serving(lambda exchange: exchange.hang() if exchange.number == 1 else exchange.reply(GOOD)) as server:
            async with AsyncRecallGate(settings(server.url, timeout=60)) as gate:
                task = asyncio.create_task(gate.evaluate("task", page()))
                await asyncio.to_thread(server.wait_until_asked)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.to_thread(server.wait_until_idle)
                assert not (await gate.evaluate("task", page())).degraded

    asyncio.run(run())


@pytest.mark.filterwarnings("ignore:unclosed")  # the connection of a loop that ended without aclose()
def test_one_gate_in_several_loops() -> None:
    """A gate that outlives its event loop makes new connections in the next one."""
    with serving(always(GOOD)) as server:
        gate = AsyncRecallGate(settings(server.url))
        assert [asyncio.run(gate.evaluate("task", page())).reason for _ in range(3)] == [None] * 3
        asyncio.run(gate.aclose())
        gc.collect()


def test_outer_timeout_is_the_callers() -> None:
    """A caller's own, shorter time-out is not taken for the gate's deadline."""

    async def run() -> None:
        with serving(Exchange.hang) as server:
            async with AsyncRecallGate(settings(server.url, timeout=60)) as gate:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await gate.evaluate("task", page())

    asyncio.run(run())


def test_keyboard_interrupt_propagates() -> None:
    """Ctrl-C ends a waiting synchronous page at once, and the program with it, though the server never answers."""
    program = textwrap.dedent(
        """
        import sys
        from gategrammar.gate import Candidate, GateSettings, RecallGate
        with RecallGate(GateSettings(endpoint=sys.argv[1], timeout=3600)) as gate:
            try:
                gate.evaluate("task", [Candidate(hash="a")])
            except KeyboardInterrupt:
                print("interrupted")
        """
    )
    with serving(Exchange.hang) as server:
        process = subprocess.Popen([sys.executable, "-c", program, server.url], stdout=subprocess.PIPE, text=True)
        server.wait_until_asked()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    assert (output, process.returncode) == ("interrupted\n", 0)


def test_program_ends_while_a_server_drips() -> None:
    """A worker that is left behind does not keep the program from ending."""
    program = textwrap.dedent(
        """
        import sys, time
        from gategrammar.gate import Candidate, GateSettings, RecallGate
        settings = GateSettings(endpoint=sys.argv[1], timeout=0.2)
        gate = RecallGate(settings, resolve_key=lambda _: time.sleep(3600))
        print(gate.evaluate("task", [Candidate(hash="a")]).reason)
        """
    )
    with serving(Exchange.hang) as server:
        done = subprocess.run([sys.executable, "-c", program, server.url], capture_output=True, text=True, check=True)
    assert done.stdout == "timed out after 0.2 s\n"
    assert not done.stderr


def test_two_proxies_of_the_environment_are_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is meant for this machine does not go to a proxy of the environment."""
    with serving(always(b"", 500)) as proxy, serving(always(GOOD)) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        for way in OWN_WAYS:
            assert not way.evaluate(settings(server.url)).degraded
        assert not proxy.exchanges


def test_a_page_while_the_interpreter_ends() -> None:
    """What still asks then keeps its page whole at once, since no thread runs any more that could wait for a reply."""
    program = textwrap.dedent(
        """
        import sys
        from gategrammar.gate import Candidate, GateSettings, RecallGate

        class Host:
            gate = RecallGate(GateSettings(endpoint=sys.argv[1], timeout=60))
            page = [Candidate(hash="m0"), Candidate(hash="m1"), Candidate(hash="m2")]
            out = sys.stdout

            def ask(self):
                print(self.gate.evaluate("task", self.page).reason, file=self.out)

            __del__ = ask

        host = Host()
        host.ask()
        """
    )
    with serving(always(GOOD)) as server:
        command = [sys.executable, "-c", program, server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert (done.stdout, done.stderr) == (f"None\n{reasons.REQUEST_FAILED}\n", "")
