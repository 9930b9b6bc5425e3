"""Diagnostics in the manner of a good compiler: what is wrong, where, the line itself with a caret, and a hint.

A diagnostic is data first (what to say, and which parts of which text to mark); laying it out is the second step, and
the same for a response that does not parse and for a line that could not be read.
"""

from collections.abc import Iterable
from itertools import accumulate

import attrs
from rich.cells import cell_len
from rich.text import Text

from gategrammar.cli import _terminal as terminal
from gategrammar.cli._input import Record
from gategrammar.cli._rows import Fault, name
from gategrammar.response._tables import ELEMENTS
from gategrammar.response.errors import BadValueError, DuplicateTagError, GateParseError, Place, UnclosedTagError
from gategrammar.response.text import WHITE_SPACE, skip_space

#: Less is no line to look at; a narrow terminal wraps it.
_LEAST = 30
_CUT = "…"
#: What ends a line of a response (semantics §4).
_STOPS = "\r\n"


@attrs.frozen
class Mark:
    """A part of a text to point at: half-open offsets in code points, and what to say there."""

    start: int
    end: int
    label: str = ""


@attrs.frozen
class Diagnostic:
    """One thing to be said about the input.

    Attributes:
        code: what kind of thing, in a word or two.
        message: what is wrong.
        where: the place, as an editor or a terminal finds it.
        source: the text in which it stands; None where showing it would not help.
        mark: what is wrong in *source*.
        also: a part that explains it; shown when it stands on another line.
        first_line: the number of the first line of *source*.
        hint: what to do, or what may have happened.
    """

    code: str
    message: str
    where: str
    source: str | None = None
    mark: Mark = Mark(0, 0)
    also: Mark | None = None
    first_line: int = 1
    hint: str | None = None


def of_error(record: Record, error: GateParseError) -> Diagnostic:
    """Return what is to be said of a response that does not parse."""
    if record.in_row:
        where = f"{record.line} ({record.called}: line {error.line}, column {error.column})"
    else:
        where = f"{error.line}:{error.column}"
    return Diagnostic(
        code=f"{error.kind} {error.tag}",
        message=str(error.args[0]),
        where=f"{name(record.file)}:{where}",
        source=record.text,
        mark=_marked(record.text, error),
        also=_explaining(record.text, error),
        hint=error.hint,
    )


def of_fault(fault: Fault) -> Diagnostic:
    """Return what is to be said of input that could not be read."""
    where = name(fault.file)
    if fault.line is not None:
        found = Place(fault.line).after(fault.source or "", fault.offset)
        where += f":{found.line}" + (f":{found.column}" if fault.source is not None else "")
    return Diagnostic(
        code=fault.kind,
        message=fault.what,
        where=where,
        source=fault.source,
        mark=Mark(fault.offset, fault.offset),
        first_line=fault.line or 1,
        hint=fault.hint,
    )


def layout(diagnostic: Diagnostic, width: int) -> Text:
    """Lay a diagnostic out for a terminal that is *width* cells wide; an empty line ends it."""
    marks = sorted(_numbered(diagnostic).items())
    gutter = max((len(str(number)) for number, _ in marks), default=1)
    text = Text.assemble(
        (f"error[{diagnostic.code}]", terminal.BAD),
        (f": {terminal.harmless(diagnostic.message)}\n", terminal.STRONG),
        (f"{'':{gutter}}--> ", terminal.ASIDE),
        f"{diagnostic.where}\n",
    )
    before = marks[0][0] if marks else 0
    for number, mark in marks:
        if number > before + 1:
            text.append("...\n", terminal.ASIDE)
        before = number
        label = mark.label and f" {mark.label}"
        room = max(width - gutter - len(" | ") - len(label), _LEAST)
        source, start, end = _excerpt(diagnostic.source or "", mark, room)
        main = mark is diagnostic.mark
        text.append(f"{number:>{gutter}} | ", terminal.ASIDE).append_text(source)
        text.append(f"\n{'':{gutter}} | ", terminal.ASIDE)
        text.append(
            f"{' ' * start}{('^' if main else '-') * max(end - start, 1)}{label}\n",
            terminal.BAD if main else terminal.HELP,
        )
    if diagnostic.hint:
        text.append(f"{'':{gutter}} = ", terminal.ASIDE)
        text.append("hint: ", terminal.HELP).append(f"{terminal.harmless(diagnostic.hint)}\n")
    return text.append("\n")


def _numbered(diagnostic: Diagnostic) -> dict[int, Mark]:
    """Return what to mark by line; what is wrong goes before what explains it."""
    if diagnostic.source is None:
        return {}
    first = Place(diagnostic.first_line)
    marks = (diagnostic.also, diagnostic.mark)
    return {first.after(diagnostic.source, mark.start).line: mark for mark in marks if mark}


def _excerpt(source: str, mark: Mark, width: int) -> tuple[Text, int, int]:
    """Return the line round a mark, cut to *width* cells, and where in it the mark begins and ends, in cells.

    A line may be as long as the memory allows, so nothing further away than *width* is looked at.
    """
    low, high = max(0, mark.start - width), min(len(source), mark.start + width)
    begin = max(low, *(source.rfind(stop, low, mark.start) + 1 for stop in _STOPS))
    end = min(high, *(at for stop in _STOPS if (at := source.find(stop, mark.start, high)) >= 0), high)
    left, right = source[begin : mark.start], source[mark.start : end]
    cut_left = begin > 0 and source[begin - 1] not in _STOPS
    cut_right = end < len(source) and source[end] not in _STOPS
    if cut_left or cut_right or _cells(left) + _cells(right) > width:
        room = width - 2 * cell_len(_CUT)
        room_right = min(_cells(right), max(room // 2, room - _cells(left)))
        fit_left, fit_right = _fit(reversed(left), room - room_right), _fit(right, room_right)
        cut_left, cut_right = cut_left or fit_left < len(left), cut_right or fit_right < len(right)
        left, right = left[len(left) - fit_left :], right[:fit_right]
    marked = right[: mark.end - mark.start]
    text = Text().append(_CUT if cut_left else "", terminal.ASIDE)
    start = cell_len(text.append_text(_visible(left)).plain)
    stop = cell_len(text.append_text(_visible(marked)).plain)
    text.append_text(_visible(right[len(marked) :])).append(_CUT if cut_right else "", terminal.ASIDE)
    return text, start, stop


def _visible(text: str) -> Text:
    """Return *text* with what is escaped set apart from what only looks like an escape."""
    return Text.assemble(*((terminal.shown(c), "" if c.isprintable() else terminal.ESCAPED) for c in text))


def _cells(text: str) -> int:
    return sum(cell_len(terminal.shown(c)) for c in text)


def _fit(text: Iterable[str], room: int) -> int:
    """Return how many characters from the start of *text* fit into *room* cells."""
    return sum(used <= room for used in accumulate(cell_len(terminal.shown(c)) for c in text))


def _marked(text: str, error: GateParseError) -> Mark:
    """Return what is wrong: the value, the tag, the beginning of stray text, or the end of the text."""
    if isinstance(error, BadValueError) and error.value:
        start = skip_space(text, error.offset, len(text))
        return Mark(start, start + len(error.value))
    if error.found and text.startswith(error.found, error.offset):
        return Mark(error.offset, error.offset + len(error.found))
    if error.offset < len(text):
        return Mark(error.offset, error.offset)
    # The white space at the end is often a line break, and an empty line shows nothing.
    end = len(text.rstrip(WHITE_SPACE))
    return Mark(end, end, "the text ends here")


def _explaining(text: str, error: GateParseError) -> Mark | None:
    """Return the tag that brought the parser to where it failed, if there is one."""
    element = next(element for element in ELEMENTS if element.name == error.tag)
    if isinstance(error, UnclosedTagError | BadValueError):
        tag, label = element.opening.text, "opened here"
        # An element that may nest is open since its first tag; the others have but one before the error.
        start = text.find(tag, 0, error.offset)
    elif isinstance(error, DuplicateTagError):
        tag, label = element.closing.text, "complete here"
        start = text.rfind(tag, 0, error.offset)
    else:
        return None
    return Mark(start, start + len(tag), label) if start >= 0 else None
