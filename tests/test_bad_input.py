"""Input that is no response at all: wrong types, unknown modes, odd code points, sizes."""

from typing import Any

import pytest

from cases import verdict
from gategrammar import GateParseError, format_response, parse, try_parse
from gategrammar._resources import resource
from gategrammar.response import lexer
from gategrammar.response.lalr import compile_grammar, load
from gategrammar.response.lexer import _leading_end, tokens
from oracle import MODES, Outside, Think, oracle

GOOD = "<think>why</think>\n<check>yes</check>\n<update>m</update>\n<next>end</next>"
MANY = 100_000
MILLION = 1_000_000
ODD = [
    "\ud83d",
    "\udc00",
    "\x00",
    "\ufeff",
    "\r\n",
    "\r",
    "\u0085",
    "\u2028",
    "\x1c",
    "\x1f",
    "\u200b",
    "\x1b[31m",
    "\U0010ffff",
]


@pytest.mark.parametrize("function", [parse, try_parse])
@pytest.mark.parametrize("text", [b"<think>", bytearray(b""), None, 0, 1.5, True, [GOOD], {"content": GOOD}, object()])
def test_what_is_no_str_is_a_type_error(function: Any, text: Any) -> None:
    """Anything but a str is a TypeError that says what is wanted and what came."""
    with pytest.raises(TypeError, match=r"\bstr\b.*" + type(text).__name__):
        function(text)


@pytest.mark.parametrize("function", [parse, try_parse])
@pytest.mark.parametrize("argument", ["think", "outside_text"])
@pytest.mark.parametrize(
    "mode", ["", "Required", "required ", "none", "forbidden", None, True, 0, b"required", ["absent"]]
)
def test_unknown_modes_are_refused(function: Any, argument: str, mode: Any) -> None:
    """A mode that does not exist is an error that names the argument and the value, whatever the text.

    The texts parse in one of the modes or in none; a mode that is not looked at would act like one of them.
    """
    texts = (GOOD, GOOD.removeprefix("<think>"), GOOD.partition("\n")[2], "so: " + GOOD, "", "prose")
    for text in (*texts, *(text + "\n" * 10_000 for text in texts)):
        with pytest.raises((ValueError, TypeError), match=argument) as caught:
            function(text, **{argument: mode})
        assert not isinstance(caught.value, GateParseError)
        assert repr(mode) in str(caught.value)


def test_unknown_mode_is_a_value_error_that_lists_the_modes() -> None:
    """The user sees what could have been meant."""
    wrong: Any = "optional"
    with pytest.raises(ValueError, match=r"(?s)required.*prefilled.*absent"):
        parse(GOOD, think=wrong)
    with pytest.raises(ValueError, match=r"(?s)ignore.*forbid"):
        parse(GOOD, outside_text=wrong)


@pytest.mark.parametrize("function", [parse, try_parse])
def test_modes_are_keywords_only(function: Any) -> None:
    """A second positional argument is a mistake, not a mode."""
    with pytest.raises(TypeError):
        function(GOOD, "required")


def test_a_subclass_of_str_is_a_str() -> None:
    """Tokenizers and templates return subclasses of str."""

    class Text(str):
        __slots__ = ()

    assert parse(Text(GOOD)) == parse(GOOD)


@pytest.mark.parametrize("gate", [1, 0, "yes", None, "true", 1.0])
def test_format_response_wants_real_bools(gate: Any) -> None:
    """Anything that is merely true or false is refused: a string "no" is true."""
    with pytest.raises(TypeError, match=r"update_gate|check"):
        format_response("", update_gate=gate, candidate="", exit_gate=False)
    with pytest.raises(TypeError, match=r"exit_gate|next"):
        format_response("", update_gate=False, candidate="", exit_gate=gate)


@pytest.mark.parametrize("content", [None, b"", 1, ["m"]])
def test_format_response_wants_strings(content: Any) -> None:
    """Contents that are no str are refused by name."""
    with pytest.raises(TypeError, match="think"):
        format_response(content, update_gate=True, candidate="", exit_gate=False)
    with pytest.raises(TypeError, match=r"candidate|update"):
        format_response("", update_gate=True, candidate=content, exit_gate=False)


def test_format_response_writes_the_canonical_text() -> None:
    """One element a line, in order."""
    assert format_response("why", update_gate=True, candidate="m", exit_gate=True) == GOOD


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("think", "outside_text"), MODES)
def test_odd_code_points_anywhere(think: Think, outside_text: Outside, odd: str) -> None:
    """Odd code points are content, white space or a fault by the rules, wherever they stand; nothing crashes."""
    for at in range(len(GOOD) + 1):
        text = GOOD[:at] + odd + GOOD[at:]
        assert verdict(text, think, outside_text) == oracle(text, think, outside_text)


def test_think_is_passed_over_as_one_piece() -> None:
    """The tags in think are no token each, since the parser would copy all it has at each; a response may follow."""
    text = GOOD.replace("why", "<think>a</think> b " * 9) + GOOD
    found = [token.type for token in tokens(load(), text, opened=False, forbid_outside=False)]
    assert found[:4] == ["THINK_OPEN", "TEXT", "THINK_CLOSE", "CHECK_OPEN"]


def test_an_element_that_does_not_repeat_is_cut_at_every_tag() -> None:
    """If the grammar let think neither nest nor repeat, a second opening tag would be the parser's to refuse."""
    source = resource("grammar/response.lark").read_text("utf-8")
    start, end = source.index("think: _closed"), source.index("check:  ")
    grammar = compile_grammar(source[:start] + "think: THINK_OPEN TEXT THINK_CLOSE\n" + source[end:])
    found = [token.type for token in tokens(grammar, "<think><think></think>", opened=False, forbid_outside=False)]
    assert found == ["THINK_OPEN", "TEXT", "THINK_OPEN", "TEXT", "THINK_CLOSE"]


def test_the_end_of_think_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look may go through all of the text, so looking again at each tag would be quadratic."""
    looks = []

    def look(*arguments: Any, **keywords: Any) -> int:
        looks.append(arguments)
        return _leading_end(*arguments, **keywords)

    monkeypatch.setattr(lexer, "_leading_end", look)
    try_parse("<think>" * 9 + "<update>")
    assert len(looks) == 1


SIZES = {
    "only <": "<" * MILLION,
    "< in think": "<think>" + "<" * MILLION + GOOD.removeprefix("<think>"),
    "< in update": GOOD.replace(">m<", ">" + "<" * MILLION + "<"),
    "< in check": GOOD.replace("yes", "<" * MILLION),
    "< after": GOOD + "<" * MILLION,
    "</ everywhere": "</" * MILLION,
    "nested think": "<think>" * MANY + "</think>" * MANY + GOOD.removeprefix("<think>why</think>"),
    "openers, one closer": "<think>" * MANY + GOOD,
    "closers": GOOD.replace("</think>", "</think>" * MANY),
    "blocks": "<think>a</think> b\n" * MANY + GOOD,
    "blocks, last one open": "<think>a</think> b\n" * MANY + "<think>",
    "blocks, then update": "<think>a</think> b\n" * MANY + "<update>",
    "openers without end": "<think>" * MANY,
    "openers of check": "<check>" * MANY,
    "responses": GOOD * (MANY // 10),
    "cut tags": GOOD.replace(">m<", ">" + "</updat" * MANY + "<"),
    "white space in check": GOOD.replace("yes", " " * MILLION + "yes" + "\n" * MILLION),
    "white space in check, open": "<think></think><check>" + " " * MILLION,
    "white space in check, wrong": "<think></think><check>" + " " * MILLION + "maybe",
    "white space after value, cut tag": "<think></think><check>yes" + " " * MILLION + "</chec",
    "white space in update": GOOD.replace(">m<", ">" + "\u3000" * MILLION + "<"),
    "white space, then stray": GOOD + "\u3000" * MILLION + "x",
    "white space and text in update": GOOD.replace(">m<", ">" + " x" * MILLION + " <"),
    "lines": "a\r\n" * MILLION,
    "10 MB of update": GOOD.replace(">m<", ">" + "memory 🕑 " * (10 * MILLION // 9) + "<"),
    "10 MB of think": GOOD.replace("why", "think <b>\n" * MILLION),
    "10 MB of prose": "prose, no\n" * MILLION,
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    """Large and deep texts get the oracle's verdict: no recursion, no stalling, and no limit (§1.1).

    Nothing is timed here, but a reader that is quadratic in any of these does not come back.
    """
    text = SIZES[name]
    assert verdict(text) == oracle(text)
    assert verdict(text, outside_text="forbid") == oracle(text, outside_text="forbid")
