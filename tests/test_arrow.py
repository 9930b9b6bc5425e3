"""Arrow batches: every row gets the verdict of parse(), whatever type holds the texts and whoever runs it."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import strategies
from gategrammar import GateResponse, try_parse

pa = pytest.importorskip("pyarrow", reason="needs the extra arrow")
import pyarrow.compute as pc  # noqa: E402 - after the skip
from pyarrow import parquet  # noqa: E402 - ditto

from gategrammar.arrow import ADDED, parse_batch  # noqa: E402 - ditto

GOOD = "<think>Hm.</think><check>yes</check><update>mémoire</update><next>end</next>"
TEXTS: list[str | None] = [
    case.text for case in [*cases.handed(), *cases.recorded()] if not any("\ud800" <= c <= "\udfff" for c in case.text)
]
TEXTS[3::7] = [None] * len(TEXTS[3::7])


def views(texts: Sequence[str | None]) -> Any:
    """Return a dictionary of views, which Arrow does not make of an array."""
    dictionary = pa.array(texts, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(dictionary.indices, dictionary.dictionary.cast(pa.string_view()))


#: Every type in which a column of texts may arrive.
TYPES: dict[str, Callable[[Sequence[str | None]], Any]] = {
    "string": lambda texts: pa.array(texts, pa.string()),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts, pa.string()).dictionary_encode(),
    "dictionary of large_string": lambda texts: pa.array(texts, pa.large_string()).dictionary_encode(),
    "dictionary of string_view": views,
    "slice": lambda texts: pa.array(["x", *texts, "y"], pa.string()).slice(1, len(texts)),
}


def row(text: str | None, **modes: Any) -> dict[str, Any]:
    """Return what must stand beside a response, from a plain call."""
    found: dict[str, Any] = dict.fromkeys(ADDED)
    if text is None:
        return found
    verdict = try_parse(text, **modes)
    if isinstance(verdict, GateResponse):
        return found | {name: value for name, value in verdict.to_dict().items() if name in ADDED}
    return found | {"error_kind": verdict.kind, "error_tag": verdict.tag, "error_offset": verdict.offset}


def rows(batch: Any) -> list[dict[str, Any]]:
    """Return the added columns of a batch as rows."""
    added: list[dict[str, Any]] = batch.select(ADDED).to_pylist()
    return added


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("modes", [{}, {"think": "prefilled"}, {"think": "absent", "outside_text": "forbid"}], ids=str)
def test_each_row_gets_its_verdict(kind: str, modes: dict[str, Any]) -> None:
    """The corpora, with nulls between them, get the verdicts of parse() in every type and mode."""
    batch = pa.record_batch({"response": TYPES[kind](TEXTS)})
    assert rows(parse_batch(batch, **modes)) == [row(text, **modes) for text in TEXTS]


@given(st.lists(st.one_of(st.none(), strategies.responses(), strategies.mutations(), strategies.walks()), max_size=6))
def test_any_text(texts: list[str | None]) -> None:
    """Random texts near the language get the verdicts of parse(); what Arrow cannot hold is left out."""
    texts = [text and text.encode(errors="ignore").decode() for text in texts]
    batch = pa.record_batch({"response": pa.array(texts, pa.string())})
    assert rows(parse_batch(batch)) == [row(text) for text in texts]


def test_a_table_of_several_chunks() -> None:
    """A table stays a table, chunk by chunk, also where a chunk is empty."""
    column = pa.chunked_array([TEXTS[:5], [], TEXTS[5:]], pa.string())
    table = parse_batch(pa.table({"response": column}))
    assert [len(chunk) for chunk in table["think"].chunks] == [5, 0, len(TEXTS) - 5]
    assert rows(table) == [row(text) for text in TEXTS]
    assert parse_batch(pa.table({"response": pa.chunked_array([], pa.string())})).num_rows == 0


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("space", ["", " ", "\x85", "\u3000", "\n\u2005 "], ids=ascii)
def test_long_texts(kind: str, space: str) -> None:
    """Long texts are cut out at the right bytes, whatever characters they and the white space round them are of.

    One of the characters ends in a byte that would be white space if it were a character.
    """
    texts: list[str | None] = [None, GOOD]
    for word in ("plain ", "ä", "à", "思い", "\U0001f9e0 > "):
        for length in (10, 3_000, 30_000):
            content = word * (length // len(word))
            for think, update in ((space + content, content), (content, content + space)):
                good = f"<think>{think}</think><check>no</check>{word}<update>{update}</update><next>end</next>{word}"
                texts += [good, good.replace("<think>", f"<think>{word}</think>{word}<think>"), good[:-20], None]
    assert rows(parse_batch(pa.record_batch({"response": TYPES[kind](texts)}))) == [row(text) for text in texts]


def test_the_columns_share_no_memory_with_the_responses() -> None:
    """What is kept of a batch does not keep the whole of it: each column holds its own texts and no others."""
    parsed = parse_batch(pa.record_batch({"response": [GOOD.replace("Hm.", "Hm. " * 50_000)] * 20}))
    assert parsed["candidate"].get_total_buffer_size() < 1_000


@pytest.mark.parametrize("kind", TYPES)
def test_no_rows_no_texts(kind: str) -> None:
    """Zero rows and nothing but nulls give the same columns of the same types as any other batch."""
    full = parse_batch(pa.record_batch({"response": TYPES[kind]([GOOD])})).schema
    nothing: list[list[None]] = [[], [None, None]]
    for texts in nothing:
        batch = parse_batch(pa.record_batch({"response": TYPES[kind](texts)}))
        assert batch.schema.equals(full)
        assert rows(batch) == [row(None) for _ in texts]


def test_no_rows_no_offsets() -> None:
    """An array of no rows may come without offsets."""
    for offsets in (None, pa.py_buffer(b"")):
        responses = pa.Array.from_buffers(pa.string(), 0, [None, offsets, pa.py_buffer(b"")])
        assert parse_batch(pa.record_batch({"response": responses})).num_rows == 0


def test_a_column_of_type_null() -> None:
    """A column that never held a text is no error: its rows are null, and the texts are strings."""
    batch = parse_batch(pa.record_batch({"response": pa.nulls(2)}))
    assert rows(batch) == [row(None), row(None)]
    assert batch.schema.field("think").type == pa.string()


def test_types_of_the_columns() -> None:
    """The columns stand in their order, the texts in the type of the responses, kinds and tags in dictionaries."""
    batch = parse_batch(pa.record_batch({"response": [GOOD], "id": [1]}))
    assert [(field.name, str(field.type)) for field in batch.schema] == [
        ("response", "string"),
        ("id", "int64"),
        ("think", "string"),
        ("update_gate", "bool"),
        ("candidate", "string"),
        ("exit_gate", "bool"),
        ("error_kind", "dictionary<values=string, indices=int8, ordered=0>"),
        ("error_tag", "dictionary<values=string, indices=int8, ordered=0>"),
        ("error_offset", "int64"),
    ]
    for kind in ("large_string", "string_view", "dictionary"):
        batch = parse_batch(pa.record_batch({"response": TYPES[kind]([GOOD])}))
        assert batch.schema.field("candidate").type == pa.large_string()


def test_dictionaries_are_the_same_in_every_batch() -> None:
    """Two batches with different errors have one dictionary, so they join without rewriting."""
    first, second = (parse_batch(pa.record_batch({"response": [text]})) for text in ("", "<think>"))
    for name in ("error_kind", "error_tag"):
        assert first[name].dictionary.equals(second[name].dictionary)


def test_without_dictionaries() -> None:
    """For readers that know no dictionaries kinds and tags are plain strings, with the same values."""
    batch = pa.record_batch({"response": TEXTS})
    plain = parse_batch(batch, dictionary_encode=False)
    assert plain.schema.field("error_kind").type == plain.schema.field("error_tag").type == pa.string()
    assert rows(plain) == rows(parse_batch(batch))


def test_what_else_is_in_the_batch_stays() -> None:
    """The other columns, the responses and the metadata are untouched."""
    schema = pa.schema([pa.field("answer", pa.string(), metadata={"a": "b"}), ("id", pa.int8())], metadata={"c": "d"})
    for batch in (
        pa.record_batch([[GOOD], [7]], schema=schema),
        pa.table([[GOOD], [7]], schema=schema),
    ):
        parsed = parse_batch(batch, "answer")
        assert type(parsed) is type(batch)
        assert parsed.select(["answer", "id"]).equals(batch, check_metadata=True)


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "dictionary of string_view"])
def test_cut_answers_can_be_told(kind: str) -> None:
    """As documented: an answer was cut exactly where the offset of the error is the length of the response.

    Arrow casts no dictionary of views.
    """
    texts = [text for text in TEXTS if text is not None]
    batch = parse_batch(pa.record_batch({"response": TYPES[kind](texts)}))
    cut = pc.equal(batch["error_offset"], pc.utf8_length(batch["response"].cast("large_string"))).to_pylist()
    errors = [verdict for text in texts if not isinstance(verdict := try_parse(text), GateResponse)]
    assert [value for value in cut if value is not None] == [error.truncated for error in errors]


def test_it_pickles() -> None:
    """The function, and a partial of it, can be sent to other processes."""
    batch = pa.record_batch({"answer": [GOOD.removeprefix("<think>")]})
    function = pickle.loads(pickle.dumps(partial(parse_batch, column="answer", think="prefilled")))
    assert rows(function(batch))[0]["think"] == "Hm."


def not_utf8(wrong: bytes = b"\xff") -> Any:
    """Return an array whose second text is not UTF-8."""
    offsets = pa.array([0, 1, 1 + len(wrong)], pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a" + wrong)])


@pytest.mark.parametrize(
    "wrong",
    [
        b"\xff",
        b"\x80",
        b"\xc3",
        b"\xc0\xbc",
        b"\xe3\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xa0",
        b"\xc3\xe3\x80\x80",
    ],
)
@pytest.mark.parametrize("repeated", [1, 5_000])
def test_bytes_that_are_not_utf8(wrong: bytes, repeated: int) -> None:
    """A text that is not UTF-8 is refused wherever the wrong bytes stand in it, though it would parse without them."""
    good = GOOD.replace("Hm.", "Hm." * repeated).encode()
    for place in (0, good.index(b"Hm."), good.index(b"yes"), good.index(b"moire"), good.index(b"</update"), len(good)):
        responses = not_utf8(good[:place] + wrong + good[place:])
        others = pa.array(["b", "b"])
        columns = {
            0: responses.slice(1),
            1: pa.concat_arrays([responses, others]),
            3: pa.concat_arrays([others, responses]),
        }
        for number, column in columns.items():
            with pytest.raises(ValueError, match=rf"^row {number} of column 'response' is not UTF-8$"):
                parse_batch(pa.record_batch({"response": column}))


def test_offsets_that_fall() -> None:
    """An array with a text of a length below 0 is an error of Arrow, not of UTF-8, and does not end the process."""
    offsets = pa.array([0, 6, 3], pa.int32()).buffers()[1]
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer("é<é>".encode())])
    with pytest.raises(pa.ArrowInvalid, match="ffset"):
        parse_batch(pa.record_batch({"response": broken}))


def test_bytes_of_no_text() -> None:
    """What stands in the memory of a null, or outside a slice, need not be UTF-8."""
    texts = pa.array(["aé", GOOD, "é"])
    _, offsets, data = texts.buffers()
    data = pa.py_buffer(b"a\xff\xff" + data.to_pybytes()[3:-2] + b"\xff\xff")
    holed = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x02"), offsets, data])
    assert rows(parse_batch(pa.record_batch({"response": holed}))) == [row(None), row(GOOD), row(None)]
    broken = pa.Array.from_buffers(pa.string(), 3, [None, offsets, data])
    assert rows(parse_batch(pa.record_batch({"response": broken.slice(1, 1)}))) == [row(GOOD)]


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"text": ["a"]}, ValueError, "the batch has no column 'response'; its columns: 'text'"),
        ({}, ValueError, "the batch has no column 'response'; its columns: none"),
        (
            {"response": ["a"], "think": ["b"]},
            ValueError,
            "the batch already has a column 'think', which is to be added: rename or drop it first",
        ),
        ({"response": [1]}, TypeError, "column 'response' is int64: expected a string type; cast it first"),
        ({"response": [b"a"]}, TypeError, "column 'response' is binary: expected a string type; cast it first"),
        ({"response": [["a"]]}, TypeError, "column 'response' is list<"),
    ],
)
def test_what_is_refused(columns: dict[str, Any], error: type[Exception], message: str) -> None:
    """A wrong column is an error that names it, for a batch and for a table, with rows and without."""
    for batch in (pa.record_batch(columns), pa.table(columns), pa.table(columns).slice(0, 0)):
        with pytest.raises(error) as caught:
            parse_batch(batch)
        assert str(caught.value).startswith(message)


def test_what_else_is_refused() -> None:
    """What is no batch, a name that stands twice, a text that is not UTF-8, and unknown modes."""
    with pytest.raises(TypeError, match=r"takes a pyarrow\.RecordBatch or a pyarrow\.Table, not dict"):
        parse_batch({"response": [GOOD]})
    twice = pa.record_batch([["a"], ["b"]], names=["response", "response"])
    with pytest.raises(ValueError, match="more than one column 'response'"):
        parse_batch(twice)
    table = pa.table({"response": pa.chunked_array([pa.array(["a", "b"]), not_utf8()])})
    with pytest.raises(ValueError, match=r"^row 3 of column 'response' is not UTF-8$"):
        parse_batch(table)
    with pytest.raises(ValueError, match="think"):
        parse_batch(pa.record_batch({"response": []}), think="maybe")  # type: ignore[arg-type] # that is the point


def test_in_duckdb() -> None:
    """A query's batches go through parse_batch as a stream, and DuckDB reads what comes out."""
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    answers = pa.table({"id": list(range(len(TEXTS))), "response": TEXTS})  # noqa: F841 - DuckDB finds it by its name
    connection = duckdb.connect()
    reader = connection.sql("SELECT id, response FROM answers ORDER BY id").to_arrow_reader(10)
    schema = parse_batch(reader.schema.empty_table()).schema
    parsed = pa.RecordBatchReader.from_batches(schema, map(parse_batch, reader))  # noqa: F841 - ditto
    counted = connection.cursor().sql("SELECT error_kind, count(*) FROM parsed GROUP BY ALL").fetchall()
    expected = [row(text)["error_kind"] for text in TEXTS]
    assert dict(counted) == {kind: expected.count(kind) for kind in expected}


@pytest.mark.ray
@pytest.mark.filterwarnings("default")  # Ray's own
def test_on_ray_with_two_workers() -> None:
    """200,000 rows through two workers of a local Ray are what one process makes of them, types included."""
    ray = pytest.importorskip("ray", reason="needs ray[data], which CI installs")
    number = 200_000
    texts = [TEXTS[n % len(TEXTS)] for n in range(number)]
    table = pa.table({"id": range(number), "response": texts})
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        parts = [table.slice(start, number // 8) for start in range(0, number, number // 8)]
        data = ray.data.from_arrow(parts).map_batches(parse_batch, batch_format="pyarrow")
        parsed = pa.concat_tables(ray.get(data.to_arrow_refs()))
    finally:
        ray.shutdown()
    assert parsed.sort_by("id").combine_chunks().equals(parse_batch(table).combine_chunks())


@pytest.mark.ray
def test_the_example_on_ray(tmp_path: Path) -> None:
    """examples/score_on_ray.py gives the real loops their r_format: lists of turns, and rows with an id, in a folder.

    The responses of the rows are a dictionary. Lists of the same id, in two files here, are two trajectories.
    """
    pytest.importorskip("ray", reason="needs ray[data], which CI installs")
    rows = [{"id": loop["id"], "response": turn["response"]} for loop in cases.trajectories() for turn in loop["turns"]]
    (tmp_path / "rows").mkdir()
    responses = pa.array([row["response"] for row in rows]).dictionary_encode()
    table = pa.table({"id": [row["id"] for row in rows], "response": responses})
    parquet.write_table(table, tmp_path / "rows" / "a.parquet")
    loops = cases.FIXTURES / "trajectories.jsonl"
    again = tmp_path / "again.jsonl"
    again.write_bytes(loops.read_bytes())
    command = [sys.executable, str(cases.FIXTURES.parent / "examples" / "score_on_ray.py")]
    inputs = {2: [str(loops), str(again)], 1: [str(tmp_path / "rows"), "--group-by", "id"]}
    for times, arguments in inputs.items():
        out = tmp_path / str(times)
        done = subprocess.run(
            [*command, *arguments, "--out", str(out)], capture_output=True, check=True, encoding="utf-8"
        )
        said = f"{27 * times} trajectories: r_format 0.593\n{97 * times} responses: {13 * times} failed"
        assert f"{said}, {2 * times} truncated\n" in done.stdout
        found = sorted((row["id"], row["r_format"]) for row in parquet.read_table(out).to_pylist())
        assert found == sorted((loop["id"], loop["expect"]["r_format"]) for loop in cases.trajectories() * times)
