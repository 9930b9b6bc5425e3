"""Text to tokens: the tags, the trimmed content between them, and the think pre-pass (SPEC §2, §4).

A token carries where it stands, not a copy of what stands there: a content of 100 MB is cut out once, at the very end.
"""

from collections.abc import Iterator
from typing import Any

from lark.lexer import Lexer, LexerState, Token

from gategrammar.response.grammar import OUTSIDE, TEXT, Element, Grammar
from gategrammar.response.text import may_grow, skip_space, trim, unsettled


class TokenFeed(Lexer):
    """Hands tokens that are already made to Lark's parser."""

    __future_interface__ = 2

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:  # noqa: ARG002 - Lark's signature
        """Return the tokens."""
        tokens: Iterator[Token] = lexer_state.text  # type: ignore[assignment] # Lark passes on what parse() is given
        return tokens


def tokens(grammar: Grammar, text: str, *, opened: bool, forbid_outside: bool) -> Iterator[Token]:
    """Cut *text* into the tokens of the grammar, one at a time, so that nothing behind an error is looked at.

    A content that its element does not allow is a TEXT token: where the parser takes values it refuses it.

    Args:
        grammar: what the tags and values are.
        text: the response.
        opened: the leading element was opened before the text begins (``think="prefilled"``).
        forbid_outside: text outside the elements becomes a token, at its first character that is not white space.
    """
    leading = grammar.elements[0]
    fresh = True
    position = 0
    inside: Element | None = None
    if opened:
        inside = leading
        yield _token(leading.opening.terminal, 0, 0)
    while True:
        scan = position
        if fresh and inside is leading:
            fresh = False
            scan = _leading_end(grammar, text, position, forbid_outside=forbid_outside)
        found = grammar.any_tag.search(text, scan)
        start = found.start() if found else len(text)
        if inside is not None:
            yield from _content(inside, text, position, start, last=found is None)
        elif forbid_outside and (stray := skip_space(text, position, start)) < start:
            yield _token(OUTSIDE, stray, start)
        if found is None:
            return
        number, tag = grammar.tags[found.group()]
        yield _token(tag.terminal, *found.span())
        inside = grammar.elements[number] if tag is grammar.elements[number].opening else None
        position = found.end()


def _leading_end(grammar: Grammar, text: str, start: int, *, forbid_outside: bool) -> int:
    """Return the offset from which to look for the tag that ends the leading element: the pre-pass.

    An element that may nest and repeat ends at its last closing tag before the next element opens. What lies before
    that is passed over as one piece, but only if it holds no tag of another element, and no text between two blocks
    that ``outside_text="forbid"`` has to see (SPEC §4.5, §6.3); else the table decides, tag by tag, from *start* on.
    Tried once a response, since a second try could find the same obstacle again and cost quadratic time.
    """
    leading, following = grammar.elements[:2]
    opens = text.find(following.opening.text, start)
    end = text.rfind(leading.closing.text, start, opens if opens >= 0 else len(text))
    if (
        not leading.repeats
        or end < 0
        or grammar.foreign_tag.search(text, start, end)
        or (forbid_outside and leading.closing.text in text[start:end])
    ):
        return start
    return end


def _content(element: Element, text: str, start: int, end: int, *, last: bool) -> Iterator[Token]:
    """Yield what stands in ``text[start:end]``, the content of *element*; *last* says that the input ends there."""
    if element.values is None:
        yield _token(TEXT, start, end)
        return
    left, right = trim(text, start, end)
    terminal = element.values.get(text[left:right])
    if terminal is not None:
        yield _token(terminal, left, right)
        return
    if last:
        closing = element.closing.text
        settled = unsettled(text, start, [closing])
        if may_grow(text[start:settled], element.values, closing, text[settled:]):
            return
    yield _token(TEXT, start, end)


def _token(terminal: str, start: int, end: int) -> Token:
    return Token(terminal, "", start_pos=start, end_pos=end)
