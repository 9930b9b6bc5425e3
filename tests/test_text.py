"""White space and trimming (semantics §1)."""

import pytest

from gategrammar.response.text import WHITE_SPACE, skip_space, skip_space_back, trim


@pytest.mark.parametrize(
    ("text", "start", "end", "span"),
    [
        ("", 0, 0, (0, 0)),
        (" a ", 0, 3, (1, 2)),
        (" a b ", 0, 5, (1, 4)),
        ("x a x", 1, 4, (2, 3)),
        ("    ", 1, 3, (3, 3)),
        ("a  b", 1, 3, (3, 3)),
        ("    a", 1, 3, (3, 3)),
        ("\x1ca\x1f", 0, 3, (0, 3)),
        (WHITE_SPACE + "a" + WHITE_SPACE, 0, 51, (25, 26)),
    ],
)
def test_trim(text: str, start: int, end: int, span: tuple[int, int]) -> None:
    """Only what lies between the two offsets is looked at; where all is white space the end is left."""
    assert trim(text, start, end) == span
    assert skip_space(text, start, end) == span[0]
    assert skip_space_back(text, span[0], end) == span[1]
