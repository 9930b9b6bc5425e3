"""The chat completion that the body of a response holds, whole or in the pieces of a stream."""

import json
import math
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

#: Fields of a streamed message that are repeated by each piece, not continued.
_REPEATED = ("id", "index", "name", "role", "type")


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _int(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # Python reads no number of thousands of digits
        return digits


#: Reads JSON; numbers that JSON or Python does not have become texts, so that what is read can be written again. Made
#: once, since a stream has a chunk for each token.
loads = json.JSONDecoder(parse_constant=str, parse_float=_float, parse_int=_int).decode


def completion_of(body: str) -> dict[str, Any] | None:
    """Return the chat completion in the body of a response.

    Args:
        body: one JSON object, or server-sent events with chunks of a completion (a byte order mark may come first).

    Returns:
        The completion in the shape in which a server sends a whole one; None where the body holds none, only the
        beginning of one JSON object, or a stream that ends with an error.

    Raises:
        ValueError: the data of an event is no JSON.
    """
    if not body.lstrip("\ufeff \t\r\n").startswith("{"):
        return _joined(_events(body))
    try:
        whole = loads(body.removeprefix("\ufeff"))
    except ValueError:
        return None
    choices = whole.get("choices")
    return whole if choices and isinstance(choices, list) and all(isinstance(one, dict) for one in choices) else None


def _events(body: str) -> Iterator[str]:
    """Yield the data of the server-sent events in *body*; an event ends with an empty line or is none."""
    data: list[str] = []
    *lines, _unfinished = re.split(r"\r\n|\r|\n", body.removeprefix("\ufeff"))
    for line in lines:
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif line == "" and data:
            yield "\n".join(data)
            data = []


def _joined(events: Iterator[str]) -> dict[str, Any] | None:
    """Put the chunks of a stream together to what they are pieces of."""
    whole: dict[str, Any] = {}
    for event in events:
        if event.startswith("[DONE]"):
            break
        chunk = loads(event)
        if not isinstance(chunk, dict):
            continue
        if chunk.get("error"):
            return None
        if not isinstance(chunk.get("choices"), list):
            continue
        chunk["choices"] = [
            {
                **{"message" if name == "delta" else name: value for name, value in choice.items()},
                "index": choice.get("index") or 0,
            }
            for choice in chunk["choices"]
            if isinstance(choice, dict)
        ]
        whole = _merge(whole, chunk, continued=False)
    if not whole.get("choices"):
        return None
    whole["object"] = "chat.completion"
    whole["choices"].sort(key=lambda choice: choice["index"])
    done: dict[str, Any] = _settled(whole)
    return done


def _merge(old: Any, new: Any, *, continued: bool) -> Any:
    """Bring *old* up to date with *new*, in place where it can be: a long stream costs no more than its length.

    Objects are merged by field, lists by the ``index`` of their items, and null changes nothing.

    Args:
        old: what the chunks so far hold.
        new: what the next one holds.
        continued: whether a text goes on where the last one ended, as inside a message, or replaces it.
    """
    if new is None:
        return old
    match old:
        case dict() if isinstance(new, dict):
            for name, value in new.items():
                goes_on = name == "message" or (continued and name not in _REPEATED)
                old[name] = _merge(old.get(name), value, continued=goes_on)
        case list() if isinstance(new, list):
            for item in new:
                place = _place(old, item)
                old[place : place + 1] = [_merge(old[place], item, continued=continued) if place < len(old) else item]
        case StringIO() if isinstance(new, str):
            old.write(new)
        case str() if continued and isinstance(new, str):
            text = StringIO()
            text.write(old + new)
            return text
        case _:
            return new
    return old


def _place(items: list[Any], item: Any) -> int:
    """Return where the item with the same ``index`` stands, or the end."""
    number = item.get("index") if isinstance(item, dict) else None
    places = (place for place, one in enumerate(items) if number is not None and one.get("index") == number)
    return next(places, len(items))


def _settled(value: Any) -> Any:
    """Return *value* with the texts that were being continued as texts."""
    match value:
        case dict():
            return {name: _settled(item) for name, item in value.items()}
        case list():
            return [_settled(item) for item in value]
        case StringIO():
            return value.getvalue()
        case _:
            return value
