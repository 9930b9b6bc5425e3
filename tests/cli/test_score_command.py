"""``gategrammar score`` in one process: trajectories, groups, steps, and what cannot be scored."""

import json
import random
from datetime import UTC, datetime
from decimal import Decimal
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cases import FIXTURES, trajectories
from gategrammar import GateParseError, format_response, format_reward, try_parse
from gategrammar.cli._app import app

LOOPS = FIXTURES / "trajectories.jsonl"
GOOD = format_response("t", update_gate=True, candidate="m", exit_gate=False)
CUT = GOOD[:-3]
BAD = GOOD.replace("yes", "Yes")


def run(*arguments: object, stdin: bytes = b"") -> Result:
    """Run ``gategrammar score`` without a terminal."""
    # click < 8.2 mixes the two streams unless told not to; later ones never do.
    apart: dict[str, Any] = {name: False for name in signature(CliRunner).parameters if name == "mix_stderr"}
    return CliRunner(**apart).invoke(app, ["score", *map(str, arguments)], input=stdin, env={"COLUMNS": "80"})


def score(rows: list[dict[str, Any]], *arguments: object) -> Result:
    """Run the command over *rows*, given as standard input."""
    return run("-", *arguments, stdin="".join(f"{json.dumps(row)}\n" for row in rows).encode())


def lines(result: Result) -> list[dict[str, Any]]:
    """Return the objects on standard output."""
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n")[:-1]]


def test_the_recorded_loops() -> None:
    """Each of the real loops gets exactly its expected r_format, in order, and keeps its other fields."""
    result = run(LOOPS)
    for number, (line, loop) in enumerate(zip(lines(result), trajectories(), strict=True), 1):
        assert line["r_format"] == loop["expect"]["r_format"]
        assert line["r_format"] == format_reward([turn["response"] for turn in loop["turns"]])
        assert (line["file"], line["line"], line["turns"]) == (str(LOOPS), number, len(loop["turns"]))
        assert line["input"] == {name: value for name, value in loop.items() if name != "turns"}
    assert result.exit_code == 1


@pytest.mark.parametrize("loop", trajectories(), ids=lambda loop: str(loop["id"]))
def test_the_final_memory(loop: dict[str, Any]) -> None:
    """Replayed with next_memory, each real loop ends with its expected memory, by way of those that were recorded."""
    memory, exited = "", False
    for turn in loop["turns"]:
        assert memory == turn["memory_before"]
        response = try_parse(turn["response"])
        if not isinstance(response, GateParseError):
            memory, exited = response.next_memory(memory), response.exit_gate
        else:
            exited = False
    assert (memory, exited) == (loop["expect"]["final_memory"], loop["expect"]["exited"])


def test_the_first_error_is_told() -> None:
    """A wrong trajectory tells the first error with the number of its turn, and how many turns are wrong."""
    (line,) = lines(score([{"turns": [GOOD, BAD, CUT], "id": 7}]))
    assert (line["r_format"], line["turns"], line["failed"]) == (0.0, 3, 2)
    error = try_parse(BAD)
    assert line["error"] == {"turn": 1, **error.to_dict()}
    assert line["input"] == {"id": 7}


def test_turns_of_every_shape() -> None:
    """A turn is a text, an object with the response in it, or a chat message; paths lead to them."""
    message = {"role": "assistant", "content": GOOD}
    rows: list[dict[str, Any]] = [
        {"turns": [GOOD, {"response": GOOD}, {"response": message}, {"response": {"choices": [{"message": message}]}}]},
        {"run": {"loop": [{"a": {"b": GOOD}}]}, "turns": None},
    ]
    first, fault = run("-", stdin=json.dumps(rows[0]).encode()), score(rows[1:])
    assert lines(first)[0]["turns"] == 4
    assert (first.exit_code, fault.exit_code) == (0, 2)
    (line,) = lines(score(rows[1:], "--turns", "run.loop", "--field", "a.b"))
    assert (line["r_format"], line["input"]) == (1.0, {"run": {}, "turns": None})


def test_modes() -> None:
    """The modes are those of parse()."""
    rows: list[dict[str, Any]] = [{"turns": [GOOD.removeprefix("<think>")]}]
    assert lines(score(rows))[0]["r_format"] == 0.0
    assert lines(score(rows, "--think", "prefilled"))[0]["r_format"] == 1.0
    assert lines(score([{"turns": [f"So: {GOOD}"]}], "--outside-text", "forbid"))[0]["error"]["kind"] == "stray_text"


def scattered() -> list[dict[str, Any]]:
    """Return the turns of the real loops as rows, in random order."""
    rows: list[dict[str, Any]] = [
        {"run": loop["id"], "step": loop["step"], "answer": turn["response"]}
        for loop in trajectories()
        for turn in loop["turns"]
    ]
    random.Random(7).shuffle(rows)
    return rows


def test_rows_that_share_a_field() -> None:
    """Wherever the rows of a trajectory stand, its r_format is that of the list of its turns; the totals too."""
    result = score(scattered(), "--group-by", "run", "--field", "answer", "--quiet")
    expect = {loop["id"]: (loop["expect"]["r_format"], len(loop["turns"])) for loop in trajectories()}
    assert {line["input"]["run"]: (line["r_format"], line["turns"]) for line in lines(result)} == expect
    assert sorted(result.stderr.splitlines()) == sorted(run(LOOPS, "--quiet").stderr.splitlines())


def test_groups_keep_the_order_in_which_they_begin() -> None:
    """Lines come in the order of the first rows, with the place of that row, and the first error in the input."""
    rows: list[dict[str, Any]] = [
        {"id": i, "response": r} for i, r in ((2, GOOD), (1, GOOD), (2, BAD), (2, CUT), (1, GOOD))
    ]
    second, first = lines(score(rows, "--group-by", "id"))
    assert (second["line"], second["turns"], second["failed"], second["error"]["turn"]) == (1, 3, 2, 1)
    assert second["error"]["kind"] == "bad_value"
    assert (first["line"], first["r_format"], first["input"]) == (2, 1.0, {"id": 1})


def test_groups_by_several_fields() -> None:
    """Two fields together name a trajectory, and values of different types are different."""
    rows: list[dict[str, Any]] = [
        {"rank": r, "id": i, "response": GOOD} for r, i in ((0, 1), (0, "1"), (1, 1), (0, 1), (True, 1))
    ]
    found = [(line["input"], line["turns"]) for line in lines(score(rows, "--group-by", "rank", "--group-by", "id"))]
    assert found == [
        ({"rank": 0, "id": 1}, 2),
        ({"rank": 0, "id": "1"}, 1),
        ({"rank": 1, "id": 1}, 1),
        ({"rank": True, "id": 1}, 1),
    ]


def test_a_trajectory_with_a_turn_that_cannot_be_read() -> None:
    """It is neither right nor wrong: no line, exit 2, and it is said."""
    listed = score([{"turns": [GOOD, {"text": GOOD}]}, {"turns": [GOOD]}])
    rows: list[dict[str, Any]] = [{"id": 1, "response": GOOD}, {"id": 1, "response": None}, {"id": 2, "response": GOOD}]
    grouped = score(rows, "--group-by", "id")
    for result in (listed, grouped):
        assert [line["r_format"] for line in lines(result)] == [1.0]
        assert result.exit_code == 2
        assert "1 not read: 1 field" in result.stderr
    assert "field 'turns.1' has no field 'response'" in listed.stderr
    assert "1 not scored: a turn could not be read" in grouped.stderr


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        ({"response": GOOD}, [], "the record has no field 'turns'"),
        ({"turns": GOOD}, [], "field 'turns' is a string, not a list of turns"),
        ({"turns": []}, [], "field 'turns' is an empty list, so its format is neither right nor wrong"),
        ({"turns": [1]}, [], "field 'turns.0' is a number, not a string"),
        ({"turns": [{"response": {}}]}, [], "field 'turns.0.response' holds no chat message"),
        (
            {"turns": [{"response": {"choices": [{"message": {"content": GOOD}}] * 2}}]},
            [],
            "field 'turns.0.response' holds 2 choices, and which one is the turn is a guess",
        ),
        ({"response": GOOD}, ["--group-by", "id"], "the record has no field 'id'"),
        ({"id": None, "response": GOOD}, ["--group-by", "id"], "field 'id' is null, which names no trajectory"),
        ({"id": [1], "response": GOOD}, ["--group-by", "id"], "field 'id' is a list, which names no trajectory"),
    ],
)
def test_what_cannot_be_scored(row: dict[str, Any], options: list[str], message: str) -> None:
    """A row of another shape is named with its line, and is no trajectory."""
    result = score([row], *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error[field]: {message}" in result.stderr
    assert "--> <stdin>:1\n" in result.stderr


def test_the_fields_that_there_are() -> None:
    """Whoever names a field that is not there is told those that are."""
    for options in ([], ["--group-by", "id"]):
        assert "; here there are: 'response', 'n\\x1b'\n" in score([{"response": GOOD, "n\x1b": 1}], *options).stderr
        assert "; here there is none\n" in score([{}], *options).stderr


def test_the_summary() -> None:
    """Totals, failures by kind and tag, truncation and steps stand on standard error."""
    rows: list[dict[str, Any]] = [
        {"step": 1, "turns": [GOOD, GOOD]},
        {"step": 2.0, "turns": [GOOD, BAD, CUT]},
        {"step": "late", "turns": [CUT]},
    ]
    result = score(rows, "--quiet")
    assert result.stderr.splitlines() == [
        "3 trajectories: 1 right, 2 wrong; r_format 0.333",
        "6 responses: 3 parsed, 3 failed (50.0%)",
        "  2  unclosed   next   2 at the end of the text",
        "  1  bad_value  check",
        "truncated: 2 (33.3% of the responses)",
        "step  responses  parsed  truncated  trajectories  r_format",
        "   1          2  100.0%       0.0%             1     1.000",
        "   2          3   33.3%      33.3%             1     0.000",
        "none          1    0.0%     100.0%             1     0.000",
    ]
    assert score(rows, "--exit-zero").exit_code == 0
    nothing = score([])
    assert (nothing.exit_code, nothing.stderr.splitlines()[0]) == (0, "0 trajectories: 0 right, 0 wrong; r_format –")


def test_the_rows_of_a_group_disagree_on_the_step() -> None:
    """Then the trajectory has none; its responses keep theirs."""
    result = score([{"id": 1, "step": s, "response": GOOD} for s in (4, 5)], "--group-by", "id", "--quiet")
    assert [line.split() for line in result.stderr.splitlines()[-3:]] == [
        ["4", "1", "100.0%", "0.0%", "0", "–"],
        ["5", "1", "100.0%", "0.0%", "0", "–"],
        ["none", "0", "–", "–", "1", "1.000"],
    ]


def test_errors_are_explained() -> None:
    """One error of each kind and tag is explained unless told otherwise, with the path to the turn."""
    result = score([{"turns": [{"response": BAD}, BAD]}])
    assert "--> <stdin>:1 (turns.0.response: line 2, column 8)" in result.stderr
    assert "--> <stdin>:1 (turns.1:" not in result.stderr
    assert "--> <stdin>:1 (turns.1:" in score([{"turns": [{"response": BAD}, BAD]}], "--error-limit", 0).stderr


def test_nested_too_deeply() -> None:
    """A row whose other fields can be read but not be written again is a fault, and is not counted."""
    deep = "".join(f'{{"turns": ["x"], "deep": {"[" * depth}{"]" * depth}}}\n' for depth in range(100, 1000, 5))
    result = run("-", "--quiet", stdin=deep.encode())
    count = len(lines(result))
    assert 0 < count < 180
    assert f"{count} trajectories: 0 right" in result.stderr
    assert f"{180 - count} not read: {180 - count} json" in result.stderr


def test_standard_input_once() -> None:
    """Standard input can be read only once."""
    assert run("-", "-").exit_code == 2


def test_parquet(tmp_path: Path) -> None:
    """A Parquet file gives what the same rows give as JSONL, whatever else its columns hold."""
    pa = pytest.importorskip("pyarrow", reason="needs the extra arrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra arrow")
    path = tmp_path / "loops.PARQUET"
    parquet.write_table(pa.Table.from_pylist(trajectories()), path, row_group_size=10)
    by_row, by_line = lines(run(path)), lines(run(LOOPS))
    assert [{**line, "file": ""} for line in by_row] == [{**line, "file": ""} for line in by_line]
    odd = {
        "turns": [[GOOD]],
        "when": [datetime(2026, 1, 2, tzinfo=UTC)],
        "cost": [Decimal("1.50")],
        "loss": [float("nan")],
        "limit": [float("inf")],
        "raw": [b"\x00\xff"],
        "gap": [None],
    }
    parquet.write_table(pa.table(odd), path)
    assert lines(run(path))[0]["input"] == {
        "when": "2026-01-02 00:00:00+00:00",
        "cost": "1.50",
        "loss": None,
        "limit": "inf",
        "raw": "00ff",
        "gap": None,
    }


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    """What is no Parquet file, not there, or holds no UTF-8 is named; the other rows are scored."""
    pa = pytest.importorskip("pyarrow", reason="needs the extra arrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra arrow")
    path = tmp_path / "a.parquet"
    assert "error[file]: cannot be read: No such file or directory" in run(path).stderr
    path.write_text("no Parquet")
    assert "error[file]: cannot be read as Parquet: Parquet magic bytes not found" in run(path).stderr
    texts = [GOOD.encode(), b"\xff", GOOD.encode()]
    wrong = pa.array(texts, pa.binary()).view(pa.string())
    parquet.write_table(pa.table({"id": [1, 2, 3], "response": wrong}), path)
    result = run(path, "--group-by", "id")
    assert [line["line"] for line in lines(result)] == [1, 3]
    assert "error[encoding]: a string in row 2 is not UTF-8" in result.stderr
    assert result.exit_code == 2
    parquet.write_table(pa.Table.from_arrays([pa.array([[GOOD]])] * 2, ["turns", "turns"]), path)
    result = run(path)
    assert "error[file]: has the column 'turns' twice, and which one is meant is a guess" in result.stderr
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"turns": [[GOOD.encode()]]}, [], "field 'turns.0' is of type bytes, not a string"),
        ({"turns": [[{"response": GOOD.encode()}]]}, [], "field 'turns.0.response' is of type bytes, not a string"),
        ({"turns": [[{"response": {"content": GOOD.encode()}}]]}, [], "list of text parts, not bytes"),
        ({"turns": [[datetime(2026, 1, 2, tzinfo=UTC)]]}, [], "field 'turns.0' is of type datetime, not a string"),
        ({"id": [1], "response": [GOOD.encode()]}, ["--group-by", "id"], "field 'response' is of type bytes"),
    ],
)
def test_parquet_that_holds_no_texts(
    tmp_path: Path, columns: dict[str, list[Any]], options: list[str], message: str
) -> None:
    """What a column of another type holds is not made a text, which would be scored as a wrong answer."""
    pa = pytest.importorskip("pyarrow", reason="needs the extra arrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra arrow")
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    result = run(tmp_path / "a.parquet", *options)
    assert message in result.stderr
    assert (result.exit_code, result.stdout) == (2, "")


def test_parquet_grouped_by_what_json_has_no_type_for(tmp_path: Path) -> None:
    """Trajectories may be named by dates or bytes."""
    pa = pytest.importorskip("pyarrow", reason="needs the extra arrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra arrow")
    parquet.write_table(pa.table({"id": [b"a", b"b", b"a"], "response": [GOOD] * 3}), tmp_path / "a.parquet")
    assert [line["turns"] for line in lines(run(tmp_path / "a.parquet", "--group-by", "id"))] == [2, 1]
