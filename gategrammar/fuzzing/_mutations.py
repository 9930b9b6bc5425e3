"""Edits of a text, of which nothing is said: many of them change no verdict."""

from typing import Final

from hypothesis import strategies as st

from gategrammar.fuzzing._texts import free_text, white
from gategrammar.response._tables import MEANING
from gategrammar.response.tags import ANY_TAG, TAGS
from gategrammar.response.text import check_text

#: How many edits: mostly one, which is what can be understood.
_COUNTS = (1, 1, 2, 3)
#: The longest part that one edit takes, unless that is a tag.
_LONGEST = 12
#: What becomes of a text of which *part* stands between *head* and *tail*; *piece* is drawn, *swapped* is the part with
#: its case swapped.
_EDITS: Final = (
    "{head}{tail}",
    "{head}{part}",
    "{head}{part}{part}{tail}",
    "{head}{piece}{tail}",
    "{head}{part}{piece}{tail}",
    "{part}{head}{tail}",
    "{head}{tail}{part}",
    "{head}{swapped}{tail}",
)
_pieces = st.sampled_from([*TAGS, *MEANING]) | white | free_text


@st.composite
def mutations(draw: st.DrawFn, text: str) -> str:
    """Draw *text* with one to three edits: something lost, cut, doubled, moved, replaced or added, often a whole tag.

    Whether it still says the same, or anything, is not known. What can be tested with it is that two readers agree.

    Args:
        draw: given by Hypothesis.
        text: any text; best a response.

    Raises:
        TypeError: *text* is no str.
    """
    check_text(text)
    for _ in range(draw(st.sampled_from(_COUNTS))):
        tags = [tag.span() for tag in ANY_TAG.finditer(text)]
        anywhere = st.tuples(st.integers(0, len(text)), st.integers(0, _LONGEST)).map(lambda at: (at[0], sum(at)))
        start, end = draw(anywhere | st.sampled_from(tags) if tags else anywhere)
        part = text[start:end]
        text = draw(st.sampled_from(_EDITS)).format(
            head=text[:start], part=part, tail=text[end:], piece=draw(_pieces), swapped=part.swapcase()
        )
    return text
