"""The language of the responses as an expression, before any notation: what the two profiles say.

Theory of operation. A response is its elements in their order, so both profiles are regular, and one expression over a
handful of node types holds each; a notation (:mod:`gategrammar.export.notation`) only spells it. The *parse* profile is
what :func:`gategrammar.parse` accepts, no more and no less. The *generation* profile is the part of it that a weak
model can finish: the canonical text of SPEC §11 with bounded bodies, an optional line break between the elements,
and nothing outside them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from gategrammar.response.grammar import ABSENT, PREFILLED, REQUIRED, Element, Think
from gategrammar.response.text import WHITE_SPACE

Profile: TypeAlias = Literal["parse", "generation"]
PARSE: Final = "parse"
GENERATION: Final = "generation"


class ExportError(ValueError):
    """What was asked for cannot be said in this format; the message says what can."""


Node: TypeAlias = "Text | Chars | Words | Join | Either | Repeat | Except | Rule"


@attrs.frozen
class Text:
    """Exactly this text."""

    text: str


@attrs.frozen
class Chars:
    """One character: one of *members*, or with *negated* any other."""

    members: str
    negated: bool = False


@attrs.frozen
class Words:
    """Any text without one of *tags* (SPEC §2.2).

    Attributes:
        tags: what the text does not hold.
        most: how many steps long it is at most; None is unbounded. :mod:`gategrammar.export.trie` says what a step is.
    """

    tags: tuple[str, ...]
    most: int | None = None


@attrs.frozen
class Join:
    """The items one after the other; without items, the empty text."""

    items: tuple["Node", ...]


@attrs.frozen
class Either:
    """One of the items."""

    items: tuple["Node", ...]


@attrs.frozen
class Repeat:
    """The item *least* to *most* times; None is unbounded."""

    item: "Node"
    least: int = 0
    most: int | None = None


@attrs.frozen
class Except:
    """What *item* is and *without* is not."""

    item: "Node"
    without: "Node"


@attrs.frozen
class Rule:
    """An expression with a name; notations without names write it in place."""

    name: str
    node: "Node"


def join(*items: Node) -> Node:
    """Return the items one after the other, flat."""
    flat = tuple(part for item in items for part in (item.items if isinstance(item, Join) else (item,)))
    return flat[0] if len(flat) == 1 else Join(flat)


def either(*items: Node) -> Node:
    """Return one of the items."""
    return items[0] if len(items) == 1 else Either(items)


def repeat(item: Node, least: int = 0, most: int | None = None) -> Node:
    """Return the item *least* to *most* times; at most 0 times is the empty text."""
    return Join(()) if most == 0 else Repeat(item, least, most)


def optional(item: Node) -> Node:
    """Return the item or the empty text."""
    return repeat(item, 0, 1)


def subtract(words: Words) -> Node:
    """Return text without tags as any text that is not text with a tag."""
    anything = repeat(Rule("char", Chars("", negated=True)))
    tag = Rule("tag", either(*map(Text, words.tags)))
    return Except(anything, join(anything, tag, anything))


def response(elements: Sequence[Element], profile: Profile, think: Think, bounds: Mapping[str, int]) -> Rule:
    """Return the language of the responses.

    Args:
        elements: the elements of a response, in their order.
        profile: "parse" or "generation".
        think: how the reasoning arrives (SPEC §7).
        bounds: for the generation profile, the bound of each element with free text, by name, in steps.
    """
    tags = tuple(tag.text for element in elements for tag in (element.opening, element.closing))
    outside: Node = Rule("text", Words(tags)) if profile == PARSE else optional(Text("\n"))
    parts: list[Node] = []
    for element in elements:
        arrives = think if element is elements[0] else REQUIRED
        if arrives == ABSENT:
            continue
        # Nothing stands before an element that the prompt has begun, nor before the first one that is generated.
        if arrives != PREFILLED and (parts or profile == PARSE):
            parts.append(outside)
        inside = _anything(element, tags) if profile == PARSE else _bounded(element, tags, bounds)
        opening = () if arrives == PREFILLED else (Text(element.opening.text),)
        parts.append(Rule(element.name, join(*opening, inside, Text(element.closing.text))))
    if profile == PARSE:
        parts.append(outside)
    return Rule("response", join(*parts))


def _anything(element: Element, tags: tuple[str, ...]) -> Node:
    """Return all that may stand between the first tag of *element* and the last."""
    if element.values is not None:
        space = Rule("space", repeat(Chars(WHITE_SPACE)))
        return join(space, _values(element), space)
    text = Rule("text", Words(tags))
    if not element.repeats:
        return text
    return join(repeat(join(text, either(Text(element.opening.text), Text(element.closing.text)))), text)


def _bounded(element: Element, tags: tuple[str, ...], bounds: Mapping[str, int]) -> Node:
    """Return the content of *element* as the canonical text has it, with a bound."""
    return _values(element) if element.values is not None else Words(tags, bounds[element.name])


def _values(element: Element) -> Node:
    return either(*(Text(value) for value in element.values or ()))
