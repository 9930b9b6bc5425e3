"""``gategrammar conformance``: how it runs a program, and what it says of one that does not behave."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gategrammar import format_response

COMMAND = [sys.executable, "-m", "gategrammar", "conformance"]
TEXT = format_response("t", update_gate=True, candidate="m", exit_gate=False)
RESULT = {"think": "t", "update_gate": True, "candidate": "m", "exit_gate": False}
ANSWER = json.dumps({"result": RESULT, "error": None})


def write(path: Path, *records: dict[str, object]) -> str:
    """Write cases as JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return str(path)


@pytest.fixture
def case(tmp_path: Path) -> str:
    """Return a file with one case."""
    return write(tmp_path / "cases.jsonl", {"name": "one", "text": TEXT, "expect": RESULT, "section": "8"})


def program(path: Path, source: str) -> str:
    """Return the command of a program in Python."""
    script = path / "program.py"
    script.write_text(source, "utf-8")
    return f"'{sys.executable}' '{script}'"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False, text=True, encoding="utf-8")


def test_a_table_of_rules(tmp_path: Path) -> None:
    """The table counts by rule, names what fails and why, and sums up the sorts of failures."""
    cases = write(
        tmp_path / "cases.jsonl",
        {"name": "right", "text": TEXT, "expect": RESULT, "section": "8"},
        {"name": "wrong", "text": TEXT, "expect": {**RESULT, "exit_gate": True}, "section": "5.1"},
        {"name": "bad", "text": "", "expect": {"error": {"kind": "missing", "tag": "think", "offset": 0}}},
        {"name": "lone", "text": "\ud800", "expect": RESULT, "section": "2.1"},
    )
    done = run("--cases", cases, "--command", program(tmp_path, f"print({ANSWER!r})"))
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "section   pass  fail  skip  what it says",
        "2.1          0     0     1  every code point may stand in a text",
        "5.1          0     1     0  check and next hold exactly one value",
        "         wrong: differs: result.exit_gate is false, not true",
        "8            1     0     0  the result and its spans",
        "-            0     1     0  cases without a rule",
        f"         bad: accepts: result is {json.dumps(RESULT)}; "
        'due was error {"kind": "missing", "tag": "think", "offset": 0}',
        "all          1     2     1",
        "                   1        accepts: read as a response what is none",
        "                   1        differs: read something else, or named another error",
        "                         1  skipped: holds a lone surrogate, which no UTF-8 text can",
    ]


def test_modes_as_arguments_and_in_the_environment(tmp_path: Path) -> None:
    """A program gets the modes of a case wherever it looks for them, and the text byte for byte."""
    text = "\ufeff\r\n\u2028\0é😀 "
    cases = write(
        tmp_path / "cases.jsonl",
        {"name": "n", "text": text, "expect": RESULT, "think": "absent", "outside_text": "forbid"},
    )
    source = (
        "import json, os, sys\n"
        "open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())\n"
        "assert sys.argv[2:] == ['--think=absent', 'forbid', '{other}'], sys.argv\n"
        "assert os.environ['GATEGRAMMAR_THINK'] == 'absent'\n"
        "assert os.environ['GATEGRAMMAR_OUTSIDE_TEXT'] == 'forbid'\n"
        f"print({ANSWER!r})\n"
    )
    seen = tmp_path / "seen"
    command = f"{program(tmp_path, source)} '{seen}' --think={{think}} {{outside_text}} {{other}}"
    done = run("--cases", cases, "--command", command)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert seen.read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import time; time.sleep(60)", "no answer: none within 0.5 s"),
        (
            "import sys; sys.exit('cannot \\x1b[31mgo on')",
            r"no answer: printed nothing; standard error ends: cannot \x1b[31mgo on",
        ),
        ("import os; os.kill(os.getpid(), 9)", "no answer: printed nothing; ended by signal 9"),
        ("print('\\x1b]0;title\\x07')", r'no answer: printed no JSON: "\u001b]0;title\u0007\n"'),
    ],
)
def test_programs_that_do_not_answer(tmp_path: Path, case: str, source: str, said: str) -> None:
    """A program that stalls, dies or prints something else fails the case, and the report says how; nothing is run."""
    limit = "0.5" if "sleep" in source else "60"
    done = run("--cases", case, "--timeout", limit, "--command", program(tmp_path, source))
    assert done.returncode == 1
    assert f"         one: {said}" in done.stdout.splitlines()


def test_what_a_program_leaves_running_is_not_waited_for(tmp_path: Path, case: str) -> None:
    """A child that keeps the output open holds up nothing: the answer counts when the program ends."""
    source = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\n"
        f"print({ANSWER!r})\n"
    )
    left = tmp_path / "pid"
    done = run("--cases", case, "--command", f"{program(tmp_path, source)} '{left}'")
    os.kill(int(left.read_text()), signal.SIGKILL)  # it is still there
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "--command is empty; give the program to check"),
        ("'open", "--command cannot be split into words: No closing quotation"),
        ("no-such-program-anywhere", "cannot run no-such-program-anywhere: No such file or directory"),
        ("/dev/null", "cannot run /dev/null: Permission denied"),
    ],
)
def test_programs_that_cannot_be_run(case: str, command: str, message: str) -> None:
    """A program that there is not is wrong usage, not a failure of every case, and says what to do."""
    done = run("--cases", case, "--command", command)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (2, [])
    assert done.stderr.splitlines()[-1] == f"Error: {message}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes"),
        ('{"name": "n"}', "the field 'text' of a case is missing, or not a string"),
        ('{"name": "n", "text": "", "expect": {}, "think": "no"}', "think must be one of"),
    ],
)
def test_files_that_hold_no_cases(tmp_path: Path, line: str, message: str) -> None:
    """A record that is no case ends the run before it begins, with its file and line."""
    path = tmp_path / "cases.jsonl"
    path.write_text(f"\n{line}\n", "utf-8")
    done = run("--cases", str(path), "--command", "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(f"Error: {path}:2: {message}")


def test_interrupt(tmp_path: Path, case: str) -> None:
    """Ctrl-C ends the run with 130, says how far it got, and leaves no program running."""
    begun = tmp_path / "begun"
    source = "import os, sys, time\nopen(sys.argv[1], 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    command = f"{program(tmp_path, source)} '{begun}'"
    with subprocess.Popen(
        [*COMMAND, "--cases", case, "--timeout", "60", "--command", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        while not (begun.exists() and begun.read_text()):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the program too
        assert process.wait() == 130
        assert process.stderr is not None
        assert process.stderr.read() == "interrupted; 0 of 1 cases done\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
