"""Every case of fixtures/ gets its verdict, and the corpora are complete and paired."""

from collections import Counter

import pytest

import cases
from gategrammar import GateParseError, parse, try_parse

INVALID = cases.pairs("invalid")
# What §2 makes possible: every element with every fault, but values only where a value is asked for.
POSSIBLE = {
    (tag, kind)
    for tag in ("think", "check", "update", "next")
    for kind in ("missing", "unclosed", "unopened", "duplicate", "stray_text")
} | {("check", "bad_value"), ("next", "bad_value")}


@pytest.mark.parametrize("case", cases.handed(), ids=str)
def test_handed_cases(case: cases.Case) -> None:
    """Each of the handed cases gets its verdict."""
    assert cases.agrees(cases.verdict(case.text, **case.modes), case.expect)


@pytest.mark.parametrize("case", [*cases.pairs("."), *cases.pairs("valid")], ids=str)
def test_valid(case: cases.Case) -> None:
    """Each valid fixture parses to its four fields and its spans."""
    assert cases.verdict(case.text, **case.modes) == case.expect


@pytest.mark.parametrize("case", INVALID, ids=str)
def test_invalid(case: cases.Case) -> None:
    """Each invalid fixture is refused with exactly its fields; try_parse returns what parse raises."""
    with pytest.raises(GateParseError) as caught:
        parse(case.text, **case.modes)
    assert cases.verdict_of(caught.value) == case.expect
    returned = try_parse(case.text, **case.modes)
    assert isinstance(returned, GateParseError)
    assert (type(returned), str(returned)) == (type(caught.value), str(caught.value))


def test_invalid_holds_every_fault_under_its_name() -> None:
    """The names say element and fault, and no possible pair of them is left out."""
    for case in INVALID:
        error = case.expect["error"]
        assert case.name.startswith(f"{error['tag']}-{error['kind'].replace('_', '-')}")
    assert {(case.expect["error"]["tag"], case.expect["error"]["kind"]) for case in INVALID} == POSSIBLE


@pytest.mark.parametrize("folder", [".", "valid", "invalid"])
def test_texts_and_verdicts_are_paired(folder: str) -> None:
    """No text lacks its verdict and no verdict its text."""
    texts = {path.stem for path in (cases.FIXTURES / folder).glob("*.txt")}
    verdicts = {path.stem for path in (cases.FIXTURES / folder).glob("*.json")}
    assert texts == verdicts
    assert texts


def test_corpora_are_whole() -> None:
    """Nothing was lost: the number of handed cases and recordings, and how many of each model parse."""
    assert len(cases.handed()) == 115
    counts = Counter[tuple[str, bool]]()
    for path in (cases.FIXTURES / "recorded").glob("*.jsonl"):
        for record in cases.read_jsonl(path):
            assert record["model"] == path.stem
            counts[record["model"], "error" in record["expect"]] += 1
    assert counts == {
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", False): 135,
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", True): 84,
        ("smollm2-135m-instruct-q4_1", True): 98,
    }


@pytest.mark.parametrize("record", cases.trajectories(), ids=lambda record: record["id"])
def test_trajectories(record: dict[str, object]) -> None:
    """Replaying a recorded loop gives the memories the model was shown, the format reward and the end it had."""
    memory, exited, all_parsed = "", False, True
    turns = record["turns"]
    assert isinstance(turns, list)
    for turn in turns:
        assert not exited
        assert turn["memory_before"] == memory
        answer = try_parse(turn["response"])
        if isinstance(answer, GateParseError):
            all_parsed = False
            continue
        memory = answer.next_memory(memory)
        exited = answer.exit_gate
    assert record["expect"] == {"r_format": float(all_parsed), "final_memory": memory, "exited": exited}
