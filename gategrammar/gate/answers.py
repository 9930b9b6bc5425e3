"""From the bytes of a reply to typed values, or to a fixed reason (SPEC §13): where foreign data enters, and stops.

Theory of operation. JSON is read by the standard library with four hooks that refuse what it would let pass:
duplicate keys, NaN and Infinity, numbers beyond a double, and (after the fact) deep nesting. What is left is plain
data, of which one number for each question that was asked is taken, if it is exactly what the contract allows.
Everything else in a reply is ignored and never quoted. ``grammar/answers.schema.json`` says the same for readers in
other languages; a test holds the two equal.
"""

import json
import math
import re
from typing import Any, Final, NoReturn

from attrs import field, frozen
from attrs.validators import instance_of, optional

from gategrammar.gate import reasons
from gategrammar.gate._checks import are_values, is_count, is_text
from gategrammar.gate.questions import question_id
from gategrammar.gate.settings import GateSettings, Mode

MAX_DEPTH: Final = 64

#: Where each mode's number is found: the first of these keys that is present and not null.
VALUE_KEYS: Final[dict[Mode, tuple[str, ...]]] = {"noul": ("noul", "probability"), "score": ("score",)}

#: A model's name goes into audits and logs, so one that is not plainly a name is left out.
_MODEL_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}")


@frozen
class Usage:
    """How many tokens the server says it used; None where it did not say so as a whole number from 0 up."""

    input_tokens: int | None = field(default=None, validator=optional(is_count))
    output_tokens: int | None = field(default=None, validator=optional(is_count))


@frozen
class Answers:
    """A reply that was read: one value per question asked, in page order, None where the answer is unreadable."""

    values: tuple[float | None, ...] = field(validator=are_values)
    model: str | None = field(default=None, validator=optional(is_text))
    usage: Usage = field(factory=Usage, validator=instance_of(Usage))


@frozen
class Refused:
    """A page that has no answers, and why: one of :mod:`gategrammar.gate.reasons`."""

    reason: str = field(validator=is_text)


class _RefusedError(ValueError):
    """Carries a reason out of the hooks of the JSON reader."""


def read_answers(body: bytes, settings: GateSettings, count: int) -> Answers | Refused:
    """Read the body of a 200 reply to *count* questions.

    Args:
        body: the bytes as sent, decompressed.
        settings: the mode that was asked, and its range.
        count: how many candidates were asked about; the ids are m0 … m(count - 1).

    Returns:
        The values, or the reason why there are none. Nothing is raised, whatever the bytes are.
    """
    try:
        reply = _load(body)
    except _RefusedError as refusal:
        return Refused(str(refusal))
    if not isinstance(reply, dict):
        return Refused(reasons.NOT_AN_OBJECT)
    found = reply.get("answers", reply)
    if not isinstance(found, dict):
        return Refused(reasons.ANSWERS_NOT_AN_OBJECT)
    given = (found.get(question_id(position)) for position in range(count))
    # Looked up once, since they are the same for every answer of a page.
    keys, highest = VALUE_KEYS[settings.mode], settings.highest
    values = tuple(_value(answer, settings.mode, keys, highest) for answer in given)
    if all(value is None for value in values):
        return Refused(reasons.NO_READABLE_ANSWER)
    return Answers(values, _model(reply.get("model")), _usage(reply.get("usage")))


def _value(answer: object, mode: Mode, keys: tuple[str, ...], highest: float) -> float | None:
    if not isinstance(answer, dict) or answer.get("type", mode) != mode:
        return None
    for key in keys:
        number = answer.get(key)
        if number is not None:
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            return float(number) if is_number and 0 <= number <= highest else None
    return None


def _model(name: object) -> str | None:
    return name if isinstance(name, str) and _MODEL_NAME.fullmatch(name) else None


def _usage(usage: object) -> Usage:
    counts = usage if isinstance(usage, dict) else {}
    return Usage(_tokens(counts.get("input_tokens")), _tokens(counts.get("output_tokens")))


def _tokens(count: object) -> int | None:
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def _load(body: bytes) -> Any:
    try:
        text = body.decode("utf-8-sig")
        data = json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_int=_int, parse_constant=_constant)
    except _RefusedError:
        raise
    except RecursionError:
        raise _RefusedError(reasons.TOO_DEEP) from None
    except ValueError:  # UnicodeDecodeError, JSONDecodeError
        raise _RefusedError(reasons.NOT_JSON) from None
    # Counting the openers is far cheaper than walking, and settles nearly every reply.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(data, MAX_DEPTH):
        raise _RefusedError(reasons.TOO_DEEP)
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError(reasons.DUPLICATE_KEY)
    return members


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(reasons.BAD_NUMBER)
    return number


def _int(digits: str) -> int:
    _float(digits)  # first, since int() refuses very long numbers in its own words
    return int(digits)


def _constant(_: str) -> NoReturn:
    raise _RefusedError(reasons.BAD_NUMBER)


def _is_deeper(data: object, limit: int) -> bool:
    level = [data]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
    return any(isinstance(item, dict | list) for item in level)


def _children(item: object) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []
