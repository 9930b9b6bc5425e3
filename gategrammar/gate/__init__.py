"""The recall gate: a page of memories, narrowed by a decision model and never by accident (see docs/gate.md)."""

from gategrammar.gate.answers import Answers, Refused, Usage, read_answers
from gategrammar.gate.client import AsyncRecallGate, RecallGate
from gategrammar.gate.decision import GateDecision, Verdict, decide
from gategrammar.gate.host import (
    GATED_BLOCK_SCHEMA,
    TOOL_NOTE,
    current_task,
    gated_block,
    gated_line,
    log_line,
    narrow,
)
from gategrammar.gate.local import LocalSystemOne
from gategrammar.gate.questions import Candidate, build_request
from gategrammar.gate.settings import CRITERIA, LEVELS, QUESTION, GateSettings

__all__ = [
    "CRITERIA",
    "GATED_BLOCK_SCHEMA",
    "LEVELS",
    "QUESTION",
    "TOOL_NOTE",
    "Answers",
    "AsyncRecallGate",
    "Candidate",
    "GateDecision",
    "GateSettings",
    "LocalSystemOne",
    "RecallGate",
    "Refused",
    "Usage",
    "Verdict",
    "build_request",
    "current_task",
    "decide",
    "gated_block",
    "gated_line",
    "log_line",
    "narrow",
    "read_answers",
]
