"""What the strategies draw: texts with what has to be made of them, known from how they were built."""

from typing import Any

import attrs

from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think
from gategrammar.response.result import GateResponse


@attrs.frozen
class Miss:
    """The error that a text has to be refused with (SPEC §9).

    Attributes:
        kind: as :attr:`gategrammar.GateParseError.kind`.
        tag: the name of the element that failed.
        offset: where, in code points.
    """

    kind: str
    tag: str
    offset: int


@attrs.frozen
class Case:
    """One text with what has to be made of it.

    Attributes:
        text: the answer of a model.
        expected: the response that it is, with its spans, or the error that it has to be refused with.
        think: how its reasoning arrives (SPEC §7).
        outside_text: what is done about text outside its elements (SPEC §6).
    """

    text: str
    expected: GateResponse | Miss
    think: Think = REQUIRED
    outside_text: OutsideText = IGNORE

    @property
    def modes(self) -> dict[str, Any]:
        """The arguments to parse the text with: ``parse(case.text, **case.modes)``."""
        return {"think": self.think, "outside_text": self.outside_text}

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON, in the form of ``fixtures/responses.jsonl``."""
        expect = {"error": attrs.asdict(self.expected)} if isinstance(self.expected, Miss) else self.expected.to_dict()
        return {"text": self.text, **self.modes, "expect": expect}


@attrs.frozen
class Trajectory:
    """The answers of one loop over the chunks of a document (SPEC §12), and what they make of its memory.

    An answer that does not parse leaves the memory as it was, and the loop goes on; it ends after the first answer
    that says so, which is always the last of the turns.

    Attributes:
        turns: the answers, in their order; at least one.
        memories: the memory after each turn; the first turn finds "".
        exited: whether the last answer said that the loop ends.
        r_format: 1.0 if every turn parses, else 0.0.
    """

    turns: tuple[Case, ...]
    memories: tuple[str, ...]
    exited: bool
    r_format: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON, in the form of ``fixtures/trajectories.jsonl``."""
        before = ("", *self.memories)
        return {
            **self.turns[0].modes,
            "turns": [
                {"chunk": number, "memory_before": memory, "response": turn.text}
                for number, (memory, turn) in enumerate(zip(before, self.turns, strict=False))
            ],
            "expect": {"r_format": self.r_format, "final_memory": self.memories[-1], "exited": self.exited},
        }
