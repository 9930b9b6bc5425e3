"""A parsed response as an object (SPEC §8)."""

import copy
import json
import pickle
import weakref
from typing import Any

import attrs
import pytest

from gategrammar import GateResponse, parse

TEXT = "<think> why </think>\n<check>yes</check>\n<update>\nthe memory\n</update>\n<next>end</next>"


def test_fields_and_spans() -> None:
    """The four fields are trimmed, the gates real bools, and the spans point at the contents in the text."""
    response = parse(TEXT)
    assert (response.think, response.candidate) == ("why", "the memory")
    assert response.update_gate is True
    assert response.exit_gate is True
    spans = response.spans
    assert spans.think is not None
    contents = [TEXT[start:end] for start, end in (spans.think, spans.check, spans.update, spans.next)]
    assert contents == ["why", "yes", "the memory", "end"]


def test_absent_think_has_no_span() -> None:
    """With think="absent" think is "" and there is nothing in the text to point at."""
    response = parse(TEXT.partition("\n")[2], think="absent")
    assert response.think == ""
    assert response.spans.think is None


def test_it_cannot_be_changed() -> None:
    """A decision is not edited afterwards, by name or by a new attribute."""
    response: Any = parse(TEXT)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        response.update_gate = False
    with pytest.raises((AttributeError, TypeError)):
        response.note = "x"
    assert not hasattr(response, "__dict__")


def test_spans_are_neither_compared_nor_shown() -> None:
    """Two responses that say the same are equal and hash alike, wherever it stood."""
    response, shifted = parse(TEXT), parse("So:\n" + TEXT)
    assert response.spans != shifted.spans
    assert response == shifted
    assert hash(response) == hash(shifted)
    assert repr(response) == repr(shifted)
    assert "span" not in repr(response)


def test_nothing_private_is_a_field() -> None:
    """The tools of attrs see the four fields and no more, so that asdict gives what JSON can say."""
    fields: dict[str, Any] = {"think": "why", "update_gate": True, "candidate": "the memory", "exit_gate": True}
    assert attrs.asdict(parse(TEXT)) == fields
    assert GateResponse(**fields) == parse(TEXT)
    assert attrs.evolve(parse(TEXT), candidate="x") == GateResponse(**{**fields, "candidate": "x"})


def test_what_was_not_read_has_no_place() -> None:
    """A response that was made by hand says so when it is asked where it stands, a pickled one too."""
    made = attrs.evolve(parse(TEXT), think="another")
    for response in (made, pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert response == made
        assert "spans" not in response.to_dict()
        with pytest.raises(ValueError, match="not parsed from a text"):
            _ = response.spans


def test_it_can_be_held_weakly() -> None:
    """A cache may hold responses without keeping them."""
    response = parse(TEXT)
    assert weakref.ref(response)() is response


def test_next_memory() -> None:
    """check=yes replaces the memory by the candidate, an empty one too; check=no keeps the previous one."""
    assert parse(TEXT).next_memory("old") == "the memory"
    assert parse(TEXT.replace("yes", "no")).next_memory("old") == "old"
    assert parse(TEXT.replace("the memory", "")).next_memory("old") == ""


def test_to_dict_is_plain_json() -> None:
    """to_dict gives the four fields and survives JSON."""
    shown = parse(TEXT).to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert {"think": "why", "update_gate": True, "candidate": "the memory", "exit_gate": True}.items() <= shown.items()
