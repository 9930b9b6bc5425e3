"""Options that several commands share, spelled once."""

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar, get_args

import click

from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _added(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return a decorator that adds *options*, in their order."""
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


#: What is read.
files = click.argument("files", nargs=-1, required=True, metavar="FILE... | -")
#: How files are taken apart into records.
jsonl = click.option(
    "--jsonl/--text",
    default=None,
    help="Each input holds one record a line, or is one response. "
    "[default: .jsonl, .ndjson and standard input hold records, everything else is one response]",
)
field = click.option(
    "--field",
    default="response",
    show_default=True,
    metavar="PATH",
    help="Where in a record the response stands; dots lead into objects and lists.",
)
#: How the reasoning arrives (SPEC §7).
think = click.option(
    "--think",
    type=click.Choice(get_args(Think)),
    default=REQUIRED,
    show_default=True,
    help="How the reasoning arrives: in the text, begun at the end of the prompt, or in another field.",
)
#: How a response is parsed (SPEC §6 and §7).
modes = _added(
    think,
    click.option(
        "--outside-text",
        type=click.Choice(get_args(OutsideText)),
        default=IGNORE,
        show_default=True,
        help="What to do about text outside the elements.",
    ),
)


def telling(error_limit: int) -> Callable[[_Command], _Command]:
    """Add how much is said of what is wrong, and what the exit code says.

    Args:
        error_limit: how many errors of each kind and tag are explained if the user does not say.
    """
    return _added(
        click.option(
            "--error-limit",
            type=click.IntRange(min=0),
            default=error_limit,
            show_default=True,
            metavar="N",
            help="Explain at most N errors of each kind and tag; 0: all.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Explain no errors; print only the summary."),
        click.option(
            "--exit-zero", is_flag=True, help="Exit with 0 even if responses failed (unreadable input is still 2)."
        ),
    )
