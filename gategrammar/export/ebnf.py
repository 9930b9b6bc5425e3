"""The EBNF of the W3C, as in the XML specification: for people, and for the spec.

It cannot count, so it can say the parse profile only.
"""

import re

from gategrammar.export.language import Chars, ExportError, Rule, subtract
from gategrammar.export.notation import Notation, definitions, ranges


def ebnf(root: Rule) -> str:
    """Return the productions for *root*, aligned.

    Raises:
        ExportError: there is a bound.
    """
    rules = definitions(root, _NOTATION)
    width = max(map(len, rules))
    return "".join(f"{name:{width}} ::= {text}\n" for name, text in rules.items())


def quoted(text: str) -> str:
    """Return a literal: the notation has two quotation marks and no escapes, so a text with both is cut."""
    parts = [f"'{part}'" if '"' in part else f'"{part}"' for part in re.split('("+)', text) if part]
    return parts[0] if len(parts) == 1 else f"({' '.join(parts)})"


def chars(node: Chars) -> str:
    """Return a set of characters, each by its code point."""
    if not node.members:
        return "[#x0-#x10FFFF]"
    inside = "".join(f"#x{ord(a):X}" if a == b else f"#x{ord(a):X}-#x{ord(b):X}" for a, b in ranges(node.members))
    return f"[{'^' if node.negated else ''}{inside}]"


def _cannot_count(least: int, most: int | None) -> str:
    raise ExportError(f"this notation cannot say {least} to {most} times; it has the parse profile only")


_NOTATION = Notation(text=quoted, chars=chars, words=subtract, counted=_cannot_count, minus=" - ")
