"""What a response says: two gates, a candidate memory and the reasoning, with their places in the text."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, final

import attrs

from gategrammar.response.grammar import Think

Span: TypeAlias = tuple[int, int]


class Spans(NamedTuple):
    """Where the four trimmed contents stand: half-open pairs of code-point offsets into the text (SPEC §8)."""

    think: Span | None
    check: Span
    update: Span
    next: Span


#: Spans, or what computes them: most callers never ask, and four places cost as much as the parsing.
Located: TypeAlias = Spans | tuple[Callable[[str, Think], Spans], str, Think]


class _Placed:
    """Where a response stands in its text: no field of it, so it is neither compared nor shown nor turned into JSON."""

    __slots__ = ("__weakref__", "_located")
    _located: Located


@final
@attrs.frozen
class GateResponse(_Placed):
    """One parsed gate response: (U_t, M̂_t, E_t) of arXiv 2602.10560, and the reasoning before it (SPEC §8).

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

    @property
    def spans(self) -> Spans:
        """Where the contents stand in the text; computed when first asked for.

        Raises:
            ValueError: the object was not made by parsing a text.
        """
        if not hasattr(self, "_located"):
            raise ValueError("this GateResponse was not parsed from a text, so it has no spans")
        located = self._located
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
        if hasattr(self, "_located"):
            fields["spans"] = {name: span and list(span) for name, span in self.spans._asdict().items()}
        return fields

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the spans, not the text that they are computed from."""
        fields = (self.think, self.update_gate, self.candidate, self.exit_gate)
        return (build, (*fields, self.spans)) if hasattr(self, "_located") else (type(self), fields)


#: A response whose fields can still be set; the same slots in the same order make the two classes exchangeable.
_Draft = attrs.make_class(
    "_Draft", [field.name for field in attrs.fields(GateResponse)], bases=(_Placed,), slots=True, eq=False, repr=False
)


def build(think: str, update_gate: bool, candidate: str, exit_gate: bool, located: Located) -> GateResponse:
    """Return a response that was read from a text, at less than half the cost of the constructor.

    A frozen class has to set its fields through ``object.__setattr__``, one call each, which costs a fifth of the time
    in which a short response is read. A draft sets them directly and is frozen afterwards, by its class.
    """
    response: GateResponse = _Draft(think, update_gate, candidate, exit_gate)
    response._located = located  # noqa: SLF001 - its own field, see above
    response.__class__ = GateResponse
    return response
