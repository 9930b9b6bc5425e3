"""Diagnostics in the manner of a good compiler: what is wrong, where, the line itself with a caret, and a hint.

A diagnostic is data first (what to say, and which parts of which text to mark); laying it out is the second step, and
the same for a response that does not parse and for a line that could not be read.
"""

import re
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
#: Hints speak of the arguments of parse(), which are options here.
_ARGUMENT = re.compile(r'\b(think)="(\w+)"')
#: What ends a line of a response (SPEC §9).
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
        one_line: whether *source* is but one line, whatever stands in it.
        hint: what to do, or what may have happened.
    """

    code: str
    message: str
    where: str
    source: str | None = None
    mark: Mark = Mark(0, 0)
    also: Mark | None = None
    first_line: int = 1
    one_line: bool = False
    hint: str | None = None

    def place(self, offset: int) -> Place:
        """Return where in the file the code point *offset* of the source stands."""
        if self.one_line:
            return Place(self.first_line, offset + 1)
        return Place(self.first_line).after(self.source or "", offset)


@attrs.frozen
class Excerpt:
    """A line of a source, or a part of it, with what is marked in it.

    Attributes:
        before: the text before the mark, as it stands in the source.
        marked: what is marked; may be empty.
        after: the text after it.
        cut_before: whether the line begins before *before*.
        cut_after: whether it goes on after *after*.
        number: of the line, 1-based.
        gap: whether lines are left out before it.
        main: whether the mark is what is wrong, and not what explains it.
        label: what to say there.
    """

    before: str
    marked: str
    after: str
    cut_before: bool = False
    cut_after: bool = False
    number: int = 1
    gap: bool = False
    main: bool = True
    label: str = ""


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
        hint=error.hint and _ARGUMENT.sub(r"--\1 \2", error.hint),
    )


def of_fault(fault: Fault) -> Diagnostic:
    """Return what is to be said of input that could not be read."""
    diagnostic = Diagnostic(
        code=fault.kind,
        message=fault.what,
        where=name(fault.file),
        source=fault.source,
        mark=Mark(fault.offset, fault.offset),
        first_line=fault.line or 1,
        one_line=fault.in_row,
        hint=fault.hint,
    )
    if fault.line is None:
        return diagnostic
    found = diagnostic.place(fault.offset)
    where = f"{diagnostic.where}:{found.line}" + (f":{found.column}" if fault.source is not None else "")
    return attrs.evolve(diagnostic, where=where)


def layout(diagnostic: Diagnostic, width: int) -> Text:
    """Lay a diagnostic out for a terminal that is *width* cells wide; an empty line ends it."""
    lines = excerpts(diagnostic, width)
    gutter = max((len(str(line.number)) for line in lines), default=1)
    text = Text.assemble(
        (f"error[{diagnostic.code}]", terminal.BAD),
        (f": {terminal.harmless(diagnostic.message)}\n", terminal.STRONG),
        (f"{'':{gutter}}--> ", terminal.ASIDE),
        f"{diagnostic.where}\n",
    )
    for line in lines:
        if line.gap:
            text.append("...\n", terminal.ASIDE)
        text.append(f"{line.number:>{gutter}} | ", terminal.ASIDE)
        before, marked, after = (_visible(part) for part in (line.before, line.marked, line.after))
        before = Text(_CUT if line.cut_before else "", terminal.ASIDE).append_text(before)
        text.append_text(before).append_text(marked).append_text(after)
        text.append(_CUT if line.cut_after else "", terminal.ASIDE)
        text.append(f"\n{'':{gutter}} | ", terminal.ASIDE)
        carets = ("^" if line.main else "-") * max(cell_len(marked.plain), 1)
        label = line.label and f" {line.label}"
        text.append(f"{' ' * cell_len(before.plain)}{carets}{label}\n", terminal.BAD if line.main else terminal.HELP)
    if diagnostic.hint:
        text.append(f"{'':{gutter}} = ", terminal.ASIDE)
        text.append("hint: ", terminal.HELP).append(f"{terminal.harmless(diagnostic.hint)}\n")
    return text.append("\n")


def excerpts(diagnostic: Diagnostic, width: int) -> list[Excerpt]:
    """Return the lines of the source that are to be shown in *width* cells: what is wrong, after what explains it."""
    if diagnostic.source is None:
        return []
    marks = {diagnostic.place(mark.start).line: mark for mark in (diagnostic.also, diagnostic.mark) if mark}
    stops = "" if diagnostic.one_line else _STOPS
    gutter = max(len(str(number)) for number in marks)
    lines: list[Excerpt] = []
    for number, mark in sorted(marks.items()):
        room = max(width - gutter - len(" | ") - len(mark.label and f" {mark.label}"), _LEAST)
        before = lines[-1].number if lines else number - 1
        line = _excerpt(diagnostic.source, mark, room, stops)
        lines.append(
            attrs.evolve(line, number=number, gap=number > before + 1, main=mark is diagnostic.mark, label=mark.label)
        )
    return lines


def _excerpt(source: str, mark: Mark, width: int, stops: str) -> Excerpt:
    """Return the line round a mark, cut to *width* cells; *stops* end a line.

    A line may be as long as the memory allows, so nothing further away than *width* is looked at.
    """
    low, high = max(0, mark.start - width), min(len(source), mark.start + width)
    begin = max([low, *(source.rfind(stop, low, mark.start) + 1 for stop in stops)])
    end = min([high, *(at for stop in stops if (at := source.find(stop, mark.start, high)) >= 0)])
    left, right = source[begin : mark.start], source[mark.start : end]
    cut_left = begin > 0 and source[begin - 1] not in stops
    cut_right = end < len(source) and source[end] not in stops
    if cut_left or cut_right or _cells(left) + _cells(right) > width:
        room = width - 2 * cell_len(_CUT)
        room_right = min(_cells(right), max(room // 2, room - _cells(left)))
        fit_left, fit_right = _fit(reversed(left), room - room_right), _fit(right, room_right)
        cut_left, cut_right = cut_left or fit_left < len(left), cut_right or fit_right < len(right)
        left, right = left[len(left) - fit_left :], right[:fit_right]
    marked = right[: mark.end - mark.start]
    return Excerpt(left, marked, right[len(marked) :], cut_before=cut_left, cut_after=cut_right)


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
