"""The command line as real processes: pipes, signals, peak memory."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gategrammar import format_response

COMMAND = [sys.executable, "-m", "gategrammar"]
VALID = format_response("t", update_gate=True, candidate="m", exit_gate=False)
#: Without what would hide that a flush is missing.
SURROUNDINGS = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
ENVIRONMENT = {**SURROUNDINGS, "TERM": "xterm-256color", "COLUMNS": "100"}


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False, env=ENVIRONMENT
    )


@contextmanager
def started(*arguments: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command with a pipe to write to, and see that it is gone at the end."""
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=ENVIRONMENT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write to the standard input of a process."""
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


def read_line(process: subprocess.Popen[bytes]) -> bytes:
    """Read a line of the standard output of a process."""
    assert process.stdout is not None
    return process.stdout.readline()


def peak(*arguments: object) -> int:
    """Return the peak memory of a run, in kB; its exit code does not matter."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=-3);"
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMAND, *map(str, arguments)], capture_output=True, check=True, env=ENVIRONMENT
    )
    return int(done.stdout) // (1024 if sys.platform == "darwin" else 1)
