"""The strategies for users: what they promise of a text is what the oracle says, and they leave nothing out."""

import inspect
import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from lark.parsers.lalr_analysis import Shift

from cases import agrees, verdict
from gategrammar import GateParseError, format_response, try_parse
from gategrammar.fuzzing import Case, Miss, Reply, Trajectory, answers, mutations, near_misses, responses, trajectories
from gategrammar.fuzzing._sample import sample
from gategrammar.gate import Answers, GateSettings, Refused, read_answers, reasons
from gategrammar.gate import answers as reader
from gategrammar.response import _tables, derive, lexer
from gategrammar.response.grammar import ABSENT, ANSWER, END_OF_INPUT, OUTSIDE, PREFILLED, RESPONSE, TEXT
from gategrammar.response.lalr import load
from gategrammar.response.tags import TAGS
from oracle import MODES, Outside, Think, oracle
from strategies import free_text

#: More cases than any production or error takes to come up; who needs them all has a hole.
MOST = 8000
all_modes = pytest.mark.parametrize(("think", "outside_text"), MODES)
#: Explaining a failure, which smallest_of() would spend most of its time on, is of no use here.
plainly = settings(phases=[Phase.generate, Phase.shrink], max_examples=2000, database=None, deadline=None)


@all_modes
@given(data=st.data())
@settings(max_examples=40)
def test_responses(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """A drawn response is what it says it is, fields and spans, to the oracle and to the parser."""
    case = data.draw(responses(think=think, outside_text=outside_text))
    assert case.to_dict()["expect"] == oracle(case.text, think, outside_text)
    assert try_parse(case.text, **case.modes) == case.expected


@all_modes
@given(data=st.data())
@settings(max_examples=40)
def test_near_misses(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """A drawn near miss is refused with the kind, tag and offset that it says, by the oracle and by the parser."""
    case = data.draw(near_misses(think=think, outside_text=outside_text))
    expect = case.to_dict()["expect"]
    assert "error" in expect
    assert agrees(oracle(case.text, think, outside_text), expect)
    assert agrees(verdict(case.text, think, outside_text), expect)


@given(text=free_text, data=st.data())
@settings(max_examples=60)
def test_mutations(text: str, data: st.DataObject) -> None:
    """Mutations get the oracle's verdict, whatever it is."""
    whole = format_response(text, update_gate=True, candidate=text, exit_gate=False)
    mutated = data.draw(mutations(whole))
    assert verdict(mutated) == oracle(mutated)


def test_mutations_change_tags_and_stay_valid_too() -> None:
    """Of the mutations of a response some parse and some do not, and a parsed one need not say the same."""
    whole = format_response("why " * 40, update_gate=True, candidate="memory " * 20, exit_gate=False)
    read = [try_parse(text) for text in islice(sample(mutations(whole), "seed"), 300)]
    failed = sum(isinstance(answer, GateParseError) for answer in read)
    assert 30 < failed < 270
    assert len({repr(answer) for answer in read if not isinstance(answer, GateParseError)}) > 10


@given(run=trajectories())
@settings(max_examples=30)
def test_trajectories(run: Trajectory) -> None:
    """The memories, the end and the reward of a loop are those of replaying it with the parser."""
    memory, answers = "", [try_parse(turn.text) for turn in run.turns]
    for number, answer in enumerate(answers):
        if not isinstance(answer, GateParseError):
            memory = answer.next_memory(memory)
            assert not answer.exit_gate or number == len(answers) - 1
        assert run.memories[number] == memory
    assert len(run.memories) == len(answers)
    last = answers[-1]
    assert run.exited == (not isinstance(last, GateParseError) and last.exit_gate)
    assert run.r_format == float(not any(isinstance(answer, GateParseError) for answer in answers))
    recorded = run.to_dict()
    assert [turn["memory_before"] for turn in recorded["turns"]] == ["", *run.memories[:-1]]
    assert recorded["expect"] == {"r_format": run.r_format, "final_memory": memory, "exited": run.exited}


def test_good_trajectories() -> None:
    """Without broken answers every turn of a loop parses."""
    assert all(run.r_format == 1 for run in islice(sample(trajectories(broken=False), "seed"), 30))


def tokens_of(case: Case) -> Iterator[str]:
    """Yield the terminals of a text as the lexer gives them, and the end."""
    opened, forbid = case.think == PREFILLED, case.outside_text == "forbid"
    for token in lexer.tokens(load(), case.text, opened=opened, forbid_outside=forbid):
        yield token.type
    yield END_OF_INPUT


def drawn(kind: str) -> Iterator[Case]:
    """Yield cases of all modes in turn."""
    strategy = {"responses": responses, "near_misses": near_misses}[kind]
    each = [sample(strategy(think=think, outside_text=outside), "coverage") for think, outside in MODES]
    while True:
        for cases in each:
            yield next(cases)


def productions_of(case: Case) -> set[str]:
    """Return the productions by which Lark's parser reduces a response."""
    table = derive._parse_table(load())
    stack = [table.start_states[ANSWER if case.think == ABSENT else RESPONSE]]
    used = set()
    for terminal in tokens_of(case):
        action, target = table.states[stack[-1]][terminal]
        while action is not Shift:
            used.add(str(target))
            del stack[len(stack) - len(target.expansion) :]
            stack.append(table.states[stack[-1]][target.origin.name][1])
            if terminal == END_OF_INPUT and stack[-1] in table.end_states.values():
                return used
            action, target = table.states[stack[-1]][terminal]
        stack.append(target)
    raise AssertionError("a response ends where the parser says so")


def test_responses_take_every_production() -> None:
    """Every production of the grammar is taken by some response: 100 % of them."""
    missing = {str(rule) for rule in load().lark.rules}
    assert len(missing) > len(_tables.ELEMENTS)
    for case in islice(drawn("responses"), MOST):
        missing -= productions_of(case)
        if not missing:
            return
    pytest.fail(f"never taken: {missing}")


def cells_of(case: Case) -> list[tuple[int, str]]:
    """Return the cells of the automaton that a text goes through, up to the first that refuses."""
    spelled = {tag.terminal: tag.text for e in _tables.ELEMENTS for tag in (e.opening, e.closing)}
    spelled |= {terminal: value for e in _tables.ELEMENTS for value, terminal in (e.values or {}).items()}
    state = _tables.STARTS[case.think]
    cells = []
    tokens = tokens_of(case)
    if case.think == PREFILLED:
        next(tokens)
    for terminal in tokens:
        token = spelled.get(terminal, terminal)
        number, inside = _tables.STAGES[state]
        if terminal == TEXT and inside and _tables.ELEMENTS[number].values is None:
            continue  # content, which is no step
        cells.append((state, token))
        if token not in _tables.MOVES[state]:
            break
        state = _tables.MOVES[state][token]
    return cells


def test_responses_take_every_move() -> None:
    """Every state of the automaton is reached, and every move taken, by some response: 100 % of them."""
    missing = {(state, token) for state, moves in enumerate(_tables.MOVES) for token in moves}
    missing |= {(state, END_OF_INPUT) for state in _tables.ACCEPTING}
    for case in islice(drawn("responses"), MOST):
        missing.difference_update(cells_of(case))
        if not missing:
            return
    pytest.fail(f"never taken: {missing}")


def test_near_misses_make_every_error() -> None:
    """Every cell of the automaton that a text can be refused in is the defect of some near miss: 100 % of them."""
    missing = set()
    for state, (stage, moves) in enumerate(zip(_tables.STAGES, _tables.MOVES, strict=True)):
        if moves.keys() & _tables.MEANING:  # a value is awaited: what comes instead is TEXT, and never a tag
            missing |= {(state, TEXT), (state, END_OF_INPUT)}
            continue
        missing |= {(state, tag) for tag in TAGS if tag not in moves}
        if not stage.inside:
            missing.add((state, OUTSIDE))
        if state not in _tables.ACCEPTING:
            missing.add((state, END_OF_INPUT))
    assert len(missing) > 80
    for case in islice(drawn("near_misses"), MOST):
        missing.discard(cells_of(case)[-1])
        if not missing:
            return
    pytest.fail(f"never drawn: {missing}")


def test_cases_shrink_to_small_ones() -> None:
    """What a user sees of a failure is the smallest response that has it, without decoration."""

    def smallest_of(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool]) -> Any:
        return find(strategy, wanted, settings=plainly, random=random.Random(0))

    opening, closing = (tag.text for tag in (_tables.ELEMENTS[0].opening, _tables.ELEMENTS[0].closing))
    smallest = format_response("", update_gate=True, candidate="", exit_gate=False).replace("\n", "")
    assert smallest_of(responses(), lambda _: True).text == smallest
    nested = smallest_of(responses(), lambda case: case.text.count(opening) > 1)
    assert nested.text == smallest.replace(closing, opening + closing)
    miss = smallest_of(near_misses(), lambda case: case.expected.kind == "bad_value")
    assert len(miss.text) < len(smallest)
    run = smallest_of(trajectories(), lambda run: len(run.turns) > 1)
    assert [turn.text for turn in run.turns] == [smallest, smallest]


def test_samples_follow_from_their_seed() -> None:
    """The same seed gives the same cases, another seed others."""
    first, again, other = (list(islice(sample(near_misses(), seed), 20)) for seed in ("a", "a", "b"))
    assert first == again
    assert first != other
    assert all(isinstance(case.expected, Miss) for case in first)


@pytest.mark.parametrize("strategy", [responses, near_misses, trajectories])
def test_unknown_modes_are_refused(strategy: object) -> None:
    """A mode that there is not is a ValueError that names it."""
    assert callable(strategy)
    with pytest.raises(ValueError, match="think must be one of"):
        find(strategy(think="sometimes"), lambda _: True)


def test_only_text_can_be_mutated() -> None:
    """Mutations of what is no text are refused like the text itself would be."""
    with pytest.raises(TypeError, match="a response is a str, not bytes"):
        find(mutations(b"<think>"), lambda _: True)  # type: ignore[arg-type] # the point of the test


@given(reply=answers())
@settings(max_examples=400)
def test_answers(reply: Reply) -> None:
    """A drawn reply is read as it says, or refused for the reason that it says."""
    read = read_answers(reply.body, GateSettings(mode=reply.mode), reply.count)
    if reply.values is None:
        assert read == Refused(str(reply.refused))
    else:
        assert isinstance(read, Answers)
        assert read.values == reply.values
    recorded = reply.to_dict()
    body = recorded["body"].encode() if "body" in recorded else recorded["body_latin1"].encode("latin-1")
    assert body == reply.body


def test_answers_leave_no_reason_out() -> None:
    """Among some replies is every reason for which the reader refuses one, and every mix of readable and not."""
    drawn = list(islice(sample(answers(), "seed"), 600))
    assert {reply.refused for reply in drawn} - {None} == {
        value for name, value in vars(reasons).items() if f"reasons.{name}" in inspect.getsource(reader)
    }
    assert {reply.mode for reply in drawn} == set(reader.VALUE_KEYS)
    mixed = [reply.values for reply in drawn if reply.values and None in reply.values]
    assert len(mixed) > 50
    for mode in reader.VALUE_KEYS:
        assert all(reply.mode == mode for reply in islice(sample(answers(mode=mode), "seed"), 20))
