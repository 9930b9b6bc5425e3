"""Bodies of chat completions: whole, and as server-sent events in every way that the standard allows."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from gategrammar import parse_message
from gategrammar._completion import completion_of
from loopback import ANSWER, GOOD, chunk, completion, event


def stream(*chunks: dict[str, Any]) -> str:
    """Return the body of a stream."""
    return b"".join([*map(event, chunks), event("[DONE]")]).decode()


def test_whole() -> None:
    """A whole completion is handed on as it is."""
    whole = completion(GOOD, GOOD)
    assert completion_of(json.dumps(whole)) == whole
    assert completion_of("\ufeff \r\n" + json.dumps(whole)) == whole


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        '{"error": {"message": "busy"}}',
        '{"choices": null}',
        '{"choices": []}',
        '{"choices": {"0": {}}}',
        json.dumps(completion(GOOD))[:-1],
        event({"error": {"message": "busy"}}).decode(),
        event("[DONE]").decode(),
        event("[1]").decode(),
        ": ping\n\n",
        event({"choices": [], "usage": {}}).decode(),
        "<html>no</html>",
    ],
)
def test_no_completion(body: str) -> None:
    """What holds no completion, or only the beginning of a whole one, is none."""
    assert completion_of(body) is None


def test_streamed() -> None:
    """A stream becomes the completion that the same server would have sent whole, and openai's types accept it."""
    last = chunk("stop")
    last["choices"][0]["logprobs"] = None
    chunks = [
        chunk(role="assistant", content=""),
        *(chunk(content=GOOD[start:end]) for start, end in pairwise(range(0, len(GOOD) + 7, 7))),
        last,
        {**chunk(), "choices": [], "usage": {"total_tokens": 7}},
    ]
    joined = completion_of(stream(*chunks))
    assert joined == completion(GOOD) | {"usage": {"total_tokens": 7}}
    assert ChatCompletion.model_validate({**joined, "usage": None}).choices[0].message.content == GOOD


def test_choices_reasoning_and_role_in_any_order() -> None:
    """Choices that come interleaved are sorted, reasoning is a text that goes on too, and a role does not."""
    body = stream(
        chunk(index=1, role="assistant", reasoning_content="b"),
        chunk(index=0, role="assistant", reasoning_content="a"),
        chunk(index=1, role="assistant", reasoning_content="B", content=None),
        chunk(index=0, role="assistant", content=ANSWER[:30]),
        chunk(index=1, content=ANSWER),
        chunk("length", index=1, content=""),
        chunk("stop", index=0, content=ANSWER[30:]),
    )
    joined = completion_of(body)
    assert joined is not None
    assert [choice["index"] for choice in joined["choices"]] == [0, 1]
    assert [choice["finish_reason"] for choice in joined["choices"]] == ["stop", "length"]
    assert [choice["message"]["role"] for choice in joined["choices"]] == ["assistant"] * 2
    assert [parse_message(joined, index=number).think for number in (0, 1)] == ["a", "bB"]


def test_tool_calls() -> None:
    """The pieces of several calls find their places by index; ids and names stay whole where a server repeats them."""

    def call(index: int, name: str, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        return {"index": index, "id": f"call-{index}", "type": "function", "function": function}

    body = stream(
        chunk(role="assistant", tool_calls=[call(0, "f", "")]),
        chunk(tool_calls=[call(0, "f", '{"a"'), call(1, "g", "{")]),
        chunk(tool_calls=[call(1, "g", "}"), call(0, "f", ": 1}")]),
        chunk("tool_calls"),
    )
    joined = completion_of(body)
    assert joined is not None
    assert joined["choices"][0]["message"]["tool_calls"] == [call(0, "f", '{"a": 1}'), call(1, "g", "{}")]


def test_logprobs_are_lined_up() -> None:
    """The lists beside the message are continued."""
    chunks = [chunk(content="a"), chunk(content="b")]
    for one in chunks:
        token = one["choices"][0]["delta"]["content"]
        one["choices"][0]["logprobs"] = {"content": [{"token": token, "logprob": -0.5}], "refusal": None}
    joined = completion_of(stream(*chunks))
    assert joined is not None
    assert [token["token"] for token in joined["choices"][0]["logprobs"]["content"]] == ["a", "b"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_events_as_the_standard_has_them(ending: str) -> None:
    """Line endings, comments, other fields, data over several lines and a missing space are all allowed."""
    data = json.dumps(chunk("stop", content="x\u2028\u0085y"), ensure_ascii=False, indent=1)
    lines = [
        ": ping",
        "",
        "event: message",
        "id: 1",
        *(f"data:{line}" for line in data.split("\n")),
        "retry: 3",
        "",
        "",
    ]
    joined = completion_of("\ufeff" + ending.join(lines))
    assert joined is not None
    assert joined["choices"][0]["message"]["content"] == "x\u2028\u0085y"


def test_what_is_cut() -> None:
    """An event that is not finished is none, and what stands behind [DONE] is not looked at."""
    begun = stream(chunk(content="a")).removesuffix("data: [DONE]\n\n")
    for rest in ("data: {", "data: " + json.dumps(chunk(content="b")) + "\n", "data: [DONE]\n\ndata: {\n\n"):
        joined = completion_of(begun + rest)
        assert joined is not None
        assert joined["choices"][0]["message"]["content"] == "a"
        assert joined["choices"][0]["finish_reason"] is None


@given(st.lists(st.text(), min_size=1), st.lists(st.text() | st.none()))
def test_texts_come_back(contents: list[str], reasoning: list[str | None]) -> None:
    """Whatever texts a stream brings, in whatever pieces, are the texts of the message; null adds nothing."""
    body = stream(
        *(chunk(content=piece) for piece in contents),
        *(chunk(reasoning=piece) for piece in reasoning),
    )
    joined = completion_of(body)
    assert joined is not None
    message = joined["choices"][0]["message"]
    assert message["content"] == "".join(contents)
    assert (message.get("reasoning") or "") == "".join(piece or "" for piece in reasoning)


def test_other_numbers_survive() -> None:
    """NaN and infinity, which Python's servers write though JSON has none, become texts."""
    joined = completion_of('{"choices": [{}], "x": [NaN, Infinity, -Infinity]}')
    assert joined == {"choices": [{}], "x": ["NaN", "Infinity", "-Infinity"]}
    assert completion_of('{"choices": [{}], "x": [1e999, -1e999, 1e3]}') == {
        "choices": [{}],
        "x": ["1e999", "-1e999", 1000.0],
    }


def test_numbers_that_python_does_not_read() -> None:
    """A number of thousands of digits is kept as it is written, and loses no recording."""
    assert completion_of(f'{{"choices": [{{}}], "x": {"9" * 5000}}}') == {"choices": [{}], "x": "9" * 5000}


def test_no_index() -> None:
    """Chunks that give null as their index, or none, are of one choice."""
    chunks = [chunk(content="a"), chunk(content="b")]
    for one in chunks:
        one["choices"][0]["index"] = None
    joined = completion_of(stream(*chunks))
    assert joined is not None
    assert joined["choices"][0]["message"]["content"] == "ab"
