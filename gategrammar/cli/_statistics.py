"""What a run of ``gategrammar score`` comes to, as large at the end of a long run as at its start."""

from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from typing import Self

import attrs
from rich.text import Text

from gategrammar.cli import _diagnostics as diagnostics
from gategrammar.cli import _terminal as terminal
from gategrammar.cli._groups import Outcome
from gategrammar.cli._input import Record, Verdict
from gategrammar.cli._tally import Tally
from gategrammar.response.errors import BadValueError, GateParseError, quote
from gategrammar.response.result import GateResponse

#: How many steps are told apart; of more, neighbours are counted together.
_STEPS = 600
#: How many of them the summary shows.
_SHOWN_STEPS = 12
#: How many sorts of failures are told apart; of others it is known only that they are others.
_FAILURES = 4096
#: How wide an excerpt is, in cells.
_WIDTH = 100


@attrs.define
class Rates:
    """Counts at one training step."""

    responses: int = 0
    parsed: int = 0
    truncated: int = 0
    trajectories: int = 0
    reward: float = 0.0

    def __iadd__(self, other: "Rates") -> Self:
        for name in attrs.fields_dict(Rates):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


class Steps:
    """Counts by training step; where the steps are many, by ranges of them that are all of the same width."""

    def __init__(self) -> None:
        self.width = 1
        self.without = Rates()
        self._counts: dict[int, Rates] = {}
        self._factors = cycle((5, 2))  # 1, 5, 10, 50, 100, …: each range is made of whole ones of those before

    def at(self, step: int | None) -> Rates:
        """Return the counts at a step, to be added to."""
        if step is None:
            return self.without
        while (place := step // self.width) not in self._counts and len(self._counts) == _STEPS:
            self._widen()
        return self._counts.setdefault(place, Rates())

    def _widen(self) -> None:
        factor = next(self._factors)
        self.width *= factor
        narrow, self._counts = self._counts, {}
        for place, rates in narrow.items():
            wide = self._counts.setdefault(place // factor, Rates())
            wide += rates

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[tuple[int, Rates]]:
        """Yield the first step of each range, in order, and its counts."""
        for place in sorted(self._counts):
            yield place * self.width, self._counts[place]

    def fewer(self, limit: int) -> "Steps":
        """Return the same counts in at most *limit* ranges."""
        steps = Steps()
        steps.without = self.without
        steps.width, steps._counts = self.width, dict(self._counts)
        steps._factors = cycle((5, 2) if str(self.width).startswith("1") else (2, 5))
        while len(steps) > limit:
            steps._widen()
        return steps

    def name(self, first: int) -> str:
        """Return what the range is called that begins with the step *first*."""
        return str(first) if self.width == 1 else f"{first}–{first + self.width - 1}"


@attrs.define
class Failure:
    """A sort of failure: what failed, and what was seen.

    Attributes:
        diagnostic: of the first of its sort, without its text.
        excerpts: the lines of that text that matter.
        count: how many there were.
    """

    diagnostic: diagnostics.Diagnostic
    excerpts: list[diagnostics.Excerpt]
    count: int = 0


def half_octave(length: int) -> int:
    """Return the number of the bin of a length in a histogram: 0 for 0, then two bins for each power of two."""
    if not length:
        return 0
    octave = length.bit_length() - 1
    return 1 + 2 * octave + (length * length >> (2 * octave + 1))


@attrs.define
class Score(Tally):
    """The count of responses, and that of trajectories.

    Attributes:
        right: trajectories with r_format 1.0.
        wrong: trajectories with r_format 0.0.
        spoiled: trajectories with a turn that could not be read, and so without an r_format.
        open: whether rows of the same trajectory may stand in what was not read.
        steps: counts by training step.
        lengths: histograms, by what is measured (in code points).
        failures: by kind, tag and what was seen.
        others: failures of sorts that came when too many were known already.
    """

    right: int = 0
    wrong: int = 0
    spoiled: int = 0
    open: bool = False
    steps: Steps = attrs.field(factory=Steps)
    lengths: dict[str, Counter[int]] = attrs.field(
        factory=lambda: {name: Counter() for name in ("parsed", "failed", "think", "candidate")}
    )
    failures: dict[tuple[str | None, ...], Failure] = attrs.field(factory=dict)
    others: int = 0

    def turn(self, record: Record, verdict: Verdict, step: int | None) -> None:
        """Note what a response says beyond its verdict."""
        rates = self.steps.at(step)
        rates.responses += 1
        length = half_octave(len(record.text))
        if isinstance(verdict, GateResponse):
            rates.parsed += 1
            self.lengths["parsed"][length] += 1
            self.lengths["think"][half_octave(len(verdict.think))] += 1
            self.lengths["candidate"][half_octave(len(verdict.candidate))] += 1
            return
        rates.truncated += verdict.truncated
        self.lengths["failed"][length] += 1
        self._failure(record, verdict)

    def _failure(self, record: Record, error: GateParseError) -> None:
        value = quote(error.value) if isinstance(error, BadValueError) and error.value is not None else None
        sort = error.kind, error.tag, error.found, value
        failure = self.failures.get(sort)
        if failure is None:
            if len(self.failures) == _FAILURES:
                self.others += 1
                return
            diagnostic = diagnostics.of_error(record, error)
            excerpts = diagnostics.excerpts(diagnostic, _WIDTH)
            failure = self.failures[sort] = Failure(attrs.evolve(diagnostic, source=None), excerpts)
        failure.count += 1

    def trajectory(self, outcome: Outcome) -> None:
        """Count a trajectory."""
        if outcome.r_format is None:
            self.spoiled += 1
            return
        rates = self.steps.at(outcome.step)
        rates.trajectories += 1
        rates.reward += outcome.r_format
        if outcome.failed:
            self.wrong += 1
        else:
            self.right += 1

    @property
    def trajectories(self) -> int:
        """How many trajectories have an r_format."""
        return self.right + self.wrong

    @property
    def responses(self) -> int:
        """How many responses were read."""
        return self.parsed + self.failed.total()

    def commonest(self, limit: int) -> list[Failure]:
        """Return the commonest sorts of failures."""
        return sorted(self.failures.values(), key=lambda failure: -failure.count)[:limit]

    def summary(self, *, interrupted: bool) -> Text:
        """Return the counts for people."""
        text = Text("interrupted; until then:\n" if interrupted else "")
        text.append(f"{self.trajectories} trajector{'y' if self.trajectories == 1 else 'ies'}: ")
        text.append(f"{self.right} right", terminal.GOOD if self.right else "").append(", ")
        text.append(f"{self.wrong} wrong", terminal.BAD if self.wrong else "")
        text.append(f"; r_format {share(self.right, self.trajectories)}\n")
        if self.open and interrupted:
            text.append("trajectories are scored when all rows are read, since any may go on in those that are not\n")
        if self.spoiled:
            text.append(f"{self.spoiled} not scored: a turn could not be read\n", terminal.BAD)
        text.append_text(super().summary(interrupted=False))
        truncated = self.truncated.total()
        if truncated:
            text.append(f"truncated: {truncated} ({percent(truncated, self.responses)} of the responses)\n")
        return text.append_text(self._by_step()) if len(self.steps) else text

    def _by_step(self) -> Text:
        steps = self.steps.fewer(_SHOWN_STEPS)
        lines = [(steps.name(first), rates) for first, rates in steps]
        if steps.without.responses or steps.without.trajectories:
            lines.append(("none", steps.without))
        table = [("step", "responses", "parsed", "truncated", "trajectories", "r_format")]
        for name, rates in lines:
            shares = percent(rates.parsed, rates.responses), percent(rates.truncated, rates.responses)
            table.append(
                (name, str(rates.responses), *shares, str(rates.trajectories), share(rates.reward, rates.trajectories))
            )
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        text = Text()
        for number, cells in enumerate(table):
            line = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            text.append(f"{line}\n", "" if number else terminal.ASIDE)
        return text


def share(part: float, whole: int) -> str:
    """Return a mean for people; of nothing there is none."""
    return f"{part / whole:.3f}" if whole else "–"


def percent(part: int, whole: int) -> str:
    """Return a share for people; of nothing there is none."""
    return f"{part / whole:.1%}" if whole else "–"
