"""The fast path and the stream say exactly what the reference parser says."""

import random
import sys
from collections.abc import Iterator
from itertools import product, repeat
from typing import get_args

import pytest

import documents
from cases import Case, handed, pairs, recorded
from gategrammar import GateParseError, GateResponse, ResponseStream
from gategrammar.response import recogniser
from gategrammar.response.grammar import TAG_END, OutsideText, Think
from gategrammar.response.lalr import read
from gategrammar.response.recogniser import Places, find, places_of, recognise
from gategrammar.response.result import Spans
from gategrammar.response.text import WHITE_SPACE

MODES = list(product(get_args(Think), get_args(OutsideText)))
#: Together 20,000 texts, each in all six modes.
WALKS, MUTATIONS = 8_000, 12_000
PARTS = 8


def reference(text: str, think: Think, outside_text: OutsideText) -> GateResponse | GateParseError:
    """Return the verdict of the LALR parser."""
    try:
        return read(text, think, outside_text)
    except GateParseError as error:
        return error


def streamed(text: str, think: Think, outside_text: OutsideText, cuts: Iterator[int]) -> GateResponse | GateParseError:
    """Return the verdict of a stream that is fed pieces of the lengths that *cuts* gives."""
    stream = ResponseStream(think=think, outside_text=outside_text)
    start = 0
    try:
        while start < len(text):
            end = start + next(cuts)
            stream.feed(text[start:end])
            start = end
        return stream.close()
    except GateParseError as error:
        return error


def same(one: GateResponse | GateParseError | None, other: GateResponse | GateParseError) -> bool:
    """Compare verdicts: results with their spans, errors by what is part of the parity, and the place."""
    if isinstance(one, GateResponse) and isinstance(other, GateResponse):
        return one == other and one.spans == other.spans
    if isinstance(one, GateParseError) and isinstance(other, GateParseError):
        return all(getattr(one, name) == getattr(other, name) for name in ("kind", "tag", "offset", "line", "column"))
    return one is None and isinstance(other, GateParseError)


def view(text: str) -> str:
    """Return a text as find() sees it."""
    return text.encode(errors="surrogatepass").decode("latin-1")


def places(verdict: GateResponse | GateParseError, text: str) -> Places | None:
    """Return what find() has to say of a text with this verdict."""
    return None if isinstance(verdict, GateParseError) else places_of(verdict, text)


def check(text: str, chance: random.Random) -> int:
    """Compare all readers on one text in all modes; return in how many it is valid."""
    valid = 0
    for think, outside_text in MODES:
        expected = reference(text, think, outside_text)
        valid += isinstance(expected, GateResponse)
        assert same(recognise(text, think, outside_text), expected), (text, think, outside_text)
        assert find(view(text), think, outside_text) in (None, places(expected, text)), (text, think, outside_text)
        cuts = map(chance.randint, repeat(1), repeat(chance.choice([1, 3, 9, 40])))
        assert same(streamed(text, think, outside_text, cuts), expected), (text, think, outside_text)
    return valid


@pytest.mark.parametrize("case", [*handed(), *recorded(), *pairs("valid"), *pairs("invalid")], ids=str)
def test_readers_agree_on_the_corpora(case: Case) -> None:
    """Recogniser, stream and reference parser agree on every fixture in every mode, one character at a time too."""
    check(case.text, random.Random(0))
    for think, outside_text in MODES:
        one_by_one = streamed(case.text, think, outside_text, repeat(1))
        assert same(one_by_one, reference(case.text, think, outside_text))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("made", ["walks", "mutations"])
def test_readers_agree_on_made_texts(made: str, part: int) -> None:
    """Recogniser, stream and reference parser agree on 20,000 texts in six modes; enough are valid to matter."""
    count = (WALKS if made == "walks" else MUTATIONS) // PARTS
    chance = random.Random(part)
    valid = sum(check(text, chance) for text in getattr(documents, made)(count, seed=part))
    assert valid > count // 5


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("always", [0, sys.maxsize])
def test_readers_agree_on_long_texts(part: int, always: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts go other ways through the recogniser: the same texts sent those ways get the same verdicts."""
    monkeypatch.setattr(recogniser, "_HOP", 0)
    monkeypatch.setattr(recogniser, "_HOP_ALWAYS", always)
    chance = random.Random(part)
    assert sum(check(text, chance) for text in documents.walks(500, seed=100 + part)) > 100
    assert sum(check(text, chance) for text in documents.mutations(500, seed=100 + part)) > 100


@pytest.mark.parametrize(("think", "taken"), [("required", 0), ("prefilled", 7), ("absent", 18)])
def test_the_reference_parser_reads_what_is_valid(think: Think, taken: int) -> None:
    """It is asked for errors alone as long as the readers agree, so what it makes of a response is said here."""
    text = "<think>why </think> <check> yes</check><update> m\n</update><next>end </next>"[taken:]
    response = read(text, think, "ignore")
    assert response == GateResponse("" if think == "absent" else "why", True, "m", True)  # noqa: FBT003 - the fields
    contents = [text[slice(*span)] for span in response.spans if span]
    assert contents == ["why", "yes", "m", "end"][think == "absent" :]


def test_the_reference_parser_reads_a_think_that_ends_at_once() -> None:
    """The offset 0 is a place like any other."""
    assert read("</think><check>no</check><update></update><next>end</next>", "prefilled", "ignore").think == ""


def test_patterns_take_what_nests_nothing() -> None:
    """The patterns take a plain response in every mode, so it is not the automaton that makes the tests pass."""
    for think, outside_text in MODES:
        head = {"required": "<think> why </think>", "prefilled": " why </think>", "absent": ""}[think]
        text = f"{head}\n<check> yes </check>\n<update> a < b </update>\n<next>end\n</next>\n"
        whole, first, others = recogniser._patterns(think, outside_text)
        assert whole.fullmatch(text)
        assert recogniser._hop(text, first, others, recogniser._SPACES) == find(text, think, outside_text)
        assert find(text, think, outside_text) == places(reference(text, think, outside_text), text)


@pytest.mark.parametrize("length", [10, recogniser._HOP, recogniser._HOP_ALWAYS])
@pytest.mark.parametrize("edge", [*WHITE_SPACE, "x", "à", "ą", "。", "、", "„", "\U0001f9e0"], ids=ascii)
def test_what_is_found_in_bytes(edge: str, length: int) -> None:
    """Contents are found and trimmed whatever they begin and end with.

    Some of these characters share their first or their last byte with white space.
    """
    body = "ä<" * length
    edges = edge + " " + edge
    for contents in (
        (edges + body, body),
        (body + edges, body),
        (body, edge + body),
        (body, body + edge),
        (edges, edge),
    ):
        text = "é<think>\n{}\n</think>é<check>yes</check><update>\t{} </update><next>end</next>é".format(*contents)
        assert find(view(text), "required", "ignore") == places_of(read(text, "required", "ignore"), text)
    text = f"{edge}<check>yes</check><update>{body}</update><next>end</next>{edge}"
    assert find(view(text), "absent", "ignore") == places_of(read(text, "absent", "ignore"), text)


@pytest.mark.parametrize("length", [recogniser._HOP, recogniser._HOP_ALWAYS])
@pytest.mark.parametrize("inside", ["a > b", "<i>a</i>", "</update", "update>", "->\n"])
def test_long_texts_that_hold_what_ends_a_tag(inside: str, length: int) -> None:
    """A ">" of the text is not taken for that of the tag that has to come, below and above the length that matters."""
    body = inside * (length // len(inside))
    text = f"<think>{body}</think>{inside}<check>no</check>{inside}<update>{body}</update><next>end</next>"
    response = recognise(text, "required", "ignore")
    assert response == GateResponse(body.strip(), update_gate=False, candidate=body.strip(), exit_gate=True)
    assert same(response, reference(text, "required", "ignore"))
    _, first, others = recogniser._patterns("required", "ignore")
    gives_up = TAG_END in inside and len(text) < recogniser._HOP_ALWAYS
    assert (recogniser._hop(text, first, others, recogniser._SPACES) is None) == gives_up


@pytest.mark.parametrize(
    ("text", "think", "outside_text"),
    [
        ("x" * 5_000, "required", "ignore"),
        ("<think>" + "x" * 5_000, "required", "ignore"),
        ("<think></think><check>yes</check><update>" + "<x>" * 5_000, "required", "ignore"),
        ("<think></think><check>yes</check><update></update>" + "x" * 5_000, "required", "ignore"),
        ("<check>yes</check><update></update><next>end</next>" + "x" * 5_000, "absent", "forbid"),
    ],
)
def test_long_texts_that_are_no_response(text: str, think: Think, outside_text: OutsideText) -> None:
    """A long text may end before any of its tags."""
    assert recognise(text, think, outside_text) is None
    assert isinstance(reference(text, think, outside_text), GateParseError)


@pytest.mark.parametrize("begin", ["</think>", "x</think>", " </think>"])
def test_long_texts_need_no_walk(begin: str) -> None:
    """Wherever the first tag stands, a long response that nests nothing is not walked tag by tag, which costs more."""
    text = begin + "<check>no</check><update>b</update><next>end</next>" + " " * 5_000
    response = recognise(text, "prefilled", "ignore")
    assert response is not None
    assert not isinstance(response._located, Spans)
    assert response.think == begin.removesuffix("</think>").strip()


@pytest.mark.parametrize("length", [0, 10_000])
def test_spans_are_found_when_asked_for(length: int) -> None:
    """A recognised response looks its places up in the text, once, whichever way it was recognised."""
    text = "<think> a </think><check>no</check><update>b</update><next>end</next>" + " " * length
    response = recognise(text, "required", "ignore")
    assert response is not None
    assert not isinstance(response._located, Spans)
    assert response.spans == ((8, 9), (25, 27), (43, 44), (59, 62))
    assert response.spans is response.spans
