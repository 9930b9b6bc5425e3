"""What a response says: two gates, a candidate memory and the reasoning, with their places in the text."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import attrs

from gategrammar.response.grammar import Think

Span: TypeAlias = tuple[int, int]


class Spans(NamedTuple):
    """Where the four trimmed contents stand: half-open pairs of code-point offsets into the text (semantics §3)."""

    think: Span | None
    check: Span
    update: Span
    next: Span


#: Spans, or what computes them: most callers never ask, and four places cost as much as the parsing.
_Located: TypeAlias = Spans | tuple[Callable[[str, Think], Spans], str, Think] | None


@attrs.frozen(weakref_slot=False)  # so that an object of _Draft can become one, see build()
class GateResponse:
    """One parsed gate response: (U_t, M̂_t, E_t) of arXiv 2602.10560, and the reasoning before it (semantics §3).

    Attributes:
        think: the reasoning, trimmed; "" when it was delivered in another field.
        update_gate: True for yes: the memory becomes the candidate.
        candidate: the candidate memory, trimmed; kept when the gate is False, as a diagnostic.
        exit_gate: True for end: the loop stops after this chunk.
    """

    think: str
    update_gate: bool
    candidate: str
    exit_gate: bool
    _located: _Located = attrs.field(default=None, eq=False, repr=False)

    @property
    def spans(self) -> Spans:
        """Where the contents stand in the text; computed when first asked for.

        Raises:
            ValueError: the object was not made by parsing a text.
        """
        located = self._located
        if located is None:
            raise ValueError("this GateResponse was not parsed from a text, so it has no spans")
        if not isinstance(located, Spans):
            locate, text, think = located
            located = locate(text, think)
            object.__setattr__(self, "_located", located)
        return located

    def next_memory(self, previous: str) -> str:
        """Return the memory after this chunk: the candidate if the update gate is open, else *previous*."""
        return self.candidate if self.update_gate else previous

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON: the four fields, and the spans as lists where the response was parsed from a text."""
        fields: dict[str, Any] = {
            "think": self.think,
            "update_gate": self.update_gate,
            "candidate": self.candidate,
            "exit_gate": self.exit_gate,
        }
        if self._located is not None:
            fields["spans"] = {name: span and list(span) for name, span in self.spans._asdict().items()}
        return fields

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the spans, not the text that they are computed from."""
        spans = None if self._located is None else self.spans
        return type(self), (self.think, self.update_gate, self.candidate, self.exit_gate, spans)


#: A response whose fields can still be set.
_Draft = attrs.make_class(
    "_Draft", [field.name for field in attrs.fields(GateResponse)], slots=True, weakref_slot=False, eq=False, repr=False
)


def build(think: str, update_gate: bool, candidate: str, exit_gate: bool, located: _Located) -> GateResponse:
    """Return a response, at less than half the cost of the constructor.

    A frozen class has to set its fields through ``object.__setattr__``, one call each, which costs a fifth of the time
    in which a short response is read. A draft sets them directly and is frozen afterwards, by its class.
    """
    response: GateResponse = _Draft(think, update_gate, candidate, exit_gate, located)
    response.__class__ = GateResponse
    return response
