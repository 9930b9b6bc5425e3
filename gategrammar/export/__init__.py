"""Grammars for constrained decoding, and what to tell a model, derived from the same grammar that judges its answer."""

from gategrammar.export.formats import DEFAULT_BOUND, FORMATS, export, grammar_version, notes
from gategrammar.export.language import ExportError
from gategrammar.export.prompt import instructions, prefix, retry_text, stop_strings

__all__ = [
    "DEFAULT_BOUND",
    "FORMATS",
    "ExportError",
    "export",
    "grammar_version",
    "instructions",
    "notes",
    "prefix",
    "retry_text",
    "stop_strings",
]
