"""docs/migration.md: what its table says is what the readers do (those that run beside the tests)."""

import pytest

from gategrammar import format_response
from gategrammar.response.errors import ERRORS
from migration import PAGE, anchored, column, inputs, open_r1, ours

README = PAGE.parent.parent / "README.md"


@pytest.mark.parametrize(
    ("name", "read"), [("anchored regex", anchored), ("open-r1's way", open_r1), ("gategrammar", ours)]
)
def test_the_table(name: str, read: object) -> None:
    """Each cell is what the reader of its column makes of the text of its row."""
    assert callable(read)
    assert column(name) == [read(text) for text in inputs()]


def test_five_inputs() -> None:
    """The page has five inputs, and every cell of its table says something."""
    assert len(inputs()) == 5
    assert all(len(column(name)) == 5 and all(column(name)) for name in ("verifiers", "LangChain"))


#: Rows of the README's table and of the page's that say the same.
REFUSES = {
    "refuses a second turn after the first": 0,
    "refuses tags inside the memory": 2,
    "refuses an answer that was cut": 3,
    "refuses wrong values": 4,
}
READERS = ("gategrammar", "anchored regex", "open-r1's way", "verifiers", "LangChain")


def test_the_readme_says_what_the_page_says() -> None:
    """Who refuses what is in the README as in the page, whose cells are computed."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in README.read_text("utf-8").splitlines()]
    table = {row[0]: dict(zip(READERS, row[1:], strict=True)) for row in rows if len(row) == len(READERS) + 1}
    assert list(table[""].values()) == list(READERS)
    for feature, number in REFUSES.items():
        cells = {name: column(name)[number] for name in READERS}
        kinds = tuple(f"`{kind}`" for kind in ERRORS)
        refused = {name: cell in ("refused", "0.0") or cell.startswith(kinds) for name, cell in cells.items()}
        assert table[feature] == {name: "yes" if refused[name] else "no" for name in READERS}
    # Row 2: the reader that takes the quoted value, or gives the reward whatever was quoted.
    quoted = {name: column(name)[1] for name in READERS}
    wrong = {name for name, cell in quoted.items() if cell.startswith("`no`") or cell == "1.0"}
    assert {name for name, cell in table["no tag quoted in the reasoning decides"].items() if cell == "no"} == wrong
    plain = format_response("t", update_gate=True, candidate="AT&T <5", exit_gate=True)
    reads = table["reads `&` and `<` in a memory"]
    assert {"gategrammar": "yes", "anchored regex": "yes", "open-r1's way": "yes"}.items() <= reads.items()
    assert ours(plain) == anchored(plain) == "`yes`, `AT&T <5`, `end`"
    assert open_r1(plain) == "1.0"
