"""The written specification runs: every example of grammar/SPEC.md, and what the file promises about itself."""

import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from typing import Any

import pytest

from cases import agrees
from gategrammar import GateParseError, ResponseStream, format_response, parse, try_parse
from gategrammar.gate import Answers, GateSettings, read_answers
from gategrammar.response._tables import ACCEPTING, ELEMENTS, ERRORS, MOVES, STAGES, STARTS
from gategrammar.response.grammar import END_OF_INPUT, OUTSIDE, TEXT
from gategrammar.response.text import WHITE_SPACE
from gategrammar.reward import format_reward
from gategrammar.spec import KINDS, Example, SpecError, load, read, unmark
from oracle import oracle

SPEC = load()
TAGS = [tag.text for element in ELEMENTS for tag in (element.opening, element.closing)]


def examples(*kinds: str) -> list[Any]:
    """Return the examples of these kinds as parameters, named by number and section."""
    return [
        pytest.param(example, id=f"{example.number}-section-{example.section}")
        for example in SPEC.examples
        if example.kind in kinds
    ]


def modes(example: Example) -> dict[str, Any]:
    """Return the parameters of an example as arguments."""
    return dict(example.parameters)


def answer(example: Example) -> dict[str, Any]:
    """Return what the parser makes of an example, in the shape of its verdict."""
    found = try_parse(example.input, **modes(example))
    return {"error": found.to_dict()} if isinstance(found, GateParseError) else found.to_dict()


def streamed(pieces: list[str], **modes: Any) -> tuple[list[Any], dict[str, Any]]:
    """Feed *pieces*; return what is known after each, and the verdict; hold the stream to §10.4 on the way."""
    stream = ResponseStream(**modes)
    after: list[Any] = []
    raised: list[GateParseError] = []
    try:
        for piece in pieces:
            stream.feed(piece)
            after.append({name: getattr(stream, name) for name in ("stage", "complete", "update_gate", "exit_gate")})
        result = stream.close()
    except GateParseError as error:
        raised.append(error)
    if raised:
        if len(after) < len(pieces):
            after.append("error")
        for call in (stream.close, lambda: stream.feed("x"), stream.close):
            with pytest.raises(GateParseError) as again:
                call()
            assert again.value is raised[0]
        return after, {"error": raised[0].to_dict()}
    assert stream.close() == result
    with pytest.raises(RuntimeError):
        stream.feed("")
    return after, result.to_dict()


@pytest.mark.parametrize("example", examples("response"))
def test_response(example: Example) -> None:
    """The parser gives the verdict of the example, and so does the oracle, which shares no code with it."""
    assert agrees(answer(example), example.expected)
    judged = {k: v for k, v in example.expected.get("error", {}).items() if k not in ("raw", "hint")}
    assert agrees(oracle(example.input, **modes(example)), {"error": judged} if judged else example.expected)


@pytest.mark.parametrize("example", examples("response"))
def test_response_in_pieces(example: Example) -> None:
    """A stream gives the same verdict, however the text is split (§10.1)."""
    text = example.input
    expected = example.expected
    if "error" in expected:
        expected = {"error": {name: expected["error"][name] for name in ("kind", "tag", "offset")}}
    for pieces in ([text], list(text), *([text[:n], text[n:]] for n in range(1, len(text)))):
        assert agrees(streamed(pieces, **modes(example))[1], expected)


@pytest.mark.parametrize("example", examples("stream"))
def test_stream(example: Example) -> None:
    """The stream raises at the piece that the example says, and knows by then what it says; the parser agrees."""
    after, verdict = streamed(example.input, **modes(example))
    expected = dict(example.expected)
    known = expected.pop("after")
    assert [
        {name: now[name] for name in then} if isinstance(then, dict) and isinstance(now, dict) else now
        for now, then in zip(after, known, strict=True)
    ] == known
    assert agrees(verdict, expected)
    whole = try_parse("".join(example.input), **modes(example)).to_dict()
    if "error" in expected:
        whole = {"error": whole}
        expected = {"error": {name: expected["error"][name] for name in ("kind", "tag", "offset")}}
    assert agrees(whole, expected)


@pytest.mark.parametrize("example", examples("write"))
def test_write(example: Example) -> None:
    """The writer gives the text of the example, which parses back; or it refuses, and names what it refuses."""
    if "raises" in example.expected:
        with pytest.raises((TypeError, ValueError), match=re.escape(example.expected["names"])) as error:
            format_response(**example.input)
        assert error.type.__name__ == example.expected["raises"]
        return
    assert format_response(**example.input) == example.expected["text"]
    fields = parse(example.expected["text"]).to_dict()
    for name, content in example.input.items():
        assert fields[name] == (content.strip(WHITE_SPACE) if isinstance(content, str) else content)


@pytest.mark.parametrize("example", examples("trajectory"))
def test_trajectory(example: Example) -> None:
    """The format reward of the example, and where it is 1.0, the memory at the end."""
    if "raises" in example.expected:
        with pytest.raises((TypeError, ValueError)) as error:
            format_reward(example.input)
        assert error.type.__name__ == example.expected["raises"]
        return
    assert format_reward(example.input) == example.expected["r_format"]
    assert ("memory" in example.expected) == (example.expected["r_format"] == 1.0)
    memory = ""
    for turn in example.input if "memory" in example.expected else []:
        memory = parse(turn).next_memory(memory)
    assert memory == example.expected.get("memory", "")


@pytest.mark.parametrize("example", examples("answers"))
def test_answers(example: Example) -> None:
    """The reader of a recall gate's reply gives the values of the example, or its reason."""
    given = modes(example)
    count = int(given.pop("count", 1))
    if levels := int(given.pop("levels", 0)):
        given["levels"] = tuple(f"level {n}" for n in range(levels))
    read_as = read_answers(example.input.encode("utf-8", "surrogateescape"), GateSettings(**given), count)
    got = {"values": list(read_as.values)} if isinstance(read_as, Answers) else {"refused": read_as.reason}
    assert got == example.expected


@pytest.mark.parametrize("example", examples("arguments"))
def test_arguments(example: Example) -> None:
    """What is no text, and a mode that there is not, is the caller's error, and not one of the response."""
    text, given = example.input["text"], {k: v for k, v in example.input.items() if k != "text"}
    for door in (parse, try_parse):
        with pytest.raises((TypeError, ValueError)) as error:
            door(text, **given)
        assert error.type.__name__ == example.expected["raises"]
        assert not isinstance(error.value, GateParseError)


def test_verdicts_are_whole() -> None:
    """An example says all that two parsers are compared by (§1.2), so that none can be passed by saying nothing."""
    for example in SPEC.examples:
        if example.kind in ("response", "stream"):
            error = example.expected.get("error")
            said = set(example.expected if error is None else error)
            assert said >= ({"think", "update_gate", "candidate", "exit_gate"} if error is None else _COMPARED), example


_COMPARED = {"kind", "tag", "offset"}


def test_every_section_has_an_example() -> None:
    """No section only talks; one with subsections is shown by theirs."""
    shown = {example.section for example in SPEC.examples}
    bare = [s.number for s in SPEC.sections if not any(f"{number}.".startswith(f"{s.number}.") for number in shown)]
    assert not bare
    assert len(SPEC.examples) >= 80


def test_numbers_of_sections_are_in_order() -> None:
    """Each section is numbered as the next one of its parent, so that a number names a place."""
    counts: Counter[str] = Counter()
    for section in SPEC.sections:
        *parent, last = section.number.split(".")
        assert section.level == len(parent) + 2
        counts[".".join(parent)] += 1
        if last.isdigit():
            assert int(last) == counts[".".join(parent)], section
    assert len({section.number for section in SPEC.sections}) == len(SPEC.sections)


def walked(example: Example) -> list[tuple[int, str]]:
    """Return the cells of the automaton that an example goes through: state before the value, and what it sees."""
    text = "".join(example.input)
    cells: list[tuple[int, str]] = []
    state, position = STARTS[example.parameters.get("think", "required")], 0
    for tag in [*re.finditer("|".join(TAGS), text), None]:
        seen = tag.group() if tag else END_OF_INPUT
        between = text[position : tag.start() if tag else len(text)].strip(WHITE_SPACE)
        number, inside = STAGES[state]
        if not inside and between and example.parameters.get("outside_text") == "forbid":
            return [*cells, (state, OUTSIDE)]
        values = number < len(ELEMENTS) and inside and ELEMENTS[number].values
        if values and between not in values and example.expected.get("error", {}).get("kind") != "unclosed":
            return [*cells, (state, TEXT)]
        cells.append((state, seen))
        state = MOVES[state].get(between, state) if values else state
        if tag is None or seen not in MOVES[state]:
            break
        state, position = MOVES[state][seen], tag.end()
    return cells


def test_every_cell_of_the_automaton_has_an_example() -> None:
    """Each place in a response, each tag and the end of input; each place where text can be stray; each wrong value."""
    seen = {cell for example in SPEC.examples if example.kind in ("response", "stream") for cell in walked(example)}
    behind_value = {MOVES[s][v] for s in range(len(MOVES)) for e in ELEMENTS for v in e.values or () if v in MOVES[s]}
    places = [state for state in range(len(STAGES)) if state not in behind_value]
    wanted = {(state, tag) for state in places for tag in (*TAGS, END_OF_INPUT)}
    wanted |= {(state, OUTSIDE) for state in places if not STAGES[state].inside}
    wanted |= {(s, TEXT) for s in places if STAGES[s].inside and ELEMENTS[STAGES[s].element].values}
    assert wanted - seen == set()
    assert any((state, END_OF_INPUT) in seen for state in ACCEPTING)


def test_every_error_has_an_example() -> None:
    """Each kind with each element that it can name; what the tables say of tokens that never come there is left out."""
    possible = {
        (kind, ELEMENTS[number].name)
        for state, refused in enumerate(ERRORS)
        for refused_one, (kind, number) in refused.items()
        if kind != "bad_value" or (refused_one == TEXT and STAGES[state].inside and ELEMENTS[number].values)
        if kind != "stray_text" or not STAGES[state].inside
    }
    shown = [example.expected["error"] for example in SPEC.examples if "error" in example.expected]
    assert {(error["kind"], error["tag"]) for error in shown} == possible


def test_every_value_and_mode_has_an_example() -> None:
    """The values of the gates, the ways think arrives, and what is done about text outside."""
    good = [e for e in SPEC.examples if e.kind == "response" and "error" not in e.expected]
    assert {e.expected["update_gate"] for e in good} == {e.expected["exit_gate"] for e in good} == {True, False}
    assert {e.parameters.get("think") for e in good} >= {"required", "prefilled", "absent"}
    assert {e.parameters.get("outside_text") for e in good} >= {"forbid"}
    assert {e.kind for e in SPEC.examples} == set(KINDS)


def test_nothing_in_the_file_is_invisible() -> None:
    """Everything that cannot be seen is written as a mark, and no line ends in white space (§1.3)."""
    for number, line in enumerate(SPEC.text.split("\n"), 1):
        assert line == line.rstrip(), f"line {number}"
        hidden = [c for c in line if unicodedata.category(c)[0] in "CZ" and c != " "]
        assert not hidden, f"line {number}: {hidden!r}"


def test_marks() -> None:
    """Each mark stands for its character, and a broken one for none."""
    assert unmark("→␍␀⟦0⟧⟦D800⟧⟦10FFFF⟧⟦27E6⟧") == "\t\r\0\0\ud800\U0010ffff⟦"
    for broken in ("⟦XY⟧", "⟦", "⟧", "⟦110000⟧", "⟦1234567⟧"):
        with pytest.raises(ValueError, match=r"mark|range|arg"):
            unmark(broken)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```example\na\n.\n{}\n```", "line 1: an example belongs to a section"),
        ("## 1. A\n\n```example\na\n{}\n```", "line 3: an example needs a line with a single dot"),
        ("## 1. A\n\n```example\na\n.\n{]\n```", "line 3: Expecting"),
        ("## 1. A\n\n```example\n⟦\n.\n{}\n```", "line 3: a ⟦ that is part of no mark"),
        ("## 1. A\n\n```example poem\na\n.\n{}\n```", "line 3: no kind of example: poem; there are response, stream"),
        ("## 1. A\n\n```example write think=absent\n{}\n.\n{}\n```", "line 3: no parameter of a write example: think"),
    ],
)
def test_a_broken_example_is_named(text: str, fault: str) -> None:
    """A mistake in the file is an error that says where, not an example that is never run."""
    with pytest.raises(SpecError, match=re.escape(f"grammar/SPEC.md, {fault}")):
        read(text)


def test_headings_and_examples_inside_fences_are_text() -> None:
    """What stands in a fence is neither a section nor an example, whatever it looks like."""
    spec = read(
        "## 1. A\n\n````example\n## 2. B\n```example\n.\n{}\n````\n\n```text\n## 3. C\n```\n\n### 1.1 D\n\n## B. E\n"
    )
    assert [(s.number, s.title) for s in spec.sections] == [("1", "A"), ("1.1", "D"), ("B", "E")]
    assert [e.input for e in spec.examples] == ["## 2. B\n```example"]
    assert spec.text[spec.sections[0].start : spec.sections[0].end].endswith("### 1.1 D\n\n")


def test_numbered() -> None:
    """Examples are numbered through the file, in a part of it as in the whole."""
    assert re.findall(r"\*\*Example (\d+)\*\*", SPEC.numbered()) == [str(e.number) for e in SPEC.examples]
    section = next(s for s in SPEC.sections if s.number == "5.2")
    inside = [str(e.number) for e in SPEC.examples if e.section == "5.2"]
    assert re.findall(r"\*\*Example (\d+)\*\*", SPEC.numbered(section.start, section.end)) == inside


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module as a user would."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)


def test_dump() -> None:
    """The extraction script prints every example as JSON, lone surrogates included."""
    dumped = json.loads(run("gategrammar.spec", "--dump").stdout)
    assert [Example(**example) for example in dumped] == list(SPEC.examples)
    wrong = run("gategrammar.spec")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("usage:")


COMMAND = ("-m", "gategrammar", "spec")


def gategrammar_spec(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``gategrammar spec`` without a terminal."""
    command = [sys.executable, *COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)


def test_command_prints_the_file() -> None:
    """Without a terminal the specification is printed as it is written."""
    assert gategrammar_spec().stdout == SPEC.text


@pytest.mark.parametrize("name", ["5.2", "values at the end of the input"])
def test_command_prints_a_section(name: str) -> None:
    """A section is named by its number or its title."""
    printed = gategrammar_spec(name).stdout
    assert printed.startswith("### 5.2 Values at the end of the input\n")
    assert "5.3" not in [line.split()[1] for line in printed.splitlines() if line.startswith("### ")]
    assert gategrammar_spec("Prefilled").stdout.startswith("### 7.2 ")


def test_command_lists_the_sections() -> None:
    """An unknown section is an error that says which there are."""
    done = gategrammar_spec("5.9")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no section '5.9'" in done.stderr
    assert all(f"{section.number}  {section.title}" in done.stderr for section in SPEC.sections)


def test_command_on_a_terminal() -> None:
    """On a terminal the Markdown is laid out and the examples carry their numbers."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, *COMMAND, "5.2"], stdout=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how Linux says that the other side of a terminal is closed
            pass
        assert process.wait(timeout=60) == 0
    os.close(ours)
    number = next(e.number for e in SPEC.examples if e.section == "5.2")
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", shown).decode()
    assert f"Example {number}" in plain
    assert "```" not in plain
    assert "\x1b[" in shown.decode()
