"""What a model is told: taken from the grammar, and harmless when it is repeated."""

import pytest
from hypothesis import given

from cases import handed, pairs, recorded
from exported import THINKS, canonical
from gategrammar import GateParseError, GateResponse, parse, try_parse
from gategrammar.export import instructions, prefix, retry_text, stop_strings
from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.grammar import Think
from gategrammar.response.tags import ANY_TAG
from strategies import mutations

GOOD = "<think>a</think><check>no</check><update></update><next>end</next>"


@pytest.mark.parametrize("think", THINKS)
def test_instructions_show_the_form(think: Think) -> None:
    """The instructions hold each tag that is asked for, once and in order, and every value."""
    asked = ELEMENTS[1:] if think == "absent" else ELEMENTS
    assert ANY_TAG.findall(instructions(think)) == [t.text for e in asked for t in (e.opening, e.closing)]
    assert all(value in instructions(think) for value in MEANING)


@pytest.mark.parametrize("read_as", THINKS)
@pytest.mark.parametrize("think", THINKS)
def test_an_echo_of_the_instructions_does_not_parse(think: Think, read_as: Think) -> None:
    """A model that repeats the instructions has not answered, alone or before a good answer."""
    for text in (instructions(think), instructions(think) + GOOD, prefix(think) + instructions(think)):
        assert isinstance(try_parse(text, think=read_as), GateParseError)


def test_prefix() -> None:
    """Only a prefilled prompt ends with a tag, and what follows it is read with that mode."""
    assert [prefix(think) for think in THINKS] == ["", ELEMENTS[0].opening.text, ""]
    answer = GOOD.removeprefix(prefix("prefilled"))
    assert parse(answer, think="prefilled") == parse(GOOD)


def test_the_stop_string_ends_every_canonical_response() -> None:
    """A server that stops at the stop string, and keeps it, has generated the whole response."""
    text = canonical("required", "why", "that")
    (stop,) = stop_strings()
    assert text.partition(stop)[:2] == (text.removesuffix(stop), stop)


def errors() -> list[GateParseError]:
    """Return every error of the corpora."""
    cases = (*handed(), *recorded(), *pairs("invalid"))
    return [e for case in cases if isinstance(e := try_parse(case.text, **case.modes), GateParseError)]


def test_every_error_has_its_text() -> None:
    """Over the corpora, which hold every kind: the text names the element, holds no tag, and stays short."""
    found = errors()
    assert {error.kind for error in found} == {
        "missing",
        "unclosed",
        "unopened",
        "duplicate",
        "bad_value",
        "stray_text",
    }
    for error in found:
        text = retry_text(error)
        assert error.tag in text
        assert not ANY_TAG.search(text)
        assert text.isprintable()
        assert len(text) < 600
        assert ("cut off" in text) == error.truncated


def test_texts() -> None:
    """The words, once for each kind."""
    said = {error.kind: retry_text(error, "absent") for error in errors()}
    tail = (
        "Answer again, whole, in the form asked for: check, update, next, each once and in this order, "
        "the tags spelled as they were shown."
    )
    assert all(text.endswith(tail) for text in said.values())
    error = try_parse("<think></think><check>maybe</check>")
    assert isinstance(error, GateParseError)
    assert retry_text(error).startswith(
        "Your last answer could not be read: check holds 'maybe', but must hold yes or no and nothing else. Answer"
    )


@given(mutations())
def test_an_echo_of_the_retry_text_changes_nothing(text: str) -> None:
    """Whatever was wrong, a model that repeats the retry text outside, in think or in the memory is read as without."""
    error = try_parse(text)
    if isinstance(error, GateParseError):
        echo = retry_text(error)
        for place in (f"{echo}{GOOD}", GOOD.replace(">a<", f">{echo}<"), f"{GOOD}{echo}"):
            response = try_parse(place)
            assert isinstance(response, GateResponse)
            assert (response.update_gate, response.candidate, response.exit_gate) == (False, "", True)


@pytest.mark.parametrize("ask", [instructions, prefix, lambda think: retry_text(errors()[0], think)])
def test_unknown_mode(ask: object) -> None:
    """An unknown mode is refused."""
    with pytest.raises(ValueError, match="think must be one of"):
        ask("no")  # type: ignore[operator] # one of the three functions
