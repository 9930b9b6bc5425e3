"""The exact words of every error: they are read by people, so they are part of the interface."""

import pytest

from gategrammar import GateParseError, try_parse

HEAD = "<think>t</think>\n"
CHECK = "<check>yes</check>\n"
UPDATE = "<update>m</update>\n"
NEXT = "<next>end</next>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "<think> is missing: found the end of the text (at line 1, column 1)"),
        (
            CHECK + UPDATE + NEXT,
            "<think> is missing: found <check>; if the prompt already ends with <think>, "
            'read it with think="prefilled"; if the server delivers the reasoning in another field, '
            'with think="absent" (at line 1, column 1)',
        ),
        (
            "t</think>\n" + CHECK,
            "</think> has no <think> before it: expected <think>; "
            'if the prompt already ends with <think>, read it with think="prefilled" (at line 1, column 2)',
        ),
        (
            "<Think>t</Think>" + CHECK,
            "<think> is missing: found <check>; <Think> is no tag, it has to be spelled <think> (at line 1, column 17)",
        ),
        ("<think>t", "<think> is not closed: expected </think>, found the end of the text (at line 1, column 9)"),
        (
            "<think>t" + CHECK,
            "<think> is not closed: expected </think>, found <check> (at line 1, column 9)",
        ),
        (HEAD + UPDATE, "<check> is missing: found <update> (at line 2, column 1)"),
        (
            HEAD + "<Check>yes</Check>" + UPDATE,
            "<check> is missing: found <update>; "
            "<Check> is no tag, it has to be spelled <check> (at line 2, column 19)",
        ),
        (
            HEAD + "＜check＞yes" + UPDATE,
            "<check> is missing: found <update>; "
            "＜check＞ is no tag, it has to be spelled <check> (at line 2, column 11)",
        ),
        (
            HEAD + "<check/>yes" + UPDATE,
            "<check> is missing: found <update>; "
            "<check/> is no tag, it has to be spelled <check> (at line 2, column 12)",
        ),
        (
            HEAD + "<che\u200bck\ufeff>yes" + UPDATE,
            "<check> is missing: found <update>; "
            "<che\\u200bck\\ufeff> is no tag, it has to be spelled <check> (at line 2, column 13)",
        ),
        (HEAD + "yes</check>", "</check> has no <check> before it: expected <check> (at line 2, column 4)"),
        (HEAD + "</next>", "</next> has no <next> before it: expected <check> (at line 2, column 1)"),
        (
            HEAD + "<check>maybe</check>",
            "<check> holds 'maybe': expected 'yes' or 'no' (at line 2, column 8)",
        ),
        (
            HEAD + "<check>yes|no</check>",
            "<check> holds 'yes|no': expected 'yes' or 'no'; "
            "the prompt's template was copied instead of filled in (at line 2, column 8)",
        ),
        (
            HEAD + "<check>`yes`</check>",
            "<check> holds '`yes`': expected 'yes' or 'no'; "
            "the value stands alone, without quotes, marks or punctuation: yes (at line 2, column 8)",
        ),
        (
            HEAD + "<check>Yes</check>",
            "<check> holds 'Yes': expected 'yes' or 'no'; values are lower case: yes (at line 2, column 8)",
        ),
        (HEAD + "<check></check>", "<check> holds '': expected 'yes' or 'no' (at line 2, column 8)"),
        (
            HEAD + f"<check>{'long ' * 20}</check>",
            f"<check> holds '{('long ' * 20)[:59]}…': expected 'yes' or 'no' (at line 2, column 8)",
        ),
        (
            HEAD + "<check>\x1b[31m\u202e\ud800</check>",
            "<check> holds '\\x1b[31m\\u202e\\ud800': expected 'yes' or 'no' (at line 2, column 8)",
        ),
        (
            HEAD + "<check> ye",
            "<check> is not closed: expected </check>, found the end of the text (at line 2, column 11)",
        ),
        (
            HEAD + "<check>yes</Check>" + UPDATE,
            "<check> holds 'yes</Check>': expected 'yes' or 'no'; "
            "</Check> is no tag, it has to be spelled </check> (at line 2, column 8)",
        ),
        (
            HEAD + CHECK + "<Check>" + CHECK,
            "check is complete, but <check> follows: expected <update> (at line 3, column 8)",
        ),
        (HEAD + CHECK + HEAD, "think is complete, but <think> follows: expected <update> (at line 3, column 1)"),
        (HEAD + CHECK + "</think>", "think is complete, but </think> follows: expected <update> (at line 3, column 1)"),
        (HEAD + CHECK + CHECK, "check is complete, but <check> follows: expected <update> (at line 3, column 1)"),
        (
            HEAD + CHECK + "<update>m</ update>\n" + NEXT,
            "<update> is not closed: expected </update>, found <next>; "
            "</ update> is no tag, it has to be spelled </update> (at line 4, column 1)",
        ),
        (
            (HEAD + CHECK + UPDATE + NEXT + "\n") * 2,
            "think is complete, but <think> follows: expected the end of the response; "
            "a second response follows the first (at line 5, column 1)",
        ),
    ],
)
def test_message(text: str, message: str) -> None:
    """What failed, what was expected and found, the hint if there is one, and the place, always last."""
    assert str(try_parse(text)) == message


def test_message_of_stray_text() -> None:
    """Stray text is shown, and what should stand there is named."""
    error = try_parse("\nSure!\n" + HEAD, outside_text="forbid")
    assert str(error) == "text outside the elements, 'Sure!': expected <think> (at line 2, column 1)"


def test_message_of_absent_think() -> None:
    """Think in a text that should hold none points to the mode."""
    error = try_parse(HEAD + CHECK, think="absent")
    assert str(error) == (
        "think is complete, but <think> follows: expected <check>; "
        'if the text holds its own think, read it with think="required" (at line 1, column 1)'
    )


@pytest.mark.parametrize("length", [60, 61])
def test_a_value_of_sixty_characters_is_shown_whole(length: int) -> None:
    """What is cut is marked, and what is not cut is not."""
    error = try_parse(HEAD + f"<check>{'x' * length}</check>")
    assert str(error).startswith(f"<check> holds '{'x' * 60}':" if length == 60 else f"<check> holds '{'x' * 59}…':")


@pytest.mark.parametrize(
    ("before", "after", "hinted"),
    [(0, 0, True), (9_000, 30_000, True), (30_000, 9_000, True), (15_000, 15_000, False), (9_000, 10_500, True)],
)
def test_a_near_miss_is_looked_for_near_the_start_and_the_fault(before: int, after: int, hinted: bool) -> None:
    """In a long text only its beginning and what stands before the fault are searched."""
    error = try_parse("x" * before + "<Think>" + "x" * after + "<check>")
    assert ("<Think> is no tag" in str(error)) == hinted


def test_a_near_miss_in_a_complete_element_is_no_hint() -> None:
    """What the reasoning says of a tag does not explain that the tag is missing."""
    assert "is no tag" not in str(try_parse("<think>a <Check>yes</Check></think>" + UPDATE))


@pytest.mark.parametrize("length", [1, 30_000])
def test_stray_text_is_searched_for_a_near_miss(length: int) -> None:
    """A tag that is spelled wrong is stray text; the hint does not depend on how long the response is before it."""
    error = try_parse(f"<think>{'x' * length}</think><Check>yes</Check>", outside_text="forbid")
    assert "; <Check> is no tag, it has to be spelled <check> (at line 1" in str(error)


def test_a_closing_tag_does_not_point_to_a_mode() -> None:
    """A text that holds no <think> does not hold its own think."""
    error = try_parse("t</think>" + CHECK, think="absent")
    assert str(error) == "think is complete, but </think> follows: expected <check> (at line 1, column 2)"


def test_a_hint_can_be_replaced() -> None:
    """with_hint gives the same error with other words for people."""
    error = try_parse("<think>t")
    assert isinstance(error, GateParseError)
    other = error.with_hint("cut by max_tokens")
    assert type(other) is type(error)
    assert str(other).endswith("found the end of the text; cut by max_tokens (at line 1, column 9)")
    assert {**other.to_dict(), "hint": None, "message": str(error)} == error.to_dict()
