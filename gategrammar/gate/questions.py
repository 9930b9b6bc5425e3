"""From a page of candidates to the request that is sent (docs/gate.md): pure, no I/O."""

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from gategrammar.gate._checks import are_texts, as_tuple, is_filled, is_text
from gategrammar.gate.settings import GateSettings

_MAX_KEYWORD_CHARS = 100


@frozen(kw_only=True)
class Candidate:
    """One entry of a page of memories.

    Args:
        hash: what the host knows the entry by; never sent.
        title: one line.
        summary: what the entry says.
        keywords: search words.
        kind: what sort of entry it is ("decision", "pitfall", …).

    Raises:
        ValueError: a field is of another type, or the hash is blank.
    """

    hash: str = field(validator=is_filled)
    title: str = field(default="", validator=is_text)
    summary: str = field(default="", validator=is_text)
    keywords: tuple[str, ...] = field(default=(), converter=as_tuple, validator=are_texts)
    kind: str = field(default="", validator=is_text)


def question_id(position: int) -> str:
    """Return the id under which the candidate at *position* is asked about and answered."""
    return f"m{position}"


def well_formed(text: str) -> str:
    """Return *text* as it can be sent: two surrogates that make a pair joined, each lone one replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def cut(text: str, limit: int) -> str:
    """Return *text* well formed and at most *limit* code points long; a shortened one ends in an ellipsis."""
    text = well_formed(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def task_text(task: str, settings: GateSettings) -> str:
    """Return *task* as it is sent: each run of white space one space, cut to the settings' length."""
    return cut(" ".join(task.split()), settings.max_task_chars)


def build_request(task: str, candidates: Sequence[Candidate], settings: GateSettings) -> dict[str, Any]:
    """Return the body of the one POST that asks about the first ``max_candidates`` of *candidates* (docs/gate.md).

    Args:
        task: what the agent is working on.
        candidates: the page, in its order.
        settings: mode, wording and limits.

    Returns:
        Plain JSON data, well-formed Unicode throughout.
    """
    asked = enumerate(candidates[: settings.max_candidates])
    wording = well_formed(settings.question), _criteria(settings)
    return {
        "model": well_formed(settings.model),
        "state": {"task": task_text(task, settings)},
        "questions": {question_id(position): _question(candidate, settings, *wording) for position, candidate in asked},
    }


def _question(
    candidate: Candidate, settings: GateSettings, question: str, criteria: dict[str, str] | list[str]
) -> dict[str, Any]:
    shown = {
        "title": cut(candidate.title, settings.max_title_chars),
        "summary": cut(candidate.summary, settings.max_summary_chars),
        "keywords": [cut(keyword, _MAX_KEYWORD_CHARS) for keyword in candidate.keywords[: settings.max_keywords]],
        "kind": well_formed(candidate.kind),
    }
    return {
        "type": settings.mode,
        "instructions": {"question": question, "candidate": shown},
        "criteria": criteria,
    }


def _criteria(settings: GateSettings) -> dict[str, str] | list[str]:
    if settings.mode == "noul":
        return {side: well_formed(meaning) for side, meaning in settings.criteria.items()}
    return [well_formed(level) for level in settings.levels]
