"""``gategrammar score`` as a process: Ctrl-C, the bar, memory, a missing extra."""

import json
import os
import pty
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import commands
from commands import VALID, feed, read_line

run = partial(commands.run, "score")
started = partial(commands.started, "score")
peak = partial(commands.peak, "score")
LINE = (json.dumps({"id": 1, "turns": [VALID, VALID], "response": VALID}) + "\n").encode()


def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C ends the run with 130, the totals so far, and a report that says so."""
    page = tmp_path / "a.html"
    with started("-", "--report", str(page)) as process:
        feed(process, LINE * 3)
        assert all(json.loads(read_line(process))["r_format"] == 1.0 for _ in range(3))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert out == b""
    assert err.decode().splitlines() == [
        "interrupted; until then:",
        "3 trajectories: 3 right, 0 wrong; r_format 1.000",
        "6 responses: 6 parsed, 0 failed",
    ]
    assert process.returncode == 130
    assert "The run was interrupted" in page.read_text("utf-8")


def test_interrupt_of_groups() -> None:
    """Rows of a trajectory may stand in what was not read, so none is scored; the responses are counted."""
    with started("-", "--group-by", "id", "--error-limit", "0") as process:
        feed(process, LINE * 3 + b'{"id": 2, "response": ""}\n')
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"error[missing think]")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert out == b""
    assert err.decode().splitlines()[-6:] == [
        "interrupted; until then:",
        "0 trajectories: 0 right, 0 wrong; r_format –",
        "trajectories are scored when all rows are read, since any may go on in those that are not",
        "4 responses: 3 parsed, 1 failed (25.0%)",
        "  1  missing  think  1 at the end of the text",
        "truncated: 1 (25.0% of the responses)",
    ]
    assert process.returncode == 130


def test_the_bar_shows_what_is_left(tmp_path: Path) -> None:
    """On a terminal a long run over a file (long, since nobody reads what it writes) shows rate and remaining time."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINE * 5_000)
    slow = "import sys, time; time.sleep(1); sys.stdin.read()"
    terminal, theirs = pty.openpty()
    with os.fdopen(terminal, "rb", buffering=0) as screen, started(str(path), stderr=theirs) as process:
        os.close(theirs)
        reader = subprocess.Popen([sys.executable, "-c", slow], stdin=process.stdout)
        seen = b""
        while b"r_format" not in seen:
            seen += screen.read(65536)
        assert reader.wait() == process.wait() == 0
    assert b" read, " in seen
    assert b"/s" in seen
    assert b"0:00:" in seen


@pytest.mark.parametrize("options", [[], ["--group-by", "id"]], ids=["lists", "groups"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, options: list[str]) -> None:
    """Fifteen times the rows, each with a name, a step and a failure of its own, take hardly more memory."""
    sizes = {}
    for count in (1_000, 15_000):
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            for number in range(count):
                text = f"<think></think><check>{number} is{'x' * 500}</check>"
                row = {"id": f"{number}-{'x' * 100}", "step": number, "turns": [text], "response": text}
                file.write(f"{json.dumps(row)}\n")
        sizes[count] = peak(path, "--quiet", *options)
        path.unlink()
    assert sizes[15_000] - sizes[1_000] < 12_000


@pytest.mark.parametrize(
    ("hidden", "arguments", "message"),
    [
        ("pyarrow", ["a.parquet"], "Parquet needs pyarrow, which is not installed"),
        ("jinja2", ["-", "--report", "a.html"], "jinja2 is not installed; run: pip install 'gategrammar[report]'"),
    ],
)
def test_a_missing_extra(hidden: str, arguments: list[str], message: str) -> None:
    """Without an extra the command says which one is missing, and needs it for nothing else."""
    hide = (
        "import importlib.util, sys\nfind = importlib.util.find_spec\n"
        f"sys.modules[{hidden!r}] = None\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {hidden!r} else find(name, *rest)\n"
    )
    code = [sys.executable, "-c", f"{hide}from gategrammar.cli import main\nmain()", "score"]
    done = subprocess.run([*code, *arguments], input=b"", capture_output=True, check=False, env=commands.ENVIRONMENT)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    done = subprocess.run([*code, "-"], input=LINE, capture_output=True, check=False, env=commands.ENVIRONMENT)
    assert done.returncode == 0
