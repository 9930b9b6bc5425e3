"""What may have happened, for people: hints are guesses, and never part of a verdict (SPEC §9.6)."""

import re
from functools import cache

from gategrammar.response.grammar import ABSENT, PREFILLED, REQUIRED, Element
from gategrammar.response.text import WHITE_SPACE

#: What people and models write in place of "<", "/", ">"; a look-alike is searched within a short distance only.
_LIKE_OPEN, _LIKE_SLASH, _LIKE_CLOSE = "(?:<|＜|&lt;)", "[/／\\\\]", "(?:>|＞|&gt;)"
#: What stands between the values in a template that was copied.
_BETWEEN = r"[\s|/,]|\bor\b|\band\b"
#: What may stand within a look-alike: white space, and characters of no width that nobody sees.
_UNSEEN = "\\u200b-\\u200d\\u2060\\ufeff"
_GAP = rf"[\s{_UNSEEN}]{{0,4}}"
_MARKS = "`\"'*_“”‘’「」.,:;!()[]{}"


def hint(
    kind: str,
    element: Element,
    *,
    leading: bool,
    following: int | None,
    found: str | None,
    value: str | None,
    text: str,
) -> str | None:
    """Return a hint for an error, or None.

    Args:
        kind: what failed.
        element: the element that failed.
        leading: whether that is the leading element, which a server may deliver elsewhere.
        following: the number of the element that is open or expected; None after the last.
        found: the tag seen.
        value: the wrong value.
        text: what has arrived of the response.
    """
    if kind == "bad_value":
        return _value_hint(element, value or "") or _near_miss(element, value or "", closing=True)
    near = None if kind == "duplicate" else _near_miss(element, text, closing=kind == "unclosed")
    return near or (_leading_hint(kind, element, following, found) if leading else None)


def _leading_hint(kind: str, element: Element, following: int | None, found: str | None) -> str | None:
    """The leading element is the one that arrives in several ways (SPEC §7)."""
    prefilled = f'if the prompt already ends with {element.opening.text}, read it with think="{PREFILLED}"'
    if kind == "unopened":
        return prefilled
    if kind == "missing" and found is not None:
        return f'{prefilled}; if the server delivers the reasoning in another field, with think="{ABSENT}"'
    if kind == "duplicate" and found == element.opening.text and following is None:
        return "a second response follows the first"
    if kind == "duplicate" and found == element.opening.text and following == 1:
        return f'if the text holds its own {element.name}, read it with think="{REQUIRED}"'
    return None


def _value_hint(element: Element, value: str) -> str | None:
    allowed = list(element.values or ())
    bare = value.strip(_MARKS + WHITE_SPACE)
    if sorted(filter(None, re.split(_BETWEEN, bare))) == sorted(allowed):
        return "the prompt's template was copied instead of filled in"
    if bare != value and bare.lower() in allowed:
        return f"the value stands alone, without quotes, marks or punctuation: {bare.lower()}"
    if value.lower() in allowed:
        return f"values are lower case: {value.lower()}"
    return None


def _near_miss(element: Element, text: str, *, closing: bool) -> str | None:
    """Find what looks like the tag that is not there."""
    exact = (element.closing if closing else element.opening).text
    for near in _like(element.name, closing=closing).finditer(text):
        if near.group() != exact:
            return f"{repr(near.group())[1:-1]} is no tag, it has to be spelled {exact}"
    return None


@cache
def _like(name: str, *, closing: bool) -> re.Pattern[str]:
    """Return a pattern for what looks like a tag of that name, the tag itself included."""
    slash = f"{_GAP}{_LIKE_SLASH}" if closing else ""
    spelled = f"[{_UNSEEN}]?".join(map(re.escape, name))
    return re.compile(rf"{_LIKE_OPEN}{slash}{_GAP}{spelled}(?:\s[^<>]{{0,40}}|{_GAP}/?){_LIKE_CLOSE}", re.IGNORECASE)
