"""The grammar as data: the elements that ``grammar/response.lark`` describes.

The file is read for its shape alone: a sequence of elements, each an opening tag, a content and a closing tag, where
the content is free text or one of a closed set of values; an element may nest and repeat. Nothing here knows their
names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

import attrs

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Symbol

#: The start rule that reads a whole response, and the one that reads it without its leading element.
RESPONSE, ANSWER = "response", "answer"
#: How think arrives (SPEC §7): in the text, begun at the end of the prompt, or beside the text.
Think: TypeAlias = Literal["required", "prefilled", "absent"]
REQUIRED: Final = "required"
PREFILLED: Final = "prefilled"
ABSENT: Final = "absent"
#: What is done about text outside the elements (SPEC §6).
OutsideText: TypeAlias = Literal["ignore", "forbid"]
IGNORE: Final = "ignore"
FORBID: Final = "forbid"
#: The declared terminals: content of an element, text that is the content of none.
TEXT, OUTSIDE = "TEXT", "OUTSIDE"
#: What each tag ends with and holds nowhere else; derive.py refuses other tags.
TAG_END = ">"
#: What Lark calls the end of the input.
END_OF_INPUT = "$END"


def check_modes(think: object, outside_text: object) -> None:
    """Refuse what is no mode.

    Raises:
        ValueError: it names the modes that there are.
    """
    for name, mode, modes in (("think", think, get_args(Think)), ("outside_text", outside_text, get_args(OutsideText))):
        if mode not in modes:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, modes))}, not {mode!r}")


class GrammarError(Exception):
    """``response.lark`` describes something that no response can be read by."""


@attrs.frozen
class Tag:
    """A tag as it stands in a text, and the terminal that the grammar calls it by."""

    text: str
    terminal: str


@attrs.frozen
class Element:
    """An element of the response: ``<name>content</name>``.

    Attributes:
        name: the element's name in errors and results.
        opening: the tag that opens it.
        closing: the tag that closes it.
        values: the allowed values and their terminals; None where the content is free text.
        repeats: whether the element may nest and repeat (SPEC §4.4).
    """

    name: str
    opening: Tag
    closing: Tag
    values: dict[str, str] | None = None
    repeats: bool = False


class Stage(NamedTuple):
    """Where a parser is: inside an element, expecting it to open, or done (*element* is then one past the last)."""

    element: int
    inside: bool


@attrs.frozen(slots=False)
class Grammar:
    """``response.lark``, compiled.

    Attributes:
        elements: all elements in their order.
        absent: how many of them the text lacks when the leading one is delivered elsewhere.
        lark: the compiled grammar.
    """

    elements: tuple[Element, ...]
    absent: int
    lark: Lark

    @cached_property
    def tags(self) -> dict[str, tuple[int, Tag]]:
        """All tags by their text, each with the number of its element."""
        return {tag.text: (n, tag) for n, e in enumerate(self.elements) for tag in (e.opening, e.closing)}

    @cached_property
    def terminals(self) -> dict[str, tuple[int, Tag]]:
        """All tags by their terminal, each with the number of its element."""
        return {tag.terminal: (number, tag) for number, tag in self.tags.values()}

    @cached_property
    def any_tag(self) -> re.Pattern[str]:
        """A pattern that finds the next tag, whichever it is."""
        return one_of(self.tags)

    @cached_property
    def foreign_tag(self) -> re.Pattern[str]:
        """A pattern that finds the next tag that is not one of the leading element."""
        return one_of(text for text, (number, _) in self.tags.items() if number)


def one_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of *texts*."""
    return re.compile("|".join(map(re.escape, texts)))


def describe(lark: Lark) -> Grammar:
    """Read the elements off a compiled grammar.

    Raises:
        GrammarError: a rule is no element, or the rule for the answer is not the end of that for the response.
    """
    rules: dict[str, list[list[Symbol]]] = {}
    for rule in lark.rules:
        rules.setdefault(rule.origin.name, []).append(list(rule.expansion))

    def sequence(start: str) -> list[str]:
        """Flatten a start rule into the names of the elements."""
        if len(rules[start]) != 1 or any(symbol.is_term for symbol in rules[start][0]):
            raise GrammarError(f"rule {start}: expected one sequence of elements")
        return [
            name
            for symbol in rules[start][0]
            for name in (sequence(symbol.name) if symbol.name == ANSWER else [symbol.name])
        ]

    texts: dict[str, str] = {}
    for terminal in lark.terminals:
        if terminal.pattern.type != "str" or terminal.pattern.flags:
            raise GrammarError(f"terminal {terminal.name}: expected one plain string, without flags")
        texts[terminal.name] = str(terminal.pattern.value)
    names, answer = sequence(RESPONSE), sequence(ANSWER)
    if names[len(names) - len(answer) :] != answer:
        raise GrammarError(f"rule {ANSWER}: expected the last elements of rule {RESPONSE}")
    elements = tuple(_element(name, rules, texts) for name in names)
    return Grammar(elements, len(names) - len(answer), lark)


def _element(name: str, rules: dict[str, list[list[Symbol]]], texts: dict[str, str]) -> Element:
    """Read one element off its rules: all it can be in three tokens is opening, content, closing."""
    words = _words(name, rules, 3)
    order = [TEXT, *texts].index
    parts = [sorted(set(part), key=order) for part in zip(*words, strict=False)]
    openings, contents, closings = parts if {len(word) for word in words} == {3} else ([], [], [])
    if not (len(openings) == len(closings) == 1 and (contents == [TEXT] or TEXT not in contents)):
        raise GrammarError(f"rule {name}: expected an opening tag, {TEXT} or values, and a closing tag")
    opening, closing = (Tag(texts[terminal], terminal) for terminal in openings + closings)
    values = None if contents == [TEXT] else {texts[terminal]: terminal for terminal in contents}
    if values is not None and len(values) < len(contents):
        raise GrammarError(f"rule {name}: two of its values are spelled alike")
    return Element(name, opening, closing, values, repeats=len(_words(name, rules, 5)) > len(words))


def _words(start: str, rules: dict[str, list[list[Symbol]]], longest: int) -> set[tuple[str, ...]]:
    """Return all sequences of at most *longest* terminals that rule *start* derives."""
    words: set[tuple[str, ...]] = set()
    seen: set[tuple[Symbol, ...]] = set()
    forms: list[tuple[Symbol, ...]] = [tuple(expansion) for expansion in rules[start]]
    while forms:
        form = forms.pop()
        if len(form) > longest or form in seen:
            continue
        seen.add(form)
        place = next((i for i, symbol in enumerate(form) if not symbol.is_term), None)
        if place is None:
            words.add(tuple(symbol.name for symbol in form))
        else:
            forms.extend((*form[:place], *expansion, *form[place + 1 :]) for expansion in rules[form[place].name])
    return words
