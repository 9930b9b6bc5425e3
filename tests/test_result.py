"""A parsed response as an object (semantics.md §3)."""

import json
from typing import Any

import attrs
import pytest

from gategrammar import parse

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
