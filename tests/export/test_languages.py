"""The exported languages, judged by other people's engines: the parse profile is all, the generation profile is part.

Engines see UTF-8, so only Python's re is asked about lone surrogates.
"""

import random
from collections.abc import Callable, Iterator
from itertools import chain, islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance import LLMatcher

from documents import ODD, mutations, walks
from engines import Matches, Outlines, matches_llguidance, matches_re, walk_llguidance
from exported import LONE, MOST, THINKS, bounds, canonical, corpus, encodable, parses, short
from gategrammar import GateResponse, try_parse
from gategrammar.export import export
from gategrammar.response.grammar import Think
from oracle_automaton import ALPHABET, State, accepts, start, step

from_regex = LLMatcher.grammar_from_regex

#: All characters of the texts that outlines-core is asked about.
CHARACTERS = {*ALPHABET, *"".join(corpus()), *"".join(ODD)} - LONE
#: Who reads which format.
READERS: dict[str, tuple[str, Callable[[str], Matches]]] = {
    "re": ("regex", matches_re),
    "outlines-core": (
        "outlines",
        lambda pattern: Outlines(pattern, {*ALPHABET, *"".join(corpus()), *"".join(ODD)} - LONE),
    ),
    "llguidance regex": ("regex", lambda pattern: matches_llguidance(from_regex(pattern))),
    "llguidance": ("llguidance", matches_llguidance),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("think", THINKS)
def test_the_parse_profile_is_what_parse_accepts(reader: str, think: Think) -> None:
    """Over the corpora and 20,000 walks and mutations (5,000 in the other modes) each engine says what parse() says."""
    name, read = READERS[reader]
    matches = read(export(name, profile="parse", think=think))
    count = 10_000 if think == "required" else 2_500
    texts = chain(corpus(), walks(count, seed=6), mutations(count, seed=66))
    good = 0
    for text in texts if reader == "re" else encodable(texts):
        verdict = parses(text, think)
        assert matches(text) == verdict, text
        good += verdict
    assert good > count // 20


def successors(index: Outlines, think: Think, *, forbid: bool = False) -> Iterator[tuple[bool, bool, str]]:
    """Walk the automaton of an engine and the oracle's side by side, through all pairs of states that can be reached.

    Yields:
        For each pair whether the engine accepts, whether the oracle does, and a text that leads there.
    """
    first: tuple[int | None, State | None] = (index.start(), start(think))
    seen, todo = {first}, [(first, "")]
    while todo:
        (engine, judge), text = todo.pop()
        yield engine is not None and index.final(engine), judge is not None and accepts(judge), text
        for character in ALPHABET:
            pair = (
                None if engine is None else index.step(engine, character),
                None if judge is None else step(judge, character, forbid=forbid),
            )
            if pair not in seen and pair != (None, None):
                seen.add(pair)
                todo.append((pair, text + character))


@pytest.mark.parametrize("think", THINKS)
def test_proof_of_the_parse_profile(think: Think) -> None:
    """No text at all tells outlines-core's automaton of the expression from the table of SPEC §4."""
    pairs_of_states = list(successors(Outlines(export("outlines", profile="parse", think=think)), think))
    assert len(pairs_of_states) > 300
    for engine, judge, text in pairs_of_states:
        assert engine == judge, text


@pytest.mark.parametrize("think", THINKS)
@pytest.mark.parametrize("most", [(0, 0), (1, 0), (2, 1)])
def test_proof_of_the_generation_profile(think: Think, most: tuple[int, int]) -> None:
    """Every text of outlines-core's automaton of the generation profile is a response without text outside."""
    index = Outlines(export("regex", think=think, **bounds(think, *most)))
    accepted = [(judge, text) for engine, judge, text in successors(index, think, forbid=True) if engine]
    assert accepted
    for judge, text in accepted:
        assert judge, text


@pytest.mark.parametrize("think", THINKS)
@pytest.mark.parametrize("engine", ["llguidance", "llguidance regex", "outlines-core"])
def test_what_is_generated_parses(engine: str, think: Think) -> None:
    """What the engines generate, walked at random by their own masks, parses, and nothing stands outside."""
    chance = random.Random(6)
    most = bounds(think, 12, 7)
    generated = {
        "llguidance": lambda: walk_llguidance(export("llguidance", think=think, **most), chance),
        "llguidance regex": lambda: walk_llguidance(from_regex(export("regex", think=think, **most)), chance),
        "outlines-core": lambda: Outlines(export("regex", think=think, **bounds(think, 4, 3))).walk(chance),
    }[engine]()
    for text in islice(generated, 150):
        assert isinstance(try_parse(text, think=think, outside_text="forbid"), GateResponse), text


@pytest.mark.parametrize("think", THINKS)
@settings(max_examples=100)
@given(data=st.data())
def test_what_python_generates_parses(think: Think, data: st.DataObject) -> None:
    """What Hypothesis makes of the expression by Python's own reading of it parses."""
    text = data.draw(st.from_regex(export("regex", think=think, **bounds(think, 9, 5)), fullmatch=True))
    assert isinstance(try_parse(text, think=think, outside_text="forbid"), GateResponse)


#: Compiled once; outlines-core, which unfolds counters, is asked in the exhaustive test below.
CANONICAL = {
    (reader, think): read(export(name, think=think, **bounds(think, MOST)))
    for reader, (name, read) in READERS.items()
    if reader != "outlines-core"
    for think in THINKS
}


@given(short, st.booleans(), short, st.booleans())
def test_every_canonical_response_is_generated(
    reasoning: str, update_gate: bool, candidate: str, exit_gate: bool
) -> None:
    """Whatever stands in a canonical response, the grammar takes it up to the bound, in every engine and mode."""
    for (reader, think), matches in CANONICAL.items():
        text = canonical(think, reasoning, candidate, update_gate=update_gate, exit_gate=exit_gate)
        if reader == "re" or list(encodable(iter([text]))):
            assert matches(text), (reader, think)


@pytest.mark.parametrize("think", THINKS)
def test_every_short_canonical_response_is_generated(think: Think) -> None:
    """All texts of up to three characters that matter, in both bodies, are in the language of outlines-core."""
    index = Outlines(export("regex", think=think, **bounds(think, 3)))
    texts = ["".join(text) for length in range(4) for text in product("x</tc\n", repeat=length)]
    for reasoning, candidate in zip(texts, reversed(texts), strict=True):
        assert index(canonical(think, reasoning, candidate))


@pytest.mark.parametrize(("reader", "think"), CANONICAL)
def test_the_bound_holds(reader: str, think: Think) -> None:
    """One character more than the bound is not generated, in either body; with a bound of 0 the bodies are empty."""
    matches = CANONICAL[reader, think]
    at, over = "x" * MOST, "x" * (MOST + 1)
    assert matches(canonical(think, at, at))
    assert not matches(canonical(think, at, over))
    assert matches(canonical(think, over, at)) == (think == "absent")
    name, read = READERS[reader]
    empty = read(export(name, think=think, **bounds(think, 0)))
    assert empty(canonical(think, "", ""))
    assert not empty(canonical(think, "", "<"))


def test_the_generation_profile_is_a_part() -> None:
    """What a weak model cannot finish is left out: prose outside, nested think, space in the gates, two line breaks."""
    matches = matches_re(export("regex"))
    good = canonical("required", "why", "that")
    assert matches(good)
    assert matches(good.replace("\n", ""))
    for text in (
        f"Sure! {good}",
        f"{good}\n",
        good.replace("why", "why <think>so</think>"),
        good.replace("yes", " yes"),
        good.replace("\n", "\n\n"),
        good.replace("\n", " "),
    ):
        assert parses(text, "required")
        assert not matches(text)


@pytest.mark.parametrize(("reader", "think"), CANONICAL)
def test_a_model_cannot_begin_tags_for_ever(reader: str, think: Think) -> None:
    """Seven beginnings of tags may give way to each other, in the text and at its end, and no more."""
    matches = CANONICAL[reader, think]
    for beginning in ("<", "</t", "<update"):
        assert matches(canonical(think, "", f"{beginning * 8}."))
        assert not matches(canonical(think, "", f"{beginning * 9}."))
        assert matches(canonical(think, "", f"{'x' * MOST}{beginning * 7}"))
        assert not matches(canonical(think, "", f"{'x' * MOST}{beginning * 8}"))
