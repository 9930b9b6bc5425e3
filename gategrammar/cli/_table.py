"""The readable table: one line a response, laid out as it comes, so that no input is too long for it."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

from rich.text import Text

from gategrammar.cli import _terminal as terminal
from gategrammar.cli._input import Record
from gategrammar.cli._rows import name
from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.errors import GateParseError
from gategrammar.response.result import GateResponse

_GAP = 2
#: Room for ":" and a line number.
_NUMBER = 7
#: Where a column would be narrower, the table is wider than the terminal.
_LEAST = 12
#: The gates come first: they are short, and what a reader looks for.
_COLUMNS = sorted(range(len(ELEMENTS)), key=lambda number: ELEMENTS[number].values is None)


class Table:
    """Lays out rows for a terminal; the widths are settled before the first row."""

    def __init__(self, files: Sequence[str], width: int) -> None:
        # The folders that all files share say nothing.
        steps = zip(*(PurePath(file).parent.parts for file in files), strict=False)
        shared = len(list(takewhile(lambda step: len(set(step)) == 1, steps)))
        self._names = {file: name(str(PurePath(*PurePath(file).parts[shared:]))) for file in files}
        longest = max(map(len, self._names.values()))
        self._where = min(longest + _NUMBER, max(width // 3, _LEAST))
        self._widths = [
            max(map(len, (element.name, *(element.values or ())))) if element.values else 0 for element in ELEMENTS
        ]
        self._rest = width - self._where - _GAP
        texts = self._widths.count(0)
        free = self._rest - sum(self._widths) - _GAP * (len(ELEMENTS) - 1)
        self._widths = [each or max(free // texts, _LEAST) for each in self._widths]

    def head(self) -> Text:
        """Return the line of column names."""
        cells = [_cell(ELEMENTS[number].name, self._widths[number], "underline") for number in _COLUMNS]
        return _joined(_cell("response", self._where, "underline"), *cells)

    def row(self, record: Record, outcome: GateResponse | GateParseError) -> Text:
        """Return the line of one response."""
        where = self._names[record.file] + (f":{record.line}" if record.in_row else "")
        if len(where) > self._where:
            where = f"…{where[1 - self._where :]}"
        first = _cell(where, self._where, terminal.ASIDE)
        if isinstance(outcome, GateParseError):
            said = f"error[{outcome.kind} {outcome.tag}]: {outcome.args[0]}"
            return _joined(first, _cell(said, max(self._rest, _LEAST), terminal.BAD))
        contents = (outcome.think, outcome.update_gate, outcome.candidate, outcome.exit_gate)
        return _joined(first, *(self._content(number, contents[number]) for number in _COLUMNS))

    def _content(self, number: int, content: str | bool) -> Text:
        if isinstance(content, str):
            return _cell(content, self._widths[number])
        value = next(value for value in ELEMENTS[number].values or () if MEANING[value] is content)
        return _cell(value, self._widths[number], terminal.GOOD if content else "")


def _cell(text: str, width: int, style: str = "") -> Text:
    """Return *text* on one line, *width* cells wide."""
    # No character but those of no width takes less than a cell, and their number does not matter here.
    cell = Text(terminal.harmless(" ".join(text[: width * 8].split())), style)
    cell.truncate(width, overflow="ellipsis", pad=True)
    return cell


def _joined(*cells: Text) -> Text:
    line = Text(" " * _GAP).join(cells)
    line.rstrip()
    return line
