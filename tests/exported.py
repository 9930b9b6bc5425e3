"""What the tests of the exports share: the modes, the corpora, and canonical texts as a model writes them."""

import re
from collections.abc import Iterator
from typing import TypedDict

from hypothesis import strategies as st

from cases import handed, pairs, recorded
from gategrammar import GateResponse, format_response, try_parse
from gategrammar.response.grammar import Think
from gategrammar.response.tags import ANY_TAG
from strategies import free_text

THINKS: list[Think] = ["required", "prefilled", "absent"]
#: What has no UTF-8.
LONE = {chr(code) for code in range(0xD800, 0xE000)}
#: The bound of most tests.
MOST = 40
#: More beginnings of tags in a row than the generation profile has.
TOO_MANY = re.compile("(?:<[/a-z]{0,7}){7}<")
#: Texts within the bounds, many of them full of what looks like a tag.
short = st.one_of(free_text, st.text("<t/h", max_size=MOST), st.just("<" * 7), st.just(" <</t<<</th<<")).filter(
    lambda text: len(text) <= MOST and not ANY_TAG.search(text) and not TOO_MANY.search(text)
)


def corpus() -> Iterator[str]:
    """Yield all texts of the corpora, whatever mode they were meant for."""
    cases = (*handed(), *recorded(), *pairs("."), *pairs("valid"), *pairs("invalid"))
    return (case.text for case in cases)


def encodable(texts: Iterator[str]) -> Iterator[str]:
    """Leave out what has no UTF-8."""
    return (text for text in texts if LONE.isdisjoint(text))


class Bounds(TypedDict):
    """The bounds among the arguments of export()."""

    max_think: int | None
    max_update: int


def bounds(think: Think, most: int, update: int | None = None) -> Bounds:
    """Return the bounds for a mode."""
    return {"max_think": None if think == "absent" else most, "max_update": most if update is None else update}


def parses(text: str, think: Think) -> bool:
    """Return what parse() says."""
    return isinstance(try_parse(text, think=think), GateResponse)


def canonical(
    think: Think, reasoning: str, candidate: str, *, update_gate: bool = True, exit_gate: bool = False
) -> str:
    """Return the canonical text as the model writes it in a mode."""
    whole = format_response(reasoning, update_gate, candidate, exit_gate)
    return {
        "required": whole,
        "prefilled": whole.removeprefix("<think>"),
        "absent": whole.partition("</think>\n")[2],
    }[think]
