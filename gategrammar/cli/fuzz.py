"""``gategrammar fuzz``: cases for the tests of other programs."""

import sys
from typing import Any

import click

from gategrammar.cli import _options

#: What there is to draw: the strategies of gategrammar.fuzzing.
KINDS = ("responses", "near-misses", "mutations", "trajectories", "answers")


@click.command(epilog="Exit code: 0, or 2 for wrong usage. Their form: fixtures/README.md in the repository.")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(KINDS),
    multiple=True,
    default=("responses", "near-misses"),
    show_default=True,
    help="What to draw; more than one take turns.",
)
@click.option("--count", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="How many.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="The same seed, the same cases.")
@_options.modes
def command(**options: Any) -> None:
    """Write test cases: one JSON object a line on standard output, each a text with the verdict it must get.

    responses parse; near-misses have one defect; of mutations only this package knows the verdict; trajectories are the
    answers of whole loops; answers are replies to the recall gate, which has no such modes.
    """
    try:
        from gategrammar.cli._fuzz import run
    except ModuleNotFoundError as missing:
        if missing.name != "hypothesis":
            raise
        raise click.UsageError("hypothesis is not installed; run: pip install 'gategrammar[cli,fuzzing]'") from None

    sys.exit(run(**options))
