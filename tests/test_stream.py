"""ResponseStream: the verdict of the whole text, as early as the text settles it (SPEC §10)."""

import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from cases import verdict_of
from gategrammar import GateParseError, ResponseStream, parse, try_parse
from gategrammar.response.grammar import OutsideText, Think
from oracle import oracle

VALID = "<think>a\nb</think>\n<check>yes</check>\n<update>m</update>\n<next>end</next>"
MODES = st.sampled_from(
    [(think, outside) for think in ("required", "prefilled", "absent") for outside in ("ignore", "forbid")]
)


def fails_at(text: str, **modes: str) -> int:
    """Return how many characters of *text* a stream takes before it raises, or its length."""
    stream = ResponseStream(**modes)  # type: ignore[arg-type] # the tests spell the modes as plain strings
    for count, character in enumerate(text):
        try:
            stream.feed(character)
        except GateParseError:
            return count
    return len(text)


def failure(stream: ResponseStream, pieces: Iterable[str]) -> GateParseError:
    """Feed *pieces*, close, and return the error that must come."""
    try:
        for piece in pieces:
            stream.feed(piece)
        stream.close()
    except GateParseError as error:
        return error
    raise AssertionError("the stream took it all")


@given(st.data(), MODES)
def test_every_split_gives_the_verdict_of_the_whole(data: st.DataObject, modes: tuple[Think, OutsideText]) -> None:
    """For any text, any split, any mode, result or kind, tag, offset, line and column are those of the oracle."""
    text = data.draw(st.one_of(strategies.mutations(*modes), strategies.walks(*modes), strategies.soups()))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    stream = ResponseStream(think=modes[0], outside_text=modes[1])
    expected = oracle(text, *modes)
    try:
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            stream.feed(text[start:end])
        got = verdict_of(stream.close())
    except GateParseError as error:
        got = verdict_of(error)
    for name in ("found", "value", "truncated"):  # what had arrived, no part of the parity
        for verdict in (got, expected):
            verdict.get("error", {}).pop(name, None)
    assert got == expected


@given(st.data(), MODES)
def test_it_raises_as_early_as_the_text_settles(data: st.DataObject, modes: tuple[Think, OutsideText]) -> None:
    """Where a stream raises, every continuation has the same error; one character earlier, some text goes on."""
    text = data.draw(st.one_of(strategies.mutations(*modes), strategies.walks(*modes)))
    think, outside_text = modes
    taken = fails_at(text, think=think, outside_text=outside_text)
    if taken < len(text):
        more = data.draw(strategies.free_text)
        error = oracle(text[: taken + 1] + more, *modes)["error"]
        assert error["offset"] <= taken
        before = oracle(text[:taken], *modes)
        assert (
            "error" not in before
            or before["error"]["truncated"]
            or before["error"]["kind"] in ("bad_value", "stray_text")
        )


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("<think>a</think><check>may", 23),
        ("<think>a</think><check>yes x", 27),
        ("<think>a</think><check>y</check>", 31),
        ("<think>a</think><check>ye s", 25),
        ("<think>a</think><check><update>", 30),
        ("<think>a</think><update>x", 23),
        ("</think>x", 7),
        ("<think>a</think><check>yes</check><update>m<chec</update><next>c</next>", 70),
    ],
)
def test_where_it_raises(text: str, taken: int) -> None:
    """A tag settles with its last character, a value with the first that cannot be one."""
    assert fails_at(text) == taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("Sure", 0),
        (" \n Sure", 3),
        ("<thinx", 5),
        ("<<think>", 1),
        ("<think>a</think> b", 17),
        ("<think>a</think> <b", 18),
    ],
)
def test_where_stray_text_raises(text: str, taken: int) -> None:
    """Text outside settles once it cannot be the beginning of a tag."""
    assert fails_at(text, outside_text="forbid") == taken


def test_stage_and_gates_as_they_settle() -> None:
    """The stage follows every tag, the gates appear with their closing tags, complete with the last one."""
    stream = ResponseStream()
    seen: list[tuple[object, ...]] = []
    for character in VALID:
        stream.feed(character)
        now = (stream.stage, stream.update_gate, stream.exit_gate, stream.complete)
        if not seen or seen[-1] != now:
            seen.append(now)
    assert seen == [
        ("think", None, None, False),
        ("check", None, None, False),
        ("update", True, None, False),
        ("next", True, None, False),
        ("done", True, True, True),
    ]
    assert stream.close() == try_parse(VALID)


@pytest.mark.parametrize(("think", "stage"), [("required", "think"), ("prefilled", "think"), ("absent", "check")])
def test_stage_at_the_start(think: Think, stage: str) -> None:
    """Before anything arrives the stage is the element that is open or expected."""
    stream = ResponseStream(think=think)
    assert (stream.stage, stream.update_gate, stream.exit_gate, stream.complete) == (stage, None, None, False)


@pytest.mark.parametrize(("think", "taken"), [("required", 0), ("prefilled", 7), ("absent", 18)])
def test_each_mode_to_the_end(think: Think, taken: int) -> None:
    """However think arrives, the result and its places are those of parse."""
    text = VALID[taken:]
    stream = ResponseStream(think=think)
    stream.feed(text)
    whole = parse(text, think=think)
    assert stream.close() == whole
    assert stream.close().spans == whole.spans


def test_reopened_think_is_the_stage_again() -> None:
    """While check is expected, think may open again: the stage says so."""
    stream = ResponseStream()
    stages = []
    for piece in ("<think>a</think>", "b<think>", "c</think>d</think>", "<check>"):
        stream.feed(piece)
        stages.append(stream.stage)
    assert stages == ["check", "think", "check", "check"]


def test_an_error_is_raised_again() -> None:
    """After an error every call raises that error, and the stream is not complete, even when it broke after the end."""
    stream = ResponseStream()
    with pytest.raises(GateParseError) as first:
        stream.feed(VALID + "<next>")
    for call in (lambda: stream.feed("x"), stream.close, lambda: stream.feed("")):
        with pytest.raises(GateParseError) as again:
            call()
        assert again.value is first.value
    assert not stream.complete


def test_a_closed_stream_takes_no_more() -> None:
    """After close a feed is a RuntimeError that says what to do; close gives the same result again."""
    stream = ResponseStream()
    stream.feed(VALID)
    assert stream.close() is stream.close()
    with pytest.raises(RuntimeError, match=r"^this stream is closed; a new response needs a new ResponseStream$"):
        stream.feed("")


@pytest.mark.parametrize("piece", [b"<think>", None, 7, ["<think>"]])
def test_a_piece_is_a_str(piece: object) -> None:
    """Anything else is a TypeError, and the stream goes on as if it had not come."""
    stream = ResponseStream()
    with pytest.raises(TypeError, match="a response is a str, not"):
        stream.feed(piece)  # type: ignore[arg-type] # the point of the test
    stream.feed(VALID)
    assert stream.close() == try_parse(VALID)


def test_unknown_modes_are_refused() -> None:
    """The modes are those of parse."""
    with pytest.raises(ValueError, match="think must be one of 'required', 'prefilled', 'absent', not 'no'"):
        ResponseStream(think="no")  # type: ignore[arg-type] # the point of the test
    with pytest.raises(ValueError, match="outside_text must be one of 'ignore', 'forbid', not None"):
        ResponseStream(outside_text=None)  # type: ignore[arg-type] # the point of the test


@pytest.mark.parametrize("unit", ["\r\n", "\r", "\n", "é\u2028"])
def test_places_do_not_depend_on_the_split(unit: str) -> None:
    """A line end split between two pieces is one line end."""
    text = f"<think>{unit * 3}</think>{unit}x{unit}<update>"
    whole = try_parse(text)
    error = failure(ResponseStream(), text)
    assert isinstance(whole, GateParseError)
    assert (error.line, error.column) == (whole.line, whole.column)


@pytest.mark.parametrize(
    "rest", ["y", "ye<", "yes", "yes <", "yes</chec", "no</next", "yes</chec ", "<", " ", "\x1c", "no \x1c"]
)
def test_a_value_at_the_end_of_the_input(rest: str) -> None:
    """When the text ends, what waited is part of the value or the beginning of its closing tag, as for parse."""
    text = "<think></think><check>" + rest
    whole = try_parse(text)
    assert isinstance(whole, GateParseError)
    assert failure(ResponseStream(), [text]).to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("text", "found", "value", "message"),
    [
        ("<think></think><check>ye</check>", "</check>", "ye", "<check> holds 'ye': expected 'yes' or 'no'"),
        ("<think></think><update>", "<update>", None, "<check> is missing: found <update>"),
        ("<think>a<check>", "<check>", None, "<think> is not closed: expected </think>, found <check>"),
        ("<think>", None, None, "<think> is not closed: expected </think>, found the end of the text"),
        ("<think></think>\n So", None, None, "text outside the elements, 'So': expected <check>"),
    ],
)
def test_what_an_error_says(text: str, found: str | None, value: str | None, message: str) -> None:
    """Where no more had arrived than the fault, the fields and the words are those of parse."""
    error = failure(ResponseStream(outside_text="forbid"), [text])
    assert (error.found, error.value) == (found, value)
    assert str(error).startswith(f"{message} (at line ")
    whole = try_parse(text, outside_text="forbid")
    assert isinstance(whole, GateParseError)
    assert error.to_dict() == whole.to_dict()


def test_what_had_arrived_is_shown() -> None:
    """An error in a long stream shows head and tail of what had arrived, in 200 code points."""
    raw = failure(ResponseStream(), ["<think>", *(f"{number} " for number in range(10_000)), "the end<update>"]).raw
    assert len(raw) <= 200
    assert raw.startswith("<think>0 1 2")
    assert raw.endswith("9999 the end<update>")


@pytest.mark.parametrize("length", [200, 201])
def test_what_had_arrived_is_cut_like_a_text(length: int) -> None:
    """What fits is kept whole; of more, head and tail are what parse would keep."""
    text = "".join(map(str, range(200)))[: length - 8] + "<update>"
    whole = try_parse(text)
    assert isinstance(whole, GateParseError)
    assert failure(ResponseStream(), text).raw == whole.raw
    assert (whole.raw == text) == (length == 200)


def test_small_pieces_are_put_together() -> None:
    """A content of many pieces is kept as few strings, and nothing of it is lost."""
    pieces = [f"{number} " for number in range(2_000)]
    stream = ResponseStream()
    stream.feed("<think></think><check>yes</check><update>")
    for piece in pieces:
        stream.feed(piece)
    assert len(stream._content._chunks) + len(stream._content._pieces) < 600
    stream.feed("</update><next>end</next>")
    assert stream.close().candidate == "".join(pieces).strip()


def test_memory_is_what_the_result_needs() -> None:
    """Text outside the elements is not kept, however long it is, nor is white space around a value."""
    stream = ResponseStream()
    stream.feed("<think>a</think><check>")
    tracemalloc.start()
    for much, then in ((" ", "yes"), (" ", "</check>"), ("x y ", "<update>m</update>"), ("z ", "")):
        for _ in range(200):
            stream.feed(much * 100)
        stream.feed(then)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000
    stream.feed("<next>end</next>")
    assert stream.close().candidate == "m"
