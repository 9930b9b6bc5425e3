"""Reading: files and standard input become records, and what is unreadable becomes faults that say where and why.

A fault never ends the reading: what follows it is still read. Everything is a stream of one record at a time, so that
a file may be larger than the memory.
"""

import codecs
import json
import math
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn, TypeAlias

import attrs

from gategrammar.cli._terminal import harmless
from gategrammar.messages import Message, unpack

#: The name of standard input on a command line.
STDIN = "-"
#: Files with these endings hold one record a line; standard input does too unless told otherwise.
JSONL_ENDINGS = (".jsonl", ".ndjson")
#: White space of JSON (RFC 8259 §2): a line of nothing else holds no record.
_BLANK = b" \t\r\n"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Kind: TypeAlias = Literal["file", "encoding", "json", "field"]
#: Is told how many bytes have been read, as they are read.
Advance: TypeAlias = Callable[[int], object]


@attrs.frozen
class Row:
    """One line of a JSONL file.

    Attributes:
        file: as named on the command line.
        line: 1-based; only LF ends a line.
        fields: the JSON object.
    """

    file: str
    line: int
    fields: dict[str, Any]


@attrs.frozen
class Record:
    """One response to be parsed.

    Attributes:
        file: as named on the command line.
        line: where in the file the record begins, 1-based.
        message: the response, with what a chat message says about it.
        rest: the other fields of its row.
        in_row: whether it stands in a row, so that positions in the text are not positions in the file.
    """

    file: str
    line: int
    message: Message
    rest: dict[str, Any]
    in_row: bool

    @property
    def text(self) -> str:
        """The text of the response, in which the offsets of an error count."""
        return self.message.text


@attrs.frozen
class Fault:
    """Input that could not be read, and so was never parsed.

    Attributes:
        kind: "file" (missing, a directory, …), "encoding" (not UTF-8), "json", or "field".
        file: as named on the command line.
        what: the message, without the place.
        hint: what to do.
        line: where in the file *source* begins, 1-based; None if the whole file is meant.
        source: the text in which the fault stands, where showing it helps.
        offset: where in *source*, in code points.
    """

    kind: Kind
    file: str
    what: str
    hint: str | None = None
    line: int | None = None
    source: str | None = None
    offset: int = 0


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


def name(file: str) -> str:
    """Return what *file* is called where people read it; a file name is untrusted text too."""
    return "<stdin>" if file == STDIN else harmless(file)


def is_jsonl(file: str) -> bool:
    """Tell from its name whether *file* holds one record a line."""
    return file == STDIN or file.lower().endswith(JSONL_ENDINGS)


def size(files: Iterable[str]) -> int | None:
    """Return how many bytes *files* hold in all, or None if that cannot be known beforehand."""
    total = 0
    for file in files:
        if file == STDIN:
            return None
        try:
            status = Path(file).stat()
        except OSError:  # a fault when its turn comes
            continue
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total


def whole(file: str, advance: Advance) -> Record | Fault:
    """Read a text file, which is one response; nothing in it is changed, neither CRLF nor a byte-order mark."""
    try:
        with _open(file) as stream:
            data = stream.read()
    except OSError as error:
        return _unreadable(file, error)
    advance(len(data))
    text = _decode(file, 1, data)
    return text if isinstance(text, Fault) else Record(file, 1, Message(text), {}, in_row=False)


def rows(file: str, advance: Advance) -> Iterator[Row | Fault]:
    """Read a JSONL file: UTF-8, one object a line, LF ends a line; a byte-order mark and blank lines are skipped."""
    try:
        with _open(file) as stream:
            for number, line in enumerate(stream, 1):
                advance(len(line))
                data = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if data.strip(_BLANK):
                    yield _row(file, number, data)
    except OSError as error:
        yield _unreadable(file, error)


def select(row: Row, field: str) -> Iterator[Record | Fault]:
    """Take the response out of a row, or the responses: a recorded completion may have several choices.

    Args:
        row: a line of a JSONL file.
        field: the name of a field, or a dotted path into objects and lists: ``response.body``. There stands a text, or
            a chat message, a choice or a completion, read as by :func:`gategrammar.parse_message`.
    """
    path = [field] if field in row.fields else field.split(".")
    value: Any = row.fields
    for depth, key in enumerate(path):
        where = ".".join(path[:depth])
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            yield _fault(row, f"{_named(where)} has no field {key!r}", _what_there_is(value, where))
            return
    try:
        messages = _messages(value)
    except (TypeError, ValueError) as error:
        yield _fault(row, f"field {field!r} holds no chat message: {error}", _INTO)
        return
    if not messages:
        yield _fault(
            row, f"field {field!r} is {_type(value)}, not a string", _INTO if isinstance(value, list) else None
        )
    rest = _without(row.fields, path)
    for message in messages:
        yield Record(row.file, row.line, message, rest, in_row=True)


def _messages(value: Any) -> list[Message]:
    """Return the responses that *value* is or holds.

    Raises:
        TypeError: an object is no chat message.
        ValueError: ditto.
    """
    if isinstance(value, str):
        return [Message(value)]
    if not isinstance(value, dict):
        return []
    choices = value.get("choices")
    return [unpack(value, index) for index in range(len(choices) if isinstance(choices, list) and choices else 1)]


def too_deep(file: str, line: int) -> Fault:
    """Return the fault of a line whose values cannot be read, or not be written again."""
    return Fault("json", file, "not usable JSON: it is nested too deeply", line=line)


def _open(file: str) -> AbstractContextManager[BinaryIO]:
    if file != STDIN:
        return Path(file).open("rb")
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return nullcontext(sys.stdin.buffer)


def _unreadable(file: str, error: OSError) -> Fault:
    return Fault("file", file, f"cannot be read: {error.strerror or error}")


def _decode(file: str, line: int, data: bytes) -> str | Fault:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return Fault(
            "encoding",
            file,
            f"not UTF-8: byte 0x{data[error.start]:02x} cannot stand here",
            hint="it begins as UTF-16 does: convert it to UTF-8" if data.startswith(_UTF16) else None,
            line=line,
            source=data.decode(errors="backslashreplace"),
            offset=len(data[: error.start].decode()),
        )


def _row(file: str, line: int, data: bytes) -> Row | Fault:
    """Read one line. What JSON leaves open is refused: a name twice, NaN, numbers out of range."""
    text = _decode(file, line, data.rstrip(_BLANK))
    if isinstance(text, Fault):
        return text
    try:
        fields = _strict.decode(text)
    except json.JSONDecodeError as error:
        plain = line == 1 and not text.lstrip().startswith(("{", "[", '"'))
        hint = "if the input is one plain response, read it with --text" if plain else None
        return Fault("json", file, f"not JSON: {error.msg}", hint, line, text, error.pos)
    except ValueError as error:
        return Fault("json", file, f"not usable JSON: {error}", line=line)
    except RecursionError:
        return too_deep(file, line)
    if not isinstance(fields, dict):
        return Fault("json", file, f"the line is {_type(fields)}, not an object", line=line)
    return Row(file, line, fields)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has the name {twice!r} twice, and which one is meant is a guess")
    return fields


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value; write null")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits[:20]} is out of range")
    return number


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python has a limit, since the conversion takes quadratic time
        raise ValueError(f"a number of {len(digits)} digits is out of range") from None


_strict = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite, parse_int=_integer)


_INTO = "--field takes a path into objects and lists, such as response.body or response.choices.0"


def _fault(row: Row, what: str, hint: str | None) -> Fault:
    return Fault("field", row.file, what, hint, row.line)


def _named(where: str) -> str:
    return f"field {where!r}" if where else "the record"


_TYPES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}


def _type(value: object) -> str:
    return _TYPES.get(type(value), "null")


def _what_there_is(value: object, where: str) -> str:
    if isinstance(value, list):
        return f"it is a list of {len(value)}"
    if not isinstance(value, dict):
        return f"it is {_type(value)}"
    prefix = f"{where}." if where else ""
    strings = [f"{prefix}{name}" for name, inner in value.items() if isinstance(inner, str)]
    return f"--field can be one of: {', '.join(strings[:8])}" if strings else "it holds no string"


def _without(fields: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a copy of *fields* without what *path* leads to; what is shared stays shared."""
    rest = fields.copy()
    here: Any = rest
    for key in path[:-1]:
        step: Any = int(key) if isinstance(here, list) else key
        here[step] = here[step].copy()
        here = here[step]
    del here[int(path[-1]) if isinstance(here, list) else path[-1]]
    return rest
