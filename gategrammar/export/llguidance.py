"""The Lark dialect of llguidance, which OpenAI's custom tools share.

The whole response is one terminal: llguidance's lexer is greedy, so rules that split free text over several terminals
refuse good text. Without a bound, text without tags is said by subtraction; with one, that runs into the engine's
limits while it generates, so the bounded form is the trie's. Tags are always quoted: a bare one means a special token.
"""

import json

from gategrammar.export.language import Chars, Rule, subtract
from gategrammar.export.notation import Notation, definitions
from gategrammar.export.regex import chars
from gategrammar.export.trie import expand

_NOTATION = Notation(
    text=json.dumps,
    chars=lambda node: f"/{_any(node)}/",
    words=lambda words: subtract(words) if words.most is None else expand(words),
    minus=" & ~",
    name=str.upper,
)


def llguidance(root: Rule) -> str:
    """Return the grammar for *root*: one rule, and terminals."""
    rules = definitions(root, _NOTATION)
    return f"start: {next(iter(rules))}\n" + "".join(f"{name}: {text}\n" for name, text in rules.items())


def _any(node: Chars) -> str:
    return chars(node).replace("/", r"\/") if node.members else "(?s:.)"
