"""The EBNF, judged by xgrammar; skipped where that is not installed, since it wants torch (tests/e2e/run_xgrammar)."""

import importlib.util
import random
from itertools import chain
from typing import get_args

import pytest

from awkward import GOOD, VALUES, awkward
from documents import mutations, walks
from exported import MOST, THINKS, bounds, canonical, corpus, encodable, parses
from gategrammar import GateResponse, try_parse
from gategrammar.export import FORMATS, export
from gategrammar.export.gbnf import gbnf
from gategrammar.export.language import Profile, response
from gategrammar.response.grammar import Think

if importlib.util.find_spec("xgrammar") is None:
    pytest.skip("xgrammar is not installed; tests/e2e/run_xgrammar installs it", allow_module_level=True)

import xgrammar

TOKENS = [bytes([byte]) for byte in range(256)]
_tokenizer = xgrammar.TokenizerInfo([*TOKENS, b"</s>"], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[len(TOKENS)])
_compiler = xgrammar.GrammarCompiler(_tokenizer, max_threads=1)


class Grammar:
    """A compiled grammar: is a text in the language, and what may come next."""

    def __init__(self, text: str) -> None:
        self._matcher = xgrammar.GrammarMatcher(_compiler.compile_grammar(text))
        self._mask = xgrammar.allocate_token_bitmask(1, _tokenizer.vocab_size)

    def __call__(self, text: str) -> bool:
        """Return whether the text is in the language."""
        self._matcher.reset()
        return bool(self._matcher.accept_string(text)) and bool(self._matcher.is_completed())

    def walk(self, chance: random.Random) -> str:
        """Return a text that xgrammar generates: in each state one of the bytes that its mask allows."""
        self._matcher.reset()
        text = b""
        while True:
            self._matcher.fill_next_token_bitmask(self._mask)
            words = [int(word) & 0xFFFFFFFF for word in self._mask[0]]
            allowed = [token for token in range(_tokenizer.vocab_size) if words[token // 32] >> token % 32 & 1]
            near = [token for token in allowed if bytes([token % 256]) in b"<>/thinkcheupdayxosm \n" or token >= 256]
            token = chance.choice(near or allowed)
            assert self._matcher.accept_token(token)
            if token == len(TOKENS):
                return text.decode()
            text += TOKENS[token]


@pytest.mark.parametrize("think", THINKS)
def test_the_parse_profile_is_what_parse_accepts(think: Think) -> None:
    """Over the corpora and 20,000 walks and mutations (5,000 in the other modes) xgrammar says what parse() says."""
    matches = Grammar(export("xgrammar", profile="parse", think=think))
    count = 10_000 if think == "required" else 2_500
    for text in encodable(chain(corpus(), walks(count, seed=9), mutations(count, seed=99))):
        assert matches(text) == parses(text, think), text


@pytest.mark.parametrize("think", THINKS)
def test_what_is_generated_parses(think: Think) -> None:
    """What xgrammar generates, walked at random by its own masks, parses, and nothing stands outside."""
    chance = random.Random(6)
    grammar = Grammar(export("xgrammar", think=think, **bounds(think, 12, 7)))
    for _ in range(60):
        text = grammar.walk(chance)
        assert isinstance(try_parse(text, think=think, outside_text="forbid"), GateResponse), text


@pytest.mark.parametrize("think", THINKS)
@pytest.mark.parametrize("most", [0, 1, 7, MOST, FORMATS["xgrammar"].most])
def test_the_bound_holds(think: Think, most: int) -> None:
    """Canonical responses up to the bound are generated, and those beyond it are not."""
    matches = Grammar(export("xgrammar", think=think, **bounds(think, most)))
    for text in ("x" * most, "<</"[:most], ("x <" * most)[:most]):
        assert matches(canonical(think, text, text))
    assert not matches(canonical(think, "", "x" * (most + 1)))


@pytest.mark.parametrize("profile", get_args(Profile))
def test_awkward_characters(profile: Profile) -> None:
    """Tags and values full of metacharacters are taken literally."""
    matches = Grammar(gbnf(response(awkward(), profile, "required", {"root": 30, "end": 30})))
    assert all(matches(GOOD.format(value)) for value in VALUES)
    assert not any(matches(GOOD.format(value)) for value in ("axb", "x", "12", ""))
