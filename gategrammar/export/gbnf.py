"""The notation of llama.cpp (GBNF), which xgrammar's EBNF shares.

Only what both read is written: rule names of letters, digits and ``-``; sets of characters; ``{m,n}``.

Both unfold a count into as many rules, and llama.cpp refuses more than 2,000, so a bound is counted in blocks. What is
left over is as long as a block at least, so that every number is reached; each can be split in two ways at most, which
keeps the number of open readings small.
"""

from functools import partial
from math import isqrt

from gategrammar.export.language import Chars, Node, Rule, join, repeat
from gategrammar.export.notation import Notation, by_code, definitions, ranges
from gategrammar.export.trie import expand

#: What the start rule has to be called.
ROOT = "root"


def gbnf(root: Rule) -> str:
    """Return the rules for *root*, one a line."""
    notation = Notation(
        text=lambda text: f'"{"".join(escape(character, QUOTED) for character in text)}"',
        chars=chars,
        words=partial(expand, up_to=in_blocks),
        name=lambda name: name.replace("_", "-"),
    )
    rules = definitions(Rule(ROOT, root.node), notation)
    return "".join(f"{name} ::= {text}\n" for name, text in rules.items())


def in_blocks(item: Node, most: int) -> Node:
    """Return *item* at most *most* times, counted in blocks of about the square root of that."""
    size = isqrt(most)
    blocks = (most - size + 1) // size if size > 1 else 0
    block = Rule("block", repeat(item, size, size))
    return join(repeat(block, 0, blocks), repeat(item, 0, most - blocks * size))


QUOTED, BRACKETED = '"\\', '[]\\^-"'


def escape(character: str, special: str) -> str:
    """Return one character as it is written where *special* ones mean something."""
    if character == "\n":
        return r"\n"
    bare = character.isascii() and character.isprintable() and character not in special
    return character if bare else by_code(character)


def chars(node: Chars) -> str:
    """Return a set of characters in brackets."""
    inside = "".join(
        escape(a, BRACKETED) if a == b else f"{escape(a, BRACKETED)}-{escape(b, BRACKETED)}"
        for a, b in ranges(node.members)
    )
    return f"[{'^' if node.negated else ''}{inside}]"
