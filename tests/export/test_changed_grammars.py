"""Nothing of the grammar is spelled in the exports: another grammar of the same shape, with awkward characters."""

from pathlib import Path
from typing import get_args

import pytest
from llguidance import LLMatcher

import gategrammar.cli.export
import gategrammar.export
from awkward import AWKWARD, GOOD, VALUES, awkward
from engines import matches_llguidance, matches_re
from gategrammar.export.ebnf import ebnf
from gategrammar.export.gbnf import gbnf
from gategrammar.export.language import ExportError, Profile, response
from gategrammar.export.llguidance import llguidance
from gategrammar.export.regex import regex
from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.lalr import compile_grammar
from gategrammar.response.tags import TAGS


@pytest.mark.parametrize("profile", get_args(Profile))
def test_awkward_characters(profile: Profile) -> None:
    """Tags and values full of metacharacters are taken literally by every engine, in both profiles."""
    bounds = {"root": 30, "end": 30} if profile == "generation" else {}
    root = response(awkward(), profile, "required", bounds)
    pattern = regex(root)
    for matches in (
        matches_re(pattern),
        matches_llguidance(LLMatcher.grammar_from_regex(pattern)),
        matches_llguidance(llguidance(root)),
    ):
        for value in VALUES:
            assert matches(GOOD.format(value)), value
        for value in ("axb", "x", "z", "12", "$", ""):
            assert not matches(GOOD.format(value)), value
        assert not matches(GOOD.format("a.b").replace(" two", " two^(.*)-]x"))


def test_names_that_a_notation_needs() -> None:
    """Elements called like the start rule, or with a character that the notation lacks, get names of their own."""
    root = response(awkward(), "generation", "required", {"root": 1, "end": 1})
    names = [line.partition(" ::=")[0] for line in gbnf(root).splitlines()]
    assert names[:2] == ["root", "root2"]
    assert "text-it" in names
    assert len(set(names)) == len(names)
    plain = response(awkward(), "parse", "required", {})
    assert "text_it" in ebnf(plain)
    assert "TEXT_IT:" in llguidance(plain)


def test_ebnf_literals() -> None:
    """A literal with both quotation marks is cut, since the notation has no escapes."""
    assert """('"' "'/ ?")""" in ebnf(response(awkward(), "parse", "required", {}))


@pytest.mark.parametrize("tag", ["(open)", "^a^b", "^(.*)-]]"])
def test_tags_that_no_trie_can_avoid(tag: str) -> None:
    """Tags with different first characters, with the first one again, or one beginning with another: an error."""
    elements = compile_grammar(AWKWARD.replace('IT_OPEN: "^\\"\\\\"', f'IT_OPEN: "{tag}"')).elements
    with pytest.raises(ExportError, match="begin"):
        regex(response(elements, "parse", "required", {}))


def test_nothing_is_spelled_in_the_exports() -> None:
    """No tag and no value stands in the source of the exports."""
    sources = [*Path(gategrammar.export.__path__[0]).glob("*.py"), Path(gategrammar.cli.export.__file__)]
    assert len(sources) > 5
    names = {element.name for element in ELEMENTS}
    for path in sources:
        source = path.read_text("utf-8")
        for text in (*TAGS, *(f'"{value}"' for value in (*MEANING, *names))):
            assert text not in source, (path.name, text)
