"""A judge without a model: how much of their wording a task and a memory share.

Words are cut to a crude stem and weighted by how telling they look; runs of Chinese, Japanese and Korean characters
are taken as overlapping pairs of characters. Nothing is learnt, downloaded or random. It knows no meaning: a memory
that says the same in other words is missed. It is there so that the gate runs, and can be tried, with no server.
"""

import math
import re
import unicodedata
from typing import Final, TypeAlias

#: The terms of a text, with their weights.
Terms: TypeAlias = dict[str, float]

_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_RUN: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SUFFIX: Final = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")
_STEM_CHARS: Final = 6

#: Words that tell nothing about a subject.
_STOP_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """a about after again all also am an and any are as at be because been before being but by can
        could did do does done down for from get give had has have he her him his how i if in into is it its
        just let make me more most my need no not now of off on only or other our out over own please same
        she should so some such than that the their them then there these they this those through to too
        under until up us use used uses using very was we were what when where which while who why will with
        would you your""",
    )
)
#: Characters that tell nothing about a subject: particles, pronouns, auxiliaries.
_STOP_CHARACTERS: Final = frozenset(
    "的了是在和与或就都也很把被给让会要能这那我你他她它们个上下里吗呢吧啊请么不没有对从到为以及其并而等"
)

# A pair of texts that share this much is as likely as not about the same; found on fixtures/recall.
_MIDPOINT: Final = 0.12
_STEEPNESS: Final = 20.0


def relevance(left: Terms, right: Terms) -> float:
    """Return how likely two texts are about the same subject, from 0 to 1, judged by the terms that they share."""
    return squash(_overlap(left, right), _MIDPOINT, _STEEPNESS)


def squash(similarity: float, midpoint: float, steepness: float) -> float:
    """Map a similarity to a probability: 0.5 at *midpoint*, along a logistic curve.

    Rounded, so that it is the same on every platform.
    """
    return round(1 / (1 + math.exp(-steepness * (similarity - midpoint))), 6)


def terms(text: str) -> Terms:
    """Return the terms of *text* with their weights."""
    found: Terms = {}
    for run in _RUN.findall(_HUMP.sub(" ", unicodedata.normalize("NFKC", text))):
        if re.match(f"[{_CJK}]", run):
            found.update(_character_pairs(run))
        elif run.casefold() not in _STOP_WORDS:
            stem = _stem(run.casefold())
            found[stem] = 1.0 + (len(run) > _STEM_CHARS) / 2 + any(map(str.isdigit, run)) / 2
    return found


def _stem(word: str) -> str:
    stem = _SUFFIX.sub("", word.removesuffix("ies") + "y" if word.endswith("ies") else word)
    if len(stem) > len("all") and stem[-1] == stem[-2]:  # running, run
        stem = stem[:-1]
    return stem[:_STEM_CHARS]


def _character_pairs(run: str) -> Terms:
    pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return {pair: 1.0 for pair in pairs if not _STOP_CHARACTERS & set(pair)}


def _overlap(left: Terms, right: Terms) -> float:
    shared = sum(left[term] * right[term] for term in left.keys() & right.keys())
    lengths = math.sqrt(sum(w * w for w in left.values()) * sum(w * w for w in right.values()))
    return shared / lengths if lengths else 0.0
