"""Strict reading of decisions that language models write as text: exact or an error, never a guess."""

from gategrammar.messages import parse_message
from gategrammar.response.errors import (
    BadValueError,
    DuplicateTagError,
    GateParseError,
    MissingTagError,
    StrayTextError,
    UnclosedTagError,
    UnopenedTagError,
)
from gategrammar.response.parse import format_response, parse, try_parse
from gategrammar.response.result import GateResponse, Spans
from gategrammar.response.stream import ResponseStream
from gategrammar.reward import format_reward

__all__ = [
    "BadValueError",
    "DuplicateTagError",
    "GateParseError",
    "GateResponse",
    "MissingTagError",
    "ResponseStream",
    "Spans",
    "StrayTextError",
    "UnclosedTagError",
    "UnopenedTagError",
    "format_response",
    "format_reward",
    "parse",
    "parse_message",
    "try_parse",
]
