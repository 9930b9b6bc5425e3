"""The automaton is the parser: derived, minimal, and equal to it without sampling."""

import subprocess
import sys

import pytest
from lark import Token, UnexpectedToken

from gategrammar._resources import resource
from gategrammar.response import _tables, derive
from gategrammar.response.grammar import ANSWER, END_OF_INPUT, OUTSIDE, RESPONSE, TEXT, Grammar, GrammarError
from gategrammar.response.lalr import classify, compile_grammar, load, stage_of

SOURCE = resource("grammar/response.lark").read_text("utf-8")


def test_tables_are_up_to_date() -> None:
    """The committed tables are what the grammar gives today, so neither can be changed alone."""
    assert resource("gategrammar/response/_tables.py").read_text("utf-8") == derive.render(load())


def test_command_reports_stale_tables() -> None:
    """The command that developers and CI run agrees with the test above."""
    done = subprocess.run(
        [sys.executable, "-m", "gategrammar.response.derive", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def feed(grammar: Grammar, start: str, word: tuple[str, ...]) -> tuple[bool, set[str]]:
    """Feed a word to Lark's own parser; return whether it takes the last token, and what it expects there."""
    parser = grammar.lark.parse_interactive(start=start)
    for terminal in word:
        try:
            parser.feed_token(Token(terminal, ""))
            if any(terminal == e.opening.terminal and e.values is None for e in grammar.elements):
                parser.feed_token(Token(TEXT, ""))
        except UnexpectedToken as refused:
            return False, refused.expected
    return True, set()


@pytest.mark.parametrize("start", [RESPONSE, ANSWER])
def test_automaton_equals_parser(start: str) -> None:
    """No sampling: over all reachable pairs of automaton state and parser stack, every token means the same in both."""
    grammar = load()
    automaton = derive.minimise(grammar)
    errors = derive.errors(grammar, automaton)
    tokens = (*derive.alphabet(grammar), TEXT, OUTSIDE, END_OF_INPUT)
    seen = set()
    queue: list[tuple[int, derive.Stack, tuple[str, ...]]] = [
        (automaton.starts[start], derive.walk(grammar)[0][start], ())
    ]
    for state, stack, word in queue:
        if (state, stack) in seen:
            continue
        seen.add((state, stack))
        for token in tokens:
            taken, expected = feed(grammar, start, (*word, token))
            if token == END_OF_INPUT:
                assert taken == (state in automaton.accepting), word
            else:
                assert taken == (token in automaton.moves[state]), (word, token)
            if not taken:
                assert errors[state][token] == classify(grammar, stage_of(grammar.elements, expected), token)
            elif token != END_OF_INPUT:
                after = derive.feed(grammar, stack, token)
                assert after is not None
                queue.append((automaton.moves[state][token], after, (*word, token)))
    assert {state for state, _ in seen} == reachable(automaton, start)


def reachable(automaton: derive.Automaton, start: str) -> set[int]:
    """Return the states that a start state leads to."""
    states = {automaton.starts[start]}
    while more := {to for state in states for to in automaton.moves[state].values()} - states:
        states |= more
    return states


def test_automaton_is_minimal() -> None:
    """Every two states are told apart by some word, so none is there for nothing."""
    automaton = derive.minimise(load())

    def language(state: int, depth: int = 12) -> frozenset[tuple[str, ...]]:
        words: set[tuple[str, ...]] = {()} if state in automaton.accepting else set()
        if depth:
            for token, to in automaton.moves[state].items():
                words |= {(token, *word) for word in language(to, depth - 1)}
        return frozenset(words)

    languages = [(language(state), automaton.stages[state]) for state in range(len(automaton.moves))]
    assert len(set(languages)) == len(languages)


def test_every_state_has_a_stage_that_its_element_names() -> None:
    """The stage read off the parser agrees with the tag that got there."""
    for moves in _tables.MOVES:
        for text, to in moves.items():
            for number, element in enumerate(_tables.ELEMENTS):
                if text == element.opening.text:
                    assert _tables.STAGES[to] == (number, True)
                if text == element.closing.text:
                    assert _tables.STAGES[to] == (number + 1, False)


def test_a_new_value_needs_but_a_meaning() -> None:
    """A value added to the grammar is in the automaton; what it means for its gate no grammar can say."""
    grammar = compile_grammar(SOURCE.replace("(YES | NO)", "(YES | NO | MAYBE)") + '\nMAYBE: "maybe"\n')
    assert sorted(grammar.elements[1].values or ()) == ["maybe", "no", "yes"]
    assert "MAYBE" in derive.minimise(grammar).moves[3]
    with pytest.raises(GrammarError, match=r"value MAYBE says nothing of its gate yet: add it to MEANING in lalr\.py"):
        derive.render(grammar)


def test_a_new_element_needs_but_a_field() -> None:
    """An element added to the grammar is in the automaton, in its order; what it is called in a result is not there."""
    changed = SOURCE.replace("update next", "update note next").replace(
        "update: UPDATE", 'note: NOTE_OPEN TEXT NOTE_CLOSE\nNOTE_OPEN: "<note>"\nNOTE_CLOSE: "</note>"\nupdate: UPDATE'
    )
    grammar = compile_grammar(changed)
    assert [element.name for element in grammar.elements] == ["think", "check", "update", "note", "next"]
    assert len(derive.minimise(grammar).moves) == len(_tables.MOVES) + 2
    with pytest.raises(GrammarError, match=r"think, check, update, note, next: give it a field first"):
        derive.render(grammar)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("CHECK_OPEN (YES | NO) CHECK_CLOSE", "CHECK_OPEN CHECK_CLOSE", "rule check: expected an opening tag"),
        ("CHECK_OPEN (YES | NO) CHECK_CLOSE", "CHECK_OPEN (YES | TEXT) CHECK_CLOSE", "rule check: expected an opening"),
        ("response: think answer", "response: think answer | answer", "rule response: expected one sequence"),
        ("response: think answer", "response: THINK_OPEN answer", "rule response: expected one sequence"),
        ("response: think answer", "response: answer think", "rule answer: expected the last elements"),
        ('YES:      "yes"', 'YES: "yes"i', "terminal YES: expected one plain string"),
        ('YES:      "yes"', "YES: /y+/", "terminal YES: expected one plain string"),
        ('YES:      "yes"', 'YES: "no"', "rule check: two of its values are spelled alike"),
        ('YES:      "yes"', 'YES: "y es"', "value 'y es': expected a word of one element"),
        ('YES:      "yes"', 'YES: "end"', "value 'end': expected a word of one element"),
        ('"<check>"', '"[check]"', r"tag \[check\]: expected one"),
        ('"<check>"', '"<update>x"', "tag <update>x: expected one"),
        ('"<check>"', '"<<check>"', "tag <<check>: expected one"),
        ('"<check>"', '"<check>>"', "tag <check>>: expected one"),
        ('"<check>"', '"<check"', "tag <check: expected one"),
        ('"<check>"', '"<>"', "tag <>: expected one"),
    ],
)
def test_a_grammar_of_another_shape_is_refused(old: str, new: str, message: str) -> None:
    """What the derivation could not read is an error that names the rule."""
    assert old in SOURCE
    with pytest.raises(GrammarError, match=message):
        derive.render(compile_grammar(SOURCE.replace(old, new)))


def test_a_grammar_that_counts_is_refused() -> None:
    """Tags that have to pair up are not regular: the walk says so and what to do."""
    start = SOURCE.index("think: _closed")
    end = SOURCE.index("check:  ")
    counting = SOURCE[:start] + "think: THINK_OPEN TEXT think? THINK_CLOSE\n" + SOURCE[end:]
    with pytest.raises(GrammarError, match=r"not regular over tokens.*left recursion"):
        derive.walk(compile_grammar(counting))
