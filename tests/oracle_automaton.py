"""The oracle's table, one character at a time: a finite automaton to hold an engine's automaton against.

It shares no code with the package; like the oracle it is written from SPEC §2 and §4.
"""

from typing import NamedTuple

from oracle import END, INSIDE, OUTSIDE, START, TABLE, TAGS, VALUES, WHITE_SPACE, Think

#: One character of every kind: all of ASCII, white space beyond it, and others of two, three and four bytes.
ALPHABET = [*map(chr, range(128)), *WHITE_SPACE[6:], "\x84", "é", "\u180e", "\u200b", "\ufeff", "\U0001f600"]


class State(NamedTuple):
    """Where the oracle is: a line of its table, what may become a tag, and the value so far, trimmed on the left."""

    cell: str
    pending: str = ""
    value: str = ""


def start(think: Think) -> State:
    """Return the start state."""
    return State(START[think])


def accepts(state: State) -> bool:
    """Return whether the input may end here."""
    return TABLE[state.cell][END] == "accept"


def step(state: State, character: str, *, forbid: bool = False) -> State | None:
    """Return the state after *character*, or None where no text that goes on so is a response."""
    pending = state.pending + character
    if pending in TAGS:
        following = TABLE[state.cell][pending]
        values = VALUES.get(INSIDE.get(state.cell, ""))
        fits = values is None or state.value.rstrip(WHITE_SPACE) in values
        return None if " " in following or not fits else State(following)
    if any(tag.startswith(pending) for tag in TAGS):
        return state._replace(pending=pending)
    kept = character if character == "<" else ""
    text = pending[: len(pending) - len(kept)]
    if forbid and state.cell in OUTSIDE and text.strip(WHITE_SPACE):
        return None
    values = VALUES.get(INSIDE.get(state.cell, ""))
    if values is None:
        return state._replace(pending=kept)
    value = (state.value + text).lstrip(WHITE_SPACE)
    bare = value.rstrip(WHITE_SPACE)
    if not any(allowed.startswith(bare) for allowed in values) or (bare != value and bare not in values):
        return None
    return State(state.cell, kept, bare + " " * (bare != value))
