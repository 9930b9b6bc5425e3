"""``gategrammar export``: the grammar for constrained decoding, and the instructions for a prompt."""

import json
from collections.abc import Callable
from typing import Any, get_args

import click

from gategrammar.cli import _options
from gategrammar.export import DEFAULT_BOUND, FORMATS, ExportError, export, instructions, notes, stop_strings
from gategrammar.export.language import Profile
from gategrammar.response._tables import ELEMENTS

#: What is exported for people and models, not for an engine.
_PROMPT = "prompt"


def _bounds(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for the bound of each element with free text."""
    for element in reversed(ELEMENTS):
        if element.values is None:
            command = click.option(
                f"--max-{element.name}",
                type=int,
                metavar="N",
                help=f"Generation profile: bound {element.name} to N characters. [default: {DEFAULT_BOUND}]",
            )(command)
    return command


_HELP = f"""Print the grammar of the responses in FORMAT, for constrained decoding.

\b
{chr(10).join(f"{name:12} {form.title}" for name, form in FORMATS.items())}
{_PROMPT:12} instructions for a prompt; the stop strings on standard error

Where a notation has no comments, what one would say is printed on standard error.
"""


@click.command(help=_HELP, epilog="Exit code: 0 all good, 2 wrong usage, or the format cannot say it.")
@click.argument("format_", metavar="FORMAT", type=click.Choice([*FORMATS, _PROMPT]))
@click.option(
    "--profile",
    type=click.Choice(get_args(Profile)),
    help="generation: what a weak model can finish; parse: exactly what the parser accepts. "
    "[default: generation where the format can say it]",
)
@_options.think
@_bounds
def command(format_: str, think: Any, **wanted: Any) -> None:
    """Print a grammar; see the help above."""
    from gategrammar.cli._terminal import write_line

    try:
        if format_ == _PROMPT:
            if given := [f"--{name.replace('_', '-')}" for name, value in wanted.items() if value is not None]:
                raise click.UsageError(f"{_PROMPT} takes no {', '.join(given)}")
            text, remarks = instructions(think), [f"stop strings: {json.dumps(stop_strings())}"]
        else:
            text = export(format_, think=think, **wanted)
            remarks = notes(format_, think=think, **wanted) if FORMATS[format_].remark is None else []
    except ExportError as error:
        raise click.UsageError(str(error)) from None
    for remark in remarks:
        click.echo(f"# {remark}", err=True)
    write_line(text.removesuffix("\n"))
