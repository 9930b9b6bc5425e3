"""Responses with one defect, with the error that they have to be refused with.

Theory of operation. A defect is a token that the automaton refuses where it comes. So a walk is followed up to some
place, one of the tokens that are refused there comes next, and then the rest of the walk, from where it was left or
from behind the place where that token would have been right, or nothing. What the error is stands in the table of the
automaton; where it is follows from the rules for each kind of token (SPEC §9).
"""

from hypothesis import reject
from hypothesis import strategies as st

from gategrammar.fuzzing._cases import Case, Miss
from gategrammar.fuzzing._texts import free_text, gap, look_alikes, near_values, stray_text, white
from gategrammar.fuzzing._walks import Walk, walks
from gategrammar.response._tables import ELEMENTS, ERRORS, MEANING, MOVES, STAGES
from gategrammar.response.grammar import END_OF_INPUT, FORBID, IGNORE, OUTSIDE, REQUIRED, TEXT, OutsideText, Think
from gategrammar.response.tags import ANY_TAG, TAGS
from gategrammar.response.text import may_grow, skip_space, trim, unsettled


@st.composite
def near_misses(draw: st.DrawFn, *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE) -> Case:
    """Draw a response with one defect: a tag too many, too few or misspelt, a wrong value, stray text, a cut.

    What follows the defect does not matter: the first error from the left is the verdict.

    Args:
        draw: given by Hypothesis.
        think: how its reasoning arrives, as for :func:`gategrammar.parse`.
        outside_text: whether text outside the elements is a defect.

    Raises:
        ValueError: unknown mode.
    """
    walk = draw(walks(think, outside_text))
    # By state, since a long chain of nested tags is one of few; from the end, so that what comes before can shrink.
    places: dict[int, list[int]] = {}
    for at in reversed(range(len(walk.steps) + 1)):
        places.setdefault(walk.state_at(at), []).append(at)
    at = draw(st.sampled_from(list(places.values())).flatmap(st.sampled_from))
    token = draw(st.sampled_from(refused(walk.state_at(at), outside_text)))
    if token == TEXT:
        text, offset = _wrong_value(draw, walk, at)
    elif token == OUTSIDE:
        text, offset = _stray_text(draw, walk, at)
    elif token == END_OF_INPUT:
        text, offset = _cut(draw, walk, at, outside_text)
    else:
        text, offset = _wrong_tag(draw, walk, at, token, outside_text)
    kind, failed = ERRORS[walk.state_at(at)][token]
    before = walk.before(at)
    return Case(before + text, Miss(kind, ELEMENTS[failed].name, len(before) + offset), think, outside_text)


def refused(state: int, outside_text: OutsideText) -> list[str]:
    """Return the tokens that the automaton refuses in *state*, as far as a text can hold them there.

    Where a value is awaited, whatever is none comes as TEXT, an empty one too, so no tag ever comes first; what is
    content or ignored is never a token.
    """
    awaited = _awaits_value(state)
    possible = dict.fromkeys(TAGS, not awaited)
    possible |= {TEXT: awaited, OUTSIDE: outside_text == FORBID and not STAGES[state].inside, END_OF_INPUT: True}
    return [token for token in ERRORS[state] if possible.get(token)]


def _awaits_value(state: int) -> bool:
    return not MOVES[state].keys().isdisjoint(MEANING)


def _wrong_tag(draw: st.DrawFn, walk: Walk, at: int, tag: str, outside_text: OutsideText) -> tuple[str, int]:
    """Draw *tag* and what follows; what the walk takes before it is lost, or misspelt, or comes behind it."""
    allowed = gap(STAGES[walk.state_at(at)], outside_text)
    before = draw(allowed)
    later = next((place for place, step in enumerate(walk.steps) if place > at and step.token == tag), None)
    if later is None or draw(st.booleans()):
        return before + tag + draw(st.sampled_from(["", walk.behind(at)])), len(before)
    if allowed is free_text and draw(st.booleans()):
        for step in walk.steps[at:later]:
            before += draw(st.sampled_from(look_alikes(step.token))) if step.token in TAGS else str(step)
        if ANY_TAG.search(before):
            reject()
    return before + tag + walk.behind(later + 1), len(before)


def _wrong_value(draw: st.DrawFn, walk: Walk, at: int) -> tuple[str, int]:
    """Draw a value that is none, and the tag that makes it wrong, or the end if it is wrong by itself."""
    element = ELEMENTS[STAGES[walk.state_at(at)].element]
    values, closing = element.values or {}, element.closing.text
    wrong = draw(white) + draw(st.sampled_from(near_values(element)) | free_text) + draw(white)
    if wrong[slice(*trim(wrong, 0, len(wrong)))] in values:
        reject()
    settled = unsettled(wrong, 0, [closing])
    ends = [] if may_grow(wrong[:settled], values, closing, wrong[settled:]) else [""]
    rest = walk.behind(at + 1)
    return wrong + draw(st.sampled_from([*ends, rest, *(tag + rest for tag in TAGS)])), 0


def _stray_text(draw: st.DrawFn, walk: Walk, at: int) -> tuple[str, int]:
    """Draw text where none may be."""
    text = draw(stray_text)
    return text + draw(st.sampled_from(["", walk.behind(at)])), skip_space(text, 0, len(text))


def _cut(draw: st.DrawFn, walk: Walk, at: int, outside_text: OutsideText) -> tuple[str, int]:
    """Draw the last that comes before the text ends; what is awaited may have begun."""
    state = walk.state_at(at)
    text = draw(gap(STAGES[state], outside_text))
    if (STAGES[state].inside or outside_text != FORBID) and draw(st.booleans()):
        text += draw(st.sampled_from([token[:length] for token in MOVES[state] for length in range(len(token))]))
    return text, len(text)
