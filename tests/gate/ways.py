"""The six ways into the gate: synchronous or not, with its own client, one of httpx, or one of httpx2."""

import asyncio
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import frozen

from gategrammar.gate import AsyncRecallGate, Candidate, GateDecision, GateSettings, RecallGate

httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed; it comes with the extra 'test'")

TLS = ssl.create_default_context()  # made once: it reads all certificates of the machine
ROOT = Path(__file__).parent.parent.parent


def page(count: int = 3) -> list[Candidate]:
    """Return a page of *count* candidates m0, m1 and so on."""
    return [Candidate(hash=f"m{at}", title=f"Title {at}", summary="…", keywords=("a", "b")) for at in range(count)]


def settings(url: str, **more: Any) -> GateSettings:
    """Return settings for a server of ours."""
    return GateSettings(endpoint=url, **{"timeout": 30.0, "retries": 0, **more})


def shape(decision: GateDecision) -> dict[str, Any]:
    """Return what the handed cases expect of a decision."""
    keep = [verdict.keep for verdict in decision.verdicts]
    judged = decision.verdicts[: decision.judged]
    return {
        "kept": [at for at, kept in enumerate(keep) if kept],
        "dropped": [at for at, kept in enumerate(keep) if not kept],
        "degraded": decision.degraded,
        "unreadable": None if decision.degraded else decision.unreadable,
        "values": None if decision.degraded else [verdict.value for verdict in judged],
    }


def handed_cases() -> list[dict[str, Any]]:
    """Return the handed cases, each with its body as bytes."""
    cases = []
    for line in (ROOT / "fixtures/gate/cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if "body_latin1" in case:
            case["body"] = case["body_latin1"].encode("latin-1")
        elif "body_repeat" in case:
            case["body"] = (case["body_repeat"][0] * case["body_repeat"][1]).encode()
        else:
            case["body"] = case["body"].encode()
        cases.append(case)
    return cases


@frozen
class Way:
    """One way to evaluate pages."""

    name: str
    library: Any = None
    is_async: bool = False

    @contextmanager
    def gate(self, settings: Any, **options: Any) -> Iterator[Callable[..., GateDecision]]:
        """Open a gate and yield its ``evaluate``, made synchronous."""
        if not self.is_async:
            client = self.library.Client(verify=TLS) if self.library else None
            with RecallGate(settings, client=client, **options) as gate:
                yield gate.evaluate
            self.settle(client)
            return
        with asyncio.Runner() as runner:

            async def make() -> tuple[AsyncRecallGate, Any]:
                client = self.library.AsyncClient(verify=TLS) if self.library else None
                return AsyncRecallGate(settings, client=client, **options), client

            async_gate, client = runner.run(make())
            yield lambda task, page: runner.run(async_gate.evaluate(task, page))
            runner.run(async_gate.aclose())
            if client is not None:
                assert not client.is_closed
                runner.run(client.aclose())

    @staticmethod
    def settle(client: Any) -> None:
        """Close a caller's client, which the gate must have left open."""
        if client is not None:
            assert not client.is_closed
            client.close()

    def evaluate(self, settings: Any, count: int = 3, **options: Any) -> GateDecision:
        """Evaluate one page of *count* candidates."""
        with self.gate(settings, **options) as evaluate:
            return evaluate("the task", page(count))


WAYS = [
    Way(f"{'async' if is_async else 'sync'}-{library.__name__ if library else 'own'}", library, is_async)
    for is_async in (False, True)
    for library in (None, httpx, httpx2)
]
OWN_WAYS = [way for way in WAYS if way.library is None]


def each(ways: list[Way]) -> pytest.MarkDecorator:
    """Parametrise a test over *ways*."""
    return pytest.mark.parametrize("way", ways, ids=lambda way: way.name)
