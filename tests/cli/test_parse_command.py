"""``gategrammar parse`` in one process: what is written where, for every sort of input and option."""

import json
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cases import FIXTURES, agrees, pairs, read_jsonl, recorded
from gategrammar import GateParseError, format_response, try_parse
from gategrammar.cli._app import app
from oracle import oracle

VALID = format_response("t", update_gate=True, candidate="m", exit_gate=False)
RECORDED = sorted(str(path) for path in (FIXTURES / "recorded").glob("*.jsonl"))


def run(*arguments: object, stdin: bytes = b"", **env: str) -> Result:
    """Run ``gategrammar parse`` without a terminal."""
    # click < 8.2 mixes the two streams unless told not to; later ones never do.
    apart: dict[str, Any] = {name: False for name in signature(CliRunner).parameters if name == "mix_stderr"}
    return CliRunner(**apart).invoke(app, ["parse", *map(str, arguments)], input=stdin, env={"COLUMNS": "80", **env})


def lines(result: Result) -> list[dict[str, Any]]:
    """Return the objects on standard output."""
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n")[:-1]]


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    """Return where a test may write its records."""
    return tmp_path / "in.jsonl"


def test_one_object_per_response(tmp_path: Path, jsonl: Path) -> None:
    """A text file is one response, a .jsonl holds one a line; each gives one object of the documented shape."""
    text = tmp_path / "a.txt"
    text.write_text(VALID)
    record = {"id": 7, "response": "<check>", "deep": {"k": [1, None, 0.5, "é\u200b"]}}
    jsonl.write_text(json.dumps(record) + "\n")
    result = run(text, jsonl)
    good, bad = lines(result)
    parsed, error = try_parse(VALID), try_parse("<check>")
    assert good == {"file": str(text), "line": 1, "result": parsed.to_dict(), "error": None, "input": {}}
    rest = {"id": 7, "deep": record["deep"]}
    assert bad == {"file": str(jsonl), "line": 1, "result": None, "error": error.to_dict(), "input": rest}
    assert result.exit_code == 1


def test_exit_zero_when_all_is_good(tmp_path: Path) -> None:
    """Nothing failed: exit 0, nothing on standard error but the summary."""
    (tmp_path / "a.txt").write_text(VALID)
    result = run(tmp_path / "a.txt")
    assert (result.exit_code, result.stderr) == (0, "1 response: 1 parsed, 0 failed\n")


@pytest.mark.parametrize(("content", "exits"), [("{", 2), ('{"response": "x"}', 0), ('{"response": "x"}\n{', 2)])
def test_exit_zero_option(jsonl: Path, content: str, exits: int) -> None:
    """--exit-zero forgives responses that fail, never input that could not be read."""
    jsonl.write_text(content)
    assert run("--exit-zero", jsonl).exit_code == exits


def test_recorded_responses() -> None:
    """Every recorded response gets its recorded verdict, and the summary counts exactly these verdicts."""
    result = run("--quiet", *RECORDED)
    expected = [record["expect"] for path in RECORDED for record in read_jsonl(Path(path))]
    got = [{"error": line["error"]} if line["error"] else line["result"] for line in lines(result)]
    assert len(got) == len(expected) == len(recorded())
    assert all(agrees(one, expect) for one, expect in zip(got, expected, strict=True))
    errors = [expect["error"] for expect in expected if "error" in expect]
    head, *rows = result.stderr.splitlines()
    counted = {(kind, tag): int(count) for count, kind, tag, *_ in map(str.split, rows)}
    sorts = [(error["kind"], error["tag"]) for error in errors]
    assert counted == {sort: sorts.count(sort) for sort in sorts}
    share = f"{len(errors) / len(expected):.1%}"
    good = len(expected) - len(errors)
    assert head == f"{len(expected)} responses: {good} parsed, {len(errors)} failed ({share})"
    cut = sum(int(row.split()[3]) for row in rows if row.endswith("at the end of the text"))
    verdicts = [oracle(case.text) for case in recorded()]
    assert cut == sum(verdict["error"]["truncated"] for verdict in verdicts if "error" in verdict)


@pytest.mark.parametrize("case", pairs("valid") + pairs("invalid"), ids=str)
def test_fixture_files(case: Any) -> None:
    """Each text file of the corpus gets its verdict byte for byte, CRLF and all, in its own modes."""
    folder = "invalid" if "error" in case.expect else "valid"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in case.modes.items()]
    result = run(FIXTURES / folder / f"{case.name}.txt", *options)
    (line,) = lines(result)
    assert agrees({"error": line["error"]} if line["error"] else line["result"], case.expect)


def test_standard_input() -> None:
    """Standard input holds records unless --text says that it is one response."""
    assert [line["line"] for line in lines(run("-", stdin=b'{"response": "x"}\n\n{"response": "y"}'))] == [1, 3]
    (line,) = lines(run("--text", "-", stdin=VALID.encode()))
    assert (line["file"], line["error"]) == ("-", None)


def test_standard_input_once() -> None:
    """Standard input cannot be read twice: a usage error."""
    result = run("-", "-")
    assert result.exit_code == 2
    assert "only once" in result.stderr


def test_formats_can_be_forced(tmp_path: Path) -> None:
    """--jsonl and --text win over the name of the file."""
    (tmp_path / "a.log").write_text(json.dumps({"response": VALID}))
    (tmp_path / "b.JSONL").write_text(VALID)
    assert run("--jsonl", tmp_path / "a.log").exit_code == 0
    assert run("--text", tmp_path / "b.JSONL").exit_code == 0
    assert run(tmp_path / "b.JSONL").exit_code == 2


def test_empty_inputs(tmp_path: Path, jsonl: Path) -> None:
    """An empty text file is one response, and it fails; an empty or blank .jsonl holds none."""
    (tmp_path / "a.txt").touch()
    jsonl.write_bytes(b"\n \t\r\n")
    result = run(tmp_path / "a.txt")
    assert (len(lines(result)), result.exit_code) == (1, 1)
    result = run(jsonl)
    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr == "0 responses: 0 parsed, 0 failed\n"


def test_text_is_read_as_it_is(tmp_path: Path) -> None:
    """CRLF, CR and a byte-order mark in a text file are content: offsets and lines count them."""
    text = "\ufeff<think>a\r\nb\rc</think>\r\n<check>x</check>"
    (tmp_path / "a.txt").write_bytes(text.encode())
    (line,) = lines(run(tmp_path / "a.txt"))
    assert (line["error"]["offset"], line["error"]["line"], line["error"]["column"]) == (text.index("x"), 4, 8)
    assert run("--outside-text=forbid", tmp_path / "a.txt").stdout.count('"stray_text"') == 1


def test_only_line_feed_ends_a_record(jsonl: Path) -> None:
    """U+2028, U+0085 and the like inside a JSON string end no line, and CRLF between records is no content."""
    think = "a\u2028b\x85c\u2029\x7f"
    response = VALID.replace("t<", f"{think}<")
    jsonl.write_bytes(b"\xef\xbb\xbf" + (json.dumps({"response": response}, ensure_ascii=False) + "\r\n").encode() * 2)
    assert [(line["line"], line["result"]["think"]) for line in lines(run(jsonl))] == [(1, think), (2, think)]


def test_unreadable_input_is_passed_over(tmp_path: Path, jsonl: Path) -> None:
    """Each line that cannot be read is named, the rest is parsed, and 2 wins over 1."""
    jsonl.write_bytes(b'{"response": "x"}\n{"response"\n{"response": "\xff"}\n[]\n{"response": 1}\n{"response": "y"}')
    result = run(jsonl, tmp_path / "none.txt", tmp_path)
    assert [line["line"] for line in lines(result)] == [1, 6]
    assert result.exit_code == 2
    places = [line.strip() for line in result.stderr.splitlines() if "-->" in line]
    expected = ["1 (response: line 1, column 2)", "2:12", "3:15", "4", "5", "6 (response: line 1, column 2)"]
    assert places == [
        *(f"--> {jsonl}:{place}" for place in expected),
        f"--> {tmp_path / 'none.txt'}",
        f"--> {tmp_path}",
    ]
    assert result.stderr.endswith("6 not read: 2 json, 2 file, 1 encoding, 1 field\n")


def test_field_paths(jsonl: Path) -> None:
    """--field leads into objects and lists; what is left of them is carried through."""
    completion = {"choices": [{"index": 0, "message": {"content": VALID, "role": "assistant"}}], "id": "c"}
    jsonl.write_text(json.dumps({"response": completion, "step": 3}))
    (line,) = lines(run("--field", "response.choices.0.message.content", jsonl))
    assert line["error"] is None
    rest = {"choices": [{"index": 0, "message": {"role": "assistant"}}], "id": "c"}
    assert line["input"] == {"response": rest, "step": 3}


def test_explanations_are_limited(jsonl: Path) -> None:
    """At most N of each kind and tag are explained, and it is said how many are not; 0 explains all, --quiet none."""
    jsonl.write_text('{"response": "x"}\n' * 7 + '{"response": "<think>"}\n{}\n')
    said = run(jsonl).stderr
    assert said.count("error[missing think]") == 5
    assert said.count("error[unclosed think]") == 1
    assert said.endswith("not explained above: 2 more; --error-limit 0 explains all\n")
    assert run(jsonl, "--error-limit=0").stderr.count("error[") == 9
    quiet = run(jsonl, "--quiet")
    assert quiet.stderr.splitlines()[0] == "8 responses: 0 parsed, 8 failed (100.0%)"
    assert "explained" not in quiet.stderr
    assert "error[" not in quiet.stderr
    assert quiet.stdout == run(jsonl).stdout


def test_summary(jsonl: Path) -> None:
    """The summary counts by kind and tag, the commonest first, and how often the text just ended."""
    texts = ["x", "<check>", "<think>", "<think></think><check>x</check>", VALID]
    jsonl.write_text("".join(json.dumps({"response": text}) + "\n" for text in texts))
    assert run(jsonl, "-q").stderr == (
        "5 responses: 1 parsed, 4 failed (80.0%)\n"
        "  2  missing    think  1 at the end of the text\n"
        "  1  unclosed   think  1 at the end of the text\n"
        "  1  bad_value  check\n"
    )


def test_output_is_harmless_and_exact(jsonl: Path) -> None:
    """Control codes, direction marks and lone surrogates reach neither stream raw, and JSON gives them back exactly."""
    nasty = "\x1b[2J\x07\u202e\u2066\u200b\x9b\x7f\ud800\U000e0041"
    record = {"response": f"<think></think><check>{nasty}</check>", nasty: [nasty]}
    jsonl.write_text(json.dumps(record))
    for options in ([], ["--pretty"]):
        result = run(jsonl, *options)
        for text in (result.stdout, result.stderr):
            assert all(line.isprintable() for line in text.splitlines())
    (line,) = lines(run(jsonl))
    assert line["input"] == {nasty: [nasty]}
    assert line["error"]["value"] == nasty


def test_output_is_readable(jsonl: Path) -> None:
    """What is printable is not escaped: a log can be searched for the words that it holds."""
    jsonl.write_text(
        json.dumps({"response": format_response("漢字", update_gate=False, candidate="é", exit_gate=True)})
    )
    assert '"think": "漢字"' in run(jsonl).stdout


def deepest() -> int:
    """Return how deep a list may be nested for this Python to read it."""
    low, high = 1, 1_000_000
    while low < high:
        middle = (low + high + 1) // 2
        try:
            json.loads("[" * middle + "]" * middle)
            low = middle
        except RecursionError:
            high = middle - 1
    return low


def test_depth_never_ends_the_run(jsonl: Path) -> None:
    """Whatever the depth of a record, it is carried through or refused; the line after it is parsed."""
    limit = deepest()
    depths = [1, *range(limit - 100, limit + 20), 2_000_000]
    with jsonl.open("w") as file:
        for depth in depths:
            file.write(f'{{"response": "x", "deep": {"[" * depth}{"]" * depth}}}\n{{"response": "x"}}\n')
    result = run(jsonl)
    assert result.exit_code == 2
    seen = {int(line.split('"line": ')[1].split(",")[0]) for line in result.stdout.splitlines()}
    assert set(range(2, 2 * len(depths) + 1, 2)) | {1} < seen
    assert "nested too deeply" in result.stderr


def test_what_can_be_read_but_not_written(jsonl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.12 on a depth exists that JSON is read but not written at: a fault of that line."""

    def too_deep(_: dict[str, Any]) -> str:
        raise RecursionError

    monkeypatch.setattr("gategrammar.cli._run.json_line", too_deep)
    jsonl.write_text('{"response": "x"}\n')
    result = run(jsonl)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("0 responses: 0 parsed, 0 failed\n1 not read: 1 json\n")


def test_pretty(jsonl: Path) -> None:
    """The table: gates first, contents on one line and cut, the error in place of the contents; then explanations."""
    responses = [
        format_response("a\n b" * 30, update_gate=True, candidate="漢" * 60, exit_gate=False),
        "<check>",
        format_response("", update_gate=False, candidate="", exit_gate=True),
    ]
    jsonl.write_text("".join(json.dumps({"response": text}) + "\n" for text in responses))
    result = run(jsonl, "--pretty")
    assert result.stdout.splitlines() == [
        "response         check  next      think                   update",
        f"in.jsonl:1       yes    continue  a{' ba' * 6} b…  {'漢' * 10} …",
        "in.jsonl:2       error[missing think]: <think> is missing: found <check>",
        "in.jsonl:3       no     end",
    ]
    assert result.stderr.startswith("\nerror[missing think]: ")
    assert result.stderr.endswith("  1  missing  think\n")


def test_pretty_paths(tmp_path: Path) -> None:
    """Files of several folders are told apart by what their paths do not share, cut on the left where it is long."""
    for folder in ("one", "two" * 20):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(VALID)
    rows = run("--pretty", *sorted(tmp_path.glob("*/*.txt"))).stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["one/a.txt", f"…{('two' * 20)[-19:]}/a.txt"]


@pytest.mark.parametrize("width", [1, 20, 40, 300])
def test_pretty_widths(width: int) -> None:
    """Any width of the terminal gives a table; a wide one is used."""
    result = run("--pretty", "-q", *RECORDED, COLUMNS=str(width))
    rows = result.stdout.splitlines()
    assert len(rows) == len(recorded()) + 1
    assert max(map(len, rows)) <= max(width, 80)


def test_colours() -> None:
    """Colours are for terminals, and never where NO_COLOR is set."""
    paths = [*RECORDED, "--pretty"]
    assert "\x1b[" not in run(*paths).output
    coloured = run(*paths, FORCE_COLOR="1", TERM="xterm")
    assert "\x1b[1;31m" in coloured.stdout
    assert "\x1b[1;31m" in coloured.stderr
    plain = run(*paths, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1")
    assert "31m" not in plain.output


@pytest.mark.parametrize("arguments", [[], ["--think=maybe", "-"], ["--error-limit=-1", "-"], ["--nope", "-"]])
def test_usage_errors(arguments: list[str]) -> None:
    """Wrong usage is exit 2 with a word on what would be right, and nothing on standard output."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr
    assert "for help" in result.stderr


def test_modes_reach_the_parser(tmp_path: Path) -> None:
    """--think and --outside-text are those of parse()."""
    (tmp_path / "a.txt").write_text(f"so {VALID.split('<think>')[1]}")
    assert run(tmp_path / "a.txt").exit_code == 1
    assert run("--think=prefilled", tmp_path / "a.txt").exit_code == 0
    assert run("--think=absent", tmp_path / "a.txt").stdout.count('"duplicate"') == 1
    error = try_parse("x", outside_text="forbid")
    assert isinstance(error, GateParseError)
    (tmp_path / "a.txt").write_text("x")
    assert lines(run("--outside-text=forbid", tmp_path / "a.txt"))[0]["error"] == error.to_dict()
