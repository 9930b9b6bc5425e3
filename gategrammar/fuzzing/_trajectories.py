"""The answers of whole loops."""

from hypothesis import strategies as st

from gategrammar.fuzzing._cases import Case, Miss, Trajectory
from gategrammar.fuzzing._misses import near_misses
from gategrammar.fuzzing._responses import responses
from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think

_MOST_TURNS = 6


@st.composite
def trajectories(
    draw: st.DrawFn, *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE, broken: bool = True
) -> Trajectory:
    """Draw the answers of one loop over the chunks of a document, and the memory after each.

    Args:
        draw: given by Hypothesis.
        think: how the reasoning arrives, as for :func:`gategrammar.parse`.
        outside_text: as for :func:`gategrammar.parse`.
        broken: whether some answers may be no responses.

    Raises:
        ValueError: unknown mode.
    """
    good = responses(think=think, outside_text=outside_text)
    bad = near_misses(think=think, outside_text=outside_text)
    turns: list[Case] = []
    memories: list[str] = []
    memory, exited = "", False
    for turn in draw(st.lists(good | bad if broken else good, min_size=1, max_size=_MOST_TURNS)):
        if exited:
            break
        turns.append(turn)
        if not isinstance(turn.expected, Miss):
            memory, exited = turn.expected.next_memory(memory), turn.expected.exit_gate
        memories.append(memory)
    parsed = not any(isinstance(turn.expected, Miss) for turn in turns)
    return Trajectory(tuple(turns), tuple(memories), exited, float(parsed))
