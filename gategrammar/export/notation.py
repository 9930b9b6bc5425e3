"""From an expression to text: what all notations share, with their differences as data."""

from collections.abc import Callable, Iterator
from itertools import count

import attrs

from gategrammar.export.language import Chars, Either, Except, Join, Node, Repeat, Rule, Text, Words

#: How tightly a node binds: what binds less than its place asks for is put in brackets.
_CHOICE, _SEQUENCE, _POSTFIX, _ATOM = range(4)


def braces(least: int, most: int | None) -> str:
    """Return a number of times as most notations count."""
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


@attrs.frozen
class Notation:
    """How one notation spells the node types.

    Attributes:
        text: spells an exact text, which is not empty.
        chars: spells one character of a set.
        words: rewrites text without tags into what the notation has.
        counted: spells the suffix for a number of times, where neither ``*``, ``+`` nor ``?`` says it.
        minus: stands between a language and what is taken away from it, where the notation can say that.
        empty: the empty text.
        name: how a rule is called; not used where all is written in one expression.
        gap: what stands between the items of a sequence.
        bar: what stands between the items of a choice.
        brackets: what stands round an expression.
    """

    text: Callable[[str], str]
    chars: Callable[[Chars], str]
    words: Callable[[Words], Node]
    counted: Callable[[int, int | None], str] = braces
    minus: str = ""
    empty: str = '""'
    name: Callable[[str], str] = str
    gap: str = " "
    bar: str = " | "
    brackets: tuple[str, str] = ("(", ")")


def definitions(root: Rule, notation: Notation) -> dict[str, str]:
    """Return all rules that *root* needs, spelled, by their names: *root* first, then each where it is first used.

    Rules that differ and want the same name are numbered.

    Raises:
        ExportError: the notation cannot say it.
    """
    rules = dict.fromkeys(_rules(root, notation))
    names: dict[Rule, str] = {}
    for rule in rules:
        wanted = notation.name(rule.name)
        numbered = (wanted if n == 1 else f"{wanted}{n}" for n in count(1))
        names[rule] = next(name for name in numbered if name not in names.values())
    return {names[rule]: _Writer(notation, names).write(rule.node, _CHOICE) for rule in rules}


def inline(node: Node, notation: Notation) -> str:
    """Return *node* as one expression without rules."""
    return _Writer(notation, {}).write(node, _CHOICE)


def by_code(character: str) -> str:
    r"""Return *character* by its code point, as regular expressions and GBNF both escape it.

    Never as ``\xHH``, which xgrammar takes to go on as long as hexadecimal digits follow.
    """
    code = f"{ord(character):x}"
    return rf"\u{code:0>4}" if len(code) <= len("FFFF") else rf"\U{code:0>8}"


def ranges(members: str) -> list[tuple[str, str]]:
    """Return the characters as ranges, both ends included, in order; two neighbours are no range yet."""
    found: list[str] = []
    for character in sorted(set(members)):
        if found and ord(character) == ord(found[-1][-1]) + 1:
            found[-1] += character
        else:
            found.append(character)
    return [
        ends
        for run in found
        for ends in ([(run[0], run[-1])] if len(run) > len("ab") else [(character, character) for character in run])
    ]


def _rules(node: Node, notation: Notation) -> Iterator[Rule]:
    """Yield the rules under *node*, each before those that it needs."""
    match node:
        case Rule():
            yield node
            yield from _rules(node.node, notation)
        case Join() | Either():
            for item in node.items:
                yield from _rules(item, notation)
        case Repeat():
            yield from _rules(node.item, notation)
        case Except():
            yield from _rules(node.item, notation)
            yield from _rules(node.without, notation)
        case Words():
            yield from _rules(notation.words(node), notation)


@attrs.frozen
class _Writer:
    notation: Notation
    names: dict[Rule, str]

    def write(self, node: Node, place: int) -> str:
        """Spell *node* where something that binds as tightly as *place* is needed."""
        how, text = self._spell(node)
        opening, closing = self.notation.brackets
        return text if how >= place else opening + text + closing

    def _spell(self, node: Node) -> tuple[int, str]:
        """Return *node* as it is spelled, and how tightly that binds."""
        notation = self.notation
        how, spelled = _ATOM, notation.empty
        match node:
            case Text(text):
                how, spelled = (_ATOM if len(text) == 1 or notation.gap else _SEQUENCE), notation.text(text)
            case Chars():
                spelled = notation.chars(node)
            case Words():
                how, spelled = self._spell(notation.words(node))
            case Rule() if node in self.names:
                spelled = self.names[node]
            case Rule():
                how, spelled = self._spell(node.node)
            case Join(items) if items:
                how, spelled = _SEQUENCE, notation.gap.join(self.write(item, _SEQUENCE) for item in items)
            case Either(items):
                how, spelled = _CHOICE, notation.bar.join(self.write(item, _SEQUENCE) for item in items)
            case Except(item, without):
                how, spelled = _CHOICE, self.write(item, _POSTFIX) + notation.minus + self.write(without, _ATOM)
            case Repeat(item, least, most):
                times = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
                how, spelled = _POSTFIX, self.write(item, _ATOM) + (times or notation.counted(least, most))
        return how, spelled
