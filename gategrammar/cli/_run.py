"""What ``gategrammar parse`` does: one pass over the input that reads, parses, writes, explains and counts."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from io import TextIOWrapper
from typing import Any, TypeAlias, cast

import click

from gategrammar.cli._ending import Exit, orderly
from gategrammar.cli._explain import Explainer
from gategrammar.cli._input import Record, Verdict, records
from gategrammar.cli._progress import Bar
from gategrammar.cli._rows import STDIN, Fault, size, too_deep
from gategrammar.cli._table import Table
from gategrammar.cli._tally import Tally
from gategrammar.cli._terminal import Terminal, json_line, write_line
from gategrammar.response.errors import GateParseError
from gategrammar.response.grammar import OutsideText, Think

#: How a response is laid out, and how the line that this makes is written.
_Form: TypeAlias = tuple[Callable[[Record, Verdict], Any], Callable[[Any], None]]


def run(
    files: Sequence[str],
    *,
    jsonl: bool | None,
    field: str,
    think: Think,
    outside_text: OutsideText,
    pretty: bool,
    error_limit: int,
    quiet: bool,
    exit_zero: bool,
) -> Exit:
    """Parse every response in *files*; arguments as the options of ``gategrammar parse``."""
    if files.count(STDIN) > 1:
        raise click.UsageError(f"{STDIN} is standard input, which can be read only once")
    explainer = Explainer(
        Terminal(stderr=True), Tally(), limit=0 if quiet else error_limit or sys.maxsize, at_end=pretty
    )
    with orderly(lambda: explainer.close(interrupted=True)):
        form: _Form = _table(files) if pretty else (_json, write_line)
        render, write = form
        with Bar(explainer.console, size(files)) as bar:
            for item in bar.track(records(files, jsonl=jsonl, field=field, advance=bar.read)):
                if isinstance(item, Fault):
                    explainer.fault(item)
                    continue
                verdict = item.verdict(think, outside_text)
                try:
                    line = render(item, verdict)
                except RecursionError:
                    explainer.fault(too_deep(item.file, item.line))
                else:
                    explainer.verdict(item, verdict, partial(write, line))
        explainer.close()
    return explainer.tally.exit(zero=exit_zero)


def _json(record: Record, verdict: Verdict) -> str:
    failed = isinstance(verdict, GateParseError)
    return json_line(
        {
            "file": record.file,
            "line": record.line,
            "result": None if failed else verdict.to_dict(),
            "error": verdict.to_dict() if failed else None,
            "input": record.rest,
        }
    )


def _table(files: Sequence[str]) -> _Form:
    console = Terminal(stderr=False)
    # What the locale's encoding lacks is escaped too.
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    table = Table(files, console.width)
    console.print(table.head())
    return table.row, console.print
