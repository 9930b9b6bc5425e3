"""What reaches people: untrusted text made harmless, consoles that know where they write, JSON for programs."""

import json
import re
import sys
from typing import Any, Final

from rich.console import Console

#: Colours by what they say, readable on dark and on light ground; none is ever the only carrier of a fact.
BAD: Final = "bold red"
GOOD: Final = "green"
ASIDE: Final = "dim"
STRONG: Final = "bold"
HELP: Final = "cyan"
ESCAPED: Final = "magenta"

_ALSO_SHOWN = {"\t": "    "}
_BEYOND_ASCII = re.compile("[^ -~]+")


def shown(character: str) -> str:
    """Return *character* as it may be shown: itself if printable, else its escape (a tab is four spaces).

    Control codes, direction marks, zero-width characters and lone surrogates can hide or rewrite what a terminal
    shows, so none of them gets there.
    """
    if character.isprintable():
        return character
    return _ALSO_SHOWN.get(character) or character.encode("unicode_escape").decode("ascii")


def harmless(text: str) -> str:
    """Return *text* with every character that is not printable escaped."""
    return text if text.isprintable() else "".join(map(shown, text))


def in_json(value: object) -> str:
    """Return what stands in JSON for a value that it has no type for: bytes in hexadecimal digits, else its text."""
    return value.hex() if isinstance(value, bytes) else str(value)


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=in_json)


def json_line(value: Any) -> str:
    """Return *value* as one line of JSON: readable, exact, and harmless on a terminal."""
    line = _encoder.encode(value)
    return line if line.isprintable() else _BEYOND_ASCII.sub(_spelled, line)


def _spelled(run: re.Match[str]) -> str:
    # JSON can spell any character in ASCII, and has nothing but ASCII outside its strings.
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in run.group())


_USUAL_WIDTH = 80


class Terminal(Console):
    """A console that prints what it is given: no markup, no wrapping, no end of the process on a broken pipe."""

    def __init__(self, *, stderr: bool) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)
        if not self.width:  # COLUMNS=0 would crop everything away
            self.width = _USUAL_WIDTH

    def on_broken_pipe(self) -> None:
        """Hand the error on: how a command ends is decided in one place, and not by rich."""
        raise BrokenPipeError


def write_line(line: str) -> None:
    """Write a line to standard output as UTF-8, whatever the locale, and at once.

    At once, so that it stands before the diagnostics that follow it, a pipeline sees it, and Ctrl-C cuts nothing off.
    """
    stream = sys.stdout.buffer
    rest = memoryview(line.encode() + b"\n")
    while rest:  # an unbuffered stream (PYTHONUNBUFFERED) may take but a part
        rest = rest[stream.write(rest) :]
    stream.flush()
