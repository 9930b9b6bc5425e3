"""How a command ends when it is not let finish: Ctrl-C, a reader that went away, a full disk."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TextIO

import click


class Exit(IntEnum):
    """How a command ends; the last two as a shell spells an end by SIGINT and by SIGPIPE."""

    GOOD = 0
    FAILED = 1
    UNREADABLE = 2
    INTERRUPTED = 130
    BROKEN_PIPE = 141


@contextmanager
def orderly(interrupted: Callable[[], None]) -> Iterator[None]:
    """Turn what ends a run from outside into an exit code, without a traceback.

    Args:
        interrupted: tells, after Ctrl-C, how far the run got.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        _demand_output()
        if before is signal.SIG_DFL:  # see main(); where SIGINT is ignored (nohup), it stays so
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # who cannot wait for the summary presses twice
            interrupted()
            sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        _discard(sys.stdout)
        sys.exit(Exit.BROKEN_PIPE)
    except OSError as error:
        _discard(sys.stdout)
        try:
            click.echo(f"gategrammar: cannot write the output: {error.strerror or error}", err=True)
        except OSError:  # it may be on the same full disk; the exit code still tells
            _discard(sys.stderr)
        sys.exit(Exit.UNREADABLE)
    finally:
        signal.signal(signal.SIGINT, before)


def _demand_output() -> None:
    if sys.stdout is None:  # what Python makes of a descriptor that the shell closed
        raise OSError("it is closed")


def _discard(stream: TextIO | None) -> None:
    """Send what is still buffered nowhere: Python would try to write it, and complain, when it ends."""
    if stream is not None:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
