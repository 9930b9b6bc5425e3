"""``gategrammar parse``: responses in, one JSON object each out."""

import sys
from typing import Any

import click

from gategrammar.cli import _options


@click.command(epilog="Exit code: 0 all good, 1 some response failed, 2 wrong usage or unreadable input.")
@_options.reading
@_options.modes
@click.option("--pretty", is_flag=True, help="Print a table to read instead of JSON.")
@click.option(
    "--error-limit",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Explain at most N errors of each kind and tag; 0: all.",
)
@click.option("-q", "--quiet", is_flag=True, help="Explain no errors; print only the summary.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if responses failed (unreadable input is still 2).")
def command(files: tuple[str, ...], **options: Any) -> None:
    """Parse gate responses: one JSON object for each on standard output, what is wrong on standard error.

    A FILE is one response, or one a line if it is called .jsonl; - is standard input.
    """
    from gategrammar.cli._run import run

    sys.exit(run(files, **options))
