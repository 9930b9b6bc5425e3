"""What SPEC §2 and §5 say about characters: white space, trimming, values that may still grow."""

import re
from collections.abc import Iterable

#: The 25 characters with the Unicode property White_Space (SPEC §2.3). ``str.strip()`` without an argument
#: would also take U+001C..U+001F, which are content.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_no_space = re.compile(f"[^{WHITE_SPACE}]")


def check_text(text: object) -> None:
    """Refuse what is no text (SPEC §2.1).

    Raises:
        TypeError: it names the type.
    """
    if not isinstance(text, str):
        raise TypeError(f"a response is a str, not {type(text).__name__}")


def skip_space(text: str, start: int, end: int) -> int:
    """Return the offset of the first character of ``text[start:end]`` that is not white space, or *end*."""
    found = _no_space.search(text, start, end)
    return found.start() if found else end


def skip_space_back(text: str, start: int, end: int) -> int:
    """Return the offset behind the last character of ``text[start:end]`` that is not white space, or *start*."""
    while end > start and text[end - 1] in WHITE_SPACE:
        end -= 1
    return end


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of ``text[start:end]`` without white space at both ends; nothing is copied."""
    start = skip_space(text, start, end)
    return start, skip_space_back(text, start, end)


def may_grow(text: str, values: Iterable[str], closing: str, rest: str) -> bool:
    """Tell whether *text* and then *rest* can be the beginning of an allowed value and its closing tag.

    Args:
        text: what follows the opening tag, white space included.
        values: the allowed values.
        closing: the tag that ends them.
        rest: what follows *text* and may be the beginning of a tag (SPEC §5.2, §10).
    """
    begun = text.lstrip(WHITE_SPACE)
    value = begun.rstrip(WHITE_SPACE)
    if rest or value != begun:
        return value in values and closing.startswith(rest)
    return any(allowed.startswith(value) for allowed in values)


def unsettled(text: str, start: int, tags: Iterable[str]) -> int:
    """Return the offset from which the end of ``text[start:]`` may be the beginning of one of *tags*, or its length.

    No tag holds a second "<", so only the last one can begin it.
    """
    last = text.rfind("<", start)
    return last if last >= 0 and any(tag.startswith(text[last:]) for tag in tags) else len(text)
