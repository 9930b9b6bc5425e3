"""What ``gategrammar score`` does: one pass over the input that reads, parses, counts and writes."""

import sys
from collections.abc import Callable, Sequence
from functools import partial

import attrs
import click

from gategrammar.cli._ending import Exit, orderly
from gategrammar.cli._explain import Explainer
from gategrammar.cli._groups import Groups, Outcome
from gategrammar.cli._input import Record, Verdict
from gategrammar.cli._progress import Bar
from gategrammar.cli._report.page import Report
from gategrammar.cli._rows import STDIN, Fault, Row, size, too_deep
from gategrammar.cli._statistics import Score
from gategrammar.cli._terminal import Terminal, json_line, write_line
from gategrammar.cli._trajectories import member, read, trajectory
from gategrammar.response.errors import GateParseError
from gategrammar.response.grammar import OutsideText, Think


def run(
    files: Sequence[str],
    *,
    turns: str,
    group_by: Sequence[str],
    field: str,
    step: str,
    think: Think,
    outside_text: OutsideText,
    report: str | None,
    error_limit: int,
    quiet: bool,
    exit_zero: bool,
) -> Exit:
    """Score every trajectory in *files*; arguments as the options of ``gategrammar score``."""
    if files.count(STDIN) > 1:
        raise click.UsageError(f"{STDIN} is standard input, which can be read only once")
    page = Report(report, files, {"think": think, "outside text": outside_text}) if report is not None else None
    score = Score(open=bool(group_by))
    explainer = Explainer(Terminal(stderr=True), score, limit=0 if quiet else error_limit or sys.maxsize, at_end=False)
    scorer = _Scorer(explainer, score, think, outside_text)

    def close(*, interrupted: bool) -> None:
        explainer.close(interrupted=interrupted)
        if page is not None:
            page.write(score, interrupted=interrupted)

    with orderly(partial(close, interrupted=True)):
        take = (
            partial(scorer.member, group_by=group_by, field=field, step=step)
            if group_by
            else partial(scorer.trajectory, turns=turns, field=field, step=step)
        )
        with Bar(explainer.console, size(files)) as bar:
            for row in bar.track(read(files, bar.read)):
                if isinstance(row, Fault):
                    explainer.fault(row)
                else:
                    take(row)
        scorer.finish()
        close(interrupted=False)
    return score.exit(zero=exit_zero)


@attrs.define
class _Scorer:
    """Judges turns and settles trajectories."""

    explainer: Explainer
    score: Score
    think: Think
    outside_text: OutsideText
    groups: Groups = attrs.field(factory=Groups)

    def trajectory(self, row: Row, *, turns: str, field: str, step: str) -> None:
        """Score a row that is a trajectory."""
        found = trajectory(row, turns=turns, field=field, step=step)
        if isinstance(found, Fault):
            self.explainer.fault(found)
            return
        verdicts = [turn.verdict(self.think, self.outside_text) for turn in found.turns]
        errors = [
            {"turn": number, **verdict.to_dict()}
            for number, verdict in enumerate(verdicts)
            if isinstance(verdict, GateParseError)
        ]
        first = errors[0] if errors else None
        outcome = Outcome(row.file, row.line, found.step, len(verdicts), len(errors), 0, first, found.rest)
        try:
            line = _line(outcome)
        except RecursionError:
            self.explainer.fault(too_deep(row.file, row.line))
            return
        self.score.trajectory(outcome)
        # Written when all of it is counted, so that the summary after Ctrl-C speaks of all that was written.
        writes = [_nothing] * (len(verdicts) - 1) + [partial(write_line, line)]
        for turn, verdict, write in zip(found.turns, verdicts, writes, strict=True):
            self._note(turn, verdict, found.step, write)

    def member(self, row: Row, *, group_by: Sequence[str], field: str, step: str) -> None:
        """Judge a row that is one turn, and keep what it adds to its trajectory."""
        found = member(row, group_by=group_by, field=field, step=step)
        if isinstance(found, Fault):
            self.explainer.fault(found)
        elif isinstance(found.turn, Fault):
            self.groups.add(found, None)
            self.explainer.fault(found.turn)
        else:
            verdict = found.turn.verdict(self.think, self.outside_text)
            self.groups.add(found, verdict)
            self._note(found.turn, verdict, found.step, _nothing)

    def finish(self) -> None:
        """Score the trajectories of which turns were kept."""
        self.score.open = False
        for outcome in self.groups:
            self.score.trajectory(outcome)
            if outcome.r_format is not None:
                write_line(_line(outcome))

    def _note(self, turn: Record, verdict: Verdict, step: int | None, write: Callable[[], None]) -> None:
        self.score.turn(turn, verdict, step)
        self.explainer.verdict(turn, verdict, write)


def _nothing() -> None:
    """Write nothing: the line of a trajectory is written once."""


def _line(outcome: Outcome) -> str:
    return json_line(
        {
            "file": outcome.file,
            "line": outcome.line,
            "r_format": outcome.r_format,
            "turns": outcome.turns,
            "failed": outcome.failed,
            "error": outcome.error,
            "input": outcome.rest,
        }
    )
