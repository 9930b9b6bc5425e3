"""The corpora in fixtures/, and the package's answers in the shape in which the corpora hold their verdicts."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gategrammar import GateParseError, GateResponse, parse
from oracle import Outside, Think, Verdict

FIXTURES = Path(__file__).parent.parent / "fixtures"


@dataclass(frozen=True)
class Case:
    """One text with the arguments it is parsed with and the verdict it must get."""

    name: str
    text: str
    expect: Verdict
    modes: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSONL file; only LF ends a line, since texts hold U+2028 and the like."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def _modes(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in ("think", "outside_text") if name in record}


def handed() -> list[Case]:
    """Return the cases of responses.jsonl."""
    return [
        Case(record["name"], record["text"], record["expect"], _modes(record))
        for record in read_jsonl(FIXTURES / "responses.jsonl")
    ]


def pairs(folder: str) -> list[Case]:
    """Return the cases of a folder of NAME.txt and NAME.json, byte for byte ("." for the two at the top)."""
    cases = []
    for path in sorted((FIXTURES / folder).glob("*.txt")):
        record = json.loads(path.with_suffix(".json").read_bytes())
        cases.append(Case(path.stem, path.read_bytes().decode("utf-8"), record["expect"], _modes(record)))
    return cases


def recorded() -> list[Case]:
    """Return the real answers of models in fixtures/recorded/."""
    return [
        Case(record["id"], record["response"], record["expect"])
        for path in sorted((FIXTURES / "recorded").glob("*.jsonl"))
        for record in read_jsonl(path)
    ]


def trajectories() -> list[dict[str, Any]]:
    """Return the loops over four chunks in trajectories.jsonl."""
    return read_jsonl(FIXTURES / "trajectories.jsonl")


def verdict_of(answer: GateResponse | GateParseError) -> Verdict:
    """Return what parse returned or raised, in the shape of a verdict."""
    if isinstance(answer, GateParseError):
        return {
            "error": {
                "kind": answer.kind,
                "tag": answer.tag,
                "offset": answer.offset,
                "line": answer.line,
                "column": answer.column,
                "found": answer.found,
                "value": answer.value,
                "truncated": answer.truncated,
            }
        }
    spans = answer.spans
    return {
        "think": answer.think,
        "update_gate": answer.update_gate,
        "candidate": answer.candidate,
        "exit_gate": answer.exit_gate,
        "spans": {
            "think": None if spans.think is None else list(spans.think),
            "check": list(spans.check),
            "update": list(spans.update),
            "next": list(spans.next),
        },
    }


def verdict(text: str, think: Think = "required", outside_text: Outside = "ignore") -> Verdict:
    """Return the package's verdict on *text*."""
    try:
        return verdict_of(parse(text, think=think, outside_text=outside_text))
    except GateParseError as error:
        return verdict_of(error)


def failed(text: str, think: Think = "required", outside_text: Outside = "ignore") -> dict[str, Any]:
    """Return the fields of the error that the package raises; it must raise one."""
    got = verdict(text, think, outside_text)
    assert "error" in got
    error: dict[str, Any] = got["error"]
    return error


def narrowed(got: Any, expect: Any) -> Any:
    """Return of *got* what *expect* speaks of: a corpus may give fewer fields than a verdict has."""
    if isinstance(expect, dict) and isinstance(got, dict):
        return {name: narrowed(got[name], expect[name]) if name in got else "no such field" for name in expect}
    return got


def agrees(got: Verdict, expect: Verdict) -> bool:
    """Say whether *got* is an error where *expect* is one, and equal in all fields *expect* gives."""
    return ("error" in got) == ("error" in expect) and narrowed(got, expect) == expect
