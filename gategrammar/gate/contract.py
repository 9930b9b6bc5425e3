"""The server's side of the System One contract (docs/gate.md): what a request may hold, and the form of its answers.

Pure: :class:`gategrammar.gate.local.LocalSystemOne` brings the judge, ``gategrammar serve`` the socket.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

#: A judge: for each pair of texts, how likely they are about the same subject, from 0 to 1.
Judge: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
#: One fault of a request, as the vendor's server words it.
Fault: TypeAlias = dict[str, Any]

_MOST_OPTIONS: Final = 255
_MOST_LEVELS: Final = 10
_FEWEST: Final = 2
_CHOICE_SHARPNESS: Final = 4.0


def faults(request: Any) -> list[Fault]:
    """Return what is wrong with a decoded request; an empty list if nothing is."""
    if not isinstance(request, dict):
        return [_fault([], "Input should be an object", "dict_type")]
    found = []
    if not isinstance(request.get("model"), str):
        found.append(_fault(["model"], "Input should be a string", "string_type"))
    if not isinstance(request.get("state"), str | dict | list):
        found.append(_fault(["state"], "Input should be a string, an object or an array", "missing"))
    questions = request.get("questions")
    if not isinstance(questions, dict) or not questions:
        return [*found, _fault(["questions"], "Input should be an object with at least one question", "missing")]
    return found + [fault for name, question in questions.items() for fault in _question_faults(name, question)]


def _fault(place: list[str | int], message: str, kind: str) -> Fault:
    return {"loc": ["body", *place], "msg": message, "type": kind}


def _question_faults(name: str, question: Any) -> list[Fault]:
    place: list[str | int] = ["questions", name]
    if not isinstance(question, dict):
        return [_fault(place, "Input should be an object", "dict_type")]
    kind = question.get("type")
    if not isinstance(kind, str) or kind not in _CRITERIA:
        return [_fault([*place, "type"], f"Input should be one of {', '.join(_CRITERIA)}", "union_tag_invalid")]
    found = []
    if not isinstance(question.get("instructions"), str | dict | list | None):
        found.append(_fault([*place, "instructions"], "Input should be text, an object or an array", "string_type"))
    accepts, message = _CRITERIA[kind]
    if not accepts(question.get("criteria")):
        found.append(_fault([*place, "criteria"], message, "value_error"))
    return found


def _is_text(value: object) -> bool:
    return isinstance(value, str | dict | list)


def _fits_noul(criteria: Any) -> bool:
    sides = (
        isinstance(criteria, dict) and criteria.keys() <= {"true", "false"} and all(map(_is_text, criteria.values()))
    )
    return criteria is None or sides


def _fits_choice(criteria: Any) -> bool:
    fits = isinstance(criteria, dict) and _FEWEST <= len(criteria) <= _MOST_OPTIONS
    return fits and all(text is None or _is_text(text) for text in criteria.values())


def _fits_score(criteria: Any) -> bool:
    return isinstance(criteria, list) and _FEWEST <= len(criteria) <= _MOST_LEVELS and all(map(_is_text, criteria))


_CRITERIA: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "noul": (_fits_noul, "Input should be null or an object with 'true' and/or 'false'"),
    "choice": (_fits_choice, f"Input should be an object with {_FEWEST} to {_MOST_OPTIONS} options"),
    "score": (_fits_score, f"Input should be an array of {_FEWEST} to {_MOST_LEVELS} level descriptions"),
}


def answer(request: Any, judge: Judge) -> dict[str, Any]:
    """Return the answers to a request without faults, by question id.

    Each question is judged by itself: neither its id nor the questions beside it change its answer.
    """
    state = _words(request["state"])
    pairs = {name: _pairs(state, question) for name, question in request["questions"].items()}
    values = iter(judge([pair for group in pairs.values() for pair in group]))
    return {name: _answer(request["questions"][name], [next(values) for _ in group]) for name, group in pairs.items()}


def _pairs(state: str, question: dict[str, Any]) -> list[tuple[str, str]]:
    """The pairs of texts that a question comes down to: state and subject, or one pair for each option."""
    subject = _subject(question)
    if question["type"] != "choice":
        return [(state, subject)]
    about = f"{state}\n{subject}"
    return [(about, f"{name}\n{_words(text)}") for name, text in question["criteria"].items()]


def _subject(question: dict[str, Any]) -> str:
    """The words that tell what a question is about.

    Structured instructions put their data beside the question's wording, which is the same for all candidates of a
    page and would only blur them.
    """
    instructions = question.get("instructions")
    if isinstance(instructions, dict):
        data = {key: value for key, value in instructions.items() if key != "question"}
        if data:
            return _words(data)
    criteria = question.get("criteria") if question["type"] == "noul" else None
    return _words([instructions, (criteria or {}).get("true")])


def _words(value: Any) -> str:
    """All texts in a JSON value, in order, one a line."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value)))
    return value if isinstance(value, str) else ""


def _answer(question: dict[str, Any], values: list[float]) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": values[0]}
    if question["type"] == "score":
        return _score(question["criteria"], values[0])
    return _choice(list(question["criteria"]), values)


def _score(levels: list[Any], value: float) -> dict[str, Any]:
    """Spread a value over the levels as a binomial distribution, whose mean is the value times the highest level."""
    top = len(levels) - 1
    shares = [math.comb(top, level) * value**level * (1 - value) ** (top - level) for level in range(len(levels))]
    return {
        "type": "score",
        "score": sum(level * share for level, share in enumerate(shares)),
        "legend": {str(level): text for level, text in enumerate(levels)},
        "probabilities": {str(level): share for level, share in enumerate(shares)},
        "confidence": _confidence(shares),
    }


def _choice(options: list[str], values: list[float]) -> dict[str, Any]:
    weights = [math.exp(_CHOICE_SHARPNESS * value) for value in values]
    shares = [weight / sum(weights) for weight in weights]
    return {
        "type": "choice",
        "choice": options[shares.index(max(shares))],
        "probabilities": dict(zip(options, shares, strict=True)),
        "confidence": _confidence(shares),
    }


def _confidence(shares: list[float]) -> float:
    """How far the most likely outcome stands out: 0 when all are alike, 1 when it is certain."""
    return max(0.0, (max(shares) - 1 / len(shares)) / (1 - 1 / len(shares)))
