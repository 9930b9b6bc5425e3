"""Trajectories whose rows may stand anywhere in the input, counted outside the memory."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import attrs

from gategrammar.cli._trajectories import Member
from gategrammar.response.errors import GateParseError
from gategrammar.response.result import GateResponse
from gategrammar.reward import r_format

_TABLE = """
CREATE TABLE trajectory (
    number INTEGER PRIMARY KEY,
    shared TEXT UNIQUE,
    file INTEGER,
    line INTEGER,
    step INTEGER,
    turns INTEGER,
    failed INTEGER,
    unread INTEGER,
    turn INTEGER,
    error TEXT
)"""
#: Every row adds a turn. The first error is kept, and the step if all rows agree on it.
_ADD = """
INSERT INTO trajectory (shared, file, line, step, turns, failed, unread, turn, error) VALUES (?, ?, ?, ?, 1, ?, ?, 0, ?)
ON CONFLICT (shared) DO UPDATE SET
    step = CASE WHEN step IS excluded.step THEN step END,
    turns = turns + 1,
    failed = failed + excluded.failed,
    unread = unread + excluded.unread,
    turn = CASE WHEN error IS NULL THEN turns ELSE turn END,
    error = coalesce(error, excluded.error)"""
_READ = "SELECT shared, file, line, step, turns, failed, unread, turn, error FROM trajectory ORDER BY number"


@attrs.frozen
class Outcome:
    """What a trajectory comes to.

    Attributes:
        file: where it begins, as named on the command line.
        line: the line on which it begins.
        step: the training step; None if there is none.
        turns: how many turns it has.
        failed: how many of them do not parse.
        unread: how many could not be read.
        error: the first error as plain JSON, with the number of its turn, from 0; None if all parse.
        rest: the fields that are written with it.
    """

    file: str
    line: int
    step: int | None
    turns: int
    failed: int
    unread: int
    error: dict[str, Any] | None
    rest: dict[str, Any]

    @property
    def r_format(self) -> float | None:
        """The format reward; None if a turn could not be read, since it is neither right nor wrong."""
        return None if self.unread else r_format(failed=self.failed > 0)


class Groups:
    """Adds turns to trajectories. They are in a private file that SQLite makes when they are many, and removes."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._database = sqlite3.connect("", isolation_level=None)
        # Nobody else reads it, and after a crash nobody does.
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(_TABLE)
        self._database.execute("BEGIN")

    def add(self, member: Member, verdict: GateResponse | GateParseError | None) -> None:
        """Add a turn; a verdict of None means that it could not be read."""
        if self._files[-1:] != [member.row.file]:
            self._files.append(member.row.file)
        error = json.dumps(verdict.to_dict()) if isinstance(verdict, GateParseError) else None
        place = len(self._files) - 1, member.row.line
        self._database.execute(_ADD, (member.key, *place, member.step, error is not None, verdict is None, error))

    def __iter__(self) -> Iterator[Outcome]:
        """Yield the trajectories in the order in which they began."""
        for shared, file, line, step, turns, failed, unread, turn, error in self._database.execute(_READ):
            first = error and {"turn": turn, **json.loads(error)}
            yield Outcome(self._files[file], line, step, turns, failed, unread, first, json.loads(shared))
