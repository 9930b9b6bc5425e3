"""A response judged while it is being generated (SPEC §10).

Theory of operation. What has arrived is settled up to the point from which it may be the beginning of a tag: at most
eight characters wait. Settled text and settled tags go through the automaton of ``_tables.py``, which knows nothing of
pieces; so the verdict cannot depend on where the text was split. Only what the result needs is kept.
"""

from typing import NoReturn

from gategrammar.response._tables import ACCEPTING, ELEMENTS, ERRORS, MEANING, MOVES, STAGES, STARTS
from gategrammar.response.errors import RAW, GateParseError, Place, failure, shorten
from gategrammar.response.grammar import (
    END_OF_INPUT,
    FORBID,
    IGNORE,
    OUTSIDE,
    PREFILLED,
    REQUIRED,
    TEXT,
    OutsideText,
    Think,
    check_modes,
)
from gategrammar.response.result import GateResponse, Span, Spans, build
from gategrammar.response.tags import ANY_TAG, CLOSINGS, OPENINGS, TAGS
from gategrammar.response.text import WHITE_SPACE, check_text, may_grow, skip_space, trim, unsettled

#: How many pieces of a content are put together at a time.
_PIECES = 512
#: The elements in their order; the result has a field for each.
_THINK, _CHECK, _UPDATE, _NEXT = range(len(ELEMENTS))


class ResponseStream:
    """Reads one gate response in pieces of any size, split anywhere; the verdict is that of the whole text.

    It raises as early as the text settles the verdict, so generation can be stopped at the first hopeless character,
    and at the last closing tag, when :attr:`complete` turns True. An error has the kind, tag and offset that
    :func:`parse` gives; ``found``, ``value``, ``raw`` and ``hint`` describe what had arrived (SPEC §10).

    Args:
        think: as for :func:`parse`.
        outside_text: as for :func:`parse`.

    Raises:
        ValueError: unknown mode.
    """

    def __init__(self, *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE) -> None:
        check_modes(think, outside_text)
        self._forbid = outside_text == FORBID
        self._state = STARTS[think]
        self._offset = 0
        self._place = Place()
        self._waiting = ""
        self._arrived = _Excerpt()
        self._content = _Content(_THINK if think == PREFILLED else None)
        self._texts: dict[int, str] = {_THINK: ""}  # which it stays where think is absent
        self._spans: dict[int, Span] = {}
        self._verdict: GateResponse | GateParseError | None = None

    @property
    def stage(self) -> str:
        """The name of the element that is open or expected, then "done"."""
        element = STAGES[self._state].element
        return ELEMENTS[element].name if element < len(ELEMENTS) else "done"

    @property
    def complete(self) -> bool:
        """Whether what has arrived is a response, so that only text outside the elements may follow."""
        return self._state in ACCEPTING and not isinstance(self._verdict, GateParseError)

    @property
    def update_gate(self) -> bool | None:
        """The update gate as soon as its closing tag has arrived, else None."""
        return self._gate(_CHECK)

    @property
    def exit_gate(self) -> bool | None:
        """The exit gate as soon as its closing tag has arrived, else None."""
        return self._gate(_NEXT)

    def _gate(self, number: int) -> bool | None:
        return MEANING[self._texts[number]] if number in self._texts else None

    def feed(self, piece: str) -> None:
        """Take the next piece of the text.

        Raises:
            GateParseError: the text so far cannot become a response; every later call raises the same error.
            RuntimeError: the stream is closed.
            TypeError: *piece* is no str.
        """
        self._raise_again()
        check_text(piece)
        if self._verdict is not None:
            raise RuntimeError("this stream is closed; a new response needs a new ResponseStream")
        self._arrived.add(piece)
        text = self._waiting + piece
        position = 0
        for tag in ANY_TAG.finditer(text):
            self._take_text(text[position : tag.start()])
            self._take_tag(tag.group())
            position = tag.end()
        end = unsettled(text, position, TAGS)
        self._take_text(text[position:end])
        self._waiting = text[end:]

    def close(self) -> GateResponse:
        """Say that the text has ended, and return the response; a second call returns it again.

        Raises:
            GateParseError: the text is no response.
        """
        self._raise_again()
        if self._verdict is None:
            self._take_text(self._waiting, last=True)
            if self._state not in ACCEPTING:
                self._refuse(END_OF_INPUT)
            texts, spans = self._texts, self._spans
            self._verdict = build(
                texts[_THINK],
                MEANING[texts[_CHECK]],
                texts[_UPDATE],
                MEANING[texts[_NEXT]],
                Spans(spans.get(_THINK), spans[_CHECK], spans[_UPDATE], spans[_NEXT]),
            )
        return self._verdict  # type: ignore[return-value] # an error was raised again above

    def _take_text(self, text: str, *, last: bool = False) -> None:
        """Take settled text that holds no tag; *last*: it may be the beginning of one, and the input ends behind it."""
        number, inside = STAGES[self._state]
        content = self._content
        if inside and (values := ELEMENTS[number].values) is not None:
            settled, rest = ("", text) if last else (text, "")
            content.grow(settled)
            if not may_grow(content.value, values, ELEMENTS[number].closing.text, rest):
                self._refuse_value(content.value + rest)
        elif not inside and self._forbid and (stray := skip_space(text, 0, len(text))) < len(text):
            self._pass(text[:stray])
            self._refuse(OUTSIDE, seen=text[stray:])
        elif content.number is not None and text:
            content.add(text)
        self._pass(text)

    def _take_tag(self, tag: str) -> None:
        """Take a settled tag."""
        number, inside = STAGES[self._state]
        if inside and (values := ELEMENTS[number].values) is not None:
            value = self._content.value.rstrip(WHITE_SPACE)
            if value not in values:
                self._refuse_value(value, found=tag)
            self._state = MOVES[self._state][value]
        if tag not in MOVES[self._state]:
            self._refuse(tag, found=tag)
        self._state = MOVES[self._state][tag]
        self._pass(tag)
        if tag in CLOSINGS:
            self._content.close()
            if ELEMENTS[CLOSINGS[tag]].repeats:
                self._content.add(tag)
            else:
                self._finish()
            return
        opened = OPENINGS[tag]
        if self._content.number not in (opened, None):
            self._finish()
        if self._content.number is None:
            self._content = _Content(opened, self._offset, self._place)
        else:
            self._content.add(tag)

    def _finish(self) -> None:
        """Store the content that is complete."""
        number = self._content.number
        if number is not None:
            self._texts[number], self._spans[number] = self._content.trimmed()
        self._content = _Content()

    def _pass(self, text: str) -> None:
        self._offset += len(text)
        self._place = self._place.after(text, len(text))

    def _refuse(self, token: str, *, found: str | None = None, seen: str | None = None) -> NoReturn:
        """Raise what the automaton says of *token* here, and keep it."""
        self._fail(token, self._offset, self._place, found=found, seen=seen)

    def _refuse_value(self, value: str, *, found: str | None = None) -> NoReturn:
        """Raise that the open content is no value of its element."""
        self._fail(TEXT, self._content.offset, self._content.place, found=found, seen=value.strip(WHITE_SPACE))

    def _fail(self, token: str, offset: int, place: Place, *, found: str | None, seen: str | None) -> NoReturn:
        kind, failed = ERRORS[self._state][token]
        self._verdict = failure(
            ELEMENTS,
            ANY_TAG,
            STAGES[self._state],
            kind,
            failed,
            offset=offset,
            place=place,
            found=found,
            seen=seen,
            text=self._arrived.raw(),
        )
        raise self._verdict

    def _raise_again(self) -> None:
        if isinstance(self._verdict, GateParseError):
            raise self._verdict.with_traceback(None)


class _Content:
    """What has arrived of the element that is open; without a number, nothing is collected.

    Attributes:
        number: which element it is.
        offset: where the content begins.
        place: that place for people.
        value: if it has to be a value, its text: no white space before it, and one character for all behind it.
    """

    def __init__(self, number: int | None = None, offset: int = 0, place: Place | None = None) -> None:
        self.number = number
        self.offset = offset
        self.place = place or Place()
        self.value = ""
        self._skipped = 0
        self._length = 0
        self._closed = 0
        self._chunks: list[str] = []
        self._pieces: list[str] = []

    def add(self, text: str) -> None:
        """Take more of a free text; small pieces are put together, since each costs as much as fifty characters."""
        self._pieces.append(text)
        self._length += len(text)
        if len(self._pieces) == _PIECES:
            self._chunks.append("".join(self._pieces))
            self._pieces.clear()

    def grow(self, text: str) -> None:
        """Take more of a value; its length stays that of the longest value, however much white space comes."""
        text = self.value + text
        begun = text.lstrip(WHITE_SPACE)
        self._skipped += len(text) - len(begun)
        self.value = begun.rstrip(WHITE_SPACE)
        if self.value != begun:
            self.value += begun[len(self.value)]

    def close(self) -> None:
        """Note that the content ends here, unless the element is opened again."""
        self._closed = self._length

    def trimmed(self) -> tuple[str, Span]:
        """Return the content up to where it was closed last, and its span."""
        if self.value:
            value = self.value.rstrip(WHITE_SPACE)
            start = self.offset + self._skipped
            return value, (start, start + len(value))
        text = "".join((*self._chunks, *self._pieces))
        start, end = trim(text, 0, self._closed)
        return text[start:end], (self.offset + start, self.offset + end)


class _Excerpt:
    """The first and the last of what has arrived: what an error shows of it."""

    def __init__(self) -> None:
        self._length = 0
        self._head = ""
        self._last = ""

    def add(self, text: str) -> None:
        self._length += len(text)
        self._head += text[: RAW - len(self._head)]
        self._last = (self._last + text[-RAW:])[-RAW:]

    def raw(self) -> str:
        return shorten(self._head, self._last, self._length)
