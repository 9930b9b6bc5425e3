"""``gategrammar parse`` as a process: pipes, signals, terminals, full disks, memory."""

import json
import os
import pty
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

import commands
from commands import SURROUNDINGS, VALID, feed, read_line
from gategrammar import format_response

COMMAND = [*commands.COMMAND, "parse"]
run = partial(commands.run, "parse")
started = partial(commands.started, "parse")
peak = partial(commands.peak, "parse")
LINE = (json.dumps({"response": VALID}) + "\n").encode()


@pytest.mark.parametrize(
    ("stdin", "exits"), [(LINE, 0), (LINE + b'{"response": ""}', 1), (b'{"response": ""}\n{', 2), (b"", 0)]
)
def test_exit_codes(stdin: bytes, exits: int) -> None:
    """The exit code of the process is the worst that happened."""
    assert run("-", stdin=stdin).returncode == exits


def test_a_broken_pipe_is_quiet() -> None:
    """When the reader of the output goes away, the run ends as by SIGPIPE, without a word."""
    with started("-") as process:
        feed(process, LINE)
        assert read_line(process)
        assert process.stdout is not None
        process.stdout.close()
        feed(process, LINE)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_broken_pipe_of_the_table_is_quiet() -> None:
    """The same for --pretty."""
    with started("--pretty", "-") as process:
        assert read_line(process).startswith(b"response")
        assert process.stdout is not None
        process.stdout.close()
        feed(process, LINE)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_nowhere_left_to_write() -> None:
    """With both streams on a full disk nobody can be told, but the exit code still says that it went wrong."""
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run([*COMMAND, "-"], input=LINE, stdout=full, stderr=full, env=SURROUNDINGS, check=False)
    assert process.returncode == 2


def test_interrupt() -> None:
    """Ctrl-C ends the run with 130 and the summary so far, and every line that was written is whole."""
    with started("-") as process:
        feed(process, LINE * 3)
        lines = [read_line(process) for _ in range(3)]
        assert all(json.loads(line)["error"] is None for line in lines)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (out, err) == (b"", b"interrupted; until then: 3 responses: 3 parsed, 0 failed\n")
        assert process.returncode == 130


def test_interrupt_may_be_ignored() -> None:
    """Where the parent ignores SIGINT (nohup, a background job), so does the run."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with started("-") as process:
            feed(process, LINE)
            assert read_line(process)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(LINE)
            assert json.loads(out)["error"] is None
            assert process.returncode == 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_response_is_written_as_soon_as_it_is_read() -> None:
    """A line that goes in comes out before the next one goes in: the command can follow a growing log."""
    with started("-") as process:
        for _ in range(3):
            feed(process, LINE)
            assert json.loads(read_line(process))["result"]["candidate"] == "m"


@pytest.mark.parametrize(("redirect", "why"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")])
@pytest.mark.parametrize("option", ["--jsonl", "--pretty"])
def test_output_that_cannot_be_written(redirect: str, why: str, option: str) -> None:
    """A full disk or a closed output is exit 2 and one line."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirect}', "sh", *COMMAND, option, "-"],
        input=LINE,
        capture_output=True,
        check=False,
        env=SURROUNDINGS,
    )
    assert done.returncode == 2
    assert done.stderr.decode() == f"gategrammar: cannot write the output: {why}\n"


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """JSON is UTF-8 (RFC 8259); the table falls back to escapes where the locale cannot say it."""
    (tmp_path / "a.txt").write_text(format_response("漢", update_gate=True, candidate="m", exit_gate=False), "utf-8")
    locale = {**SURROUNDINGS, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [*COMMAND, str(tmp_path / "a.txt")]
    done = subprocess.run(command, capture_output=True, check=True, env=locale)
    assert json.loads(done.stdout)["result"]["think"] == "漢"
    done = subprocess.run([*command, "--pretty"], capture_output=True, check=True, env=locale)
    assert b"\\u6f22" in done.stdout


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A file of 100 MB takes the memory that one of 100 kB takes, give or take a tenth of the difference."""
    line = (
        json.dumps(
            {"response": format_response("t" * 50_000, update_gate=True, candidate="m" * 50_000, exit_gate=False)}
        )
        + "\n"
    )
    sizes = {}
    for count in (1, 1000):
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            file.writelines(line for _ in range(count))
        sizes[count] = peak(path)
        path.unlink()
    assert sizes[1000] - sizes[1] < 10_000


def until(terminal: int, wanted: bytes, process: subprocess.Popen[bytes] | None = None) -> bytes:
    """Read a terminal until *wanted* is there; feed the process meanwhile, since bars come to long runs only."""
    seen = b""
    while wanted not in seen:
        if process is not None:
            feed(process, LINE)
            read_line(process)
            os.set_blocking(terminal, False)
        try:
            seen += os.read(terminal, 65536)
        except BlockingIOError:
            continue
        finally:
            os.set_blocking(terminal, True)
    return seen


def test_the_progress_bar() -> None:
    """On a terminal a long run shows how many responses it has read, at what rate; the bar goes before the summary."""
    terminal, theirs = pty.openpty()
    with os.fdopen(terminal, "rb", buffering=0), started("-", stderr=theirs) as process:
        os.close(theirs)
        until(terminal, b" read, ", process)
        assert process.stdin is not None
        process.stdin.close()
        end = until(terminal, b" failed")
        assert b"\x1b[2K" in end
        assert process.wait() == 0


def test_unbuffered_output() -> None:
    """With an unbuffered standard output a response longer than a pipe holds is still written whole."""
    text = format_response("t" * 1_000_000, update_gate=True, candidate="m", exit_gate=False)
    done = subprocess.run(
        [*COMMAND, "--text", "-"],
        input=text.encode(),
        capture_output=True,
        check=True,
        env={**commands.ENVIRONMENT, "PYTHONUNBUFFERED": "1"},
    )
    assert len(json.loads(done.stdout)["result"]["think"]) == 1_000_000
