"""Replies of System One servers, good and bad, with what has to be read from them (gate §1 and §2).

Theory of operation. A reply is built as text, member by member, since half of what can be wrong with JSON cannot be
written by a JSON library. Each answer is drawn with the value that it has, None where it is unreadable; at most one
thing is wrong with the reply as a whole, and then no answer counts.
"""

import codecs
import json
from collections.abc import Callable
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from gategrammar.gate import reasons
from gategrammar.gate.answers import MAX_DEPTH, VALUE_KEYS
from gategrammar.gate.questions import question_id
from gategrammar.gate.settings import MODES, GateSettings, Mode

#: One member of a JSON object: its name, and its value as JSON text.
_Member = tuple[str, str]
_MOST_QUESTIONS = 4


@attrs.frozen
class Reply:
    """The body of a reply with status 200, and what it says.

    Attributes:
        body: the bytes.
        mode: what was asked for.
        count: how many candidates were asked about.
        values: the answer to each, None where it is unreadable; None if the reply is refused whole.
        refused: the reason why it is, else None.
    """

    body: bytes
    mode: Mode
    count: int
    values: tuple[float | None, ...] | None
    refused: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON, in the form of ``fixtures/answers/replies.jsonl``; bytes that are no UTF-8 as Latin-1."""
        try:
            body = {"body": self.body.decode()}
        except UnicodeDecodeError:
            body = {"body_latin1": self.body.decode("latin-1")}
        expect = {"refused": self.refused} if self.values is None else {"values": list(self.values)}
        return {"mode": self.mode, "count": self.count, **body, "expect": expect}


#: An answer: the value to be read from it, and the members that hold it, which may be none, or not the one asked for.
_Answer = tuple[float | None, list[_Member]]
_scalars: st.SearchStrategy[Any] = st.sampled_from([None, True, False, "", "0.5", 0, 1, [], {}, "yes"])
#: What compatible servers add, and a reader ignores.
_extras = st.dictionaries(st.sampled_from(["confidence", "legend", "latency_ms", "meta", "é"]), _scalars, max_size=2)
_top_level = st.fixed_dictionaries(
    {}, optional={"model": st.just("jev-1.13.0"), "usage": st.just({"input_tokens": 296}), "latency_ms": _scalars}
)


def _object(members: list[_Member]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in members) + "}"


def _member(name: str, value: Any) -> _Member:
    return name, json.dumps(value)


@st.composite
def _readable(draw: st.DrawFn, mode: Mode, position: int) -> _Answer:
    """Draw an answer that is exactly what the contract allows."""
    *null, key = VALUE_KEYS[mode][: draw(st.integers(1, len(VALUE_KEYS[mode])))]
    highest = GateSettings(mode=mode).highest
    number = draw(st.integers(0, highest) | st.floats(0, highest))
    answer = {**draw(_extras), **{name: None for name in null if draw(st.booleans())}, key: number}
    if draw(st.booleans()):
        answer["type"] = mode
    return float(number), [_member(question_id(position), answer)]


@st.composite
def _unreadable(draw: st.DrawFn, mode: Mode, position: int) -> _Answer:
    """Draw an answer that has to be counted as unreadable, and must not be guessed at."""
    name, key, highest = question_id(position), VALUE_KEYS[mode][0], GateSettings(mode=mode).highest
    wrong_numbers = [-1, -1e-9, highest + 1, highest + 1e-9, 2**70, True, False, str(highest), [highest], {}, None]
    wrong_types = [None, "", mode.upper(), mode.title(), "choice", *(other for other in MODES if other != mode)]
    wrong_names = [name.upper(), f"{name} ", f"q{position}", f"{name[0]}0{position}", str(position), f"-{position}"]
    fault = draw(st.sampled_from(["left out", "no object", "number", "type", "name"]))
    if fault == "left out":
        return None, []
    if fault == "no object":
        return None, [_member(name, draw(_scalars))]
    if fault == "number":
        return None, [_member(name, {key: draw(st.sampled_from(wrong_numbers))})]
    if fault == "type":
        return None, [_member(name, {"type": draw(st.sampled_from(wrong_types)), key: highest})]
    return None, [_member(draw(st.sampled_from(wrong_names)), {"type": mode, key: highest})]


#: What is wrong with a reply as a whole: the reason, the members that it gets, and what becomes of its text.
_Damage = tuple[str, list[_Member], Callable[[str], bytes]]
_DAMAGED = "damaged"
_DAMAGES: Final[tuple[_Damage, ...]] = (
    (reasons.NOT_JSON, [], lambda text: text[:-1].encode()),
    (reasons.NOT_JSON, [], lambda text: text.encode() + b"}"),
    (reasons.NOT_JSON, [], lambda text: text.encode("utf-16")),
    (reasons.NOT_JSON, [(_DAMAGED, '"\ud83d"')], lambda text: text.encode("utf-8", "surrogatepass")),
    (reasons.NOT_JSON, [], lambda _: b""),
    (reasons.NOT_JSON, [], lambda _: b"<html>502 Bad Gateway</html>"),
    (reasons.BAD_NUMBER, [(_DAMAGED, "NaN")], str.encode),
    (reasons.BAD_NUMBER, [(_DAMAGED, "[-Infinity]")], str.encode),
    (reasons.BAD_NUMBER, [(_DAMAGED, "1e999")], str.encode),
    (reasons.DUPLICATE_KEY, [(_DAMAGED, "0"), (_DAMAGED, "0")], str.encode),
    (reasons.TOO_DEEP, [(_DAMAGED, "[" * MAX_DEPTH + "]" * MAX_DEPTH)], str.encode),
    (reasons.NOT_AN_OBJECT, [], lambda text: f"[{text}]".encode()),
    (reasons.NOT_AN_OBJECT, [], lambda _: b"null"),
)
#: A byte-order mark is accepted, and so is white space.
_ENCODINGS: Final[tuple[Callable[[str], bytes], ...]] = (
    str.encode,
    lambda text: codecs.BOM_UTF8 + text.encode(),
    lambda text: f"\r\n {text}\n".encode(),
)


@st.composite
def answers(draw: st.DrawFn, *, mode: Mode | None = None) -> Reply:
    """Draw the body of a System One reply with status 200: readable answers, unreadable ones, and broken bodies.

    In score mode the scale is the default one.

    Args:
        draw: given by Hypothesis.
        mode: what was asked for; None for either.
    """
    asked: Mode = draw(st.sampled_from(MODES)) if mode is None else mode
    each = [draw(_readable(asked, at) | _unreadable(asked, at)) for at in range(draw(st.integers(1, _MOST_QUESTIONS)))]
    values = tuple(value for value, _ in each)
    given = draw(st.permutations([member for _, members in each for member in members]))
    members = [_member(name, value) for name, value in draw(_top_level).items()]
    refused = None if any(value is not None for value in values) else reasons.NO_READABLE_ANSWER
    envelope = draw(st.sampled_from(["answers", "top level", "broken"]))
    if envelope == "answers":
        members.insert(draw(st.integers(0, len(members))), ("answers", _object(given)))
    elif envelope == "top level":
        members += given
    else:
        members.append(("answers", draw(st.sampled_from(["null", "[]", '"m0"', "0", f"[{_object(given)}]"]))))
        refused = reasons.ANSWERS_NOT_AN_OBJECT
    encode = draw(st.sampled_from(_ENCODINGS))
    if damage := draw(st.none() | st.none() | st.sampled_from(_DAMAGES)):
        refused, more, encode = damage
        members += more
    return Reply(encode(_object(members)), asked, len(values), None if refused else values, refused)
