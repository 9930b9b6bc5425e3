"""Every cell of the automaton of SPEC §4: each state, each tag and the end of input, in all modes."""

import pytest

from cases import failed, verdict
from oracle import END, INSIDE, MODES, OUTSIDE, TABLE, TAGS, VALUES, Outside, Think

# A way into each state from the start, per think mode; the text ends where the next tag would stand.
_TO_CHECK = {"required": "<think>reason</think>", "prefilled": "reason</think>", "absent": ""}
THINKS: tuple[Think, ...] = ("required", "prefilled", "absent")
_FROM_CHECK = {
    "in_check": "<check> yes",
    "expect_update": "<check> yes</check>",
    "in_update": "<check> yes</check><update>memory",
    "expect_next": "<check> yes</check><update>memory</update>",
    "in_next": "<check> yes</check><update>memory</update><next>end\n",
    "done": "<check> yes</check><update>memory</update><next>end\n</next>",
}
# A way from each state to the end of a response.
_FINISH = {
    "in_think": "</think><check>no</check><update>m</update><next>end</next>",
    "expect_check": "<check>no</check><update>m</update><next>end</next>",
    "in_check": "no</check><update>m</update><next>end</next>",
    "expect_update": "<update>m</update><next>end</next>",
    "in_update": "m</update><next>end</next>",
    "expect_next": "<next>end</next>",
    "in_next": "end</next>",
    "done": "",
}


def ways(think: Think) -> dict[str, str]:
    """Return a text leading into each state that the mode can reach."""
    starts: dict[Think, dict[str, str]] = {
        "required": {"expect_think": "", "in_think": "<think>reason", "expect_check": _TO_CHECK["required"]},
        "prefilled": {"in_think": "reason", "expect_check": _TO_CHECK["prefilled"]},
        "absent": {"expect_check_only": ""},
    }
    return starts[think] | {state: _TO_CHECK[think] + way for state, way in _FROM_CHECK.items()}


CELLS = [
    pytest.param(think, outside_text, state, seen, id=f"{think}-{outside_text}-{state}-{seen}")
    for think, outside_text in MODES
    for state in ways(think)
    for seen in (*TAGS, END)
]


def test_every_state_is_reached() -> None:
    """The ways below leave out no line of the table."""
    assert {state for think, _ in MODES for state in ways(think)} == set(TABLE)


@pytest.mark.parametrize(("think", "outside_text", "state", "seen"), CELLS)
def test_cell(think: Think, outside_text: Outside, state: str, seen: str) -> None:
    """The cell's error names its element and stands at the tag; the cell's move leads to the state it says."""
    gap = "" if state in INSIDE else " \n" if outside_text == "forbid" else "\nso: \n"
    text = ways(think)[state] + gap
    cell = TABLE[state][seen]
    if seen != END:
        text += seen
    if cell == "accept":
        assert "error" not in verdict(text, think, outside_text)
    elif " " in cell:
        kind, tag = cell.split()
        error = failed(text + ("" if seen == END else " and so on"), think, outside_text)
        assert (error["kind"], error["tag"]) == (kind, tag)
        assert error["found"] == (None if seen == END else seen)
        assert error["offset"] == (len(text) if seen == END else len(text) - len(seen))
        assert error["truncated"] == (seen == END)
        assert error["value"] is None
    else:
        got = verdict(text + _FINISH[cell], think, outside_text)
        assert "error" not in got
        # After "<check>" and its like the finish gives the value; nothing that was there before may be lost.
        assert got["candidate"] in ("m", "memory")
        assert got["think"].startswith("reason") or state in ("expect_think", "expect_check_only") or think == "absent"


@pytest.mark.parametrize("seen", [*TAGS, END])
@pytest.mark.parametrize(
    ("think", "state"), [(think, state) for think in THINKS for state in ways(think) if state in OUTSIDE]
)
def test_stray_text_is_found_before_what_follows(think: Think, state: str, seen: str) -> None:
    """Under outside_text="forbid" text outside is the error, whatever tag follows it (§2.4)."""
    text = ways(think)[state] + "\n \u3000so: "
    error = failed(text + ("" if seen == END else seen), think, "forbid")
    assert (error["kind"], error["tag"]) == ("stray_text", OUTSIDE[state])
    assert error["offset"] == text.index("so: ", len(ways(think)[state]))
    assert (error["found"], error["value"], error["truncated"]) == (None, None, False)


@pytest.mark.parametrize("seen", [*TAGS, END])
@pytest.mark.parametrize("element", VALUES)
@pytest.mark.parametrize(("think", "outside_text"), MODES)
def test_wrong_value_is_found_before_what_follows(think: Think, outside_text: Outside, element: str, seen: str) -> None:
    """A wrong value is the error, whatever tag follows it, and stands right after the opening tag (§2.2)."""
    way = (
        _TO_CHECK[think] + _FROM_CHECK["expect_next"] + "<next>" if element == "next" else _TO_CHECK[think] + "<check>"
    )
    error = failed(way + "\u00a0 may be \n" + ("" if seen == END else seen), think, outside_text)
    assert (error["kind"], error["tag"], error["offset"]) == ("bad_value", element, len(way))
    assert (error["value"], error["found"]) == ("may be", None if seen == END else seen)
    assert not error["truncated"]


@pytest.mark.parametrize("value", ["yes", "no", "continue", "end", ""])
@pytest.mark.parametrize("element", VALUES)
@pytest.mark.parametrize("seen", TAGS)
def test_values_belong_to_their_element(element: str, value: str, seen: str) -> None:
    """A value of the other element, or none at all, is a wrong value before every tag (§2.2)."""
    way = "<think>reason</think>" + ("<check>" if element == "check" else _FROM_CHECK["expect_next"] + "<next>")
    if seen == f"</{element}>" and value in VALUES[element]:
        assert "error" not in verdict(way + value + seen + _FINISH["expect_update" if element == "check" else "done"])
        return
    error = failed(way + value + seen)
    if value in VALUES[element]:
        assert (error["kind"], error["tag"], error["offset"]) == ("unclosed", element, len(way + value))
    else:
        assert (error["kind"], error["tag"], error["value"]) == ("bad_value", element, value)
    assert error["found"] == seen


# {0}: a value cut short, {1}: a value, {2}: its closing tag cut short.
GROWING = ["", " ", "{0}", " {0}", "{1}", "\u3000{1}\n ", "{1}<", "{1} \t</", "{1}{2}"]
STUCK = [
    "{0} ",
    "{0}<",
    "{0}{2}",
    "<",
    "</",
    " {2}",
    "{1}.",
    "{1} {1}",
    "{1}< ",
    "{1}<x",
    "{1}<{0}",
    "{1}{2} ",
    "{1}</ ",
    "{1}{2}{2}",
    "{1}\u200b",
    "\x1c",
    "\x1c{0}",
    "{1}\x1c",
    "{1} \x1c",
    "\ufeff",
]


@pytest.mark.parametrize("shape", [*GROWING, *STUCK])
@pytest.mark.parametrize(("element", "value"), [(element, value) for element in VALUES for value in VALUES[element]])
def test_value_at_the_end_of_input(element: str, value: str, shape: str) -> None:
    """At the end a text that can grow into a value and its closing tag is unclosed, any other a wrong value (§2.2)."""
    way = "<think>reason</think>" + ("<check>" if element == "check" else _FROM_CHECK["expect_next"] + "<next>")
    for cut in range(1, len(value)):
        for part in range(1, len(element) + 2):
            rest = shape.format(value[:cut], value, f"</{element}>"[: 1 + part])
            error = failed(way + rest)
            assert error["tag"] == element
            if shape in GROWING:
                assert (error["kind"], error["offset"]) == ("unclosed", len(way) + len(rest))
                assert (error["value"], error["found"], error["truncated"]) == (None, None, True)
            else:
                assert (error["kind"], error["offset"]) == ("bad_value", len(way))
                assert (error["value"], error["found"], error["truncated"]) == (rest.strip(" \t\n"), None, False)
