"""The fields of an error (SPEC §9)."""

import copy
import json
import pickle
import tracemalloc
from itertools import product
from typing import Any

import pytest

import cases
import gategrammar
from gategrammar import GateParseError, try_parse
from gategrammar.response.errors import Place

CLASSES = {
    "missing": gategrammar.MissingTagError,
    "unclosed": gategrammar.UnclosedTagError,
    "unopened": gategrammar.UnopenedTagError,
    "duplicate": gategrammar.DuplicateTagError,
    "bad_value": gategrammar.BadValueError,
    "stray_text": gategrammar.StrayTextError,
}
INVALID = cases.pairs("invalid")


def refused(text: str, **modes: Any) -> GateParseError:
    """Return the error of a text that does not parse."""
    error = try_parse(text, **modes)
    assert isinstance(error, GateParseError)
    return error


@pytest.mark.parametrize("case", INVALID, ids=str)
def test_class_and_fields(case: cases.Case) -> None:
    """Each kind has its class, a ValueError, and found and value are set exactly where §4 says."""
    error = refused(case.text, **case.modes)
    assert type(error) is CLASSES[error.kind]
    assert isinstance(error, ValueError)
    assert (error.value is not None) == (error.kind == "bad_value")
    assert error.truncated == (error.kind in ("missing", "unclosed") and error.found is None)
    if error.found is not None and error.kind != "bad_value":
        assert case.text.startswith(error.found, error.offset)
    assert error.hint is None or error.hint


@pytest.mark.parametrize("case", INVALID, ids=str)
def test_to_dict_is_plain_json(case: cases.Case) -> None:
    """to_dict holds the fields as they are and survives JSON."""
    error = refused(case.text, **case.modes)
    shown = error.to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert {name: shown[name] for name in case.expect["error"]} == case.expect["error"]


@pytest.mark.parametrize("case", INVALID, ids=str)
def test_pickle_and_copy(case: cases.Case) -> None:
    """An error comes back unchanged from pickle and copy."""
    error = refused(case.text, **case.modes)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert (str(again), again.args) == (str(error), error.args)
        assert again.to_dict() == error.to_dict()
        assert (again.raw, again.hint) == (error.raw, error.hint)


def test_notes_survive_pickle_and_copy() -> None:
    """Unchanged means with the notes that a caller has added, as with any other exception."""
    error = refused("prose")
    error.add_note("file a.txt")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert getattr(again, "__notes__", None) == ["file a.txt"]


@pytest.mark.parametrize(
    ("before", "line", "column"),
    [
        ("", 1, 1),
        ("ab", 1, 3),
        ("a\nb", 2, 2),
        ("a\r\nb", 2, 2),
        ("a\rb", 2, 2),
        ("a\n\rb", 3, 2),
        ("a\r\r\nb\n", 4, 1),
        ("a\r", 2, 1),
        ("a\r\n", 2, 1),
        ("\n\n\n", 4, 1),
        ("a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg", 1, 14),
        ("🕑é\ud83d\x00\t", 1, 6),
    ],
)
@pytest.mark.parametrize("ending", ["", "<check>", "</think>"])
def test_line_and_column(before: str, line: int, column: int, ending: str) -> None:
    """Lines end at LF, CRLF and CR only; columns count code points; both begin at 1."""
    error = refused(before + ending)
    assert (error.offset, error.line, error.column) == (len(before), line, column)


def test_places_do_not_depend_on_the_split() -> None:
    """Line and column after a text are those after its two halves, wherever it is split."""
    for text in map("".join, product("\r\nx", repeat=4)):
        whole = Place().after(text, 4)
        assert whole[:2] == (len(f"{text}|".splitlines()), len(f"{text}|".splitlines()[-1]))
        for cut in range(5):
            assert Place().after(text[:cut], cut).after(text[cut:], 4 - cut) == whole
            assert Place().after(text, cut).after(text[cut:] + "\n", 4 - cut) == whole


def test_line_and_column_of_a_value_before_crlf() -> None:
    """The offset of a wrong value may stand on the CR of a CRLF, which has not ended the line yet."""
    error = refused("<think>\r\n</think>\r\n<check>\r\nmaybe</check>")
    assert (error.offset, error.line, error.column, error.value) == (26, 3, 8, "maybe")


def test_an_error_made_by_hand_has_empty_fields() -> None:
    """What a caller does not know is None, and of the response nothing is kept."""
    error = gategrammar.MissingTagError("no answer", tag="think", offset=0, line=1, column=1)
    assert (error.found, error.value, error.raw, error.hint) == (None, None, "", None)


def test_raw_is_the_text_where_it_is_short() -> None:
    """A response of 200 code points or fewer is kept whole."""
    for length in (0, 1, 199, 200):
        text = ("a\n\ud83d<🕑" * 40)[:length]
        assert refused(text).raw == text


@pytest.mark.parametrize("length", [201, 202, 250, 399, 400, 401, 5_000, 1_000_000])
def test_raw_keeps_head_and_tail(length: int) -> None:
    """Of a longer one the head and the tail are kept with a mark between them, 200 code points at most in all."""
    text = "".join(chr(0x4E00 + at % 20_000) for at in range(length))
    raw = refused(text).raw
    assert 195 <= len(raw) <= 200
    head = next(at for at in range(len(raw) + 1) if not text.startswith(raw[: at + 1]))
    tail = next(at for at in range(len(raw) + 1) if not text.endswith(raw[len(raw) - at - 1 :]))
    assert head >= 50
    assert tail >= 50
    assert head + tail < len(raw)


def test_long_value_is_whole_in_the_field_and_short_in_the_message() -> None:
    """A model that writes an essay into check does not flood the log."""
    error = refused("<think></think><check>" + "maybe " * 10_000 + "</check>")
    assert error.value == ("maybe " * 10_000).strip()
    assert "maybe" in str(error)
    assert len(str(error)) < 1000


def test_messages_escape_what_a_terminal_would_obey() -> None:
    """A value with control codes is shown escaped, and a lone surrogate can be printed."""
    message = str(refused("<think></think><check>\x1b[2J\x00\ud83d\u202e\u0085x</check>"))
    message.encode("utf-8")
    assert message.isprintable()


def test_an_error_does_not_keep_the_text_alive() -> None:
    """Of a long text an error holds 200 code points: a log of a million errors holds no million texts."""
    tracemalloc.start()
    error = try_parse("x" * 3_000_000)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, GateParseError)
    assert error.__context__ is None
    assert held < 1_000_000
