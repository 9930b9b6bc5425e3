"""The fast path: valid responses without Lark, on the derived tables.

Theory of operation. A response that nests nothing is the tags in their order with a body between each two, so its
pattern is written down by :func:`_patterns` from the tables: possessive, hence linear, and strict, since a body takes
a "<" only where no tag begins. In a short text one match of the whole pattern is the fastest that Python offers. In
longer texts the time goes into the bodies, so those of free text are hopped over to where the next tag ends, which is
a search for one character, the ">" of that tag, unless the text itself holds one; and nothing of them is copied before
they are cut out, trimmed; who only wants to know where they stand (:func:`find`) need not even decode them from UTF-8.
What neither takes, nested think for one, runs through the automaton tag by tag. What that refuses, too, is the
reference parser's to explain.
"""

import re
from functools import cache
from itertools import accumulate, pairwise
from typing import TypeAlias

from gategrammar.response._tables import ACCEPTING, ELEMENTS, MEANING, MOVES, STAGES, STARTS
from gategrammar.response.grammar import (
    ABSENT,
    FORBID,
    IGNORE,
    PREFILLED,
    REQUIRED,
    TAG_END,
    OutsideText,
    Think,
    check_modes,
    one_of,
)
from gategrammar.response.result import GateResponse, Spans, build
from gategrammar.response.tags import ANY_TAG, CLOSINGS, OPENINGS, TAGS
from gategrammar.response.text import WHITE_SPACE, skip_space, trim

#: In characters: from the first on hopping is faster than one match, if the free texts hold no TAG_END; from the
#: second on even if they do (``benchmarks/bench_parse.py ways``).
_HOP, _HOP_ALWAYS = 1_800, 4_000

#: To look a character up in a set costs less than in a string, and it is done twice a response.
_SPACES = frozenset(WHITE_SPACE)
#: White space in UTF-8, read as Latin-1: one character if it is ASCII, else several; how it begins and ends.
_VIEWED_SPACES = frozenset(space.encode().decode("latin-1") for space in WHITE_SPACE)
_ASCII_SPACES = frozenset(filter(str.isascii, WHITE_SPACE))
_LENGTHS = sorted(set(map(len, _VIEWED_SPACES)))
_FIRST = frozenset(space[0] for space in _VIEWED_SPACES)
_LAST = frozenset(space[-1] for space in _VIEWED_SPACES)
_SPACE = f"[{WHITE_SPACE}]*+"


def _repeated(*alternatives: str) -> str:
    """Return the pattern that takes as many of *alternatives* as it can, at least one, and gives none of them back.

    The last alternative never matches, but trying it takes Python back to where the round began. Before 3.11.5 a
    possessive loop goes on from wherever its last round, the one that failed, had stopped reading (CPython issue
    100061): behind the very tag it has to stop at.
    """
    return f"(?:{'|'.join((*alternatives, '(?!)'))})++"


#: A run without tags. The loop is unrolled, one step a "<", and looks ahead only where a tag may begin. What comes next
#: is tried before the loop is entered, since most runs hold no "<" at all; nothing else is ever tried twice.
_NO_BEGINNING = f"[^<{re.escape(''.join(sorted({tag[1] for tag in TAGS})))}]"
_BODY = f"[^<]*+(?:{_repeated(_repeated(f'<{_NO_BEGINNING}[^<]*+'), f'(?!{ANY_TAG.pattern})<[^<]*+')})??"


#: Where the reasoning starts and ends, the update gate, where the candidate starts and ends, the exit gate.
Places: TypeAlias = tuple[int, int, bool, int, int, bool]


def recognise(text: str, think: Think, outside_text: OutsideText) -> GateResponse | None:
    """Return the response that *text* is, or None if it is none; arguments as :func:`gategrammar.parse`.

    Raises:
        TypeError: *text* is no str, or a mode cannot be one.
        ValueError: unknown mode.
    """
    whole, first, others = _patterns(think, outside_text)
    if len(text) >= _HOP and (places := _hop(text, first, others, _SPACES)):
        think_start, think_end, update_gate, candidate_start, candidate_end, exit_gate = places
        reasoning, candidate = text[think_start:think_end], text[candidate_start:candidate_end]
        return build(reasoning, update_gate, candidate, exit_gate, (locate, text, think))
    if len(text) < _HOP_ALWAYS and (match := whole.fullmatch(text)):
        reasoning, update_value, candidate, exit_value = match.groups()
        return build(
            reasoning.rstrip(WHITE_SPACE),
            MEANING[update_value],
            candidate.rstrip(WHITE_SPACE),
            MEANING[exit_value],
            (locate, text, think),
        )
    spans = _walk(text, think, outside_text)
    if spans is None:
        return None
    reasoning, update_value, candidate, exit_value = (text[slice(*span)] if span else "" for span in spans)
    return build(reasoning, MEANING[update_value], candidate, MEANING[exit_value], spans)


def find(view: str, think: Think, outside_text: OutsideText) -> Places | None:
    """Return where, in bytes, the contents of a response stand if it nests nothing; nothing of them is copied.

    None does not say that it is no response: :func:`gategrammar.parse` has to read the text.

    Args:
        view: the response in UTF-8, decoded as Latin-1: a character a byte. Tags and values are the same in it, since
            they are ASCII and no byte of another character is. That it is UTF-8 is not looked at: of other bytes the
            places mean nothing.
        think: how the reasoning arrives.
        outside_text: what to do with text outside the elements.
    """
    whole, first, others = _patterns(think, outside_text)
    places = _hop(view, first, others, _ASCII_SPACES) if len(view) >= _HOP else None
    if places is None and len(view) < _HOP_ALWAYS and (match := whole.fullmatch(view)):
        (think_start, think_end), (candidate_start, candidate_end) = match.span(1), match.span(3)
        while think_end > think_start and view[think_end - 1] in _ASCII_SPACES:
            think_end -= 1
        while candidate_end > candidate_start and view[candidate_end - 1] in _ASCII_SPACES:
            candidate_end -= 1
        places = think_start, think_end, MEANING[match[2]], candidate_start, candidate_end, MEANING[match[4]]
    if places and not view.isascii():
        # Where there must be nothing but white space, the patterns refuse that of several bytes, since it does not
        # begin with the two that would be white space of their own. A content takes it; mostly one byte tells that
        # there is none.
        think_start, think_end, update_gate, candidate_start, candidate_end, exit_gate = places
        if view[think_start] in _FIRST or view[think_end - 1] in _LAST:
            think_start, think_end = _trim_view(view, think_start, think_end)
        if view[candidate_start] in _FIRST or view[candidate_end - 1] in _LAST:
            candidate_start, candidate_end = _trim_view(view, candidate_start, candidate_end)
        return think_start, think_end, update_gate, candidate_start, candidate_end, exit_gate
    return places


@cache
def _run() -> re.Pattern[str]:
    """Return the pattern of white space in a view."""
    return re.compile(_repeated(*_VIEWED_SPACES))


def _trim_view(view: str, start: int, end: int) -> tuple[int, int]:
    """Trim a content at whose edges ASCII is trimmed already."""
    if start < end and (run := _run().match(view, start)):
        start = run.end()
    while start < end:
        for length in _LENGTHS:
            if view[end - length : end] in _VIEWED_SPACES:
                end -= length
                break
        else:
            break
    # In a content of nothing but white space the run goes on behind what has been trimmed: empty, it is at its end.
    return start, max(start, end)


def places_of(response: GateResponse, text: str) -> Places:
    """Return what :func:`find` says, or would say if it could, of *text*, which is *response*.

    A lone surrogate, which there is in texts but not in UTF-8, counts three bytes.
    """
    think, _, update, _ = response.spans
    bounds = pairwise((0, *(think or (0, 0)), *update))
    lengths = (len(text[start:end].encode(errors="surrogatepass")) for start, end in bounds)
    think_start, think_end, candidate_start, candidate_end = accumulate(lengths)
    return think_start, think_end, response.update_gate, candidate_start, candidate_end, response.exit_gate


def locate(text: str, think: Think) -> Spans:
    """Return where the contents stand in a text that was recognised."""
    spans = _walk(text, think, IGNORE)
    assert spans is not None, "what was recognised once is recognised again"  # noqa: S101 - tells the type checker
    return spans


@cache
def _patterns(
    think: Think, outside_text: OutsideText
) -> tuple[re.Pattern[str], re.Pattern[str], tuple[tuple[re.Pattern[str], int], ...]]:
    """Return the pattern of a whole response, and those of the segments between its free texts.

    The groups of the whole are the contents of the elements, that of a segment is the value in it; the white space
    before a content is outside its group. With each segment but the first comes where its first tag ends.
    """
    check_modes(think, outside_text)
    gap = {IGNORE: _BODY, FORBID: _SPACE}[outside_text]
    segments = [""]
    offsets = []
    for element in ELEMENTS:
        arrives = think if element is ELEMENTS[0] else REQUIRED
        if arrives == ABSENT:
            continue
        if arrives == REQUIRED:
            segments[-1] += gap + re.escape(element.opening.text)
        segments[-1] += _SPACE
        closing = re.escape(element.closing.text)
        if element.values is None:
            segments.append(closing)
            offsets.append(element.closing.text.index(TAG_END))
        else:
            segments[-1] += f"({one_of(element.values).pattern}){_SPACE}{closing}"
    segments[-1] += gap + r"\Z"
    whole = ("()" if think == ABSENT else "") + f"({_BODY})".join(segments)
    first, *others = map(re.compile, segments)
    return re.compile(whole), first, tuple(zip(others, offsets, strict=True))


def _hop(
    text: str, first: re.Pattern[str], others: tuple[tuple[re.Pattern[str], int], ...], spaces: frozenset[str]
) -> Places | None:
    """Match the segments one after the other, each where the next tag is; return the places, or None.

    Behind each free text comes a gate, so *start*, *end* and *match* are one such pair, and *begin*, *stop* and
    *decided* the pair before it: when all segments are matched, they are the two pairs of a response.
    """
    start, end, match = 0, 0, first.match(text)
    if match is None:
        return None
    for segment, offset in others:
        begin, stop, decided = start, end, match
        start = match.end()
        # A free text without TAG_END holds no tag. If the tag that has to come does not end with the next one, then
        # the text itself holds it, and the beginnings of tags have to be looked at. A negative place means 0: the tag
        # cannot stand there, or it would be its own TAG_END that was found.
        end = text.find(TAG_END, start) - offset
        match = segment.match(text, end)
        if match is None and len(text) >= _HOP_ALWAYS and (tag := ANY_TAG.search(text, start)):
            end = tag.start()
            match = segment.match(text, end)
        if match is None:
            return None
        while end > start and text[end - 1] in spaces:  # skip_space_back(), without the cost of a call
            end -= 1
    return begin, stop, MEANING[decided[1]], start, end, MEANING[match[1]]


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
