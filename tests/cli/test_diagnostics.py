"""Diagnostics: exact layouts, and the caret under what it means whatever the text holds."""

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gategrammar import GateParseError, try_parse
from gategrammar.cli._diagnostics import layout, of_error, of_fault
from gategrammar.cli._input import Record
from gategrammar.cli._rows import Fault, rows
from gategrammar.cli._terminal import harmless
from gategrammar.messages import Message


def failing(text: str, **modes: str) -> GateParseError:
    """Return the error of a text that must fail."""
    error = try_parse(text, **modes)  # type: ignore[arg-type] # the modes of a test are right
    assert isinstance(error, GateParseError)
    return error


def laid_out(text: str, width: int = 80, *, line: int = 1, in_row: bool = False, **modes: str) -> str:
    """Return the diagnostic of a text that must fail."""
    record = Record("f", line, Message(text), {}, in_row=in_row)
    return layout(of_error(record, failing(text, **modes)), width).plain


def test_a_wrong_value() -> None:
    """The value is underlined, and the hint stands below."""
    assert laid_out("<think></think>\n<check>Yes</check>") == dedent("""\
        error[bad_value check]: <check> holds 'Yes': expected 'yes' or 'no'
         --> f:2:8
        2 | <check>Yes</check>
          |        ^^^
          = hint: values are lower case: yes

        """)


def test_a_record_of_a_file() -> None:
    """A response in a JSONL file has two places: the line of its record, and its own line and column."""
    assert laid_out("<think></think>\n<check></check>", line=12, in_row=True) == dedent("""\
        error[bad_value check]: <check> holds '': expected 'yes' or 'no'
         --> f:12 (response: line 2, column 8)
        2 | <check></check>
          |        ^^^^^^^^

        """)


def test_what_explains_it_on_another_line() -> None:
    """The tag that is open is shown too, with a gap for the lines between."""
    text = "<think>a\n" + "b\n" * 9 + "c <check>yes</check>"
    assert laid_out(text) == dedent("""\
        error[unclosed think]: <think> is not closed: expected </think>, found <check>
          --> f:11:3
         1 | <think>a
           | ------- opened here
        ...
        11 | c <check>yes</check>
           |   ^^^^^^^

        """)


def test_a_value_on_a_line_of_its_own() -> None:
    """The caret stands under the value, and the opening tag on the line before explains the position."""
    assert laid_out("<think></think><check>\r\n\tYes\r\n</check>").splitlines()[2:6] == [
        "1 | <think></think><check>",
        "  |                ------- opened here",
        "2 |     Yes",
        "  |     ^^^",
    ]


def test_a_second_tag() -> None:
    """For an element that comes again, the end of the first one is shown."""
    text = "<think></think>\n<check>no</check>\n<think>"
    assert laid_out(text).splitlines()[2:7] == [
        "1 | <think></think>",
        "  |        -------- complete here",
        "...",
        "3 | <think>",
        "  | ^^^^^^^",
    ]
    # Nothing of it is in the text when the reasoning was delivered elsewhere.
    assert laid_out("\n<think>", think="absent").splitlines()[2:4] == ["2 | <think>", "  | ^^^^^^^"]


def test_the_end_of_the_text() -> None:
    """Where the text ends too early, the caret follows its last visible character, not its last line break."""
    lines = laid_out("<think></think>\n<check>yes</check>\n\n").splitlines()
    assert lines[1:4] == [" --> f:4:1", "2 | <check>yes</check>", "  |                   ^ the text ends here"]
    assert laid_out("").splitlines()[2:4] == ["1 | ", "  | ^ the text ends here"]


def test_stray_text() -> None:
    """Text where none may be is pointed at."""
    lines = laid_out("<think></think>\n so <check>yes</check>", outside_text="forbid").splitlines()
    assert lines[1:4] == [" --> f:2:2", "2 |  so <check>yes</check>", "  |  ^"]


def test_only_white_space_in_a_value() -> None:
    """A value of white space cannot be underlined: the caret stands where it should be."""
    assert laid_out("<think></think><check>  \n </check>").splitlines()[3] == f"  | {' ' * 22}^"


def test_wide_characters() -> None:
    """CJK characters take two cells, combining ones none: the caret knows."""
    assert laid_out("漢字e\u0301<check>").splitlines()[2:4] == ["1 | 漢字e\u0301<check>", "  |      ^^^^^^^"]


def test_escapes_take_the_room_they_take() -> None:
    """Control codes are escaped in the line, and the caret still stands right."""
    assert laid_out("\x1b[1m\u202e\ud800\0<check>").splitlines()[2:4] == [
        "1 | \\x1b[1m\\u202e\\ud800\\x00<check>",
        f"  | {' ' * 23}^^^^^^^",
    ]


@pytest.mark.parametrize(
    ("text", "line", "caret"),
    [
        ("x" * 100 + "<check>" + "y" * 100, "…xxxxxxxxxxxxxxxxx<check>yyyyyyyyyy…", " " * 18 + "^" * 7),
        ("x" * 5 + "<check>" + "y" * 100, "xxxxx<check>yyyyyyyyyyyyyyyyyyyyyy…", " " * 5 + "^" * 7),
        ("漢" * 100 + "<check>" + "字" * 100, "…漢漢漢漢漢漢漢漢<check>字字字字字…", " " * 17 + "^" * 7),
    ],
)
def test_long_lines_are_cut_round_the_caret(text: str, line: str, caret: str) -> None:
    """Of a long line only what is near the caret is shown, and where it was cut is marked."""
    assert laid_out(text, width=4 + 36).splitlines()[2:4] == [f"1 | {line}", f"  | {caret}"]


def test_a_line_as_long_as_the_memory() -> None:
    """Ten million characters on one line give an excerpt like any other."""
    lines = laid_out("x" * 10_000_000 + "<check>" + "y" * 10_000_000).splitlines()[2:4]
    assert [len(line) for line in lines] == [80, lines[0].index("<check>") + 7]


def test_a_narrow_terminal() -> None:
    """A terminal of no width still gets a line to look at."""
    assert "<check>" in laid_out("x" * 100 + "<check>", width=1).splitlines()[2]


def test_faults() -> None:
    """A line that is no JSON is shown like a response; a file that is not there has only its name."""
    fault = Fault("json", "f", "not JSON: x", "do y", 17, '{"a" 漢}', 5)
    assert layout(of_fault(fault), 80).plain == dedent("""\
        error[json]: not JSON: x
          --> f:17:6
        17 | {"a" 漢}
           |      ^
           = hint: do y

        """)
    assert layout(of_fault(Fault("file", "a\x1b[31m", "gone")), 80).plain == "error[file]: gone\n --> a\\x1b[31m\n\n"
    assert layout(of_fault(Fault("field", "-", "none", line=3)), 80).plain == "error[field]: none\n --> <stdin>:3\n\n"


def test_hints_speak_of_options() -> None:
    """What is an argument of parse() in the error is an option on the command line."""
    text = laid_out("</think>")
    assert "if the prompt already ends with <think>, read it with --think prefilled\n" in text


def test_only_a_line_feed_ends_a_row(tmp_path: Path) -> None:
    """A lone CR is white space in JSON: the fault behind it stands on the same line of the file."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{}\n{"a":\r1,\r}\n{"a":\r"\xff"}\n')
    _, bad, bytes_ = rows(str(path), lambda _: None)
    assert isinstance(bad, Fault)
    shown = layout(of_fault(bad), 80).plain.splitlines()
    assert shown[1:4] == [f" --> {path}:2:10", '2 | {"a":\\r1,\\r}', f"  | {' ' * 11}^"]
    assert isinstance(bytes_, Fault)
    assert f"{path}:3:8" in layout(of_fault(bytes_), 80).plain


@given(
    st.text(st.sampled_from("ab<>/ \t\r\n漢\u0301\u200b\x1b\ud800é") | st.characters(), max_size=120),
    st.text(st.sampled_from("ab \t漢\x1b\u202e"), max_size=120),
    st.integers(30, 120),
)
def test_the_caret_stands_under_what_it_means(before: str, after: str, width: int) -> None:
    """Whatever stands round it, the marked tag is in the excerpt, the caret under it, and the line fits."""
    text = f"{before}<check>{after}"
    error = failing(text)
    if error.found is None or error.found != "<check>":
        return
    lines = laid_out(text, width).split("\n")
    at = next(number for number, line in enumerate(lines) if set(line.split("| ")[-1].strip()) == {"^"})
    source, caret = lines[at - 1], lines[at]
    start = len(caret) - len(caret.lstrip(" |"))
    shown = source[: source.index("<check>")] if source.count("<check>") == 1 else None
    assert shown is None or cell_len(shown) == start
    assert all(line.isprintable() for line in lines)
    assert cell_len(source) <= max(width, 34)
    assert harmless(text).isprintable()
