"""``gategrammar fuzz``: cases that other programs can be tested with."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cases import verdict
from gategrammar import GateParseError, try_parse
from gategrammar.cli.fuzz import KINDS
from gategrammar.conformance import judge, vector
from gategrammar.gate import Answers, GateSettings, Refused, read_answers
from oracle import oracle

COMMAND = [sys.executable, "-m", "gategrammar", "fuzz"]


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False)


def records(*arguments: str) -> list[dict[str, Any]]:
    """Return what the command writes."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS[:3])
@pytest.mark.parametrize(("think", "outside_text"), [("required", "ignore"), ("absent", "forbid")])
def test_texts(kind: str, think: Any, outside_text: Any) -> None:
    """Each text carries the verdict that the oracle gives it, in a form that the conformance kit takes."""
    drawn = records("--kind", kind, "--count", "20", "--think", think, "--outside-text", outside_text)
    assert len(drawn) == 20
    assert len({record["name"] for record in drawn}) == 20
    for record in drawn:
        assert (record["think"], record["outside_text"]) == (think, outside_text)
        expected = oracle(record["text"], think, outside_text)
        answer = expected if "error" in expected else {"result": expected}
        assert judge(vector(record), json.dumps({"result": None, "error": None, **answer}).encode()) is None
        assert verdict(record["text"], think, outside_text) == expected
    if kind != "mutations":
        assert {"error" in record["expect"] for record in drawn} == {kind == "near-misses"}


def test_trajectories() -> None:
    """Each trajectory is one that replaying it with the parser gives."""
    for run_ in records("--kind", "trajectories", "--count", "10"):
        memory, good, exited = "", True, False
        for turn in run_["turns"]:
            assert turn["memory_before"] == memory
            answer = try_parse(turn["response"])
            good = good and not isinstance(answer, GateParseError)
            if not isinstance(answer, GateParseError):
                memory, exited = answer.next_memory(memory), answer.exit_gate
        assert run_["expect"] == {"r_format": float(good), "final_memory": memory, "exited": exited}


def test_answers() -> None:
    """Each reply is read as it says."""
    for reply in records("--kind", "answers", "--count", "30"):
        body = reply["body"].encode() if "body" in reply else reply["body_latin1"].encode("latin-1")
        read = read_answers(body, GateSettings(mode=reply["mode"]), reply["count"])
        expect = reply["expect"]
        if "refused" in expect:
            assert read == Refused(expect["refused"])
        else:
            assert isinstance(read, Answers)
            assert list(read.values) == expect["values"]


def test_seeds_and_turns() -> None:
    """The same seed writes the same bytes, another seed others; kinds take turns."""
    arguments = ("--count", "6", "--kind", "near-misses", "--kind", "responses")
    first, again, other = run(*arguments), run(*arguments, "--seed", "0"), run(*arguments, "--seed", "1")
    assert first.stdout == again.stdout != other.stdout
    names = [json.loads(line)["name"].rpartition("-")[0] for line in first.stdout.splitlines()]
    assert names == ["near-misses-0", "responses-0"] * 3


def test_without_hypothesis(tmp_path: Path) -> None:
    """Where the extra is not installed, the command says what to install."""
    (tmp_path / "hypothesis.py").write_text("raise ModuleNotFoundError(name='hypothesis')", "utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from gategrammar.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "fuzz"], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (
        "Error: hypothesis is not installed; run: pip install 'gategrammar[cli,fuzzing]'"
    )


@pytest.mark.parametrize("arguments", [("--count", "0"), ("--kind", "noise"), ("--think", "never"), ("--seed", "x")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    """Wrong options are wrong usage, without a traceback."""
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr
