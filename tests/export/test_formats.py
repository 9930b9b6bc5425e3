"""The table of formats: comments, versions, defaults, and requests that cannot be met."""

import hashlib
import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from documents import walks
from engines import matches_llguidance
from exported import THINKS, corpus, encodable, parses
from gategrammar.export import DEFAULT_BOUND, FORMATS, ExportError, export, grammar_version, notes
from gategrammar.response._tables import ELEMENTS
from gategrammar.response.grammar import Think

GRAMMAR = Path(__file__).parents[2] / "grammar" / "response.lark"


@pytest.mark.parametrize("name", FORMATS)
def test_the_comment(name: str) -> None:
    """Every export says what it is, from which grammar, in which profile and mode, and its caveats."""
    said = "\n".join(notes(name, think="prefilled"))
    form = FORMATS[name]
    assert form.title in said
    assert hashlib.sha256(GRAMMAR.read_bytes()).hexdigest().startswith(grammar_version())
    assert f"version {grammar_version()}" in said
    assert f"Profile {form.profiles[0]}" in said
    assert 'think="prefilled"' in said
    assert all(caveat in said for caveat in form.caveats)
    if form.remark is not None:
        assert export(name, think="prefilled").startswith(form.remark(notes(name, think="prefilled")))


def test_the_regex_is_one_bare_line() -> None:
    """The expression has no comment and no line break, and needs neither look-around nor flags."""
    for think in THINKS:
        pattern = export("regex", profile="parse", think=think)
        assert pattern.isprintable()
        assert pattern.isascii()
        assert not re.search(r"\(\?(?!:)", pattern)


def test_defaults() -> None:
    """Without a profile it is generation, bounded, where the format can say it, else parse."""
    for name, form in FORMATS.items():
        if form.most:
            assert form.most >= DEFAULT_BOUND
            assert export(name) == export(name, profile="generation", max_think=DEFAULT_BOUND, max_update=DEFAULT_BOUND)
            assert any(f"think {DEFAULT_BOUND}, update {DEFAULT_BOUND}" in line for line in notes(name))
        else:
            assert export(name) == export(name, profile="parse")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "bnf"}, "format must be one of regex, outlines, llguidance, gbnf"),
        ({"name": ["regex"]}, r"format must be one of regex, .*, not \['regex'\]$"),
        ({"profile": "strict"}, "profile must be one of 'parse', 'generation', not 'strict'"),
        ({"think": "no"}, "think must be one of 'required', 'prefilled', 'absent', not 'no'"),
        ({"max_think": -1}, "the bound of think must be from 0 to 20000 in gbnf, not -1"),
        ({"max_update": 20_001}, "the bound of update must be from 0 to 20000 in gbnf, not 20001"),
        ({"name": "regex", "max_update": 10**30}, "the bound of update must be from 0 to 2000 in regex"),
        ({"name": "outlines", "profile": "generation"}, "outlines has no bounds, so it can say the parse profile only"),
        ({"profile": "parse", "max_think": 5}, "the parse profile has no bounds, so none can be given for think"),
        ({"think": "absent", "max_think": 5}, "think is absent, so no bound can be given for it"),
        ({"name": "ebnf", "profile": "generation"}, "ebnf has no bounds, so it can say the parse profile only"),
        ({"name": "ebnf", "max_update": 5}, "the parse profile has no bounds, so none can be given for update"),
    ],
)
def test_what_cannot_be_said(arguments: dict[str, Any], message: str) -> None:
    """What a format cannot say, and what does not exist, is an error that names what can and does."""
    with pytest.raises(ValueError, match=message):
        export(**{"name": "gbnf", **arguments})


@pytest.mark.parametrize("bound", [True, 2.0, "3"])
def test_a_bound_is_an_int(bound: Any) -> None:
    """A bound of another type is refused, bools too."""
    with pytest.raises(TypeError, match="the bound of think must be an int, not"):
        export("gbnf", max_think=bound)


def test_bounds_that_are_no_error_are_export_errors() -> None:
    """What a format cannot say is an ExportError, so a caller can tell it from a typing error."""
    with pytest.raises(ExportError):
        export("gbnf", max_think=10**6)


def to_llguidance(ebnf: str) -> str:
    """Rewrite the EBNF of the W3C, sign by sign, into the dialect of llguidance: every rule is a terminal there."""
    literal, some, other = range(3)
    signs = re.compile(r'("[^"]*")|\[([^]]*)\]|(::=|-|\w+)')
    lines = ["start: RESPONSE"]
    for line in re.sub(r"(?s)/\*.*?\*/\n", "", ebnf).splitlines():
        lines.append("")
        position = 0
        for sign in signs.finditer(line):
            lines[-1] += line[position : sign.start()]
            position = sign.end()
            groups = sign.groups()
            if groups[literal]:
                lines[-1] += groups[literal]
            elif groups[some]:
                lines[-1] += "/(?s:[" + re.sub(r"#x([0-9A-F]+)", r"\\x{\1}", groups[some]) + "])/"
            else:
                lines[-1] += {"::=": ":", "-": "& ~"}.get(groups[other], groups[other].upper())
        lines[-1] += line[position:]
    return "\n".join(lines)


@pytest.mark.parametrize("think", THINKS)
def test_the_w3c_ebnf_is_the_language(think: Think) -> None:
    """The EBNF, rewritten for llguidance, is to that engine what parse() accepts."""
    matches = matches_llguidance(to_llguidance(export("ebnf", think=think)))
    for text in encodable(chain(corpus(), walks(1_000, seed=8))):
        assert matches(text) == parses(text, think), text


def test_bodies_are_named_by_the_grammar() -> None:
    """The bounds of export() are those of the elements with free text, in their order."""
    assert [element.name for element in ELEMENTS if element.values is None] == ["think", "update"]
