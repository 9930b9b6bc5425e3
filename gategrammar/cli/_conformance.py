"""What ``gategrammar conformance`` does: run the program on each case, judge what it prints, report by rule."""

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

import attrs
import click
from rich.text import Text

from gategrammar.cli import _terminal as terminal
from gategrammar.cli._ending import Exit, orderly
from gategrammar.cli._progress import Bar
from gategrammar.cli._rows import Fault, rows
from gategrammar.cli._terminal import Terminal, harmless, json_line, write_line
from gategrammar.conformance import KINDS, NO_ANSWER, RULES, Failure, Vector, judge, shipped, vector

#: Where a program that wants no arguments finds the modes of a case.
_VARIABLES = {"think": "GATEGRAMMAR_THINK", "outside_text": "GATEGRAMMAR_OUTSIDE_TEXT"}
_SKIPPED = "holds a lone surrogate, which no UTF-8 text can"


@attrs.frozen
class _Outcome:
    """What became of a case: what is wrong with the answer, or that it could not be run."""

    case: Vector
    failure: Failure | None = None
    skipped: bool = False


def run(program: str, *, cases: Sequence[Path], recorded: bool, form: str, timeout: float, jobs: int) -> Exit:
    """Check *program*; arguments as the options of ``gategrammar conformance``."""
    words = _split(program)
    vectors = [case for path in cases for case in _read(path)] if cases else list(shipped(recorded=recorded))
    report = _Tap() if form == "tap" else _Table()
    pool = ThreadPoolExecutor(jobs)
    outcomes: list[_Outcome] = []
    with orderly(lambda: click.echo(f"interrupted; {len(outcomes)} of {len(vectors)} cases done", err=True)):
        try:
            with Bar(Terminal(stderr=True), len(vectors), "run") as bar:
                for outcome in bar.track(pool.map(partial(_check, words, timeout), vectors)):
                    outcomes.append(outcome)
                    report.add(outcome)
                    bar.read(1)
        finally:
            pool.shutdown(cancel_futures=True)
        report.close()
    return Exit.FAILED if any(outcome.failure for outcome in outcomes) else Exit.GOOD


def _split(program: str) -> list[str]:
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise click.UsageError(f"--command cannot be split into words: {error}") from None
    if not words:
        raise click.UsageError("--command is empty; give the program to check")
    return words


def _read(path: Path) -> Iterator[Vector]:
    """Read cases from a file; the first that is none ends the run, since a report on the others would mislead."""
    for row in rows(str(path), lambda _: None):
        place = f"{harmless(str(path))}{f':{row.line}' if row.line else ''}"
        if isinstance(row, Fault):
            raise click.UsageError(f"{place}: {harmless(row.what)}")
        try:
            yield vector(row.fields)
        except ValueError as error:
            raise click.UsageError(f"{place}: {error}") from None


def _check(words: Sequence[str], timeout: float, case: Vector) -> _Outcome:
    """Run the program on one case and judge what it prints."""
    if case.data is None:
        return _Outcome(case, skipped=True)
    modes = {name: getattr(case, name) for name in _VARIABLES}
    command = [_filled(word, modes) for word in words]
    environment = os.environ | {variable: modes[name] for name, variable in _VARIABLES.items()}
    # Files, not pipes: what the program leaves running cannot keep them open, so a time-out is one.
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        stdin.write(case.data)
        stdin.seek(0)
        try:
            done = subprocess.run(  # noqa: S603 - running it is what the user asked for
                command, stdin=stdin, stdout=stdout, stderr=stderr, timeout=timeout, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            return _Outcome(case, Failure(NO_ANSWER, f"none within {timeout:g} s"))
        except OSError as error:
            raise click.UsageError(f"cannot run {harmless(command[0])}: {error.strerror or error}") from None
        stdout.seek(0)
        failure = judge(case, stdout.read())
        if failure is None or failure.kind != NO_ANSWER:
            return _Outcome(case, failure)
        what = failure.what
        if done.returncode < 0:
            what += f"; ended by signal {-done.returncode}"
        stderr.seek(0)
        if said := stderr.read().decode(errors="backslashreplace").strip().splitlines():
            what += f"; standard error ends: {said[-1]}"
        return _Outcome(case, Failure(NO_ANSWER, what))


def _filled(word: str, modes: dict[str, str]) -> str:
    for name, mode in modes.items():
        word = word.replace(f"{{{name}}}", mode)
    return word


class _Tap:
    """Test Anything Protocol, version 14: a line a case, as it comes."""

    def __init__(self) -> None:
        self._number = 0
        write_line("TAP version 14")

    def add(self, outcome: _Outcome) -> None:
        """Write the line of one case, and what is wrong as a diagnostic."""
        self._number += 1
        failed = "not " if outcome.failure else ""
        name = harmless(f"{outcome.case.rule} {outcome.case.name}".strip()).replace("\\", "\\\\").replace("#", "\\#")
        write_line(f"{failed}ok {self._number} - {name}{f' # SKIP {_SKIPPED}' if outcome.skipped else ''}")
        if outcome.failure:
            diagnostic = {"kind": outcome.failure.kind, "message": outcome.failure.what}
            write_line(f"  ---\n  {json_line(diagnostic)}\n  ...")  # JSON is YAML

    def close(self) -> None:
        """Write the plan, by which a reader knows that nothing was cut off."""
        write_line(f"1..{self._number}")


class _Table:
    """A table to read: a line a rule, below it the cases that fail."""

    def __init__(self) -> None:
        self._console = Terminal(stderr=False)
        self._outcomes: dict[str, list[_Outcome]] = {rule: [] for rule in RULES}

    def add(self, outcome: _Outcome) -> None:
        """Note one case."""
        self._outcomes.setdefault(outcome.case.rule, []).append(outcome)

    def close(self) -> None:
        """Print the table."""
        every = [outcome for outcomes in self._outcomes.values() for outcome in outcomes]
        self._console.print(Text(f"{'section':8} {'pass':>5} {'fail':>5} {'skip':>5}  what it says", terminal.STRONG))
        for rule, outcomes in self._outcomes.items():
            if outcomes:
                self._console.print(_counts(rule or "-", outcomes, RULES.get(rule, "cases without a rule")))
            for outcome in outcomes:
                if outcome.failure:
                    self._console.print(Text(f"         {harmless(outcome.case.name)}: {_said(outcome.failure)}"))
        self._console.print(_counts("all", every, ""))
        failures = [outcome.failure.kind for outcome in every if outcome.failure]
        for kind, meaning in KINDS.items():
            if count := failures.count(kind):
                self._console.print(Text(f"{count:20}        {kind}: {meaning}"))
        if skipped := sum(outcome.skipped for outcome in every):
            self._console.print(Text(f"{skipped:26}  skipped: {_SKIPPED}"))


def _said(failure: Failure) -> str:
    return harmless(f"{failure.kind}: {failure.what}")


def _counts(rule: str, outcomes: Sequence[_Outcome], title: str) -> Text:
    failed = sum(outcome.failure is not None for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    line = Text(f"{harmless(rule):8} ")
    line.append(f"{len(outcomes) - failed - skipped:5}", terminal.GOOD)
    line.append(f" {failed:5}", terminal.BAD if failed else terminal.ASIDE)
    line.append(f" {skipped:5}", "" if skipped else terminal.ASIDE)
    return line.append(f"  {title}" if title else "")
