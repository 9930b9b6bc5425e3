"""Properties over random texts: the package and the oracle give one verdict, in all six modes."""

import copy
import itertools
import pickle

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from cases import verdict, verdict_of
from gategrammar import GateParseError, format_response, parse, try_parse
from oracle import ELEMENTS, MODES, TABLE, TAGS, VALUES, WHITE_SPACE, Outside, Think, oracle, tags_of
from strategies import free_text, mutations, responses, soups, stretched, walks

all_modes = pytest.mark.parametrize(("think", "outside_text"), MODES)


@all_modes
@given(data=st.data())
@settings(max_examples=100)
def test_valid_responses_parse(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """What is built by the rules parses, to what the oracle says, with spans that point at the contents."""
    text = data.draw(responses(think, outside_text))
    got = verdict(text, think, outside_text)
    assert "error" not in got
    assert got == oracle(text, think, outside_text)
    for name, content in (("think", got["think"]), ("update", got["candidate"])):
        span = got["spans"][name]
        assert ("" if span is None else text[span[0] : span[1]]) == content
        assert content == content.strip(WHITE_SPACE)


@all_modes
@given(data=st.data())
@settings(max_examples=170)
def test_mutations(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """A damaged response gets the oracle's verdict, in every field."""
    text = data.draw(mutations(think, outside_text))
    assert verdict(text, think, outside_text) == oracle(text, think, outside_text)


@all_modes
@given(text=soups())
@settings(max_examples=170)
def test_soups(think: Think, outside_text: Outside, text: str) -> None:
    """Tags, values and text in any order get the oracle's verdict, in every field."""
    assert verdict(text, think, outside_text) == oracle(text, think, outside_text)


@all_modes
@given(data=st.data())
@settings(max_examples=170)
def test_walks(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """Walks of the automaton, which get far before they leave it, get the oracle's verdict, in every field."""
    text = data.draw(walks(think, outside_text))
    assert verdict(text, think, outside_text) == oracle(text, think, outside_text)


@all_modes
@given(data=st.data())
@settings(max_examples=100)
def test_long_texts(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """The same holds where a text is long, whatever makes it long and wherever that stands."""
    near = st.one_of(responses(think, outside_text), mutations(think, outside_text), walks(think, outside_text))
    text = data.draw(stretched(near))
    assert verdict(text, think, outside_text) == oracle(text, think, outside_text)


@all_modes
def test_all_short_sequences_of_tags(think: Think, outside_text: Outside) -> None:
    """All sequences of up to four tags after each beginning of a response get the oracle's verdict."""
    whole = "<think>why</think>\n<check>no</check>\n<update>m</update>\n<next>end</next>"
    ends = [0, *(at + len(tag) for at, tag in tags_of(whole))]
    for cut, length in [(0, 4), *((end, 2) for end in ends)]:
        for tags in itertools.product(TAGS, repeat=length):
            text = whole[:cut] + "\n".join(tags)
            assert verdict(text, think, outside_text) == oracle(text, think, outside_text), text


@all_modes
def test_every_cut_and_every_lost_character(think: Think, outside_text: Outside) -> None:
    """A response cut at any place, with a character lost, added or repeated 5,000 times, gets the oracle's verdict."""
    whole = (
        "<think>a <think>b</think>\r\n c</think>\n <check> yes </check>\n"
        "<update> x < y </update>\n<next>\tend\n</next>\n"
    )
    for at in range(len(whole) + 1):
        run = whole[at - 1 : at] * 5000
        edited = (whole[:at], whole[:at] + whole[at + 1 :], whole[at:], whole[:at] + "<" + whole[at:])
        for text in (*edited, whole[:at] + run + whole[at:], *(" " * 5000 + text for text in edited)):
            assert verdict(text, think, outside_text) == oracle(text, think, outside_text), text


def endings(text: str) -> list[str]:
    """Return *text* with every tail of a canonical response: if any text could make it valid, one of these does."""
    texts = []
    for check, last in (("yes", "continue"), ("no", "end")):
        whole = f"<think></think><check>{check}</check><update></update><next>{last}</next>"
        texts += [text + whole[at:] for at in range(len(whole))]
    return texts


@all_modes
@given(data=st.data())
@settings(max_examples=60)
def test_truncated_is_what_more_text_could_make_valid(think: Think, outside_text: Outside, data: st.DataObject) -> None:
    """An error is marked truncated exactly where some continuation parses (§4).

    One case is apart: under outside_text="forbid" half a tag at the end is stray text (§2.4), and stray text is never
    marked truncated.
    """
    text = data.draw(st.one_of(mutations(think, outside_text), walks(think, outside_text)))
    error = try_parse(text, think=think, outside_text=outside_text)
    if isinstance(error, GateParseError) and error.kind != "stray_text":
        more = [try_parse(longer, think=think, outside_text=outside_text) for longer in endings(text)]
        assert error.truncated == any(not isinstance(answer, GateParseError) for answer in more)


@given(text=st.one_of(mutations(), soups()))
@settings(max_examples=100)
def test_try_parse_returns_what_parse_raises(text: str) -> None:
    """The two functions differ in raising only."""
    answer = try_parse(text)
    if isinstance(answer, GateParseError):
        with pytest.raises(type(answer)) as caught:
            parse(text)
        assert (verdict_of(caught.value), str(caught.value)) == (verdict_of(answer), str(answer))
    else:
        assert parse(text) == answer


@given(text=st.one_of(mutations(), soups()))
@settings(max_examples=100)
def test_answers_survive_pickle_and_copy(text: str) -> None:
    """Results and errors come back from pickle (each protocol) and copy with type, message and fields unchanged."""
    answer = try_parse(text)
    pickles = [pickle.loads(pickle.dumps(answer, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in [*pickles, copy.copy(answer), copy.deepcopy(answer)]:
        assert type(again) is type(answer)
        assert verdict_of(again) == verdict_of(answer)
        if isinstance(answer, GateParseError) and isinstance(again, GateParseError):
            assert (str(again), again.args) == (str(answer), answer.args)
            assert (again.raw, again.hint) == (answer.raw, answer.hint)
        else:
            assert again == answer


@given(text=st.one_of(mutations(), soups(), free_text.map(lambda text: text * 40)))
@settings(max_examples=100)
def test_errors_can_be_shown(text: str) -> None:
    """Messages and raw stay short, say where, and hold no control code or surrogate of the text."""
    error = try_parse(text)
    if isinstance(error, GateParseError):
        message = str(error)
        assert f"(at line {error.line}, column {error.column})" in message
        assert len(error.raw) <= 200
        assert all(char.isprintable() or char == "\n" for char in message)
        assert len(message) < 1000


@given(think=free_text, update_gate=st.booleans(), candidate=free_text, exit_gate=st.booleans())
@settings(max_examples=300)
def test_format_response_round_trip(think: str, update_gate: bool, candidate: str, exit_gate: bool) -> None:
    """What is written parses to the trimmed contents, under forbid too (§9)."""
    text = format_response(think, update_gate, candidate, exit_gate)
    response = parse(text, outside_text="forbid")
    assert response.think == think.strip(WHITE_SPACE)
    assert response.candidate == candidate.strip(WHITE_SPACE)
    assert (response.update_gate, response.exit_gate) == (update_gate, exit_gate)


@given(before=free_text, tag=st.sampled_from(TAGS), after=free_text, in_think=st.booleans())
@settings(max_examples=100)
def test_format_response_refuses_tags(before: str, tag: str, after: str, in_think: bool) -> None:
    """A tag in think or in the candidate is refused and named: it would not come back (§9)."""
    content = before + tag + after
    think, candidate = (content, "") if in_think else ("", content)
    with pytest.raises(ValueError, match=tag):
        format_response(think, update_gate=True, candidate=candidate, exit_gate=False)


def told(text: str, think: Think, outside_text: Outside) -> str:
    """Return fault and element of a verdict, or "valid"."""
    got = oracle(text, think, outside_text)
    return f"{got['error']['kind']} {got['error']['tag']}" if "error" in got else "valid"


CELLS = {cell for row in TABLE.values() for cell in row.values() if " " in cell}
BEFORE_A_TAG = {f"stray_text {element}" for element in ELEMENTS} | {f"bad_value {element}" for element in VALUES}


@pytest.mark.parametrize("wanted", sorted({"valid"} | CELLS | BEFORE_A_TAG))
def test_strategies_reach_every_verdict(wanted: str) -> None:
    """The random texts are no empty proof: among them is every element with every fault, and valid texts."""
    once = settings(max_examples=5_000, phases=[Phase.generate], database=None)
    outside_text: Outside = "forbid" if "stray" in wanted else "ignore"
    near = st.one_of(mutations("required", outside_text), soups(), walks("required", outside_text))
    find(near, lambda text: told(text, "required", outside_text) == wanted, settings=once)
