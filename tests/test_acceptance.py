"""What the first task asked for, by its names: a1 to a9."""

import pytest
from hypothesis import given, settings

import cases
from gategrammar import (
    BadValueError,
    DuplicateTagError,
    GateParseError,
    MissingTagError,
    UnclosedTagError,
    parse,
)
from oracle import oracle
from strategies import mutations


def read(name: str) -> str:
    """Return the text of a fixture."""
    return (cases.FIXTURES / name).read_bytes().decode("utf-8")


def test_a1_wellformed_yes_continue() -> None:
    """A well-formed response with yes and continue replaces the memory and goes on."""
    response = parse(read("gate-response-valid.txt"))
    assert response.update_gate is True
    assert response.exit_gate is False
    assert response.think.startswith("The question asks which flag")
    assert response.candidate.endswith("made 20 of 20 runs pass.")
    assert response.next_memory("old") == response.candidate


def test_a2_wellformed_no_end() -> None:
    """A well-formed response with no and end keeps the memory and stops; the candidate is kept to look at."""
    response = parse(read("valid/no-end.txt"))
    assert response.update_gate is False
    assert response.exit_gate is True
    assert response.candidate == "Keep 14.4; it fixes the duplicate rows."
    assert response.next_memory("old") == "old"


def test_a3_missing_check_errors() -> None:
    """Without check there is an error that names it, where the next tag stands."""
    text = read("invalid/check-missing.txt")
    with pytest.raises(MissingTagError) as caught:
        parse(text)
    assert (caught.value.kind, caught.value.tag, caught.value.found) == ("missing", "check", "<update>")
    assert caught.value.offset == text.index("<update>")


def test_a4_duplicate_update_errors() -> None:
    """A second update is an error at its opening tag: two memories are none."""
    text = read("invalid/update-duplicate.txt")
    with pytest.raises(DuplicateTagError) as caught:
        parse(text)
    assert (caught.value.kind, caught.value.tag) == ("duplicate", "update")
    assert caught.value.offset == text.rindex("<update>")


def test_a5_bad_check_value_errors() -> None:
    """A check that is neither yes nor no is an error whose message shows what was there."""
    with pytest.raises(BadValueError, match="maybe") as caught:
        parse(read("invalid/check-bad-value.txt"))
    assert (caught.value.kind, caught.value.tag, caught.value.value) == ("bad_value", "check", "maybe")


@pytest.mark.parametrize("tag", ["think", "check", "update", "next"])
def test_a6_unclosed_tag_errors(tag: str) -> None:
    """An element that is not closed is an error that names it, before another tag and at the end."""
    for name, truncated in ((f"{tag}-unclosed", False), (f"{tag}-unclosed-at-end", True)):
        with pytest.raises(UnclosedTagError) as caught:
            parse(read(f"invalid/{name}.txt"))
        assert (caught.value.kind, caught.value.tag, caught.value.truncated) == ("unclosed", tag, truncated)


def test_a7_nested_think() -> None:
    """Nested and repeated think is one content up to the last </think> before check."""
    response = parse(read("gate-response-nested-think.txt"))
    assert response.think.startswith("The section is a release note. <think>Does 14.4 fix it")
    assert response.think.endswith("that very query. Then it does.")
    assert response.think.count("<think>") == response.think.count("</think>") == 2
    assert (response.update_gate, response.exit_gate) == (True, True)


@given(text=mutations())
@settings(max_examples=1000)
def test_a8_no_defaults(text: str) -> None:
    """No mutation of a valid response yields a default: the verdict is the oracle's, in every field."""
    assert cases.verdict(text) == oracle(text)


@pytest.mark.parametrize("case", cases.recorded(), ids=str)
def test_a9_real_responses(case: cases.Case) -> None:
    """Each real answer gives its recorded verdict; the malformed ones must be errors (§8)."""
    if "error" not in case.expect:
        response = parse(case.text)
        assert case.expect == {name: getattr(response, name) for name in case.expect}
        return
    with pytest.raises(GateParseError) as caught:
        parse(case.text)
    assert case.expect["error"] == {name: getattr(caught.value, name) for name in case.expect["error"]}
