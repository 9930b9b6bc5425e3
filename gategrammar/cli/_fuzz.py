"""What ``gategrammar fuzz`` does: draw, write, count."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import click

from gategrammar.cli._ending import Exit, orderly
from gategrammar.cli._progress import Bar
from gategrammar.cli._terminal import Terminal, json_line, write_line
from gategrammar.fuzzing import Case, Miss, answers, mutations, near_misses, responses, trajectories
from gategrammar.fuzzing._sample import sample
from gategrammar.response.errors import GateParseError
from gategrammar.response.grammar import OutsideText, Think
from gategrammar.response.parse import try_parse

if TYPE_CHECKING:
    from hypothesis import strategies as st


def run(*, kinds: Sequence[str], count: int, seed: int, think: Think, outside_text: OutsideText) -> Exit:
    """Write *count* cases; arguments as the options of ``gategrammar fuzz``."""
    written = 0
    with (
        orderly(lambda: click.echo(f"interrupted; {written} of {count} cases written", err=True)),
        Bar(Terminal(stderr=True), count, "written") as bar,
    ):
        for record in bar.track(islice(_records(kinds, seed, think, outside_text), count)):
            write_line(json_line(record))
            written += 1
            bar.read(1)
    return Exit.GOOD


def _records(kinds: Sequence[str], seed: int, think: Think, outside_text: OutsideText) -> Iterator[dict[str, Any]]:
    """Draw the kinds in turn."""
    good = responses(think=think, outside_text=outside_text)
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "responses": good,
        "near-misses": near_misses(think=think, outside_text=outside_text),
        "mutations": good.flatmap(lambda case: mutations(case.text)).map(lambda text: _read(text, think, outside_text)),
        "trajectories": trajectories(think=think, outside_text=outside_text),
        "answers": answers(),
    }
    drawn = {kind: sample(strategies[kind], f"{kind} {seed}") for kind in kinds}
    for number, kind in enumerate(cycle(kinds)):
        yield {"name": f"{kind}-{seed}-{number}", **next(drawn[kind]).to_dict()}


def _read(text: str, think: Think, outside_text: OutsideText) -> Case:
    """Return the case that this package makes of *text*."""
    verdict = try_parse(text, think=think, outside_text=outside_text)
    if isinstance(verdict, GateParseError):
        return Case(text, Miss(verdict.kind, verdict.tag, verdict.offset), think, outside_text)
    return Case(text, verdict, think, outside_text)
