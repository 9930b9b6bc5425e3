"""The fast path: valid responses without Lark, on the derived tables.

Theory of operation. A response that nests nothing is the tags in their order with a body between each two, so its
pattern is written down by :func:`_patterns` from the tables: possessive, hence linear, and strict, since a body takes
a "<" only where no tag begins. Up to some kilobytes one match of the whole pattern is the fastest that Python offers.
In longer texts the time goes into the bodies, so those of free text are hopped over by searching the next tag, which
costs half as much a character, and nothing of them is copied before they are cut out, trimmed, at the end. What
neither takes, nested think for one, runs through the automaton tag by tag. What that refuses, too, is the reference
parser's to explain.
"""

import re
from functools import cache

from gategrammar.response._tables import ACCEPTING, ELEMENTS, MEANING, MOVES, STAGES, STARTS
from gategrammar.response.grammar import (
    ABSENT,
    FORBID,
    IGNORE,
    PREFILLED,
    REQUIRED,
    OutsideText,
    Think,
    check_modes,
    one_of,
)
from gategrammar.response.result import GateResponse, Spans, build
from gategrammar.response.tags import ANY_TAG, CLOSINGS, OPENINGS, TAGS
from gategrammar.response.text import WHITE_SPACE, skip_space, skip_space_back, trim

#: In code points: below it one match is faster than hopping (benchmarks/bench_parse.py measures both).
_SHORT = 4_000

_SPACE = f"[{WHITE_SPACE}]*+"
#: A run without tags. The loop is unrolled, one step a "<", and looks ahead only where a tag may begin. What comes next
#: is tried before the loop is entered, since most runs hold no "<" at all; nothing else is ever tried twice.
_NO_BEGINNING = f"[^<{re.escape(''.join(sorted({tag[1] for tag in TAGS})))}]"
_BODY = f"[^<]*+(?:(?:(?:<{_NO_BEGINNING}[^<]*+)++|(?!{ANY_TAG.pattern})<[^<]*+)++)??"


def recognise(text: str, think: Think, outside_text: OutsideText) -> GateResponse | None:
    """Return the response that *text* is, or None if it is none; arguments as :func:`gategrammar.parse`.

    Raises:
        TypeError: *text* is no str, or a mode cannot be one.
        ValueError: unknown mode.
    """
    whole, segments = _patterns(think, outside_text)
    if len(text) < _SHORT:
        match = whole.fullmatch(text)
        contents = match and match.groups()
    else:
        contents = _hop(text, segments)
    if contents:
        reasoning, update_gate, candidate, exit_gate = contents
        return build(
            reasoning.rstrip(WHITE_SPACE),
            MEANING[update_gate],
            candidate.rstrip(WHITE_SPACE),
            MEANING[exit_gate],
            (locate, text, think),
        )
    spans = _walk(text, think, outside_text)
    if spans is None:
        return None
    reasoning, update_gate, candidate, exit_gate = (text[slice(*span)] if span else "" for span in spans)
    return build(reasoning, MEANING[update_gate], candidate, MEANING[exit_gate], spans)


def locate(text: str, think: Think) -> Spans:
    """Return where the contents stand in a text that was recognised."""
    spans = _walk(text, think, IGNORE)
    assert spans is not None, "what was recognised once is recognised again"  # noqa: S101 - tells the type checker
    return spans


@cache
def _patterns(think: Think, outside_text: OutsideText) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    """Return the pattern of a whole response, and those of the segments between its free texts.

    Each group is the content of an element, in their order; the white space before it is outside the group.
    """
    check_modes(think, outside_text)
    gap = {IGNORE: _BODY, FORBID: _SPACE}[outside_text]
    segments = [""]
    for element in ELEMENTS:
        arrives = think if element is ELEMENTS[0] else REQUIRED
        if arrives == ABSENT:
            segments[-1] += "()"
            continue
        if arrives == REQUIRED:
            segments[-1] += gap + re.escape(element.opening.text)
        segments[-1] += _SPACE
        closing = re.escape(element.closing.text)
        if element.values is None:
            segments.append(closing)
        else:
            segments[-1] += f"({one_of(element.values).pattern}){_SPACE}{closing}"
    segments[-1] += gap
    return re.compile(f"({_BODY})".join(segments)), tuple(map(re.compile, segments))


def _hop(text: str, segments: tuple[re.Pattern[str], ...]) -> tuple[str, ...] | None:
    """Match the segments one after the other, each where the next tag is; return the contents, or None."""
    contents: list[str] = []
    position = 0
    for segment in segments[:-1]:
        match = segment.match(text, position)
        if match is None:
            return None
        following = text.find("<", match.end())
        tag = ANY_TAG.search(text, following) if following >= 0 else None
        if tag is None:
            return None
        position = tag.start()
        contents += (*match.groups(), text[match.end() : skip_space_back(text, match.end(), position)])
    match = segments[-1].fullmatch(text, position)
    return match and (*contents, *match.groups())


def _walk(text: str, think: Think, outside_text: OutsideText) -> Spans | None:
    """Run the automaton over the tags of *text*; return where the contents stand, or None if it refuses one."""
    state = STARTS[think]
    starts, ends = ({0: 0} if think == PREFILLED else {}), {}
    position = 0
    try:
        for tag in ANY_TAG.finditer(text):
            start, end = trim(text, position, tag.start())
            element, inside = STAGES[state]
            if not inside:
                if outside_text == FORBID and start < end:
                    return None
            elif ELEMENTS[element].values is not None:
                state = MOVES[state][text[start:end]]
            state = MOVES[state][tag.group()]
            position = tag.end()
            if tag.group() in OPENINGS:
                starts.setdefault(OPENINGS[tag.group()], position)
            else:
                ends[CLOSINGS[tag.group()]] = tag.start()
    except KeyError:
        return None
    if state not in ACCEPTING or (outside_text == FORBID and skip_space(text, position, len(text)) < len(text)):
        return None
    leading, *others = (trim(text, starts[n], ends[n]) if n in ends else None for n in range(len(ELEMENTS)))
    return Spans(leading, *filter(None, others))
