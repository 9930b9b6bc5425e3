"""Drawing from strategies outside a test: the same seed, the same cases."""

import random
from collections.abc import Iterator
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

_Drawn = TypeVar("_Drawn")
#: What a case is made from, in bytes: as much as Hypothesis takes.
_BUFFER = 8 * 1024


def sample(strategy: st.SearchStrategy[_Drawn], seed: str) -> Iterator[_Drawn]:
    """Yield cases without end: by the door that Hypothesis has for fuzzers, which runs no test and keeps no database.

    Args:
        strategy: what to draw from.
        seed: of the chance that decides.
    """
    drawn: list[_Drawn] = []

    @settings(database=None, deadline=None)
    @given(strategy)
    def take(case: _Drawn) -> None:
        drawn.append(case)

    chance = random.Random(seed)  # noqa: S311 - test cases are no secrets
    while True:
        take.hypothesis.fuzz_one_input(chance.randbytes(_BUFFER))  # type: ignore[attr-defined] # set by given()
        while drawn:  # nothing, if the strategy rejected what the bytes mean
            yield drawn.pop()
