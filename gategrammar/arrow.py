"""Arrow batches in, the same rows with the verdicts as columns out: for Ray Data, Spark, DuckDB and the like.

Needs the extra ``arrow``.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeVar

import pyarrow as pa

from gategrammar.response._tables import ELEMENTS
from gategrammar.response.errors import ERRORS, GateParseError
from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think, check_modes
from gategrammar.response.parse import try_parse
from gategrammar.response.recogniser import Places, find, places_of

_Batch = TypeVar("_Batch", pa.RecordBatch, pa.Table)

#: The names of kinds and tags, the same ones in every batch, so that batches can be joined without rewriting them.
_NAMES: dict[str, list[str]] = {
    "error_kind": list(ERRORS),
    "error_tag": [element.name for element in ELEMENTS],
}
_NUMBERS = {name: number for names in _NAMES.values() for number, name in enumerate(names)}
_NUMBER = pa.int8()
#: The columns that are added and their types; the texts are of the type of the responses.
_TEXTS = ("think", "candidate")
_FACTS: dict[str, pa.DataType] = {
    "update_gate": pa.bool_(),
    "exit_gate": pa.bool_(),
    **{name: pa.dictionary(_NUMBER, pa.string()) for name in _NAMES},
    "error_offset": pa.int64(),
}
#: Their order.
ADDED = ("think", "update_gate", "candidate", "exit_gate", *_NAMES, "error_offset")
#: The types of the texts, with the codes that Python has for their offsets.
_OFFSETS: dict[pa.DataType, Literal["i", "q"]] = {pa.string(): "i", pa.large_string(): "q"}


def parse_batch(
    batch: _Batch,
    column: str = "response",
    *,
    think: Think = REQUIRED,
    outside_text: OutsideText = IGNORE,
    dictionary_encode: bool = True,
) -> _Batch:
    """Parse a column of responses, and add what they say, or what is wrong with them, as columns.

    The function keeps no state and can be pickled, with ``functools.partial`` too, so it runs as it is in
    ``ray.data.Dataset.map_batches(parse_batch, batch_format="pyarrow")``.

    Added are ``think``, ``update_gate``, ``candidate``, ``exit_gate``, which are null where the response is no gate
    response, and ``error_kind``, ``error_tag`` (dictionaries of the kinds and the elements) and
    ``error_offset`` (code points), which are null where it is one (SPEC §8, §9). Where the response itself is
    null, all of them are: a row holds a gate response if ``update_gate`` is not null. An answer was cut
    (``GateParseError.truncated``) where ``error_offset`` is the length of the response in code points.

    Args:
        batch: the rows; they keep their order, their other columns and their metadata.
        column: the name of the responses' column. It is of type string, large_string, string_view, a dictionary of
            one of these, or null; a table's may have several chunks. The texts added are string where the column is
            string or null, else large_string.
        think: how the reasoning arrives (SPEC §7).
        outside_text: text outside the elements: "ignore" it, or "forbid" it (SPEC §6).
        dictionary_encode: False makes ``error_kind`` and ``error_tag`` plain strings, for what cannot read
            dictionaries: Spark's ``mapInArrow`` for one.

    Returns:
        A record batch or a table, as *batch* is.

    Raises:
        TypeError: *batch* is neither, or the column holds no texts.
        ValueError: there is no such column, or more than one; a column of a name that is to be added is there already;
            a response is not UTF-8; unknown mode.
    """
    check_modes(think, outside_text)
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        raise TypeError(f"parse_batch takes a pyarrow.RecordBatch or a pyarrow.Table, not {type(batch).__name__}")
    responses = batch.column(_place(batch, column))
    types = _types(responses.type, column)
    if not dictionary_encode:
        types |= {name: types[name].value_type for name in _NAMES}
    whole = isinstance(responses, pa.Array)
    chunks = [_cast(chunk, types[_TEXTS[0]]) for chunk in ([responses] if whole else responses.chunks)]
    try:
        verdicts = [_verdicts(chunk, types, think, outside_text) for chunk in chunks]
    except (UnicodeDecodeError, pa.ArrowInvalid):
        if (row := _undecodable(chunks)) is None:
            raise
        raise ValueError(f"row {row} of column {column!r} is not UTF-8") from None
    for name in ADDED:
        arrays = [columns[name] for columns in verdicts]
        field = pa.field(name, types[name])
        batch = batch.append_column(field, arrays[0] if whole else pa.chunked_array(arrays, field.type))
    return batch


def _place(batch: pa.RecordBatch | pa.Table, column: str) -> int:
    names = batch.schema.names
    if names.count(column) != 1:
        there = ", ".join(map(repr, names)) or "none"
        wrong = "more than one column" if column in names else "no column"
        raise ValueError(f"the batch has {wrong} {column!r}; its columns: {there}")
    if taken := [name for name in ADDED if name in names]:
        raise ValueError(f"the batch already has a column {taken[0]!r}, which is to be added: rename or drop it first")
    place: int = names.index(column)
    return place


def _types(responses: pa.DataType, column: str) -> dict[str, pa.DataType]:
    """Return the types of the columns that are added."""
    inner = responses.value_type if pa.types.is_dictionary(responses) else responses
    if not (pa.types.is_null(inner) or inner in (pa.string(), pa.large_string(), pa.string_view())):
        raise TypeError(f"column {column!r} is {responses}: expected a string type; cast it first")
    # A short dictionary, or views, may stand for more text than the offsets of the type string can count.
    text = pa.string() if responses in (pa.string(), pa.null()) else pa.large_string()
    return {**dict.fromkeys(_TEXTS, text), **_FACTS}


def _cast(responses: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the responses as texts of the type of those that are added."""
    if pa.types.is_dictionary(responses.type):
        # Arrow decodes no dictionary of views.
        responses = pa.DictionaryArray.from_arrays(responses.indices, responses.dictionary.cast(kind))
    return responses.cast(kind)


def _verdicts(
    responses: pa.Array, types: dict[str, pa.DataType], think: Think, outside_text: OutsideText
) -> dict[str, pa.Array]:
    """Return the columns that are added for one chunk of responses.

    To copy a long text costs as much as to parse it, and to decode one that is not ASCII costs more. So the contents
    are but places in the memory of the responses until all of them are known; then Arrow copies each of them once.
    """
    rows, data = _memory(responses)
    memory = memoryview(data)
    bounds = array(_OFFSETS[responses.type])
    facts: dict[str, list[Any]] = {name: [None] * len(responses) for name in _FACTS}
    update_gates, exit_gates, *errors = facts.values()  # in the order of _FACTS
    ascii_only = True
    for row, (valid, (start, end)) in enumerate(rows):
        found: Places | GateParseError | None = None
        if valid:
            view = str(memory[start:end], "latin-1")
            ascii_only = ascii_only and view.isascii()
            found = find(view, think, outside_text) or _explain(memory[start:end], think, outside_text)
        if isinstance(found, tuple):
            think_start, think_end, update_gates[row], candidate_start, candidate_end, exit_gates[row] = found
            bounds.extend((start + think_start, start + think_end, start + candidate_start, start + candidate_end))
        else:
            bounds.extend((start,) * 4)
            if found:
                wrong = _NUMBERS[found.kind], _NUMBERS[found.tag], found.offset
                for values, value in zip(errors, wrong, strict=True):
                    values[row] = value
    if not ascii_only:
        responses.validate(full=True)  # find() does not look whether it is UTF-8
    columns = {name: _array(name, types[name], values) for name, values in facts.items()}
    validity, _ = columns["update_gate"].buffers()  # the texts are null where the gates are
    for number, name in enumerate(_TEXTS):
        starts, ends = bounds[2 * number :: 4], bounds[2 * number + 1 :: 4]
        columns[name] = _copies(responses.type, data, starts, ends, validity)
    return columns


def _memory(responses: pa.Array) -> tuple[Iterable[tuple[bool, tuple[int, int]]], pa.Buffer]:
    """Return of each response whether it is valid and where it starts and ends, and the memory in which it does."""
    _, offsets, data = responses.buffers()
    if not len(responses):
        return [], data  # there need not be any offsets
    numbers = array(_OFFSETS[responses.type])
    first, last = responses.offset, responses.offset + len(responses)
    numbers.frombytes(memoryview(offsets)[first * numbers.itemsize : (last + 1) * numbers.itemsize])
    return zip(responses.is_valid().to_pylist(), pairwise(numbers.tolist()), strict=True), data


def _explain(response: memoryview, think: Think, outside_text: OutsideText) -> Places | GateParseError:
    """Parse what find() does not take: return the places in bytes if it is a response all the same, or what is wrong.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    text = str(response, "utf-8")
    found = try_parse(text, think=think, outside_text=outside_text)
    return found if isinstance(found, GateParseError) else places_of(found, text)


def _copies(
    kind: pa.DataType, data: pa.Buffer, starts: "array[int]", ends: "array[int]", validity: pa.Buffer | None
) -> pa.Array:
    """Return a column of the texts between the places in *data*, null where they are not valid."""
    # The texts and what stands between them make an array of their own without being copied: every second is a text.
    # Its bounds must not fall, so a row without a text has a place, too: its own.
    bounds = array(_OFFSETS[kind], bytes(2 * len(starts) * starts.itemsize))
    bounds[::2], bounds[1::2] = starts, ends
    bounds += ends[-1:]
    pieces = pa.Array.from_buffers(kind, 2 * len(starts), [None, pa.py_buffer(bounds), data])
    seconds = array("q", range(0, len(pieces), 2))
    return pieces.take(pa.Array.from_buffers(pa.int64(), len(starts), [validity, pa.py_buffer(seconds)]))


def _undecodable(chunks: Iterable[pa.Array]) -> int | None:
    """Return the number of the first response that is not UTF-8, from 0, or None if all of them are.

    The bytes are read without Arrow, which ends the process over a text of a length below 0.
    """
    before = 0
    for chunk in chunks:
        rows, data = _memory(chunk)
        for row, (valid, (start, end)) in enumerate(rows):
            try:
                str(memoryview(data)[start:end] if valid else b"", "utf-8")
            except UnicodeDecodeError:
                return before + row
        before += len(chunk)
    return None


def _array(name: str, kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if name not in _NAMES:
        return pa.array(values, kind)
    numbers = pa.array(values, _NUMBER)
    names = pa.array(_NAMES[name])
    return pa.DictionaryArray.from_arrays(numbers, names) if pa.types.is_dictionary(kind) else names.take(numbers)
