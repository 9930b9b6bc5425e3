"""The error: which tag failed, how, and where (SPEC §9)."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

from gategrammar.response.grammar import Element, Stage
from gategrammar.response.hints import hint

#: How much of a wrong text a message shows, and of the response ``raw`` keeps, in code points.
_SHOWN, RAW = 60, 200
#: How far from the start of the text and from the fault a hint is looked for, in code points.
_NEAR = 10_000
_CUT = " … "
_FIELDS = ("tag", "offset", "line", "column", "found", "value", "raw", "hint")


class GateParseError(ValueError):
    """A text is no gate response; one subclass per kind.

    Attributes:
        kind: ``missing``, ``unclosed``, ``unopened``, ``duplicate``, ``bad_value`` or ``stray_text``.
        tag: the name of the element that failed.
        offset: where, in code points: the tag that could not be consumed, the end of the input, the first character
            after the opening tag (``bad_value``) or of the stray text.
        line: 1-based; LF, CRLF and CR each end one line.
        column: 1-based, in code points.
        found: the tag seen; None at the end of the input and for ``stray_text``.
        value: for ``bad_value``, the trimmed text.
        raw: the response, at most 200 code points: head and tail, with a mark between them.
        hint: for people: what may have happened; None where nothing is known.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        what: str,
        *,
        tag: str,
        offset: int,
        line: int,
        column: int,
        found: str | None = None,
        value: str | None = None,
        raw: str = "",
        hint: str | None = None,
    ) -> None:
        """Store the fields; *what* is the message without hint and place."""
        super().__init__(what)
        self.tag = tag
        self.offset = offset
        self.line = line
        self.column = column
        self.found = found
        self.value = value
        self.raw = raw
        self.hint = hint

    @property
    def truncated(self) -> bool:
        """Whether the end of the input was seen where more text could have made the response valid."""
        return self.found is None and isinstance(self, (MissingTagError, UnclosedTagError))

    def with_hint(self, hint: str | None) -> Self:
        """Return the same error with another hint."""
        return type(self)(self.args[0], **{**self._fields(), "hint": hint})

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the message as plain JSON."""
        return {"kind": self.kind, **self._fields(), "truncated": self.truncated, "message": str(self)}

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __str__(self) -> str:
        """Return what failed, the hint, and the place, always last."""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.args[0]}{hint} (at line {self.line}, column {self.column})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the fields, since they are keyword arguments; notes and the like go along."""
        others = {name: value for name, value in self.__dict__.items() if name not in _FIELDS}
        return _restore, (type(self), self.args[0], self._fields()), others or None


class MissingTagError(GateParseError):
    """An element does not open where it has to."""

    kind = "missing"


class UnclosedTagError(GateParseError):
    """An element opens, and something else comes before its closing tag."""

    kind = "unclosed"


class UnopenedTagError(GateParseError):
    """A closing tag comes without its opening tag."""

    kind = "unopened"


class DuplicateTagError(GateParseError):
    """A tag of an element comes after that element is complete."""

    kind = "duplicate"


class BadValueError(GateParseError):
    """An element holds something else than one of its values."""

    kind = "bad_value"


class StrayTextError(GateParseError):
    """Text stands outside the elements where that is forbidden."""

    kind = "stray_text"


#: The class of each kind.
ERRORS: dict[str, type[GateParseError]] = {error.kind: error for error in GateParseError.__subclasses__()}


#: The kinds that are about a text, not about a tag.
WITH_TEXT = (BadValueError.kind, StrayTextError.kind)


def _restore(error: type[GateParseError], what: str, fields: dict[str, Any]) -> GateParseError:
    return error(what, **fields)


class Place(NamedTuple):
    """A place in a text for people: 1-based, in code points; LF, CRLF and CR each end one line (SPEC §9)."""

    line: int = 1
    column: int = 1
    after_return: bool = False

    def after(self, text: str, length: int) -> "Place":
        """Return the place behind the first *length* code points of *text*, which stands here."""
        if not length:
            return self
        breaks = text.count("\n", 0, length) + text.count("\r", 0, length) - text.count("\r\n", 0, length)
        breaks -= self.after_return and text[0] == "\n"
        last = max(text.rfind("\n", 0, length), text.rfind("\r", 0, length))
        column = self.column + length if last < 0 else length - last
        return Place(self.line + breaks, column, text[length - 1] == "\r")


def failure(
    elements: Sequence[Element],
    any_tag: re.Pattern[str],
    stage: Stage,
    kind: str,
    failed: int,
    *,
    offset: int,
    place: Place,
    found: str | None,
    seen: str | None,
    text: str,
) -> GateParseError:
    """Build an error: batch and stream say the same of the same fault.

    Args:
        elements: the elements of the response.
        any_tag: finds any of their tags.
        stage: where the parser was.
        kind: what failed.
        failed: the number of the element that failed.
        offset: where, in code points.
        place: line and column of *offset*.
        found: the next tag from there on.
        seen: the wrong value, or the stray text, where the kind is one of :data:`WITH_TEXT`.
        text: the response, or what is kept of it, for the hint and for ``raw``.
    """
    near = seen or text[: min(offset, _NEAR)] + text[max(offset - _NEAR, _NEAR) : offset]
    # What stands in an element that is complete is no near miss of this one.
    near = any_tag.split(near)[-1]
    element = elements[failed]
    # Of an element that is open the message names the closing tag anyway.
    expected = elements[stage.element].opening.text if stage.element < len(elements) else None
    if kind == StrayTextError.kind:
        found = None
    value = seen if kind == BadValueError.kind else None
    return ERRORS[kind](
        describe(kind, element, expected, found, seen or ""),
        tag=element.name,
        offset=offset,
        line=place.line,
        column=place.column,
        found=found,
        value=value,
        raw=shorten(text, text, len(text)),
        hint=hint(
            kind,
            element,
            leading=failed == 0,
            following=stage.element if expected else None,
            found=found,
            value=value,
            text=near,
        ),
    )


def describe(kind: str, element: Element, expected: str | None, found: str | None, seen: str) -> str:
    """Return the message of an error, without hint and place.

    Args:
        kind: what failed.
        element: the element that failed.
        expected: the tag that had to come; None for the end of the response.
        found: the tag that came instead; None for the end of the text.
        seen: the wrong value, or the stray text.
    """
    opening, closing = element.opening.text, element.closing.text
    wanted = expected or "the end of the response"
    came = found or "the end of the text"
    match kind:
        case "missing":
            return f"{opening} is missing: found {came}"
        case "unclosed":
            return f"{opening} is not closed: expected {closing}, found {came}"
        case "unopened":
            return f"{closing} has no {opening} before it: expected {wanted}"
        case "duplicate":
            return f"{element.name} is complete, but {came} follows: expected {wanted}"
        case "bad_value":
            allowed = " or ".join(map(quote, element.values or ()))
            return f"{opening} holds {quote(seen)}: expected {allowed}"
        case _:
            return f"text outside the elements, {quote(seen)}: expected {wanted}"


def quote(text: str) -> str:
    """Return *text* for a message: in quotes, short, and with every control character escaped."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def shorten(head: str, tail: str, length: int) -> str:
    """Return the ``raw`` field.

    Args:
        head: the first code points of the response, at least 200 if it has that many.
        tail: its last code points, ditto.
        length: how many it has in all.
    """
    if length <= RAW:
        return head
    half = (RAW - len(_CUT)) // 2
    return f"{head[:half]}{_CUT}{tail[-half:]}"
