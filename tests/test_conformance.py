"""The conformance kit: it is whole, it passes what is right and fails what is wrong, with the true reason."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import cases
from gategrammar.conformance import (
    ACCEPTS,
    DIFFERS,
    KINDS,
    NO_ANSWER,
    OPTIONAL,
    REFUSES,
    RULES,
    Failure,
    Vector,
    judge,
    shipped,
    vector,
)
from oracle import oracle

ROOT = Path(__file__).parent.parent
NAIVE = ROOT / "examples" / "naive_regex.py"
#: What runs as the command gategrammar, in the interpreter of the tests.
GATEGRAMMAR = [sys.executable, "-m", "gategrammar"]
#: Starts a program whose coverage is not measured: there are hundreds, and to measure one takes longer than it does.
UNMEASURED = "env -u COVERAGE_PROCESS_CONFIG -u COVERAGE_PROCESS_START"
OWN = f"{UNMEASURED} {sys.executable} -m gategrammar parse --text --think {{think}} --outside-text {{outside_text}} -"
GOOD = "<think>why</think><check>yes</check><update>m</update><next>end</next>"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``gategrammar conformance``."""
    command = [*GATEGRAMMAR, "conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


@cache
def naive(*options: str) -> dict[str, str | None]:
    """Return what the naive reader gets wrong: by case, the kind of failure, or None where it is right."""
    command = f"{UNMEASURED} {sys.executable} {NAIVE} {' '.join(options)}"
    done = run("--format", "tap", "--jobs", "2", "--command", command)
    assert (done.returncode, done.stderr) == (1, "")
    return dict(tap(done.stdout))


def tap(report: str) -> Iterator[tuple[str, str | None]]:
    """Yield the cases of a TAP report with the kinds of their failures; its form is checked on the way."""
    first, *lines, plan = report.splitlines()
    assert first == "TAP version 14"
    number = 0
    while lines:
        number += 1
        line, *lines = lines
        verdict, _, name = line.partition(f"ok {number} - ")
        kind = None
        if verdict:
            assert verdict == "not "
            opened, diagnostic, closed, *lines = lines
            assert (opened, closed) == ("  ---", "  ...")
            kind = json.loads(diagnostic)["kind"]
        yield name.partition(" ")[2], kind
    assert plan == f"1..{number}"


#: The ways in which readers in the wild go wrong, each with a case that has it, and what the two naive readers make of
#: it: one anchored pattern, and a search for each element by itself.
WILD = [
    ("invalid/think-duplicate-whole-response-twice", ACCEPTS, ACCEPTS),
    ("invalid/update-duplicate-second-pair", ACCEPTS, ACCEPTS),
    ("responses/think-quotes-check", ACCEPTS, ACCEPTS),
    ("responses/update-quotes-next", ACCEPTS, ACCEPTS),
    ("responses/cut-at-56", DIFFERS, DIFFERS),
    ("responses/update-before-check", DIFFERS, ACCEPTS),
    ("invalid/check-bad-value", DIFFERS, ACCEPTS),
    ("responses/value-stop", DIFFERS, ACCEPTS),
    ("responses/value-template-echo-words", DIFFERS, ACCEPTS),
    ("valid/update-ampersand-and-less-than", None, None),
    ("valid/prefilled", REFUSES, REFUSES),
]


@pytest.mark.parametrize(("name", "anchored", "first_match"), WILD)
def test_naive_readers_fail_where_readers_in_the_wild_do(
    name: str, anchored: str | None, first_match: str | None
) -> None:
    """The kit can fail a program: it shows what an anchored regex and a first-match regex are known to get wrong."""
    assert naive()[name] == anchored
    assert naive("--first-match")[name] == first_match


def test_naive_readers_are_right_about_plain_responses() -> None:
    """The kit does not fail everything: what is plain, the naive readers read."""
    for options in ((), ("--first-match",)):
        right = [name for name, kind in naive(*options).items() if kind is None]
        assert {"gate-response-valid", "valid/yes-end", "valid/no-continue"} <= set(right)
        assert len(right) > 40


def test_this_package_passes() -> None:
    """The command of this package passes every case of the specification; what cannot be passed on is skipped."""
    done = run("--format", "tap", "--jobs", "2", "--command", OWN)
    assert (done.returncode, done.stderr) == (0, "")
    ran = dict(tap(done.stdout))
    assert len(ran) == len(list(shipped()))
    assert set(ran.values()) == {None}
    assert [name for name in ran if "# SKIP" in name] == [
        "responses/update-lone-surrogate # SKIP holds a lone surrogate, which no UTF-8 text can"
    ]


def test_the_kit_is_whole() -> None:
    """It holds every fixture under a name of its own, with a rule that is explained; each rule has a case."""
    kit = list(shipped(recorded=True))
    pairs = [*cases.pairs("."), *cases.pairs("valid"), *cases.pairs("invalid")]
    assert len(kit) == len(pairs) + len(cases.handed()) + len(cases.recorded())
    assert len({case.name for case in kit}) == len(kit)
    assert {case.rule for case in kit} == set(RULES)
    assert [case for case in kit if case.rule != "recorded"] == list(shipped())


@pytest.mark.parametrize("case", list(shipped()), ids=lambda case: case.name)
def test_the_oracle_passes(case: Vector) -> None:
    """Every case is right by the oracle, in all fields, and the judge says so."""
    verdict = oracle(case.text, case.think, case.outside_text)
    answer = verdict if "error" in verdict else {"result": verdict}
    assert judge(case, json.dumps({"result": None, "error": None, **answer}).encode()) is None


CASE = Vector("case", "3", GOOD, oracle(GOOD))
BAD = Vector("bad", "2", GOOD[:-1], oracle(GOOD[:-1]))


def changed(case: Vector, **fields: Any) -> bytes:
    """Return the right answer to *case* with some fields changed; Ellipsis leaves one out."""
    (name, right) = ("error", case.expect["error"]) if "error" in case.expect else ("result", case.expect)
    answer = {field: value for field, value in {**right, **fields}.items() if value is not ...}
    return json.dumps({"result": None, "error": None, name: answer, "extra": 1}).encode()


@pytest.mark.parametrize("field", CASE.expect)
def test_every_field_of_a_result_is_compared(field: str) -> None:
    """Another value is a difference; a field that is not there is one unless it may be left out."""
    wrong = judge(CASE, changed(CASE, **{field: "other"}))
    assert wrong is not None
    assert wrong.kind == DIFFERS
    assert wrong.what.startswith(f'result.{field} is "other", not ')
    missing = judge(CASE, changed(CASE, **{field: ...}))
    assert missing == (None if field in OPTIONAL else Failure(DIFFERS, f"result.{field} is missing"))


@pytest.mark.parametrize("field", BAD.expect["error"])
def test_every_field_of_an_error_is_compared(field: str) -> None:
    """The same for an error."""
    wrong = judge(BAD, changed(BAD, **{field: "other"}))
    assert wrong is not None
    assert wrong.what.startswith(f'error.{field} is "other", not ')
    missing = judge(BAD, changed(BAD, **{field: ...}))
    assert missing == (None if field in OPTIONAL else Failure(DIFFERS, f"error.{field} is missing"))


def test_types_are_compared() -> None:
    """1 is not true: a program that prints numbers for the gates is told so."""
    assert judge(CASE, changed(CASE, update_gate=1)) == Failure(DIFFERS, "result.update_gate is 1, not true")
    assert judge(BAD, changed(BAD, offset=True)) is not None


@pytest.mark.parametrize(
    ("output", "what"),
    [
        (b"", "printed nothing"),
        (b" \n", "printed nothing"),
        (b"yes", 'printed no JSON: "yes"'),
        (b"{}{}", 'printed no JSON: "{}{}"'),
        (b"\xff", r'printed no JSON: "\\xff"'),
        (b"[" * 100_000, "printed JSON that is nested too deeply"),
        (b"[]", 'printed no object in which one of result and error is null: "[]"'),
        (b"{}", 'printed no object in which one of result and error is null: "{}"'),
    ],
)
def test_what_is_no_answer(output: bytes, what: str) -> None:
    """What is no JSON object of the right form is no answer, and the message shows the beginning of it."""
    assert judge(CASE, output) == Failure(NO_ANSWER, what)


def test_both_result_and_error_is_no_answer() -> None:
    """A program that gives a result and an error at once has decided nothing."""
    failure = judge(CASE, json.dumps({"result": CASE.expect, "error": BAD.expect["error"]}).encode())
    assert failure is not None
    assert failure.kind == NO_ANSWER


def test_accepting_and_refusing() -> None:
    """The two failures that change a memory are told apart from those that only name an error differently."""
    accepted = judge(BAD, changed(CASE))
    refused = judge(CASE, changed(BAD))
    assert (accepted and accepted.kind, refused and refused.kind) == (ACCEPTS, REFUSES)
    assert set(KINDS) == {ACCEPTS, REFUSES, DIFFERS, NO_ANSWER}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "", "expect": {}}, "the field 'name' of a case is missing, or not a string"),
        ({"name": "n", "text": 1, "expect": {}}, "the field 'text' of a case is missing, or not a string"),
        ({"name": "n", "text": "", "expect": []}, "the field 'expect' of a case is missing, or not an object"),
        ({"name": "n", "text": "", "expect": {}, "think": "never"}, "think must be one of"),
    ],
)
def test_records_that_are_no_cases(record: dict[str, Any], message: str) -> None:
    """What is no case is refused, and the message names the field."""
    with pytest.raises(ValueError, match=message):
        vector(record)
