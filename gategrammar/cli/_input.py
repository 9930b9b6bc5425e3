"""Records: a response in a row of a JSONL file, or a text file that is one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from gategrammar.cli._rows import Advance, Fault, Row, decode, is_jsonl, opened, rows, type_name, unreadable
from gategrammar.messages import Message, unpack
from gategrammar.response.errors import GateParseError, quote
from gategrammar.response.grammar import OutsideText, Think
from gategrammar.response.result import GateResponse

#: Digits of an index into a list; Python refuses to read numbers of thousands of them.
_LONGEST_INDEX = 18
#: A longer name is not suggested.
_LONG_NAME = 60
#: What a response comes to.
Verdict: TypeAlias = GateResponse | GateParseError


@attrs.frozen
class Record:
    """One response to be parsed.

    Attributes:
        file: as named on the command line.
        line: where in the file the record begins, 1-based.
        message: the response, with what a chat message says about it.
        rest: the other fields of its row.
        in_row: whether it stands in a row, so that positions in the text are not positions in the file.
        called: what it is called where a position in it is given.
    """

    file: str
    line: int
    message: Message
    rest: dict[str, Any]
    in_row: bool
    called: str = "response"

    @property
    def text(self) -> str:
        """The text of the response, in which the offsets of an error count."""
        return self.message.text

    def verdict(self, think: Think, outside_text: OutsideText) -> Verdict:
        """Parse the response; the modes are those of :func:`gategrammar.parse`."""
        try:
            return self.message.read(think=think, outside_text=outside_text)
        except GateParseError as error:
            return error.with_traceback(None)


def records(files: Iterable[str], *, jsonl: bool | None, field: str, advance: Advance) -> Iterator[Record | Fault]:
    """Read every response in *files*, one at a time.

    Args:
        files: paths; "-" is standard input.
        jsonl: whether they hold one record a line, or are one response each; None: by their names.
        field: where in a record the response stands; see :func:`select`.
        advance: is told how many bytes have been read.
    """
    for file in files:
        if is_jsonl(file) if jsonl is None else jsonl:
            for row in rows(file, advance):
                if isinstance(row, Row):
                    yield from select(row, field)
                else:
                    yield row
        else:
            yield whole(file, advance)


def whole(file: str, advance: Advance) -> Record | Fault:
    """Read a text file, which is one response; nothing in it is changed, neither CRLF nor a byte-order mark."""
    try:
        with opened(file) as stream:
            data = stream.read()
    except OSError as error:
        return unreadable(file, error)
    advance(len(data))
    text = decode(file, data)
    return text if isinstance(text, Fault) else Record(file, 1, Message(text), {}, in_row=False)


def select(row: Row, field: str) -> Iterator[Record | Fault]:
    """Take the response out of a row, or the responses: a recorded completion may have several choices.

    Args:
        row: a line of a JSONL file.
        field: the name of a field, or a dotted path into objects and lists: ``response.body``. There stands a text, or
            a chat message, a choice or a completion, read as by :func:`gategrammar.parse_message`.
    """
    path = split(row, field)
    value = find(row, path)
    if isinstance(value, Fault):
        yield value
        return
    rest = without(row.fields, path)
    for message in responses(row, path, value):
        yield message if isinstance(message, Fault) else Record(row.file, row.line, message, rest, in_row=True)


def split(row: Row, field: str) -> list[str]:
    """Return the steps of a path into a row; a field whose name holds dots goes before a path."""
    return [field] if field in row.fields else field.split(".")


def find(row: Row, path: Sequence[str]) -> Any | Fault:
    """Return what a path into a row leads to, or the fault that there is nothing."""
    value: Any = row.fields
    for depth, key in enumerate(path):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and len(key) < _LONGEST_INDEX and int(key) < len(value):
            value = value[int(key)]
        else:
            where = ".".join(path[:depth])
            return fault(row, f"{_named(where)} has no field {quote(key)}", _what_there_is(value, where))
    return value


def responses(row: Row, path: Sequence[str], value: Any) -> list[Message | Fault]:
    """Return the responses that *value* is or holds, to which *path* has led, each or why it is none."""
    if isinstance(value, str):
        return [Message(value)]
    if not isinstance(value, dict):
        hint = _INTO if isinstance(value, list) else None
        return [fault(row, f"{_named('.'.join(path))} is {type_name(value)}, not a string", hint)]
    choices = value.get("choices")
    number = len(choices) if isinstance(choices, list) and choices else 1
    return [_message(row, path, value, index) for index in range(number)]


def _message(row: Row, path: Sequence[str], value: dict[str, Any], index: int) -> Message | Fault:
    try:
        return unpack(value, index)
    except (TypeError, ValueError) as error:
        place = [*path, "choices", str(index)] if isinstance(value.get("choices"), list) else path
        return fault(row, f"{_named('.'.join(place))} holds no chat message: {error}", _INTO)


_INTO = "--field takes a path into objects and lists, such as response.body or response.choices.0"


def fault(row: Row, what: str, hint: str | None) -> Fault:
    """Return the fault that a row does not hold what it should."""
    return Fault("field", row.file, what, hint, row.line)


def _named(where: str) -> str:
    return f"field {quote(where)}" if where else "the record"


def _what_there_is(value: object, where: str) -> str:
    if isinstance(value, list):
        return f"it is a list of {len(value)}"
    if not isinstance(value, dict):
        return f"it is {type_name(value)}"
    prefix = f"{where}." if where else ""
    strings = [f"{prefix}{name}" for name, inner in value.items() if isinstance(inner, str) and len(name) < _LONG_NAME]
    return f"--field can be one of: {', '.join(strings[:8])}" if strings else "it holds no string"


def without(fields: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a copy of *fields* without what *path* leads to; what is shared stays shared."""
    rest = fields.copy()
    here: Any = rest
    for key in path[:-1]:
        step: Any = int(key) if isinstance(here, list) else key
        here[step] = here[step].copy()
        here = here[step]
    del here[int(path[-1]) if isinstance(here, list) else path[-1]]
    return rest
