"""Options that several commands share, spelled once."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think

_Command = TypeVar("_Command", bound=Callable[..., Any])


def reading(command: _Command) -> _Command:
    """Add what is read, and how."""
    for option in reversed(
        (
            click.argument("files", nargs=-1, required=True, metavar="FILE... | -"),
            click.option(
                "--jsonl/--text",
                default=None,
                help="Each input holds one record a line, or is one response. "
                "[default: .jsonl, .ndjson and standard input hold records, everything else is one response]",
            ),
            click.option(
                "--field",
                default="response",
                show_default=True,
                metavar="PATH",
                help="Where in a record the response stands; dots lead into objects and lists.",
            ),
        )
    ):
        command = option(command)
    return command


#: How the reasoning arrives (semantics §5).
think = click.option(
    "--think",
    type=click.Choice(get_args(Think)),
    default=REQUIRED,
    show_default=True,
    help="How the reasoning arrives: in the text, begun at the end of the prompt, or in another field.",
)


def modes(command: _Command) -> _Command:
    """Add how a response is parsed (semantics 2.4 and §5)."""
    for option in reversed(
        (
            think,
            click.option(
                "--outside-text",
                type=click.Choice(get_args(OutsideText)),
                default=IGNORE,
                show_default=True,
                help="What to do about text outside the elements.",
            ),
        )
    ):
        command = option(command)
    return command
