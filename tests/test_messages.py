"""Chat messages as dicts and as SDK objects: which text is read, and where think comes from (SPEC §7)."""

from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from gategrammar import (
    BadValueError,
    DuplicateTagError,
    GateParseError,
    MissingTagError,
    UnclosedTagError,
    parse,
    parse_message,
)
from loopback import ANSWER, GOOD, completion


def attributes(value: Any) -> Any:
    """Return *value* with attributes in place of keys, as SDKs have them; a null field is not there, as in litellm."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: attributes(item) for name, item in value.items() if item is not None})
    return [attributes(item) for item in value] if isinstance(value, list) else value


def shapes(whole: dict[str, Any]) -> list[Any]:
    """Return a completion, its first choice and its first message, as dicts, as openai's objects, as attributes."""
    typed = ChatCompletion.model_validate(whole)
    forms: list[Any] = [whole, attributes(whole), typed]
    return [
        *forms,
        *(form["choices"][0] if isinstance(form, dict) else form.choices[0] for form in forms),
        *(form["choices"][0]["message"] if isinstance(form, dict) else form.choices[0].message for form in forms),
    ]


@pytest.mark.parametrize("message", shapes(completion(GOOD)))
def test_every_shape_reads_alike(message: Any) -> None:
    """A completion, a choice and a message give what parse gives for the content, whatever they are objects of."""
    assert parse_message(message) == parse(GOOD)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("number", range(9))
def test_reasoning_from_another_field(field: str, number: int) -> None:
    """Reasoning beside the content is think: trimmed, and whatever tags it quotes."""
    quoting = "\n say <check>no</check> or </think>\u001c \n"
    message = shapes(completion(ANSWER, **{field: quoting}))[number]
    response = parse_message(message)
    assert response.think == "say <check>no</check> or </think>\u001c"
    assert (response.update_gate, response.exit_gate) == (True, True)
    assert response.spans.think is None
    assert response.spans == parse(ANSWER, think="absent").spans


@pytest.mark.parametrize("reasoning", ["", " \n"])
def test_empty_reasoning_counts_as_present(reasoning: str) -> None:
    """A server that took out an empty think has still taken it out."""
    assert parse_message({"content": ANSWER, "reasoning_content": reasoning}).think == ""
    assert parse_message({"content": ANSWER, "reasoning_content": None, "reasoning": reasoning}).think == ""


def test_null_reasoning_does_not_count() -> None:
    """Null means that the server takes nothing out, so think has to be in the content."""
    with pytest.raises(MissingTagError) as caught:
        parse_message({"content": ANSWER, "reasoning_content": None, "reasoning": None})
    assert caught.value.tag == "think"


def test_the_first_reasoning_field_that_is_present_counts() -> None:
    """Servers that fill both fields fill them alike; the older name is looked at first."""
    assert parse_message({"content": ANSWER, "reasoning_content": "", "reasoning": "b"}).think == ""
    assert parse_message({"content": ANSWER, "reasoning_content": None, "reasoning": "b"}).think == "b"


def test_think_in_the_content_wins() -> None:
    """A think tag in the content means that think is there, whatever another field holds."""
    assert parse_message({"content": GOOD, "reasoning_content": "other"}).think == "a"


@pytest.mark.parametrize("tag", ["<think>", "</think>"])
def test_any_think_tag_in_the_content_wins(tag: str) -> None:
    """Also one that is wrong there: it must not be read as if the reasoning had come apart."""
    content = ANSWER.replace("cat", tag)
    with pytest.raises(GateParseError) as caught:
        parse_message({"content": content, "reasoning_content": "x"})
    with pytest.raises(GateParseError) as expected:
        parse(content)
    assert caught.value.to_dict() == expected.value.to_dict()


def test_modes_pass_through() -> None:
    """The modes of parse are those of parse_message, also where the reasoning turns out to be elsewhere."""
    assert parse_message({"content": GOOD.removeprefix("<think>")}, think="prefilled").think == "a"
    assert parse_message({"content": ANSWER, "reasoning": "b"}, think="prefilled").think == "b"
    assert parse_message({"content": ANSWER}, think="absent").think == ""
    with pytest.raises(DuplicateTagError):
        parse_message({"content": GOOD}, think="absent")
    with pytest.raises(GateParseError, match="outside"):
        parse_message({"content": "So: " + ANSWER, "reasoning": "b"}, outside_text="forbid")
    unknown: Any = "none"
    for content in (GOOD, ANSWER):
        with pytest.raises(ValueError, match="think must be one of"):
            parse_message({"content": content, "reasoning": "b"}, think=unknown)


def test_content_in_parts() -> None:
    """Text parts are joined as they are: a tag may be split over two of them."""
    parts = [{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}]
    assert parse_message({"content": parts}) == parse(GOOD)
    assert parse_message(attributes({"content": parts})) == parse(GOOD)
    with pytest.raises(MissingTagError):
        parse_message({"content": []})


def test_index_chooses() -> None:
    """The first choice is the default; a choice that is not there, or an index without choices, is refused."""
    both = completion(GOOD, GOOD.replace("yes", "no"))
    assert parse_message(both).update_gate
    assert not parse_message(both, index=1).update_gate
    assert not parse_message(ChatCompletion.model_validate(both), index=1).update_gate
    with pytest.raises(ValueError, match="2 choices, so none with index 2"):
        parse_message(both, index=2)
    with pytest.raises(ValueError, match="2 choices, so none with index -1"):
        parse_message(both, index=-1)
    wrong: Any
    for wrong in ("1", 1.0, None, slice(0, 1), True):
        with pytest.raises(TypeError, match=r"^index= is an int, not"):
            parse_message(both, index=wrong)
    with pytest.raises(ValueError, match="0 choices"):
        parse_message({"choices": []})
    with pytest.raises(ValueError, match="has no choices"):
        parse_message(both["choices"][0], index=1)


@pytest.mark.parametrize("number", range(6))
def test_length_adds_the_hint(number: int) -> None:
    """Where the server says that the answer was cut, the error says so too; a bare message cannot know."""
    cut = GOOD[:50]
    with pytest.raises(UnclosedTagError) as caught:
        parse_message(shapes(completion(cut, finish_reason="length"))[number])
    assert "max_tokens" in str(caught.value.hint)
    assert caught.value.truncated
    assert str(caught.value).endswith(f"(at line {caught.value.line}, column {caught.value.column})")
    with pytest.raises(UnclosedTagError) as bare:
        parse_message({"content": cut})
    assert bare.value.hint is None


def test_length_keeps_another_hint() -> None:
    """A near miss stays visible when the answer was cut as well."""
    with pytest.raises(BadValueError) as caught:
        parse_message(completion(GOOD.replace("yes", "Yes"), finish_reason="length"))
    assert "lower case" in str(caught.value.hint)
    assert "max_tokens" in str(caught.value.hint)


def test_length_is_no_error() -> None:
    """An answer that is whole parses, even if the limit fell just behind it."""
    assert parse_message(completion(GOOD, finish_reason="length")) == parse(GOOD)


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"content": None}, "no content"),
        ({}, "no content"),
        ({"content": None, "refusal": "I can’t.\x1b[2J"}, r"refused: 'I can’t.\\x1b\[2J'"),
        ({"content": GOOD, "refusal": "No."}, "refused"),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "refused"),
        ({"content": None, "tool_calls": [CALL]}, "called a tool"),
        ({"content": GOOD, "tool_calls": [CALL]}, "called a tool"),
        ({"content": "", "function_call": CALL["function"]}, "called a tool"),
    ],
)
@pytest.mark.parametrize("form", [dict, attributes])
def test_no_answer_is_never_a_gate(fields: dict[str, Any], why: str, form: Any) -> None:
    """Silence, refusals and tool calls are errors that say what the message is, with reasoning beside them too."""
    fields = {"role": "assistant", **fields}
    with pytest.raises(MissingTagError, match=why) as caught:
        parse_message(form(fields))
    assert (caught.value.tag, caught.value.offset) == ("think", 0)
    with pytest.raises(MissingTagError, match=why) as caught:
        parse_message(form({**fields, "reasoning": "hm"}))
    assert caught.value.offset == 0


def test_empty_calls_and_refusals_are_none() -> None:
    """Servers fill the fields that do not apply with null, "" or an empty list."""
    message: dict[str, Any] = {"content": GOOD, "refusal": None, "tool_calls": [], "function_call": None}
    assert parse_message(message) == parse(GOOD)
    assert parse_message({**message, "refusal": "", "tool_calls": None}) == parse(GOOD)


@pytest.mark.parametrize(
    ("message", "error", "why"),
    [
        (GOOD, TypeError, "this str has none"),
        (None, TypeError, "this NoneType has none"),
        ([{"content": GOOD}], TypeError, "this list has none"),
        ({}, ValueError, "this object has none"),
        ({"choices": {"0": {}}}, TypeError, "a list, not dict"),
        ({"choices": 5}, TypeError, "a list, not int"),
        ({"choices": [None]}, TypeError, "this NoneType has none"),
        ({"choices": None}, ValueError, "none of them"),
        ({"choices": [{"index": 0, "delta": {"content": GOOD}}]}, ValueError, "none of them"),
        ({"choices": [{"index": 0, "text": GOOD}]}, ValueError, "none of them"),
        ({"message": 5}, TypeError, "this int has none"),
        ({"message": []}, TypeError, "this list has none"),
        ({"message": GOOD}, TypeError, "this str has none"),
        ({"message": {}, "finish_reason": "stop"}, ValueError, "this object has none"),
        ({"choices": [{"message": {"text": GOOD}}]}, ValueError, "this object has none"),
        ({"content": 1}, TypeError, "not int"),
        ({"content": GOOD.encode()}, TypeError, "not bytes"),
        ({"content": {"type": "text", "text": GOOD}}, TypeError, "not dict"),
        ({"content": [GOOD]}, ValueError, "^part 0 of the content is no text part: it is a str without a type$"),
        ({"content": [{"text": GOOD}]}, ValueError, "it is an object without a type$"),
        ({"content": [{"type": "text", "text": GOOD}, {"type": "image_url"}]}, ValueError, "part 1 .*image_url"),
        ({"content": [{"type": "text", "text": None}]}, TypeError, "not NoneType"),
        ({"content": ANSWER, "reasoning": {"effort": "low"}}, TypeError, "reasoning of a message is a str, not dict"),
    ],
)
def test_what_is_no_message(message: Any, error: type[Exception], why: str) -> None:
    """A caller's mistake is told apart from what a model wrote, and says what was expected."""
    with pytest.raises(error, match=why) as caught:
        parse_message(message)
    assert not isinstance(caught.value, GateParseError)
