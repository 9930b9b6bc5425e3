"""``gategrammar parse``: responses in, one JSON object each out."""

import sys
from typing import Any

import click

from gategrammar.cli import _options


@click.command(epilog="Exit code: 0 all good, 1 some response failed, 2 wrong usage or unreadable input.")
@_options.files
@_options.jsonl
@_options.field
@_options.modes
@click.option("--pretty", is_flag=True, help="Print a table to read instead of JSON.")
@_options.telling(error_limit=5)
def command(files: tuple[str, ...], **options: Any) -> None:
    """Parse gate responses: one JSON object for each on standard output, what is wrong on standard error.

    A FILE is one response, or one a line if it is called .jsonl; - is standard input.
    """
    from gategrammar.cli._run import run

    sys.exit(run(files, **options))
