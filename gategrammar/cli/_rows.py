"""Reading: JSONL files and standard input become rows, and what is unreadable becomes faults that say where and why.

A fault never ends the reading: what follows it is still read. Everything is a stream of one record at a time, so that
a file may be larger than the memory.
"""

import codecs
import json
import math
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn, TypeAlias

import attrs

from gategrammar.cli._terminal import harmless
from gategrammar.response.errors import quote

#: The name of standard input on a command line.
STDIN = "-"
#: Files with these endings hold one record a line; standard input does too unless told otherwise.
JSONL_ENDINGS = (".jsonl", ".ndjson")
#: White space of JSON (RFC 8259 §2): a line of nothing else holds no record.
_BLANK = b" \t\r\n"
_UTF16 = "it begins as UTF-16 does: convert it to UTF-8"
#: What files begin with that hold something else, and what to do about it.
_OTHER_BEGINNINGS = {
    codecs.BOM_UTF16_LE: _UTF16,
    codecs.BOM_UTF16_BE: _UTF16,
    b"\x1f\x8b": "it begins as gzip does: unpack it first",
    b"PAR1": "it begins as Parquet does: score reads that, if the name ends with .parquet",
}

Kind: TypeAlias = Literal["file", "encoding", "json", "field"]
#: Is told how many bytes have been read, as they are read.
Advance: TypeAlias = Callable[[int], object]


@attrs.frozen
class Row:
    """One line of a JSONL file.

    Attributes:
        file: as named on the command line.
        line: 1-based; only LF ends a line.
        fields: the JSON object; of a Parquet file also values of types that JSON does not have.
    """

    file: str
    line: int
    fields: dict[str, Any]


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
        in_row: whether *source* is one line of a JSONL file, in which only LF ends a line.
    """

    kind: Kind
    file: str
    what: str
    hint: str | None = None
    line: int | None = None
    source: str | None = None
    offset: int = 0
    in_row: bool = False


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


def rows(file: str, advance: Advance) -> Iterator[Row | Fault]:
    """Read a JSONL file: UTF-8, one object a line, LF ends a line; a byte-order mark and blank lines are skipped."""
    try:
        with opened(file) as stream:
            for number, line in enumerate(stream, 1):
                advance(len(line))
                data = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if data.strip(_BLANK):
                    yield _row(file, number, data)
    except OSError as error:
        yield unreadable(file, error)


_TYPES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}


def type_name(value: object) -> str:
    """Return what *value* is in JSON."""
    return "null" if value is None else _TYPES.get(type(value), f"of type {type(value).__name__}")


def too_deep(file: str, line: int) -> Fault:
    """Return the fault of a line whose values cannot be read, or not be written again."""
    return Fault("json", file, "not usable JSON: it is nested too deeply", line=line)


def opened(file: str) -> AbstractContextManager[BinaryIO]:
    if file != STDIN:
        return Path(file).open("rb")
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return nullcontext(sys.stdin.buffer)


def unreadable(file: str, error: OSError) -> Fault:
    return Fault("file", file, f"cannot be read: {error.strerror or error}")


def decode(file: str, data: bytes, row: int | None = None) -> str | Fault:
    """Decode a file, or a row of it; *row* is its number."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return Fault(
            "encoding",
            file,
            f"not UTF-8: byte 0x{data[error.start]:02x} cannot stand here",
            hint=next((hint for beginning, hint in _OTHER_BEGINNINGS.items() if data.startswith(beginning)), None),
            line=row or 1,
            source=data.decode(errors="backslashreplace"),
            offset=len(data[: error.start].decode()),
            in_row=row is not None,
        )


def _row(file: str, line: int, data: bytes) -> Row | Fault:
    """Read one line. What JSON leaves open is refused: a name twice, NaN, numbers out of range."""
    text = decode(file, data.rstrip(_BLANK), line)
    if isinstance(text, Fault):
        return text
    try:
        fields = strict.decode(text)
    except json.JSONDecodeError as error:
        plain = line == 1 and not text.lstrip().startswith(("{", "[", '"'))
        hint = "if the input is one plain response, read it with --text" if plain else None
        return Fault("json", file, f"not JSON: {error.msg}", hint, line, text, error.pos, in_row=True)
    except ValueError as error:
        return Fault("json", file, f"not usable JSON: {error}", line=line)
    except RecursionError:
        return too_deep(file, line)
    if not isinstance(fields, dict):
        return Fault("json", file, f"the line is {type_name(fields)}, not an object", line=line)
    return Row(file, line, fields)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"it has the name {quote(twice)} twice, and which one is meant is a guess")
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


#: Reads JSON; what JSON leaves open is a ValueError.
strict = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite, parse_int=_integer)
