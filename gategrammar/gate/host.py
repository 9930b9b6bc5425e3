"""What a host's search tool needs around a gate (docs/gate.md): the task, the narrowed page, the block, the lines."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from gategrammar.gate.decision import GateDecision
from gategrammar.gate.questions import well_formed
from gategrammar.gate.settings import MODES

T = TypeVar("T")

#: For the host's description of its search tool: tells a model what the ``gated`` block means.
TOOL_NOTE: Final = (
    "Results may come with a `gated` line: a small judge left out entries that do not bear on the current task. "
    "Each entry left out is named by the first characters of its hash; read one back by its hash if you think it "
    "matters. DEGRADED means that the judge could not be asked and nothing was left out. NOTE means that no entry "
    "reached the threshold and only the best stayed, so take them with care."
)

_HASH_CHARS: Final = 8
_COUNT: Final = {"type": "integer", "minimum": 0}

#: JSON Schema of :func:`gated_block`, for hosts that declare what their tools return.
GATED_BLOCK_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "What the recall gate did to a page of results",
    "type": "object",
    "properties": {
        "mode": {"enum": list(MODES)},
        "model": {"type": "string"},
        "candidates": _COUNT,
        "judged": _COUNT,
        "untouched": _COUNT,
        "kept": _COUNT,
        "dropped": _COUNT,
        "degraded": {"type": "boolean"},
        "reason": {"type": "string"},
        "input_tokens": _COUNT,
        "unreadable": {"type": "integer", "minimum": 1},
        "dropped_hashes": {"type": "array", "items": {"type": "string", "maxLength": _HASH_CHARS}},
    },
    "required": [
        "mode",
        "model",
        "candidates",
        "judged",
        "untouched",
        "kept",
        "dropped",
        "degraded",
        "dropped_hashes",
    ],
    "additionalProperties": False,
}

_TEXT_PARTS: Final = frozenset({"text", "input_text"})


def current_task(messages: Iterable[object], keywords: Iterable[str] = ()) -> str:
    """Return what the agent is working on: the newest user message that has text, else the search words.

    Args:
        messages: chat messages, oldest first, as mappings or as an SDK's objects; content is a str or a list of parts.
        keywords: the words that the memory was searched for.

    Returns:
        The text, stripped; parts of one message joined by newlines. Empty when there is none at all.
    """
    for message in reversed(list(messages)):
        if _member(message, "role") == "user" and (text := _content_text(_member(message, "content"))):
            return text
    return " ".join(keywords).strip()


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, Sequence):
        return ""
    texts = (_member(part, "text") for part in content if str(_member(part, "type")) in _TEXT_PARTS)
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _member(thing: object, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def narrow(results: Sequence[T], decision: GateDecision) -> list[T]:
    """Return *results* without what was dropped, by position, in order.

    Args:
        results: the host's own page, one entry for each candidate that was judged.
        decision: the gate's.

    Raises:
        ValueError: the page is not as long as the one that was judged.
    """
    if len(results) != len(decision.verdicts):
        raise ValueError(f"the page has {len(results)} results, but the decision is on {len(decision.verdicts)}")
    return [result for result, verdict in zip(results, decision.verdicts, strict=True) if verdict.keep]


def gated_block(decision: GateDecision) -> dict[str, Any] | None:
    """Return what the gate did as plain JSON data for a tool's result; None when it was off or the page empty.

    See :data:`GATED_BLOCK_SCHEMA` for its form.
    """
    if not decision.active or not decision.verdicts:
        return None
    always = {
        "mode": decision.mode,
        "model": well_formed(decision.model),
        "candidates": len(decision.verdicts),
        "judged": decision.judged,
        "untouched": decision.untouched,
        "kept": len(decision.kept),
        "dropped": len(decision.dropped),
        "degraded": decision.degraded,
    }
    if decision.reason is not None:
        always["reason"] = decision.reason
    if decision.usage.input_tokens is not None:
        always["input_tokens"] = decision.usage.input_tokens
    if decision.unreadable:
        always["unreadable"] = decision.unreadable
    return always | {"dropped_hashes": [well_formed(hash_)[:_HASH_CHARS] for hash_ in decision.dropped]}


def gated_line(decision: GateDecision, *, read_tool: str | None = None) -> str | None:
    """Return what the gate did as a line of text for a model; None when it was off or the page empty.

    Args:
        decision: the gate's.
        read_tool: the name of the host's tool that reads an entry back by its hash.

    Returns:
        One line, and a second one that names what was dropped, if anything was.
    """
    if not decision.active or not decision.verdicts:
        return None
    line = f"gated: {_fields(_head(decision) | _counts(decision))}"
    if decision.reason is not None:
        line += f" {'DEGRADED' if decision.degraded else 'NOTE'}({decision.reason})"
    if decision.dropped:
        names = ", ".join(_short(hash_) for hash_ in decision.dropped)
        line += f"\ndropped: {names}" + (f" (read one back with {read_tool})" if read_tool else "")
    return line


def log_line(decision: GateDecision) -> str:
    """Return the decision as one line of ``key=value`` for logs, with every verdict: what a threshold is tuned from.

    An off gate reads ``gate OFF …``, a page that could not be judged ``gate DEGRADED …``. Text with spaces is quoted
    as in JSON. The line belongs into ``logging``, not into a model's context.
    """
    state = " DEGRADED" if decision.degraded else "" if decision.active else " OFF"
    fields: dict[str, object] = _head(decision) | {"candidates": len(decision.verdicts)} | _counts(decision)
    if decision.reason is not None:
        fields["reason"] = decision.reason
    if decision.usage.input_tokens is not None:
        fields["input_tokens"] = decision.usage.input_tokens
    verdicts = ",".join(
        f"{_short(verdict.hash)}:{'na' if verdict.value is None else verdict.value}:"
        f"{'keep' if verdict.keep else 'drop'}"
        for verdict in decision.verdicts
    )
    return f"gate{state} {_fields(fields)} verdicts={verdicts}"


def _head(decision: GateDecision) -> dict[str, object]:
    return {"mode": decision.mode, "model": decision.model}


def _counts(decision: GateDecision) -> dict[str, object]:
    """The counts in their order; those that are usually 0 only when they are not."""
    counts = {
        "judged": decision.judged,
        "untouched": decision.untouched,
        "unreadable": decision.unreadable,
        "kept": len(decision.kept),
        "dropped": len(decision.dropped),
    }
    return {name: count for name, count in counts.items() if count or name not in {"untouched", "unreadable"}}


def _fields(fields: Mapping[str, object]) -> str:
    return " ".join(f"{name}={_quoted(str(value))}" for name, value in fields.items())


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[!#-<>-~]+", text) else json.dumps(text)


def _short(hash_: str) -> str:
    """The first characters of a hash, with what would break a line or a list of verdicts shown as U+FFFD."""
    return "".join(
        c if c.isprintable() and c not in " ,:" else "\N{REPLACEMENT CHARACTER}" for c in hash_[:_HASH_CHARS]
    )
