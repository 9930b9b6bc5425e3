"""Rewards for training: whether the format is right (SPEC §12), and the paper's others.

The formulas of :func:`update_rewards`, :func:`exit_reward` and :func:`trajectory_reward` are those of arXiv 2602.10560
as two independent summaries report them; the paper's own text was not at hand.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from gategrammar.messages import parse_message
from gategrammar.response._tables import ELEMENTS
from gategrammar.response.errors import ERRORS, GateParseError
from gategrammar.response.grammar import IGNORE, REQUIRED, OutsideText, Think, check_modes
from gategrammar.response.parse import parse
from gategrammar.response.result import GateResponse

#: The numbers of kinds and tags in what is logged; 0, "" is a good response.
_KINDS = ("", *ERRORS)
_TAGS = ("", *(element.name for element in ELEMENTS))


def format_reward(turns: Iterable[str], *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE) -> float:
    """Return r_format of a trajectory: 1.0 if every turn parses, else 0.0 (SPEC §12).

    Args:
        turns: the responses of one trajectory, in any order.
        think: how the reasoning arrives (SPEC §7).
        outside_text: text outside the elements: "ignore" it, or "forbid" it (SPEC §6).

    Raises:
        TypeError: *turns* is one str or a mapping, or a turn is no str.
        ValueError: there is no turn, or a mode is unknown.
    """
    error = _first_error(turns, partial(parse, think=think, outside_text=outside_text))
    return r_format(failed=error is not None)


def r_format(*, failed: bool) -> float:
    """Return r_format of a trajectory by whether any of its turns does not parse (SPEC §12)."""
    return 0.0 if failed else 1.0


def trl_format_reward(
    completions: Sequence[str | Sequence[Mapping[str, Any]]],
    *,
    think: Think = REQUIRED,
    outside_text: OutsideText = IGNORE,
    **kwargs: Any,
) -> list[float]:
    """Return r_format of each completion: a reward function for TRL's ``GRPOTrainer``.

    A completion of plain text is one turn. Of a conversation every assistant message is a turn, read like
    :func:`gategrammar.parse_message`, since TRL can be told to take the reasoning out of the content. For other modes
    give the trainer ``functools.partial(trl_format_reward, think="prefilled")``.

    Where TRL passes ``log_extra`` and ``log_metric``, kind and tag of the first error of each completion become the
    columns ``gate_kind`` and ``gate_tag`` of its table, and the shares of each kind and of answers that were cut become
    the metrics ``gate/KIND`` and ``gate/truncated``.

    Args:
        completions: what the model wrote.
        think: how the reasoning arrives (SPEC §7).
        outside_text: text outside the elements: "ignore" it, or "forbid" it (SPEC §6).
        kwargs: what else TRL passes: prompts, columns of the data set and so on.

    Raises:
        TypeError: *completions* is one text, or a completion is neither a text nor a list of messages.
        ValueError: a conversation has no assistant message, or a mode is unknown.
    """
    check_modes(think, outside_text)
    if isinstance(completions, str) or not isinstance(completions, Iterable):
        raise TypeError(
            f"completions is a list with one item for each completion, not one {type(completions).__name__}"
        )
    modes: dict[str, Any] = {"think": think, "outside_text": outside_text}
    errors = [
        _first_error([completion], partial(parse, **modes))
        if isinstance(completion, str)
        else _first_error(_said(completion), partial(parse_message, **modes))
        for completion in completions
    ]
    verdicts = [_verdict(error) for error in errors]
    if "log_extra" in kwargs:
        for name in ("kind", "tag"):
            kwargs["log_extra"](f"gate_{name}", [verdict[name] for verdict in verdicts])
    if "log_metric" in kwargs and verdicts:
        # Every kind, each time: TRL averages over the processes that report a metric, not over all.
        for kind in ERRORS:
            kwargs["log_metric"](f"gate/{kind}", sum(verdict["kind"] == kind for verdict in verdicts) / len(verdicts))
        kwargs["log_metric"]("gate/truncated", sum(verdict["truncated"] for verdict in verdicts) / len(verdicts))
    return [verdict["score"] for verdict in verdicts]


def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    think: Think = REQUIRED,
    outside_text: OutsideText = IGNORE,
    **kwargs: Any,
) -> dict[str, Any]:
    """Return r_format of one response: a custom reward function for verl.

    Modes are set in verl's configuration, under ``custom_reward_function.reward_kwargs``, or with
    ``functools.partial``.

    Args:
        data_source: not used.
        solution_str: what the model wrote.
        ground_truth: not used.
        extra_info: not used.
        think: how the reasoning arrives (SPEC §7).
        outside_text: text outside the elements: "ignore" it, or "forbid" it (SPEC §6).
        kwargs: not used.

    Returns:
        ``score`` (1.0 or 0.0) and, for verl's logs, ``kind`` and ``tag`` of the error ("" for none), the same as
        numbers (``kind_id``, ``tag_id``; 0 for none, else the place in the order of the six kinds and of the four
        elements, from 1) and ``truncated`` (1 or 0). Every call returns all of them, and none is None: verl makes
        one array of each.

    Raises:
        TypeError: *solution_str* is no str.
        ValueError: a mode is unknown.
    """
    return _verdict(_first_error([solution_str], partial(parse, think=think, outside_text=outside_text)))


def update_rewards(decisions: Sequence[bool], evidence: Sequence[bool]) -> list[float]:
    """Return r_update of each turn: 1.0 if the update gate is open exactly where the chunk holds evidence, else -1.0.

    Args:
        decisions: the update gate of each turn.
        evidence: whether the chunk of that turn holds evidence.

    Raises:
        TypeError: an argument is no sequence, or an item no bool.
        ValueError: the lengths differ.
    """
    for name, items in (("decisions", decisions), ("evidence", evidence)):
        if not isinstance(items, Sequence) or isinstance(items, str | bytes):
            raise TypeError(f"{name} is a list of bools, not {type(items).__name__}")
        for number, item in enumerate(items):
            if not isinstance(item, bool):
                raise TypeError(f"{name}[{number}] must be a bool, not {type(item).__name__}")
    if len(decisions) != len(evidence):
        raise ValueError(f"there are {len(decisions)} decisions, but evidence for {len(evidence)} turns")
    return [1.0 if decided is held else -1.0 for decided, held in zip(decisions, evidence, strict=True)]


def exit_reward(exit_step: int, last_evidence_step: int) -> float:
    """Return r_exit: -0.75 for an exit before the last evidence, 0.0 for one right at it, -0.5 for a later one.

    Args:
        exit_step: the turn at which the loop stopped; a run that never exits exits at its last chunk.
        last_evidence_step: the last turn whose chunk holds evidence, counted alike.

    Raises:
        TypeError: a step is no int.
        ValueError: a step is negative.
    """
    for name, step in (("exit_step", exit_step), ("last_evidence_step", last_evidence_step)):
        if not isinstance(step, int) or isinstance(step, bool):
            raise TypeError(f"{name} must be an int, not {type(step).__name__}")
        if step < 0:
            raise ValueError(f"{name} must not be negative, but is {step}")
    if exit_step == last_evidence_step:
        return 0.0
    return -0.75 if exit_step < last_evidence_step else -0.5


def trajectory_reward(outcome: float, exit: float, format: float) -> float:
    """Return r_traj: the sum of r_outcome, r_exit and r_format.

    Args:
        outcome: whether the answer is right, as the trainer rates it.
        exit: from :func:`exit_reward`.
        format: from :func:`format_reward`.

    Raises:
        TypeError: an argument is no number.
    """
    parts = {"outcome": outcome, "exit": exit, "format": format}
    for name, part in parts.items():
        if not hasattr(part, "__float__"):  # those of numpy and torch have it, too; a str has not
            raise TypeError(f"{name} must be a number, not {type(part).__name__}")
    return sum(map(float, parts.values()))


def _first_error(turns: Iterable[Any], read: Callable[[Any], GateResponse]) -> GateParseError | None:
    """Return the first error of a trajectory; every turn is read, so a wrong type never hides behind an error."""
    if isinstance(turns, str | bytes | Mapping) or not isinstance(turns, Iterable):
        raise TypeError(f"a trajectory is a list of turns, not one {type(turns).__name__}")
    errors = [_error(turn, read) for turn in turns]
    if not errors:
        raise ValueError("the trajectory has no turn, so its format is neither right nor wrong")
    return next((error for error in errors if error is not None), None)


def _error(turn: Any, read: Callable[[Any], GateResponse]) -> GateParseError | None:
    try:
        read(turn)
    except GateParseError as error:
        return error.with_traceback(None)
    return None


def _said(completion: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the assistant's messages of a conversation."""
    if (
        not isinstance(completion, Iterable)
        or isinstance(completion, Mapping)
        or not all(isinstance(message, Mapping) for message in completion)
    ):
        raise TypeError("a completion is a str or a list of messages")
    return [message for message in completion if message.get("role") == "assistant"]


def _verdict(error: GateParseError | None) -> dict[str, Any]:
    """Return what trainers log of one trajectory."""
    kind, tag = (error.kind, error.tag) if error is not None else ("", "")
    return {
        "score": r_format(failed=error is not None),
        "kind": kind,
        "tag": tag,
        "kind_id": _KINDS.index(kind),
        "tag_id": _TAGS.index(tag),
        "truncated": int(error is not None and error.truncated),
    }
