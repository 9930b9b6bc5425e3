"""Trajectories: a list of turns in one row, or the rows that share the values of some fields."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from gategrammar.cli import _parquet as parquet
from gategrammar.cli._input import Record, fault, find, responses, split, without
from gategrammar.cli._rows import Advance, Fault, Row, rows, type_name
from gategrammar.cli._terminal import in_json
from gategrammar.messages import Message
from gategrammar.response.errors import quote

_WHAT = "a trajectory is a list of turns in one row (--turns), or the rows that share a field (--group-by)"
#: Beyond, floating-point numbers skip whole numbers, so that two steps could be taken for one.
_EXACT = 1 << 53
#: How many fields a hint names.
_SHOWN = 8


@attrs.frozen
class Trajectory:
    """The turns of one row.

    Attributes:
        row: where they stand.
        turns: the responses.
        step: the training step; None if the row has none.
        rest: the other fields of the row.
    """

    row: Row
    turns: list[Record]
    step: int | None
    rest: dict[str, Any]


@attrs.frozen
class Member:
    """A row that is one turn of a trajectory.

    Attributes:
        row: the row.
        key: what the rows of its trajectory share, as JSON in ASCII.
        turn: the response, or why there is none.
        step: the training step; None if the row has none.
    """

    row: Row
    key: str
    turn: Record | Fault
    step: int | None


def read(files: Iterable[str], advance: Advance) -> Iterator[Row | Fault]:
    """Read the rows of JSONL and Parquet files, one at a time; arguments as :func:`gategrammar.cli._rows.rows`."""
    for file in files:
        yield from (parquet.rows if file.lower().endswith(parquet.ENDING) else rows)(file, advance)


def trajectory(row: Row, *, turns: str, field: str, step: str) -> Trajectory | Fault:
    """Take the turns out of a row. A turn that cannot be read makes the trajectory one that cannot be.

    Args:
        row: the row.
        turns: the path to the list of turns; each is a text, or an object with the response at *field*.
        field: the path into a turn.
        step: the path to the training step.
    """
    path = split(row, turns)
    found = find(row, path)
    if isinstance(found, Fault):
        return attrs.evolve(found, hint=f"{_WHAT}; {_fields(row)}")
    if not isinstance(found, list):
        return fault(row, f"field {turns!r} is {type_name(found)}, not a list of turns", _WHAT)
    if not found:
        return fault(row, f"field {turns!r} is an empty list, so its format is neither right nor wrong", None)
    rest = without(row.fields, path)
    records = []
    for number, turn in enumerate(found):
        place = [*path, str(number)]
        if isinstance(turn, dict):
            place += split(attrs.evolve(row, fields=turn), field)
        message = _message(row, place)
        if isinstance(message, Fault):
            return message
        records.append(Record(row.file, row.line, message, rest, in_row=True, called=".".join(place)))
    return Trajectory(row, records, _step(row, step), rest)


def member(row: Row, *, group_by: Sequence[str], field: str, step: str) -> Member | Fault:
    """Take the response of a turn and what it shares with the others of its trajectory out of a row.

    Args:
        row: the row.
        group_by: the paths to what the rows of a trajectory share.
        field: the path to the response.
        step: the path to the training step.
    """
    shared: dict[str, Any] = {}
    for name in group_by:
        value = find(row, split(row, name))
        if isinstance(value, Fault):
            return attrs.evolve(value, hint=f"--group-by names a field that every row has; {_fields(row)}")
        if value is None or isinstance(value, dict | list):
            return fault(row, f"field {name!r} is {type_name(value)}, which names no trajectory", None)
        shared[name] = value
    message = _message(row, split(row, field))
    turn = message if isinstance(message, Fault) else Record(row.file, row.line, message, shared, in_row=True)
    return Member(row, json.dumps(shared, default=in_json), turn, _step(row, step))


def _fields(row: Row) -> str:
    return "here there are: " + ", ".join(map(quote, list(row.fields)[:_SHOWN])) if row.fields else "here there is none"


def _message(row: Row, path: Sequence[str]) -> Message | Fault:
    value = find(row, path)
    if isinstance(value, Fault):
        return value
    messages = responses(row, path, value)
    if len(messages) > 1:
        what = f"field {'.'.join(path)!r} holds {len(messages)} choices, and which one is the turn is a guess"
        return fault(row, what, f"--field can lead to one of them: {path[-1]}.choices.0")
    return messages[0]


def _step(row: Row, field: str) -> int | None:
    step = find(row, split(row, field))
    if isinstance(step, float) and step.is_integer():
        step = int(step)
    return step if isinstance(step, int) and not isinstance(step, bool) and abs(step) < _EXACT else None
