"""The attrs validators that the gate's data share: each refuses with a ValueError that names the field.

Each writes its message only when it refuses: a page has dozens of fields, and to show a number costs more than to check
it.
"""

import math
from collections.abc import Callable
from typing import Any

Validator = Callable[[Any, Any, Any], None]


#: Of a longer value the beginning is shown.
_LONGEST = 40


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of very many digits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def need(condition: bool, message: str) -> None:
    """Raise a ValueError with *message* unless the *condition* holds.

    Wrong types are ValueErrors here, too: settings come from a host's configuration file, where a wrong type is one
    more wrong value.
    """
    if not condition:
        raise ValueError(message)


def is_text(_: object, field: Any, value: Any) -> None:
    """Refuse what is no str."""
    if not isinstance(value, str):
        raise ValueError(f"{field.name} must be a str, not {type(value).__name__}")  # noqa: TRY004 - need() says why


def is_flag(_: object, field: Any, value: Any) -> None:
    """Refuse what is no bool."""
    if not isinstance(value, bool):
        raise ValueError(f"{field.name} must be True or False, not {type(value).__name__}")  # noqa: TRY004 - need() says why


def is_filled(_: object, field: Any, value: Any) -> None:
    """Refuse what is no str or a blank one."""
    is_text(_, field, value)
    if not value.strip():
        raise ValueError(f"{field.name} must not be blank")


def are_texts(_: object, field: Any, value: object) -> None:
    """Refuse what is no tuple of str."""
    texts = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    if not texts:
        raise ValueError(f"{field.name} must be a list or tuple of str")


def as_tuple(value: object) -> object:
    """Turn a list into a tuple; all else is left for :func:`are_texts` to refuse (a str is no list of its letters)."""
    return tuple(value) if isinstance(value, list) else value


def whole(least: int, most: int = 1 << 30) -> Validator:
    """Return a validator for ints from *least* to *most*; the default is beyond all that is sensible."""

    def check(_: object, field: Any, value: object) -> None:
        fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        if not fits:
            raise ValueError(f"{field.name} must be a whole number from {least} to {most}, not {_shown(value)}")

    return check


def is_count(_: object, field: Any, value: Any) -> None:
    """Refuse what is no int from 0 up; there is no upper limit, since a server may say what it likes."""
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not fits:
        raise ValueError(f"{field.name} must be a whole number from 0, not {_shown(value)}")


def are_values(_: object, field: Any, value: Any) -> None:
    """Refuse what is no tuple of finite floats and None."""
    fits = isinstance(value, tuple) and all(one is None or (type(one) is float and math.isfinite(one)) for one in value)
    if not fits:
        raise ValueError(f"{field.name} must be a tuple of finite floats and None")


def are(kind: type) -> Validator:
    """Return a validator for tuples of *kind*."""

    def check(_: object, field: Any, value: object) -> None:
        fits = isinstance(value, tuple) and all(isinstance(item, kind) for item in value)
        if not fits:
            raise ValueError(f"{field.name} must be a tuple of {kind.__name__}")

    return check


def is_value(_: object, field: Any, value: Any) -> None:
    """Refuse what is neither None nor a finite number."""
    if value is not None and not (type(value) is float and math.isfinite(value)):
        finite(_, field, value)


def finite(_: object, field: Any, value: Any) -> None:
    """Refuse what is no finite int or float; a bool is neither."""
    try:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an int that no float can hold
        fits = False
    if not fits:
        raise ValueError(f"{field.name} must be a finite number, not {_shown(value)}")
