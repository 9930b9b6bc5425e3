"""The GBNF, judged by llama.cpp's own engine; without xllamacpp (100 MB, see tests/e2e/run) these tests are skipped."""

from itertools import chain
from typing import get_args

import pytest
from hypothesis import given, settings

import llama_engine
from awkward import GOOD, VALUES, awkward
from documents import mutations, walks
from exported import MOST, THINKS, bounds, canonical, corpus, encodable, parses, short
from gategrammar.export import FORMATS, export
from gategrammar.export.gbnf import gbnf as write
from gategrammar.export.language import Profile, response
from gategrammar.response.grammar import Think

_library = llama_engine.library()
if _library is None:
    pytest.skip("xllamacpp is not installed, or another version; tests/e2e/run installs it", allow_module_level=True)


def gbnf(**wanted: object) -> llama_engine.Grammar:
    """Return llama.cpp's reading of the exported grammar."""
    assert _library is not None
    return llama_engine.Grammar(_library, export("gbnf", **wanted))  # type: ignore[arg-type] # the arguments of export


@pytest.mark.parametrize("think", THINKS)
def test_the_parse_profile_is_what_parse_accepts(think: Think) -> None:
    """Over the corpora and 20,000 walks and mutations (5,000 in the other modes) llama.cpp says what parse() says."""
    matches = gbnf(profile="parse", think=think)
    count = 10_000 if think == "required" else 2_500
    for text in encodable(chain(corpus(), walks(count, seed=7), mutations(count, seed=77))):
        assert matches(text) == parses(text, think), text


@pytest.mark.parametrize("profile", get_args(Profile))
def test_awkward_characters(profile: Profile) -> None:
    """Tags and values full of metacharacters are taken literally."""
    assert _library is not None
    root = response(awkward(), profile, "required", {"root": 30, "end": 30})
    matches = llama_engine.Grammar(_library, write(root))
    assert all(matches(GOOD.format(value)) for value in VALUES)
    assert not any(matches(GOOD.format(value)) for value in ("axb", "x", "12", ""))


CANONICAL = {think: gbnf(think=think, **bounds(think, MOST)) for think in THINKS}


@settings(max_examples=50)
@given(short, short)
def test_every_canonical_response_is_generated(reasoning: str, candidate: str) -> None:
    """Whatever stands in a canonical response, llama.cpp takes it up to the bound."""
    for think, matches in CANONICAL.items():
        text = canonical(think, reasoning, candidate)
        if list(encodable(iter([text]))):
            assert matches(text), think


@pytest.mark.parametrize("most", [*range(12), 24, 25, 26, 99, 100, 101, 2001, FORMATS["gbnf"].most])
def test_bounds_are_counted_in_blocks(most: int) -> None:
    """Every length up to the bound is reached, and none beyond it, also past llama.cpp's limit of 2,000 to a count."""
    matches = gbnf(max_think=most, max_update=0)
    for length in {0, 1, most // 2, most - 2, most - 1, most, most + 1, 2 * most + 2} - {-1, -2}:
        assert matches(canonical("required", "x" * length, "")) == (length <= most), length
