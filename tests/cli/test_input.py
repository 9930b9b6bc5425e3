"""Reading: the exact words for what cannot be read, and a property over what can."""

import gzip
import json
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gategrammar.cli._input import Record, records, select, whole
from gategrammar.cli._rows import Fault, Row, rows, size
from gategrammar.messages import Message


def ignore(count: int) -> None:
    """Take no note of progress."""


def read(path: Path, content: bytes, field: str = "response") -> list[Record | Fault]:
    """Write a file and read it as JSONL."""
    path.write_bytes(content)
    return list(records([str(path)], jsonl=True, field=field, advance=ignore))


@pytest.mark.parametrize(
    ("content", "kind", "what", "hint"),
    [
        (b"<think>", "json", "not JSON: Expecting value", "if the input is one plain response, read it with --text"),
        (b'{"a": 1,}', "json", "not JSON: ", None),
        (b'{"a": "b\tc"}', "json", "not JSON: Invalid control character at", None),
        (b'{"a": 1} {"a": 2}', "json", "not JSON: Extra data", None),
        (b'"text"', "json", "the line is a string, not an object", None),
        (b"null", "json", "the line is null, not an object", None),
        (b'{"a": NaN}', "json", "not usable JSON: NaN is no JSON value; write null", None),
        (b'{"a": [-Infinity]}', "json", "not usable JSON: -Infinity is no JSON value; write null", None),
        (b'{"a": -1e999}', "json", "not usable JSON: the number -1e999 is out of range", None),
        (b'{"a": 1' + b"0" * 5000 + b"}", "json", "not usable JSON: a number of 5001 digits is out of range", None),
        (
            b'{"a": {"b": 1, "b": 1}}',
            "json",
            "not usable JSON: it has the name 'b' twice, and which one is meant is a guess",
            None,
        ),
        (
            b'{"' + b"n" * 100 + b'": 1, "' + b"n" * 100 + b'": 2}',
            "json",
            f"not usable JSON: it has the name '{'n' * 59}…' twice",
            None,
        ),
        (
            b'{"response": {"message": 5}}',
            "field",
            "field 'response' holds no chat message: expected a chat message (content), a choice (message) or a "
            "completion (choices), but this int has none of them",
            "--field takes a path into objects and lists, such as response.body or response.choices.0",
        ),
        (b'{"%s": "x"}' % (b"n" * 100), "field", "the record has no field 'response'", "it holds no string"),
        (b"[" * 100_000, "json", "not usable JSON: it is nested too deeply", None),
        (b'{"a": "\xff"}', "encoding", "not UTF-8: byte 0xff cannot stand here", None),
        (b'{"a": "\xed\xa0\x80"}', "encoding", "not UTF-8: byte 0xed cannot stand here", None),
        (
            "{}".encode("utf-16"),
            "encoding",
            "not UTF-8: byte 0xff cannot stand here",
            "it begins as UTF-16 does: convert it to UTF-8",
        ),
        (
            gzip.compress(b"{}", mtime=0),
            "encoding",
            "not UTF-8: byte 0x8b cannot stand here",
            "it begins as gzip does: unpack it first",
        ),
        (
            b"PAR1\xff",
            "encoding",
            "not UTF-8: byte 0xff cannot stand here",
            "it begins as Parquet does: score reads that, if the name ends with .parquet",
        ),
        (b'{"response": null}', "field", "field 'response' is null, not a string", None),
        (b'{"response": true}', "field", "field 'response' is a boolean, not a string", None),
        (
            b'{"response": []}',
            "field",
            "field 'response' is a list, not a string",
            "--field takes a path into objects and lists, such as response.body or response.choices.0",
        ),
        (b"{}", "field", "the record has no field 'response'", "it holds no string"),
        (
            b'{"text": "a", "n": 1, "answer": "b"}',
            "field",
            "the record has no field 'response'",
            "--field can be one of: text, answer",
        ),
    ],
)
def test_faults(tmp_path: Path, content: bytes, kind: str, what: str, hint: str | None) -> None:
    """Each sort of unreadable line is named in so many words, with what to do where that is known."""
    (fault,) = read(tmp_path / "a.jsonl", content)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.line, fault.hint) == (kind, 1, hint)
    assert fault.what.startswith(what)


@pytest.mark.parametrize(
    ("field", "what", "hint"),
    [
        ("a.x", "field 'a' has no field 'x'", "--field can be one of: a.s"),
        ("a.s.x", "field 'a.s' has no field 'x'", "it is a string"),
        ("l.1", "field 'l' has no field '1'", "it is a list of 1"),
        ("l.x", "field 'l' has no field 'x'", "it is a list of 1"),
        ("l.-1", "field 'l' has no field '-1'", "it is a list of 1"),
        ("", "the record has no field ''", "--field can be one of: d.t"),
    ],
)
def test_paths_that_lead_nowhere(field: str, what: str, hint: str) -> None:
    """A path that cannot be followed names the step that is missing, and what there is instead."""
    faults = list(select(Row("f", 3, {"a": {"s": "x"}, "l": ["y"], "d.t": "z"}), field))
    assert faults == [Fault("field", "f", what, hint, 3)]


@pytest.mark.parametrize(
    ("field", "text", "rest"),
    [
        ("a.s", "x", {"a": {}, "l": ["y"], "d.t": "z"}),
        ("l.0", "y", {"a": {"s": "x"}, "l": [], "d.t": "z"}),
        ("d.t", "z", {"a": {"s": "x"}, "l": ["y"]}),
    ],
)
def test_paths(field: str, text: str, rest: dict[str, Any]) -> None:
    """A path is followed and what it leads to is taken out of a copy; a name that holds dots is a name first."""
    fields = {"a": {"s": "x"}, "l": ["y"], "d.t": "z"}
    before = json.dumps(fields)
    assert list(select(Row("f", 3, fields), field)) == [Record("f", 3, Message(text), rest, in_row=True)]
    assert json.dumps(fields) == before


@given(
    st.lists(
        st.dictionaries(st.text(), st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=8)),
        max_size=4,
    )
)
def test_any_record_is_read_exactly(tmp_path_factory: pytest.TempPathFactory, fields: list[dict[str, Any]]) -> None:
    """Whatever stands in the fields, lone surrogates included, arrives as it is, and lines are counted right."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in fields))
    assert list(rows(str(path), ignore)) == [Row(str(path), n, record) for n, record in enumerate(fields, 1)]


def test_a_bad_choice_hides_no_good_one(tmp_path: Path) -> None:
    """Of several choices each is read, or said to be none, by its own path."""
    choices = [{"message": {"content": "a"}}, {"message": {"content": 7}}, {"message": {"content": "c"}}]
    fault, *_ = read(tmp_path / "b.jsonl", json.dumps({"response": {"choices": choices[1:]}}).encode())
    assert isinstance(fault, Fault)
    assert fault.what.startswith("field 'response.choices.0' holds")
    first, bad, last = read(tmp_path / "a.jsonl", json.dumps({"response": {"choices": choices}}).encode())
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert (first.text, last.text) == ("a", "c")
    assert isinstance(bad, Fault)
    assert bad.what.startswith("field 'response.choices.1' holds no chat message: the content of a message is a str")


def test_faults_point_at_the_place(tmp_path: Path) -> None:
    """The offset of bad bytes is counted in characters, and a text file is numbered from its first line."""
    path = tmp_path / "a.txt"
    path.write_bytes("漢\n".encode() + b"a\xffb")
    fault = whole(str(path), ignore)
    assert isinstance(fault, Fault)
    assert (fault.line, fault.offset, fault.source) == (1, 3, "漢\na\\xffb")


def test_sizes(tmp_path: Path) -> None:
    """The total is known for regular files, missing ones aside, and unknown for pipes and standard input."""
    (tmp_path / "a").write_bytes(b"abc")
    os.mkfifo(tmp_path / "pipe")
    regular = [str(tmp_path / "a"), str(tmp_path / "missing"), str(tmp_path / "a")]
    assert size(regular) == 6
    assert size([*regular, str(tmp_path / "pipe")]) is None
    assert size([*regular, "-"]) is None


def test_progress_counts_every_byte(tmp_path: Path) -> None:
    """What advance is told adds up to the size of the files, blank and unreadable lines included."""
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{}\n\n{\n{"response": "x"}')
    (tmp_path / "b.txt").write_bytes(b"abc")
    files = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.txt")]
    told: list[int] = []
    list(records(files, jsonl=None, field="response", advance=told.append))
    assert sum(told) == size(files)


def test_memory_is_constant(tmp_path: Path) -> None:
    """Reading a file takes the memory of a record, not of the file."""
    path = tmp_path / "big.jsonl"
    line = json.dumps({"response": "x" * 10_000}) + "\n"
    with path.open("w") as file:
        file.writelines(line for _ in range(2_000))
    tracemalloc.start()
    try:
        count = sum(1 for _ in records([str(path)], jsonl=None, field="response", advance=ignore))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 2_000
    assert peak < path.stat().st_size / 20


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed standard input is unreadable input like any other."""
    monkeypatch.setattr(sys, "stdin", None)
    assert list(rows("-", ignore)) == [Fault("file", "-", "cannot be read: standard input is closed")]
