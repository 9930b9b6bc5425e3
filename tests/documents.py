"""Many texts near the language, made fast and from a seed: where Hypothesis would take minutes, and nothing shrinks."""

import random
from collections.abc import Iterator

from cases import handed, recorded
from gategrammar.response._tables import ACCEPTING, ELEMENTS, MEANING, MOVES, STAGES, STARTS

TAGS = [tag.text for element in ELEMENTS for tag in (element.opening, element.closing)]
ODD = [
    "",
    " ",
    "\n",
    "\r\n",
    "\u00a0",
    "\u3000\n",
    "\x1c",
    "à",
    "x",
    "<",
    "</",
    "<chec",
    "<Check>",
    "maybe",
    "ye",
    "yes no",
    "\ud800",
    "\0",
]
LIKELY = 0.97
PIECES = [*TAGS, *TAGS, *MEANING, *ODD]


def mutations(count: int, seed: int) -> Iterator[str]:
    """Yield handed and recorded texts with up to three edits; some stay valid."""
    chance = random.Random(seed)
    corpus = [case.text for case in (*handed(), *recorded())]
    for _ in range(count):
        text = chance.choice(corpus)
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            start = chance.randrange(len(text) + 1)
            end = min(len(text), start + chance.choice([0, 0, 1, 3, 8, 20]))
            text = text[:start] + chance.choice(PIECES) + text[end:]
        yield text


def walks(count: int, seed: int) -> Iterator[str]:
    """Yield walks of the automaton, with text between the tags; half reach the end, the others leave the path."""
    chance = random.Random(seed)
    for _ in range(count):
        state, text = chance.choice(list(STARTS.values())), chance.choice(ODD)
        for _ in range(24):
            if state in ACCEPTING and chance.random() < LIKELY:
                break
            values = [text for text in MOVES[state] if text in MEANING]
            if values and chance.random() < LIKELY:
                value = chance.choice(values)
                text += chance.choice(["", " ", "\n"]) + value + chance.choice(["", "\u3000"])
                state = MOVES[state][value]
            elif not STAGES[state].inside and chance.random() < LIKELY:
                text += chance.choice(["", "\n"])
            else:
                text += "".join(chance.choices([*ODD, *MEANING], k=chance.randrange(3)))
            tag = chance.choice(list(MOVES[state]) if MOVES[state] and chance.random() < LIKELY else TAGS)
            text += tag
            state = MOVES[state].get(tag, state)
        yield text
