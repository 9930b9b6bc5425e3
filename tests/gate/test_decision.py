"""What stays of a page: the pure decision, and the whole gate on any bytes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ways import page
from gategrammar.gate import (
    GATED_BLOCK_SCHEMA,
    Answers,
    Candidate,
    GateDecision,
    GateSettings,
    RecallGate,
    Refused,
    Usage,
    Verdict,
    decide,
    gated_block,
    gated_line,
    log_line,
    narrow,
)
from gategrammar.gate.settings import MODES

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed; it comes with the extra 'test'")
BLOCK = jsonschema.Draft202012Validator(GATED_BLOCK_SCHEMA)

DROPPED = Verdict("a", 0.1, keep=False)
probabilities = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])


def check(decision: GateDecision, candidates: list[Candidate]) -> None:
    """Assert what holds for every decision there is."""
    hashes = [candidate.hash for candidate in candidates]
    assert [verdict.hash for verdict in decision.verdicts] == hashes
    assert narrow(hashes, decision) == list(decision.kept)
    rest = iter(hashes)
    assert all(any(hash_ == other for other in rest) for hash_ in decision.kept)  # in page order
    assert len(decision.kept) + len(decision.dropped) == len(hashes)
    assert bool(decision.kept) == bool(hashes)
    assert all(verdict.keep or verdict.value is not None for verdict in decision.verdicts)  # no drop without evidence
    if decision.degraded or not decision.active:
        assert not decision.dropped
        assert decision.reason
    assert decision.judged + decision.untouched == len(hashes)
    assert json.loads(json.dumps(decision.to_dict(), allow_nan=False)) == decision.to_dict()
    block = gated_block(decision)
    assert (block is None) == (gated_line(decision) is None) == (not hashes or not decision.active)
    if block is not None:
        BLOCK.validate(block)
        assert block["kept"] + block["dropped"] == block["candidates"] == len(hashes)
    assert "\n" not in log_line(decision)
    assert len((gated_line(decision) or "").splitlines()) <= 2


@st.composite
def settings(draw: st.DrawFn) -> GateSettings:
    """Any settings that decide something."""
    levels = draw(st.integers(2, 10))
    return GateSettings(
        endpoint="http://localhost/",
        mode=draw(st.sampled_from(MODES)),
        threshold=draw(st.floats(0, 1)),
        levels=tuple(f"level {at}" for at in range(levels)),
        score_min=draw(st.floats(0, levels - 1)),
        min_keep=draw(st.integers(1, 6)),
        max_candidates=draw(st.integers(1, 6)),
        max_response_bytes=draw(st.sampled_from([100, 1 << 20])),
        retries=0,
        timeout=60,
    )


candidates = st.lists(
    st.builds(Candidate, hash=st.text(min_size=1).filter(str.strip), title=st.text(), summary=st.text(max_size=9)),
    max_size=8,
)


@given(settings(), candidates, st.lists(probabilities, min_size=8, max_size=8))
def test_decide(chosen: GateSettings, page: list[Candidate], given_values: list[float | None]) -> None:
    """The bar, the floor and the untouched are as docs/gate.md says, by a second, slower way of saying it."""
    judged = min(len(page), chosen.max_candidates)
    values = tuple(None if value is None else value * chosen.highest for value in given_values[:judged])
    decision = decide(page, Answers(values), chosen)
    check(decision, page)
    passing = {at for at in range(len(page)) if at >= judged or (v := values[at]) is None or v >= chosen.bar}
    if not passing and page:
        best = sorted(range(judged), key=lambda at: (-(values[at] or 0), at))
        passing = set(best[: chosen.min_keep])
        assert decision.floored
        assert decision.reason == f"no candidate reached the threshold; kept the best {len(passing)}"
    else:
        assert not decision.floored
        assert decision.reason is None
    assert {at for at, verdict in enumerate(decision.verdicts) if verdict.keep} == passing
    assert decision.unreadable == values.count(None)


@pytest.fixture(scope="module")
def replying() -> Iterator[tuple[httpx.Client, dict[str, Any]]]:
    """A client whose next reply is whatever is put beside it."""
    following: dict[str, Any] = {}

    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(following["status"], headers=following["headers"], stream=following["stream"])

    with httpx.Client(transport=httpx.MockTransport(reply)) as client:
        yield client, following


numbers = st.floats(allow_nan=True) | st.integers() | st.booleans() | st.none() | st.text(max_size=3)
answer = st.dictionaries(st.sampled_from(["noul", "probability", "score", "type"]), numbers) | numbers
bodies = st.binary() | st.dictionaries(
    st.sampled_from(["answers", "model", "usage", "m0", "m1", "m2"]),
    answer | st.dictionaries(st.sampled_from([f"m{at}" for at in range(7)]), answer),
).map(json.dumps).map(str.encode)
statuses = st.just(200) | st.integers(200, 599)
headers: st.SearchStrategy[dict[str, str]] = st.sampled_from(
    [{}, {"Content-Encoding": "gzip"}, {"Content-Encoding": "br"}, {"Retry-After": "x"}, {"Location": "http://x/"}]
)


@given(settings(), candidates, st.tuples(statuses, headers, bodies))
def test_evaluate_never_raises(
    replying: tuple[httpx.Client, dict[str, Any]],
    chosen: GateSettings,
    page: list[Candidate],
    reply: tuple[int, dict[str, str], bytes],
) -> None:
    """Whatever a server sends, under whatever settings, the gate returns a decision that is sound."""
    client, following = replying
    status, headers, body = reply
    following.update(status=status, headers=headers, stream=httpx.ByteStream(body))
    with RecallGate(chosen, client=client) as gate:
        decision = gate.evaluate("the task", page)
    check(decision, page)
    if status != 200 and page:
        assert decision.degraded


def test_answers_must_match_the_page() -> None:
    """Answers to another number of candidates are the caller's mistake."""
    with pytest.raises(ValueError, match="2 answers for 3 candidates"):
        decide(page(), Answers((1.0, 1.0)), GateSettings())


def test_same_hash_twice() -> None:
    """Two candidates with one hash are judged apart, and narrowed apart."""
    twins = [Candidate(hash="x", title="a"), Candidate(hash="x", title="b")]
    decision = decide(twins, Answers((0.1, 0.9)), GateSettings())
    assert (decision.kept, decision.dropped) == (("x",), ("x",))
    assert narrow(["a", "b"], decision) == ["b"]


def test_to_dict() -> None:
    """The audit as plain data, whole."""
    decided = decide(page(3), Answers((0.9, 0.1), "jev-1.13.0", Usage(7)), GateSettings(max_candidates=2))
    assert decided.to_dict() == {
        "kept": ["m0", "m2"],
        "dropped": ["m1"],
        "verdicts": [
            {"hash": "m0", "value": 0.9, "keep": True},
            {"hash": "m1", "value": 0.1, "keep": False},
            {"hash": "m2", "value": None, "keep": True},
        ],
        "mode": "noul",
        "model": "jev-latest",
        "judged": 2,
        "active": True,
        "degraded": False,
        "floored": False,
        "reason": None,
        "answered_model": "jev-1.13.0",
        "usage": {"input_tokens": 7, "output_tokens": None},
        "elapsed": 0.0,
        "untouched": 1,
        "unreadable": 0,
    }


def test_refused_page_is_whole() -> None:
    """A refusal keeps all, and is no floor."""
    decision = decide(page(), Refused("HTTP 500"), GateSettings())
    assert (decision.degraded, decision.floored, decision.kept) == (True, False, ("m0", "m1", "m2"))


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Verdict(5, 0.5, keep=True), "hash"),  # type: ignore[arg-type] # a wrong type is what is tested
        (lambda: Verdict("a", float("nan"), keep=True), "value"),
        (lambda: Verdict("a", None, keep=1), "keep"),  # type: ignore[arg-type] # ditto
        (lambda: Answers((1,)), "values"),
        (lambda: Answers((float("inf"),)), "values"),
        (lambda: Answers((None,), model=5), "model"),  # type: ignore[arg-type] # ditto
        (lambda: Refused(None), "reason"),  # type: ignore[arg-type] # ditto
        (lambda: Usage(-1), "input_tokens"),
        (lambda: Usage(output_tokens=True), "output_tokens"),
        (lambda: GateDecision(verdicts=("a",), mode="noul", model="m", judged=1), "verdicts"),  # type: ignore[arg-type] # ditto
        (lambda: GateDecision(verdicts=(), mode="zzz", model="m", judged=0), "mode"),  # type: ignore[arg-type] # ditto
        (lambda: GateDecision(verdicts=(), mode="noul", model="m", judged=-1), "judged"),
        (lambda: GateDecision(verdicts=(), mode="noul", model="m", judged=1), "judged"),
        (lambda: GateDecision(verdicts=(DROPPED,), mode="noul", model="m", judged=1, degraded=True), "verdicts"),
        (lambda: GateDecision(verdicts=(DROPPED,), mode="noul", model="m", judged=1, active=False), "verdicts"),
        (lambda: GateDecision(verdicts=(), mode="noul", model="m", judged=0, active=False, degraded=True), "degraded"),
        (lambda: Verdict("a", 10**400, keep=True), "value"),
        (lambda: Verdict("a", 10**5000, keep=True), "value"),
        (lambda: GateSettings(timeout=10**400), "timeout"),
        (lambda: GateSettings(min_keep=10**5000), "min_keep"),
    ],
)
def test_data_is_checked_when_it_is_made(build: Callable[[], object], field: str) -> None:
    """No record of the gate holds what it should not, and the error names the field."""
    with pytest.raises(ValueError, match=f"^{field} must "):
        build()


def test_a_server_may_count_any_number_of_tokens() -> None:
    """There is no upper limit to what a server says it used."""
    assert Usage(10**30).input_tokens == 10**30
