"""``gategrammar conformance``: another program held to the cases of the specification."""

import os
import sys
from pathlib import Path
from typing import Any

import click

#: How the report is written.
FORMS = ("table", "tap")


@click.command(
    epilog="Exit code: 0 all cases pass, 1 some fail, 2 wrong usage, or the program cannot be run. "
    "For this package itself: gategrammar conformance --command "
    "'gategrammar parse --text --think {think} --outside-text {outside_text} -'"
)
@click.option(
    "--command",
    "program",
    required=True,
    metavar="PROGRAM",
    help="The program and its arguments, split as a shell would, but not run by one. {think} and {outside_text} in it "
    "become the modes of a case, which also stand in the environment: GATEGRAMMAR_THINK, GATEGRAMMAR_OUTSIDE_TEXT.",
)
@click.option(
    "--cases",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Cases as JSON lines, such as gategrammar fuzz writes, instead of those of the specification.",
)
@click.option("--recorded", is_flag=True, help="The recorded answers of real models too.")
@click.option("--format", "form", type=click.Choice(FORMS), default=FORMS[0], show_default=True, help="The report.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the program may take for a case.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    show_default="one a processor",
    metavar="N",
    help="How many cases are run at a time.",
)
def command(program: str, **options: Any) -> None:
    """Check a reader of gate responses, written in any language.

    PROGRAM is started once for each case. It reads one response on standard input, UTF-8, to its end, and prints one
    JSON object: {"result": {...}, "error": null} or {"result": null, "error": {...}}. A result needs the four fields
    think, update_gate, candidate and exit_gate, an error kind, tag and offset; the others are compared if they are
    there. Its exit code and its standard error do not matter.
    """
    from gategrammar.cli._conformance import run

    sys.exit(run(program, **options))
