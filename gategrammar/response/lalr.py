"""The reference path: Lark's LALR parser over the tokens, and every error, named by the parser's own failing state."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from lark import Lark, Token, Transformer, UnexpectedToken

from gategrammar._resources import resource
from gategrammar.response.errors import WITH_TEXT, GateParseError, Place, failure
from gategrammar.response.grammar import (
    ABSENT,
    ANSWER,
    END_OF_INPUT,
    FORBID,
    OUTSIDE,
    PREFILLED,
    RESPONSE,
    Element,
    Grammar,
    OutsideText,
    Stage,
    Think,
    describe,
)
from gategrammar.response.lexer import TokenFeed, tokens
from gategrammar.response.result import GateResponse, Span, Spans, build
from gategrammar.response.text import trim

#: What the values say: U_t of the paper is 1 for yes, E_t is 1 for end.
MEANING = {"YES": True, "NO": False, "CONTINUE": False, "END": True}


@cache
def load() -> Grammar:
    """Return the compiled ``grammar/response.lark``."""
    return compile_grammar(resource("grammar/response.lark").read_text("utf-8"))


def compile_grammar(source: str) -> Grammar:
    """Compile the text of a grammar.

    Raises:
        GrammarError: it is no sequence of tagged elements.
        lark.exceptions.GrammarError: it is no grammar, or not LALR(1).
    """
    return describe(Lark(source, parser="lalr", lexer=TokenFeed, start=[RESPONSE, ANSWER]))


def read(text: str, think: Think, outside_text: OutsideText) -> GateResponse:
    """Parse *text* with the reference parser; arguments as :func:`gategrammar.parse`.

    Raises:
        GateParseError: the text is no response.
    """
    grammar = load()
    stream = tokens(grammar, text, opened=think == PREFILLED, forbid_outside=outside_text == FORBID)
    try:
        tree = grammar.lark.parse(stream, start=ANSWER if think == ABSENT else RESPONSE)
    except UnexpectedToken as refused:
        error = _error(grammar, text, refused.expected, refused.token)
    else:
        return _Build(text).transform(tree)
    raise error  # out here it has no context, which would keep the whole text alive as long as the error


def stage_of(elements: Sequence[Element], expected: AbstractSet[str]) -> Stage:
    """Read off what the parser would take which element it is in: the furthest one that can go on."""
    for number, element in reversed(list(enumerate(elements))):
        if not expected.isdisjoint({element.closing.terminal, *(element.values or {}).values()}):
            return Stage(number, inside=True)
        if element.opening.terminal in expected:
            return Stage(number, inside=False)
    return Stage(len(elements), inside=False)


def classify(grammar: Grammar, stage: Stage, terminal: str) -> tuple[str, int]:
    """Return the kind of the error, and the number of the element that failed (the tables of SPEC §4).

    Args:
        grammar: the elements and their tags.
        stage: where the parser is.
        terminal: the token that it does not take there.
    """
    here = stage.element
    if terminal == OUTSIDE:
        return "stray_text", min(here, len(grammar.elements) - 1)
    if terminal == END_OF_INPUT:
        return ("unclosed" if stage.inside else "missing"), here
    if terminal not in grammar.terminals:
        return "bad_value", here
    if stage.inside:
        return "unclosed", here
    number, tag = grammar.terminals[terminal]
    if number < here:
        return "duplicate", number
    return ("missing", here) if tag is grammar.elements[number].opening else ("unopened", number)


def _error(grammar: Grammar, text: str, expected: AbstractSet[str], token: Token) -> GateParseError:
    """Build the error for a refused token: all the rest follows from where it stands."""
    stage = stage_of(grammar.elements, expected)
    kind, failed = classify(grammar, stage, token.type)
    offset = len(text) if token.type == END_OF_INPUT else token.start_pos or 0
    following = grammar.any_tag.search(text, offset)
    seen = None
    if kind in WITH_TEXT:
        start, end = trim(text, offset, following.start() if following else len(text))
        seen = text[start:end]
    return failure(
        grammar.elements,
        grammar.any_tag,
        stage,
        kind,
        failed,
        offset=offset,
        place=Place().after(text, offset),
        found=following.group() if following else None,
        seen=seen,
        text=text,
    )


class _Build(Transformer[Token, GateResponse]):
    """Builds the result bottom-up: a method per rule, an entry per value."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def _text_of(self, children: Sequence[Token]) -> tuple[str, Span]:
        """Trim what stands between the first tag and the last: between the two there may be more of them."""
        start, end = trim(self._text, children[0].end_pos or 0, children[-1].start_pos or 0)
        return self._text[start:end], (start, end)

    think = update = _text_of

    def _gate_of(self, children: Sequence[Token]) -> tuple[bool, Span]:
        _, value, _ = children
        return MEANING[value.type], (value.start_pos or 0, value.end_pos or 0)

    check = next = _gate_of

    def answer(self, children: Sequence[tuple[object, Span]]) -> GateResponse:
        """Build the result of a response without think."""
        (update_gate, check), (candidate, update), (exit_gate, next_) = children
        spans = Spans(None, check, update, next_)
        return build("", bool(update_gate), str(candidate), bool(exit_gate), spans)

    def response(self, children: tuple[tuple[str, Span], GateResponse]) -> GateResponse:
        """Add think."""
        (think, span), answer = children
        spans = answer.spans._replace(think=span)
        return build(think, answer.update_gate, answer.candidate, answer.exit_gate, spans)
