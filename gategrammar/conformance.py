"""The conformance kit: cases for readers of gate responses in any language, and the judge of what they answer.

A case is a text with the modes it is read in and the verdict it must get; fixtures/README.md gives the form. Pure but
for reading the files that this package is shipped with: running programs is the command line's.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable
from typing import Any, Final

import attrs

from gategrammar._resources import resource
from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think, check_modes

#: What each rule says, by the section of ``grammar/SPEC.md`` that has it; cases give theirs as ``section``.
RULES: Final = {
    "2.1": "every code point may stand in a text",
    "2.2": "tags are exact strings; what looks like one is text",
    "2.3": "white space is trimmed: Unicode White_Space and nothing else",
    "4": "one order of tags; the first error from the left",
    "4.4": "think nests and repeats",
    "5.1": "check and next hold exactly one value",
    "5.4": "update holds any text without tags, unchanged",
    "6": "text outside the elements is ignored, or forbidden",
    "7": "think arrives in the text, begun in the prompt, or elsewhere",
    "8": "the result and its spans",
    "9": "the fields of an error",
    "recorded": "answers of real models",
}
_RECORDED = "recorded"
#: What a conforming program need not say, but if it does, rightly. Everything else of a verdict it has to say.
OPTIONAL: Final = frozenset({"spans", "line", "column", "found", "value", "truncated"})
_RESULT: Final = "result"
_ERROR: Final = "error"

ACCEPTS: Final = "accepts"
REFUSES: Final = "refuses"
DIFFERS: Final = "differs"
NO_ANSWER: Final = "no answer"
#: The sorts of failures, the worst first.
KINDS: Final = {
    ACCEPTS: "read as a response what is none",
    REFUSES: "refused what is a response",
    DIFFERS: "read something else, or named another error",
    NO_ANSWER: "gave no answer that could be read",
}


@attrs.frozen
class Vector:
    """One case.

    Attributes:
        name: what it is called.
        rule: which of :data:`RULES` decides it; "" where nobody said, as in fuzzed cases.
        text: the response.
        expect: the verdict: the fields of a result, or those of an error under "error".
        think: how its reasoning arrives (SPEC §7).
        outside_text: what is done about text outside its elements (SPEC §6).
    """

    name: str
    rule: str
    text: str
    expect: dict[str, Any]
    think: Think = REQUIRED
    outside_text: OutsideText = IGNORE

    @property
    def data(self) -> bytes | None:
        """The text in UTF-8; None if it holds a lone surrogate, which UTF-8 cannot."""
        try:
            return self.text.encode()
        except UnicodeEncodeError:
            return None


def shipped(*, recorded: bool = False) -> Iterator[Vector]:
    """Yield the cases of fixtures/: those in files of their own, then those of ``responses.jsonl``.

    Args:
        recorded: the recorded answers of real models too.
    """
    fixtures = resource("fixtures")
    for folder, prefix in ((fixtures, ""), (fixtures / "valid", "valid/"), (fixtures / "invalid", "invalid/")):
        for file in _files(folder, ".txt"):
            name = file.name.removesuffix(".txt")
            record = json.loads((folder / f"{name}.json").read_bytes())
            yield vector({**record, "name": prefix + name, "text": file.read_bytes().decode()})
    for record in _lines(fixtures / "responses.jsonl"):
        yield vector({**record, "name": f"responses/{record['name']}"})
    for file in _files(fixtures / "recorded", ".jsonl") if recorded else ():
        for record in _lines(file):
            name = f"recorded/{record['model']}/{record['id']}"
            yield vector({**record, "name": name, "section": _RECORDED, "text": record["response"]})


def vector(record: dict[str, Any]) -> Vector:
    """Return the case that a record holds.

    Raises:
        ValueError: it holds none; the message names the field.
    """
    kinds = {"name": (str, "a string"), "text": (str, "a string"), "expect": (dict, "an object")}
    wrong = next((name for name, (kind, _) in kinds.items() if not isinstance(record.get(name), kind)), None)
    if wrong is not None:
        raise ValueError(f"the field {wrong!r} of a case is missing, or not {kinds[wrong][1]}")
    modes = {mode: record[mode] for mode in ("think", "outside_text") if mode in record}
    case = Vector(record["name"], record.get("section", ""), record["text"], record["expect"], **modes)
    check_modes(case.think, case.outside_text)
    return case


@attrs.frozen
class Failure:
    """What is wrong with the answer to a case.

    Attributes:
        kind: what sort of wrong it is, :data:`KINDS` in words.
        what: the particulars.
    """

    kind: str
    what: str


def judge(case: Vector, output: bytes) -> Failure | None:
    """Say what is wrong with what a program printed for *case*; None if nothing is.

    Right is one JSON object with the fields ``result`` and ``error`` of which one is null and the other holds what the
    case expects, exactly; further fields are ignored.
    """
    try:
        answer = json.loads(output)
    except ValueError:
        return Failure(NO_ANSWER, f"printed no JSON: {_excerpt(output)}" if output.strip() else "printed nothing")
    except RecursionError:
        return Failure(NO_ANSWER, "printed JSON that is nested too deeply")
    if not isinstance(answer, dict) or (answer.get(_RESULT) is None) == (answer.get(_ERROR) is None):
        what = f"printed no object in which one of {_RESULT} and {_ERROR} is null: {_excerpt(output)}"
        return Failure(NO_ANSWER, what)
    expected = case.expect if _ERROR in case.expect else {_RESULT: case.expect}
    if not any(answer.get(name) for name in expected):
        kind, due = (ACCEPTS, _ERROR) if _ERROR in expected else (REFUSES, _RESULT)
        other = _RESULT if due == _ERROR else _ERROR
        return Failure(kind, f"{other} is {_shown(answer[other])}; due was {due} {_shown(expected[due])}")
    differences = list(_differences(answer, expected, ""))
    return Failure(DIFFERS, "; ".join(differences)) if differences else None


def _differences(answer: dict[str, Any], expected: dict[str, Any], path: str) -> Iterator[str]:
    for name, value in expected.items():
        where = f"{path}{name}"
        if name not in answer:
            if name not in OPTIONAL and value is not None:
                yield f"{where} is missing"
        elif isinstance(value, dict) and isinstance(answer[name], dict):
            yield from _differences(answer[name], value, f"{where}.")
        elif isinstance(value, bool) is not isinstance(answer[name], bool) or value != answer[name]:
            yield f"{where} is {_shown(answer[name])}, not {_shown(value)}"


_LONGEST = 120


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _excerpt(output: bytes) -> str:
    return _shown(output.decode(errors="backslashreplace"))


def _files(folder: Traversable, ending: str) -> list[Traversable]:
    return sorted((file for file in folder.iterdir() if file.name.endswith(ending)), key=lambda file: file.name)


def _lines(file: Traversable) -> Iterable[dict[str, Any]]:
    return (json.loads(line) for line in file.read_bytes().split(b"\n") if line)
