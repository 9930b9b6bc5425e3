"""Chat messages: which text holds the response, and how its reasoning came (SPEC §7)."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from gategrammar.response._tables import ELEMENTS
from gategrammar.response.errors import GateParseError, quote
from gategrammar.response.grammar import ABSENT, IGNORE, REQUIRED, OutsideText, Think, check_modes
from gategrammar.response.parse import parse
from gategrammar.response.result import GateResponse, build
from gategrammar.response.text import trim

_THINK_TAGS = (ELEMENTS[0].opening.text, ELEMENTS[0].closing.text)
#: Where servers put the reasoning they take out of the content; the first that is present counts.
_REASONING = ("reasoning_content", "reasoning")
_CALLS = ("tool_calls", "function_call")
#: What has none of these fields is no message.
_OF_A_MESSAGE = ("content", "role", "refusal", *_CALLS, *_REASONING)
#: What a finish reason says about a text that does not parse.
_ENDINGS = {
    "length": "the answer was cut by max_tokens (finish_reason is 'length')",
    "content_filter": "the answer was cut by the server's filter (finish_reason is 'content_filter')",
}


def parse_message(
    message: Any, *, index: int = 0, think: Think = REQUIRED, outside_text: OutsideText = IGNORE
) -> GateResponse:
    """Read the gate response that an OpenAI-style chat message holds.

    Think comes from the content if a think tag stands there. Else, if the message has ``reasoning_content`` or
    ``reasoning`` ("" counts, null does not), think is that text, trimmed, whatever tags it quotes, and the content is
    read with ``think="absent"``. Else the content is read as it is. Spans and offsets count in the content.

    A message without content, a refusal and a message that calls tools hold no response: they fail like an empty text,
    and the hint says why. So does a hint where ``finish_reason`` says that the answer was cut.

    Args:
        message: a message, a choice (``finish_reason`` and ``message``) or a whole completion (``choices``), as a
            mapping or as an SDK's object. The content is a str or a list of text parts, which are joined.
        index: which choice of a completion, by its place in the list, from 0.
        think: how the reasoning arrives in the content (SPEC §7).
        outside_text: text outside the elements: "ignore" it, or "forbid" it (SPEC §6).

    Returns:
        The two gates, the candidate memory and the reasoning.

    Raises:
        GateParseError: the message holds no gate response; one subclass per kind (SPEC §9).
        TypeError: *message* is neither a mapping nor such an object, its content or reasoning is no text, or *index*
            is no int.
        ValueError: a mapping that is no message, no such choice, a part that is no text, or an unknown mode.
    """
    return unpack(message, index).read(think=think, outside_text=outside_text)


@attrs.frozen
class Message:
    """What of a chat message counts.

    Attributes:
        text: the content; "" where the message holds no response.
        reasoning: what the server took out of the content; None if nothing.
        before: a hint that comes first in an error, as it explains all that follows.
        after: a hint that comes last.
    """

    text: str
    reasoning: str | None = None
    before: str | None = None
    after: str | None = None

    def read(self, *, think: Think, outside_text: OutsideText) -> GateResponse:
        """Read the response; see :func:`parse_message`."""
        check_modes(think, outside_text)
        apart = self.reasoning
        if apart is not None and any(tag in self.text for tag in _THINK_TAGS):
            apart = None
        try:
            response = parse(self.text, think=think if apart is None else ABSENT, outside_text=outside_text)
        except GateParseError as error:
            hints = "; ".join(hint for hint in (self.before, error.hint, self.after) if hint)
            hinted = error.with_hint(hints or None)
        else:
            if apart is None:
                return response
            start, end = trim(apart, 0, len(apart))
            return build(apart[start:end], response.update_gate, response.candidate, response.exit_gate, response.spans)
        raise hinted  # out here it has no context, which would keep the whole text alive


def unpack(message: Any, index: int = 0) -> Message:
    """Take out of a message, a choice or a completion what counts; arguments and errors of :func:`parse_message`."""
    message, ending = _unwrap(message, index)
    text, silence = _content(message)
    return Message(text, _reasoning(message), silence, _ENDINGS.get(ending or ""))


def _unwrap(thing: Any, index: int) -> tuple[Any, str | None]:
    """Return the message in a completion, a choice or itself, and the finish reason where one is told."""
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError(f"index= is an int, not {type(index).__name__}")
    choices = _get(thing, "choices")
    if choices is not None:
        if not isinstance(choices, list | tuple):
            raise TypeError(f"the choices of a completion are a list, not {type(choices).__name__}")
        if not 0 <= index < len(choices):
            raise ValueError(f"the completion has {len(choices)} choices, so none with index {index}")
        thing = choices[index]
    elif index:
        raise ValueError("index= is for a whole completion, and this has no choices")
    message, ending = _get(thing, "message"), _get(thing, "finish_reason")
    if message is None:
        message, ending = thing, None
    if not any(_has(message, name) for name in _OF_A_MESSAGE):
        wrong, what = (ValueError, "object") if isinstance(message, Mapping) else (TypeError, type(message).__name__)
        raise wrong(
            f"expected a chat message (content), a choice (message) or a completion (choices), "
            f"but this {what} has none of them"
        )
    return message, ending if isinstance(ending, str) else None


def _content(message: Any) -> tuple[str, str | None]:
    """Return the text of a message, and why it has none."""
    content = _get(message, "content")
    parts = list(_parts(content)) if isinstance(content, list | tuple) else []
    refusal = _get(message, "refusal") or next((text for kind, text in parts if kind == "refusal"), None)
    if refusal:
        return "", f"the model refused: {quote(str(refusal))}"
    if any(_get(message, name) for name in _CALLS):
        return "", "the model called a tool instead of answering"
    if content is None:
        return "", "the message has no content"
    if isinstance(content, str):
        return content, None
    if not isinstance(content, list | tuple):
        raise TypeError(f"the content of a message is a str or a list of text parts, not {type(content).__name__}")
    return "".join(text for _, text in parts), None


def _parts(content: list[Any] | tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    """Yield kind and text of the parts of a content."""
    for number, part in enumerate(content):
        if isinstance(part, str) or not _has(part, "type"):
            raise ValueError(f"part {number} of the content is no text part: it is {_called(part)} without a type")
        kind = _get(part, "type")
        if kind not in ("text", "refusal"):
            raise ValueError(f"part {number} of the content is no text: its type is {quote(str(kind))}")
        text = _get(part, kind)
        if not isinstance(text, str):
            raise TypeError(f"the {kind} of part {number} of the content is a str, not {type(text).__name__}")
        yield kind, text


def _called(thing: Any) -> str:
    return "an object" if isinstance(thing, Mapping) else f"a {type(thing).__name__}"


def _reasoning(message: Any) -> str | None:
    """Return the reasoning that the server took out of the content."""
    for name in _REASONING:
        reasoning = _get(message, name)
        if isinstance(reasoning, str):
            return reasoning
        if reasoning is not None:
            raise TypeError(f"{name} of a message is a str, not {type(reasoning).__name__}")
    return None


def _has(thing: Any, name: str) -> bool:
    return name in thing if isinstance(thing, Mapping) else hasattr(thing, name)


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
