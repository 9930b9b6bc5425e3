"""From values to what stays of a page (docs/gate.md): pure, no I/O."""

from collections.abc import Sequence
from typing import Any

from attrs import asdict, field, frozen
from attrs.validators import instance_of, optional

from gategrammar.gate import reasons
from gategrammar.gate._checks import are, finite, is_count, is_flag, is_text, is_value, need
from gategrammar.gate.answers import Answers, Refused, Usage
from gategrammar.gate.questions import Candidate
from gategrammar.gate.settings import GateSettings, Mode, is_mode


@frozen
class Verdict:
    """What became of the candidate at one position of the page.

    Args:
        hash: the candidate's; two candidates may have the same.
        value: the judge's number, None when it was not asked for or could not be read.
        keep: whether the candidate stays.
    """

    hash: str = field(validator=is_text)
    value: float | None = field(validator=is_value)
    keep: bool = field(validator=is_flag)


@frozen(kw_only=True)
class GateDecision:
    """What became of a page, and why: the whole audit.

    Args:
        verdicts: one per candidate of the page, in its order.
        mode: noul or score.
        model: the model asked for.
        judged: how many candidates were asked about, or would have been.
        active: False when the gate was off: the page is as it was, and nothing was asked.
        degraded: True when the page could not be judged; every candidate stays.
        floored: True when no candidate passed and the best ``min_keep`` stay.
        reason: why the gate was off, the page degraded or floored; else None.
        answered_model: the model that the server says answered.
        usage: the tokens that the server says it used.
        elapsed: seconds that the gate took to come by its answers, or to give up.
    """

    verdicts: tuple[Verdict, ...] = field(validator=are(Verdict))
    mode: Mode = field(validator=is_mode)
    model: str = field(validator=is_text)
    judged: int = field(validator=is_count)
    active: bool = field(default=True, validator=is_flag)
    degraded: bool = field(default=False, validator=is_flag)
    floored: bool = field(default=False, validator=is_flag)
    reason: str | None = field(default=None, validator=optional(is_text))
    answered_model: str | None = field(default=None, validator=optional(is_text))
    usage: Usage = field(factory=Usage, validator=instance_of(Usage))
    elapsed: float = field(default=0.0, validator=finite)

    def __attrs_post_init__(self) -> None:
        """Refuse an audit that contradicts itself: a page that was not judged is whole."""
        need(self.judged <= len(self.verdicts), f"judged must be at most {len(self.verdicts)}, the number of verdicts")
        whole = not self.degraded and self.active
        need(whole or not self.dropped, "verdicts must keep every candidate of a page that was not judged")
        need(self.active or not self.degraded, "degraded must be False where the gate was off")

    @property
    def kept(self) -> tuple[str, ...]:
        """The hashes of what stays, in page order."""
        return tuple(verdict.hash for verdict in self.verdicts if verdict.keep)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The hashes of what goes, in page order."""
        return tuple(verdict.hash for verdict in self.verdicts if not verdict.keep)

    @property
    def untouched(self) -> int:
        """How many candidates were past ``max_candidates``."""
        return len(self.verdicts) - self.judged

    @property
    def unreadable(self) -> int:
        """How many answers of a judged page could not be read; their candidates stay."""
        if self.degraded or not self.active:
            return 0
        return sum(verdict.value is None for verdict in self.verdicts[: self.judged])

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain JSON data."""
        return {
            "kept": list(self.kept),
            "dropped": list(self.dropped),
            **asdict(self),
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "untouched": self.untouched,
            "unreadable": self.unreadable,
        }


def decide(
    candidates: Sequence[Candidate], answers: Answers | Refused, settings: GateSettings, *, elapsed: float = 0.0
) -> GateDecision:
    """Decide what stays of a page.

    Args:
        candidates: the whole page, in its order.
        answers: the values of its first ``max_candidates``, or the reason why there are none.
        settings: the mode, its bar and the floor.
        elapsed: seconds that it took to come by the answers.

    Raises:
        ValueError: there are more or fewer answers than candidates asked about.
    """
    if isinstance(answers, Refused):
        return keep_all(candidates, settings, reason=answers.reason, degraded=True, elapsed=elapsed)
    judged = min(settings.max_candidates, len(candidates))
    if len(answers.values) != judged:
        raise ValueError(f"{len(answers.values)} answers for {judged} candidates asked about")
    values = answers.values + (None,) * (len(candidates) - judged)
    bar = settings.bar
    keep = [value is None or value >= bar for value in values]
    floored = bool(keep) and not any(keep)
    if floored:
        keep = _floor([value or 0.0 for value in values], settings.min_keep)
    return GateDecision(
        verdicts=tuple(map(Verdict, (candidate.hash for candidate in candidates), values, keep)),
        mode=settings.mode,
        model=settings.model,
        judged=judged,
        floored=floored,
        reason=reasons.floor_kept(sum(keep)) if floored else None,
        answered_model=answers.model,
        usage=answers.usage,
        elapsed=elapsed,
    )


def keep_all(
    candidates: Sequence[Candidate],
    settings: GateSettings,
    *,
    reason: str | None = None,
    degraded: bool = False,
    active: bool = True,
    elapsed: float = 0.0,
) -> GateDecision:
    """Return the decision that leaves a page as it is: degraded, off, or empty."""
    return GateDecision(
        verdicts=tuple(Verdict(candidate.hash, None, keep=True) for candidate in candidates),
        mode=settings.mode,
        model=settings.model,
        judged=min(settings.max_candidates, len(candidates)),
        active=active,
        degraded=degraded,
        reason=reason,
        elapsed=elapsed,
    )


def _floor(values: list[float], count: int) -> list[bool]:
    """Mark the *count* highest of *values*; of equal ones the earlier."""
    best = set(sorted(range(len(values)), key=lambda position: -values[position])[:count])
    return [position in best for position in range(len(values))]
