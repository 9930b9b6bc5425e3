"""Walks of the automaton that spell a response.

Theory of operation. Hypothesis derives strings from a Lark grammar by its productions: which tags and values follow
each other, and that every production is taken, is its doing. Where it leaves off is the lexer, which is ours: what of
the text between the tags matters, and where it stands. So each terminal is written as a line of JSON, with a text
before it that cannot change what it says, and the lines are read back as the steps of the automaton. That the texts are
drawn inside the derivation is what makes it shrink: a production goes away together with its texts.
"""

import json
import re
from functools import cache

import attrs
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark

from gategrammar._resources import resource
from gategrammar.fuzzing._texts import free_text, outside, white
from gategrammar.response._tables import ELEMENTS, MOVES, STARTS
from gategrammar.response.grammar import (
    ABSENT,
    ANSWER,
    PREFILLED,
    RESPONSE,
    TEXT,
    OutsideText,
    Think,
    check_modes,
)
from gategrammar.response.lalr import compile_grammar
from gategrammar.response.tags import ANY_TAG


@attrs.frozen
class Step:
    """One token of a walk.

    Attributes:
        state: where the automaton is before it.
        gap: the text before it.
        token: the tag or the value.
    """

    state: int
    gap: str
    token: str

    def __str__(self) -> str:
        return self.gap + self.token


@attrs.frozen
class Walk:
    """A response as the automaton takes it.

    Attributes:
        steps: its tokens.
        state: where the automaton is behind them.
        rest: the text behind them.
    """

    steps: tuple[Step, ...]
    state: int
    rest: str

    def before(self, at: int) -> str:
        """Return the text of the first *at* tokens."""
        return "".join(map(str, self.steps[:at]))

    def behind(self, at: int) -> str:
        """Return the text behind the first *at* tokens."""
        return "".join(map(str, self.steps[at:])) + self.rest

    def state_at(self, at: int) -> int:
        """Return where the automaton is behind the first *at* tokens."""
        return self.steps[at].state if at < len(self.steps) else self.state


def _line(token: str, *texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return the strategy of *token* with *texts* before it, as a line."""
    return st.tuples(*texts).map(lambda drawn: json.dumps(["".join(drawn), token]) + "\n")


@cache
def _lines(start: str, outside_text: OutsideText) -> st.SearchStrategy[str]:
    """Return the strategy of the derivations of rule *start*; content without a tag is a line of its own."""
    # Hypothesis has no strategy for an ignored terminal that is only declared, and none is wanted: see outside().
    source = re.sub("^%ignore .*$", "", resource("grammar/response.lark").read_text("utf-8"), flags=re.MULTILINE)
    between = outside(outside_text)
    terminals = {TEXT: _line("", free_text)}
    for element in ELEMENTS:
        terminals[element.opening.terminal] = _line(element.opening.text, between)
        terminals[element.closing.terminal] = _line(element.closing.text, white if element.values else between)
        for value, terminal in (element.values or {}).items():
            terminals[terminal] = _line(value, white)
    return from_lark(compile_grammar(source).lark, start=start, explicit=terminals)


@st.composite
def walks(draw: st.DrawFn, think: Think, outside_text: OutsideText) -> Walk:
    """Draw a response as a walk of the automaton.

    Raises:
        ValueError: unknown mode.
    """
    check_modes(think, outside_text)
    lines = draw(_lines(ANSWER if think == ABSENT else RESPONSE, outside_text)).splitlines()
    state, content = STARTS[think], ""
    steps = []
    for text, token in map(json.loads, lines[think == PREFILLED :]):
        content += text
        if token:
            if ANY_TAG.search(content):  # made where two texts meet
                reject()
            steps.append(Step(state, content, token))
            state, content = MOVES[state][token], ""
    return Walk(tuple(steps), state, draw(outside(outside_text)))
