"""``gategrammar score``: trajectories in, the format reward of each out."""

import sys
from typing import Any

import click

from gategrammar.cli import _options


@click.command(epilog="Exit code: 0 all good, 1 some response failed, 2 wrong usage or unreadable input.")
@_options.files
@click.option(
    "--turns",
    default="turns",
    show_default=True,
    metavar="PATH",
    help="Where in a record the list of turns stands; dots lead into objects and lists.",
)
@click.option(
    "--group-by",
    multiple=True,
    metavar="PATH",
    help="Each record is one turn; those with the same value here are a trajectory, wherever they stand. "
    "May be given more than once.",
)
@click.option(
    "--field",
    default="response",
    show_default=True,
    metavar="PATH",
    help="Where in a turn the response stands; a turn that is a string is the response.",
)
@click.option(
    "--step", default="step", show_default=True, metavar="PATH", help="Where in a record the training step stands."
)
@_options.modes
@click.option("--report", metavar="FILE.html", help="Write a page with charts and the commonest failures.")
@_options.telling(error_limit=1)
def command(files: tuple[str, ...], **options: Any) -> None:
    """Score trajectories: r_format of each on standard output, the totals on standard error.

    A trajectory scores 1.0 if every turn of it parses, else 0.0. A FILE is Parquet if it is called .parquet, else it
    is JSONL; - is standard input.
    """
    from gategrammar.cli._score import run

    sys.exit(run(files, **options))
