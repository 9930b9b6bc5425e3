"""Valid responses, with what they say known from how they were built."""

from hypothesis import strategies as st

from gategrammar.fuzzing._cases import Case
from gategrammar.fuzzing._walks import Walk, walks
from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.grammar import IGNORE, PREFILLED, REQUIRED, OutsideText, Think
from gategrammar.response.result import Span, Spans, build
from gategrammar.response.tags import CLOSINGS, OPENINGS
from gategrammar.response.text import trim

_ELEMENT_OF = OPENINGS | CLOSINGS


@st.composite
def responses(draw: st.DrawFn, *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE) -> Case:
    """Draw a response that parses: nested and repeated think, odd white space, prose, fences, near tags, any character.

    Args:
        draw: given by Hypothesis.
        think: how its reasoning arrives, as for :func:`gategrammar.parse`.
        outside_text: "forbid" draws nothing but white space between the elements.

    Raises:
        ValueError: unknown mode.
    """
    return case_of(draw(walks(think, outside_text)), think, outside_text)


def case_of(walk: Walk, think: Think, outside_text: OutsideText) -> Case:
    """Return the text that *walk* spells, with the response that it is."""
    text = walk.behind(0)
    tags: dict[int, list[Span]] = {0: [(0, 0)]} if think == PREFILLED else {}
    position = 0
    for step in walk.steps:
        position += len(str(step))
        if step.token in _ELEMENT_OF:
            tags.setdefault(_ELEMENT_OF[step.token], []).append((position - len(step.token), position))
    leading, *others = (
        trim(text, own[0][1], own[-1][0]) if (own := tags.get(number)) else None for number in range(len(ELEMENTS))
    )
    spans = Spans(leading, *filter(None, others))
    reasoning, update_gate, candidate, exit_gate = (text[slice(*span)] if span else "" for span in spans)
    response = build(reasoning, MEANING[update_gate], candidate, MEANING[exit_gate], spans)
    return Case(text, response, think, outside_text)
