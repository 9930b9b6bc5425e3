"""Grammar to automaton: the command that writes ``_tables.py``.

Theory of operation. Lark's LALR parser is a stack machine, but over tokens the language of a gate response is
regular: elements follow each other, and the one that nests does so without counting, so only finitely many stacks can
occur. :func:`walk` visits them all, breadth first, feeding every token to every stack; the stacks are the states of an
automaton that does exactly what the parser does. :func:`minimise` merges states that no token can tell apart. What the
parser says of a token that it refuses is tabulated by the same function that names the error when it parses.

A TEXT token is no step of the automaton: the lexer sends one after each opening tag of free text, so it is fed at once.

Run it after a change of ``grammar/response.lark``::

    python -m gategrammar.response.derive            # writes _tables.py
    python -m gategrammar.response.derive --check    # exits with 1 if it is not up to date
"""

import json
import re
import sys
from pathlib import Path
from typing import TypeAlias

import attrs
from lark.exceptions import LarkError
from lark.parsers.lalr_analysis import ParseTableBase, Shift

from gategrammar.response.grammar import (
    ABSENT,
    ANSWER,
    END_OF_INPUT,
    OUTSIDE,
    PREFILLED,
    REQUIRED,
    RESPONSE,
    TAG_END,
    TEXT,
    Element,
    Grammar,
    GrammarError,
    Stage,
    Tag,
)
from gategrammar.response.lalr import MEANING, classify, load, stage_of
from gategrammar.response.result import GateResponse, Spans
from gategrammar.response.text import WHITE_SPACE

#: The states of Lark's parser, the current one last.
Stack: TypeAlias = tuple[int, ...]

#: More stacks than any grammar of this shape has; what grows past it counts something, so it is not regular.
_MOST_STACKS = 10_000

_COMMAND = "gategrammar.response.derive"
_TABLES = Path(__file__).with_name("_tables.py")
_WIDTH = 110
_HEADER = f'''"""Derived from grammar/response.lark by ``python -m {_COMMAND}``; never edited by hand."""

from gategrammar.response.grammar import Element, Stage, Tag
'''


@attrs.frozen
class Automaton:
    """A deterministic automaton over tokens; states are numbers, breadth first from the start states.

    Attributes:
        starts: the start state by start rule.
        moves: per state, the next state by token; a token that is not there is an error.
        stages: per state, where in the response it is.
        accepting: the states in which the input may end.
    """

    starts: dict[str, int]
    moves: tuple[dict[str, int], ...]
    stages: tuple[Stage, ...]
    accepting: frozenset[int]


def alphabet(grammar: Grammar) -> tuple[str, ...]:
    """Return the tokens that move the automaton: tags and values, in the grammar's order."""
    return tuple(
        terminal
        for element in grammar.elements
        for terminal in (element.opening.terminal, *(element.values or {}).values(), element.closing.terminal)
    )


def _parse_table(grammar: Grammar) -> "ParseTableBase[int]":
    """Return Lark's table: the parser as data."""
    table: ParseTableBase[int] = grammar.lark.parser.parser._parse_table  # noqa: SLF001 - no public name
    return table


def step(grammar: Grammar, stack: Stack, terminal: str) -> Stack | None:
    """Feed one token to the parser, as Lark does; None if it refuses."""
    table = _parse_table(grammar)
    states = list(stack)
    while True:
        action, target = table.states[states[-1]].get(terminal, (None, None))
        if action is None:
            return None
        if action is Shift:
            return (*states, target)
        del states[len(states) - len(target.expansion) :]
        states.append(table.states[states[-1]][target.origin.name][1])
        if terminal == END_OF_INPUT and states[-1] in table.end_states.values():
            return tuple(states)


def feed(grammar: Grammar, stack: Stack, terminal: str) -> Stack | None:
    """Feed one token of the alphabet, and the TEXT that the lexer sends behind it where the parser takes one."""
    after = step(grammar, stack, terminal)
    return after and (step(grammar, after, TEXT) or after)


def expected(grammar: Grammar, stack: Stack) -> set[str]:
    """Return the tokens that the parser would take."""
    return {token for token in (*alphabet(grammar), END_OF_INPUT) if step(grammar, stack, token)}


def walk(grammar: Grammar) -> tuple[dict[str, Stack], dict[Stack, dict[str, Stack]]]:
    """Return the start stacks by rule, and every reachable stack with what each token makes of it.

    Raises:
        GrammarError: the stacks grow without end.
    """
    starts: dict[str, Stack] = {rule: (_parse_table(grammar).start_states[rule],) for rule in (RESPONSE, ANSWER)}
    moves: dict[Stack, dict[str, Stack]] = {}
    queue: list[Stack] = list(starts.values())
    for stack in queue:
        if stack in moves:
            continue
        if len(moves) == _MOST_STACKS:
            raise GrammarError(
                "response.lark is not regular over tokens: the parser's stack grows with the input; "
                "write an element that repeats with left recursion and without matching its tags in pairs"
            )
        moves[stack] = {token: after for token in alphabet(grammar) if (after := feed(grammar, stack, token))}
        queue.extend(moves[stack].values())
    return starts, moves


def minimise(grammar: Grammar) -> Automaton:
    """Return the smallest automaton that refuses what the parser does, at the same tokens and for the same reasons.

    Moore's algorithm: states are told apart first by their stage and by what the end of the input means there, then by
    where their tokens lead, until nothing changes.
    """
    starts, moves = walk(grammar)
    stages = {stack: stage_of(grammar.elements, expected(grammar, stack)) for stack in moves}
    block: dict[Stack, object] = {s: (stages[s], END_OF_INPUT in expected(grammar, s)) for s in moves}
    while True:
        finer = {s: (block[s], tuple((token, block[to]) for token, to in moves[s].items())) for s in moves}
        number = {key: i for i, key in enumerate(dict.fromkeys(finer.values()))}
        if len(number) == len(set(block.values())):
            break
        block = {s: number[key] for s, key in finer.items()}
    states = {s: number[key] for s, key in finer.items()}
    first = {number: stack for stack, number in reversed(states.items())}
    return Automaton(
        starts={rule: states[stack] for rule, stack in starts.items()},
        moves=tuple({token: states[to] for token, to in moves[first[n]].items()} for n in range(len(first))),
        stages=tuple(stages[first[n]] for n in range(len(first))),
        accepting=frozenset(n for n in first if END_OF_INPUT in expected(grammar, first[n])),
    )


def errors(grammar: Grammar, automaton: Automaton) -> list[dict[str, tuple[str, int]]]:
    """Return per state what each refused token means: the kind of the error, and the number of the failing element."""
    return [
        {
            token: classify(grammar, stage, token)
            for token in (*alphabet(grammar), TEXT, OUTSIDE, END_OF_INPUT)
            if token not in moves and not (token == END_OF_INPUT and state in automaton.accepting)
        }
        for state, (moves, stage) in enumerate(zip(automaton.moves, automaton.stages, strict=True))
    ]


def render(grammar: Grammar) -> str:
    """Return the source of ``_tables.py``."""
    _check_spelling(grammar.elements)
    _check_meaning(grammar)
    automaton = minimise(grammar)
    spelled = {tag.terminal: tag.text for _, tag in grammar.terminals.values()}
    spelled |= {terminal: text for e in grammar.elements for text, terminal in (e.values or {}).items()}
    start = automaton.starts[RESPONSE]
    starts = {
        REQUIRED: start,
        PREFILLED: automaton.moves[start][grammar.elements[0].opening.terminal],
        ABSENT: automaton.starts[ANSWER],
    }
    values = {text: MEANING[terminal] for e in grammar.elements for text, terminal in (e.values or {}).items()}
    moves = [{spelled[token]: to for token, to in move.items()} for move in automaton.moves]
    refused = [{spelled.get(token, token): what for token, what in e.items()} for e in errors(grammar, automaton)]
    return _HEADER + "".join(
        f"\n#: {comment}\n{name} = {_source(value)}\n"
        for name, comment, value in (
            ("ELEMENTS", "The elements of a response, in their order.", grammar.elements),
            ("MEANING", "What each value says of its gate.", values),
            ("STARTS", "The start state by the way think arrives (SPEC §7).", starts),
            ("STAGES", "Per state: where in the response it is.", automaton.stages),
            ("ACCEPTING", "The states in which the input may end.", automaton.accepting),
            ("MOVES: tuple[dict[str, int], ...]", "Per state: the next state by tag or value.", tuple(moves)),
            ("ERRORS", "Per state: kind and failing element by refused tag, value or token.", tuple(refused)),
        )
    )


def _check_spelling(elements: tuple[Element, ...]) -> None:
    """Refuse tags and values that the readers could not tell from each other, or from text.

    Raises:
        GrammarError: it names the tag, the value or the element.
    """
    tags = [tag.text for element in elements for tag in (element.opening, element.closing)]
    values = [value for element in elements for value in element.values or ()]
    for tag in tags:
        if not re.fullmatch(f"<[^<{TAG_END}]+{TAG_END}", tag) or tags.count(tag) > 1:
            raise GrammarError(
                f'tag {tag}: expected one "<", at its start, one "{TAG_END}", at its end, and no equal tag'
            )
    for value in values:
        if not value or "<" in value or any(space in value for space in WHITE_SPACE) or values.count(value) > 1:
            raise GrammarError(f'value {value!r}: expected a word of one element, without white space and "<"')
    for element in elements[1:]:
        if element.repeats:
            raise GrammarError(f"rule {element.name}: only the first element may nest and repeat")


def _check_meaning(grammar: Grammar) -> None:
    """Refuse what the result has no field, or the values no meaning for: nothing is written then.

    Raises:
        GrammarError: it says what is to be added where.
    """
    shape = [(element.name, str if element.values is None else bool) for element in grammar.elements]
    fields = list(zip(Spans._fields, GateResponse.__annotations__.values(), strict=True))
    if shape != fields:
        raise GrammarError(
            f"GateResponse has the fields of {', '.join(Spans._fields)}, but the grammar has "
            f"{', '.join(element.name for element in grammar.elements)}: give it a field first (result.py, lalr.py)"
        )
    for terminal in (terminal for element in grammar.elements for terminal in (element.values or {}).values()):
        if terminal not in MEANING:
            raise GrammarError(f"value {terminal} says nothing of its gate yet: add it to MEANING in lalr.py")


def _source(value: object, indent: str = "") -> str:
    """Return Python source for plain data, laid out as the formatter would."""
    match value:
        case Stage():
            return f"Stage({value.element}, inside={value.inside})"
        case frozenset():
            return f"frozenset({{{', '.join(map(repr, sorted(value)))}}})"
        case Element() | Tag():
            opening, closing = f"{type(value).__name__}(", ")"
            items = [(f"{name}=", item) for name, item in attrs.asdict(value, recurse=False).items()]
        case dict():
            opening, closing = "{", "}"
            items = [(f"{_source(name)}: ", item) for name, item in value.items()]
        case tuple():
            opening, closing = "(", ")"
            items = [("", item) for item in value]
        case _:
            return json.dumps(value) if isinstance(value, str) else repr(value)
    line = opening + ", ".join(name + _source(item) for name, item in items) + closing
    if len(indent + line) < _WIDTH:
        return line
    inner = indent + "    "
    return opening + "".join(f"\n{inner}{name}{_source(item, inner)}," for name, item in items) + f"\n{indent}{closing}"


def main() -> int:
    """Write ``_tables.py``, or with ``--check`` compare it; return the exit code."""
    try:
        source = render(load())
    except (GrammarError, LarkError) as error:
        sys.stderr.write(f"response.lark: {error}\n")
        return 1
    if "--check" in sys.argv[1:]:
        if _TABLES.read_text("utf-8") == source:
            return 0
        sys.stderr.write(f"{_TABLES.name} does not follow from response.lark; run: python -m {_COMMAND}\n")
        return 1
    _TABLES.write_text(source, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
