"""What semantics §1 and §2.2 say about characters: white space, trimming, values that may still grow."""

import re
from collections.abc import Iterable

#: The 25 characters with the Unicode property White_Space (semantics 1.3). ``str.strip()`` without an argument
#: would also take U+001C..U+001F, which are content.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_space_run = re.compile(f"[{WHITE_SPACE}]*")


def skip_space(text: str, start: int, end: int) -> int:
    """Return the offset of the first character of ``text[start:end]`` that is not white space, or *end*."""
    run = _space_run.match(text, start, end)
    return run.end() if run else start


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of ``text[start:end]`` without white space at both ends; nothing is copied."""
    start = skip_space(text, start, end)
    while end > start and text[end - 1] in WHITE_SPACE:
        end -= 1
    return start, end


def may_grow(text: str, values: Iterable[str], closing: str, rest: str = "") -> bool:
    """Tell whether *text* and then *rest* can be the beginning of an allowed value and its closing tag.

    Args:
        text: what follows the opening tag, white space included.
        values: the allowed values.
        closing: the tag that ends them.
        rest: what follows *text* and may be the beginning of a tag (semantics 2.2, 6).
    """
    begun = text.lstrip(WHITE_SPACE)
    value = begun.rstrip(WHITE_SPACE)
    if rest or value != begun:
        return value in values and closing.startswith(rest)
    return any(allowed.startswith(value) for allowed in values)


def tag_prefix(tags: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds, at the end of a text, what may be the beginning of one of *tags*."""
    beginnings = sorted({tag[:length] for tag in tags for length in range(1, len(tag))}, key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, beginnings))})\\Z")
