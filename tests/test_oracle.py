"""The judge is judged: by the handed verdicts, by the general rows of SPEC §4, by the fixtures."""

import pytest

import cases
from oracle import ELEMENTS, END, INSIDE, OUTSIDE, TABLE, TAGS, oracle


@pytest.mark.parametrize("case", [*cases.handed(), *cases.recorded()], ids=str)
def test_oracle_gives_the_handed_verdicts(case: cases.Case) -> None:
    """The oracle agrees with every verdict that was handed over with the specification."""
    assert cases.agrees(oracle(case.text, **case.modes), case.expect)


@pytest.mark.parametrize("case", [*cases.pairs("."), *cases.pairs("valid"), *cases.pairs("invalid")], ids=str)
def test_oracle_gives_the_verdicts_of_the_fixtures(case: cases.Case) -> None:
    """The oracle agrees with the fixtures in every field, so neither was edited without the other."""
    assert oracle(case.text, **case.modes) == case.expect


def inside(element: str, seen: str) -> str:
    """Return the cell that the rows "Inside X" give."""
    if seen == f"</{element}>":
        following = (*ELEMENTS, "done")[ELEMENTS.index(element) + 1]
        return following if following == "done" else f"expect_{following}"
    return "in_think" if element == "think" and seen == "<think>" else f"unclosed {element}"


def expecting(element: str, seen: str, *, think_reopens: bool) -> str:
    """Return the cell that the rows "Expecting X" give; *think_reopens*: a think written here may go on (§2.1)."""
    if seen == END:
        return f"missing {element}"
    of, closing = seen.strip("</>"), seen.startswith("</")
    if of == "think" and think_reopens:
        return "expect_check" if closing else "in_think"
    if ELEMENTS.index(of) < ELEMENTS.index(element):
        return f"duplicate {of}"
    if closing:
        return f"unopened {of}"
    return f"in_{element}" if of == element else f"missing {element}"


def general_rule(state: str, seen: str) -> str:
    """Return the cell that the general rows of §2 give, where the table of the oracle spells each out."""
    if state in INSIDE:
        return inside(INSIDE[state], seen)
    if state == "done":
        return "accept" if seen == END else f"duplicate {seen.strip('</>')}"
    return expecting(OUTSIDE[state], seen, think_reopens=state == "expect_check")


@pytest.mark.parametrize("state", TABLE)
def test_table_of_the_oracle_equals_the_general_rows(state: str) -> None:
    """Ninety cells typed by hand hold no slip: each is what the general rows say."""
    assert TABLE[state] == {seen: general_rule(state, seen) for seen in (*TAGS, END)}
