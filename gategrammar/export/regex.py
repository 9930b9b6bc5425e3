"""The regular expression: one line, no look-around, no back references, no flags.

It is meant for a full match, which is what constrained decoding asks of it; in Python that is ``re.fullmatch``. Written
for the common part of Python's ``re``, Rust's ``regex`` and what stands on it (llguidance, outlines-core).
"""

from gategrammar.export.language import Chars, Rule
from gategrammar.export.notation import Notation, by_code, inline, ranges
from gategrammar.export.trie import expand

#: Everything that means something in one of the dialects, inside or outside of brackets.
_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~")


def regex(root: Rule) -> str:
    """Return the expression for *root*."""
    return inline(
        root,
        Notation(
            text=lambda text: "".join(map(escape, text)),
            chars=chars,
            words=expand,
            empty="(?:)",
            gap="",
            bar="|",
            brackets=("(?:", ")"),
        ),
    )


def escape(character: str) -> str:
    """Return one character as it is written inside and outside of brackets."""
    if character in _SPECIAL:
        return "\\" + character
    if character == "\n":
        return r"\n"
    return character if character.isascii() and character.isprintable() else by_code(character)


def chars(node: Chars) -> str:
    """Return a set of characters in brackets."""
    inside = "".join(escape(a) if a == b else f"{escape(a)}-{escape(b)}" for a, b in ranges(node.members))
    return f"[{'^' if node.negated else ''}{inside}]"
