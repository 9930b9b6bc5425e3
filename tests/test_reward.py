"""Rewards (SPEC §12, arXiv 2602.10560), and how trainers call them and log what they say."""

import inspect
import pickle
import re
import runpy
from collections import defaultdict
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any

import pytest

from cases import FIXTURES, trajectories
from gategrammar import format_reward
from gategrammar.reward import compute_score, exit_reward, trajectory_reward, trl_format_reward, update_rewards
from loopback import ANSWER, GOOD

CUT = GOOD[:50]
MAYBE = GOOD.replace("yes", "maybe")
PREFILLED = GOOD.removeprefix("<think>")


@pytest.mark.parametrize("loop", trajectories(), ids=lambda loop: str(loop.get("id", "")))
def test_real_loops(loop: dict[str, Any]) -> None:
    """Recorded loops of a model get the reward they were handed with."""
    assert format_reward([turn["response"] for turn in loop["turns"]]) == loop["expect"]["r_format"]


def test_every_turn_counts() -> None:
    """One wrong turn, wherever it stands, makes the whole trajectory wrong."""
    assert format_reward([GOOD]) == format_reward((GOOD, GOOD)) == format_reward(iter([GOOD] * 3)) == 1.0
    for place in range(3):
        turns = [GOOD] * 3
        turns[place] = CUT
        assert format_reward(turns) == 0.0
    assert isinstance(format_reward([CUT]), float)


def test_modes_of_turns() -> None:
    """The modes are those of parse, and an unknown one is never taken for a wrong format."""
    assert format_reward([PREFILLED], think="prefilled") == 1.0
    assert format_reward([ANSWER], think="absent") == 1.0
    assert format_reward(["So: " + GOOD]) == 1.0
    assert format_reward(["So: " + GOOD], outside_text="forbid") == 0.0
    unknown: Any = "none"
    with pytest.raises(ValueError, match="think must be one of"):
        format_reward([GOOD], think=unknown)


@pytest.mark.parametrize(
    "turns", [GOOD, {"a": GOOD}, [GOOD, None], [CUT, GOOD.encode()], [{"content": GOOD}], None, 5, b"x"]
)
def test_what_is_no_trajectory(turns: Any) -> None:
    """A str in place of the list, and a turn that is no str, is a TypeError, also behind a turn that is wrong."""
    with pytest.raises(TypeError, match=r"^a response is a str, not|^a trajectory is a list of turns, not one"):
        format_reward(turns)


def test_no_turn_at_all() -> None:
    """An empty trajectory has no reward."""
    with pytest.raises(ValueError, match="no turn"):
        format_reward([])


def said(content: str, role: str = "assistant", **fields: Any) -> dict[str, Any]:
    """Return a message as TRL hands it over."""
    return {"role": role, "content": content, **fields}


def test_trl_completions() -> None:
    """Texts and conversations are scored each for itself; of a conversation only what the assistant said."""
    texts = [GOOD, CUT, MAYBE]
    assert trl_format_reward(texts) == [1.0, 0.0, 0.0]
    assert trl_format_reward([[said(text)] for text in texts]) == [1.0, 0.0, 0.0]
    assert trl_format_reward([[said(GOOD), said("chunk 2", "user"), said(text)] for text in texts]) == [1.0, 0.0, 0.0]
    assert trl_format_reward([[said(ANSWER, reasoning_content="b")], [said(ANSWER)]]) == [1.0, 0.0]
    assert trl_format_reward([[said("", tool_calls=[{"function": {"name": "f"}}])]]) == [0.0]
    assert trl_format_reward([]) == []


def test_trl_passes_more() -> None:
    """What TRL passes beside the completions is not looked at, and the signature is its own."""
    more: dict[str, Any] = {
        "prompts": ["p"],
        "completion_ids": [[1]],
        "trainer_state": object(),
        "answer": ["x"],
        "tag": ["t"],
    }
    assert trl_format_reward(completions=[GOOD], **more) == [1.0]
    parameters = inspect.signature(trl_format_reward).parameters
    assert next(iter(parameters)) == "completions"
    assert parameters["kwargs"].kind is inspect.Parameter.VAR_KEYWORD


def test_trl_logs() -> None:
    """Kind and tag of each completion become columns, and their shares metrics: all of them, every time."""
    columns: dict[str, list[str]] = {}
    metrics: dict[str, float] = {}
    trl_format_reward([GOOD, CUT, MAYBE, MAYBE], log_extra=columns.__setitem__, log_metric=metrics.__setitem__)
    assert columns == {
        "gate_kind": ["", "unclosed", "bad_value", "bad_value"],
        "gate_tag": ["", "update", "check", "check"],
    }
    nothing = dict.fromkeys(("gate/missing", "gate/unopened", "gate/duplicate", "gate/stray_text"), 0.0)
    assert metrics == {"gate/unclosed": 0.25, "gate/bad_value": 0.5, "gate/truncated": 0.25, **nothing}


@pytest.mark.parametrize("completion", [None, 5, [GOOD], {"role": "assistant", "content": GOOD}, [None]])
def test_what_is_no_completion(completion: Any) -> None:
    """What is neither a text nor a list of messages is refused."""
    with pytest.raises(TypeError, match=r"^a completion is a str or a list of messages$"):
        trl_format_reward([GOOD, completion])


def test_a_conversation_without_an_assistant() -> None:
    """Nobody to be rewarded is an error, not a reward."""
    for completion in ([], [said(GOOD, "user")], [{"content": GOOD}]):
        with pytest.raises(ValueError, match="no turn"):
            trl_format_reward([completion])


@pytest.mark.parametrize("reward", [trl_format_reward, compute_score])
def test_a_mode_set_by_partial_pickles(reward: Any) -> None:
    """A partial sets the mode, keeps it over pickling, and can carry the name that older trainers ask for."""
    sent = pickle.loads(pickle.dumps(update_wrapper(partial(reward, think="prefilled"), reward)))
    assert sent.__name__ == reward.__name__
    if reward is trl_format_reward:
        assert sent([PREFILLED, ANSWER], prompts=["p", "p"]) == [1.0, 0.0]
    else:
        assert [sent("d", text, "g")["score"] for text in (PREFILLED, ANSWER)] == [1.0, 0.0]


def test_verl_calls() -> None:
    """Verl's documented call, by name and by place, with and without what newer versions add."""
    arguments: dict[str, Any] = {
        "data_source": "d",
        "solution_str": GOOD,
        "ground_truth": "g",
        "extra_info": {"index": 1},
    }
    assert compute_score(**arguments) == compute_score("d", GOOD, None) == compute_score(**arguments, sandbox=None)
    assert list(inspect.signature(compute_score).parameters)[:4] == list(arguments)
    with pytest.raises(TypeError):
        compute_score(**{**arguments, "solution_str": None})


def test_verl_configured_as_documented(tmp_path: Path) -> None:
    """The file and the settings that docs/training.md gives for verl call the reward in the mode that they name."""
    page = (FIXTURES.parent / "docs" / "training.md").read_text("utf-8")
    ((file, lines),) = re.findall(r"```python\n(# reward\.py\n.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    given = dict(line.lstrip("+").removeprefix("custom_reward_function.").split("=") for line in lines.splitlines())
    path = tmp_path / given.pop("path")
    path.write_text(file)
    reward = runpy.run_path(str(path))[given.pop("name")]
    arguments = {name.removeprefix("reward_kwargs."): value for name, value in given.items()}
    assert arguments == {"think": "prefilled"}
    assert [reward("d", text, "g", **arguments)["score"] for text in (PREFILLED, ANSWER)] == [1.0, 0.0]


def test_verl_logs() -> None:
    """Every call returns the same keys with the same types, as verl makes one array of each key over a batch."""
    gathered: dict[str, list[Any]] = defaultdict(list)
    for text in (GOOD, CUT, MAYBE, "", GOOD + GOOD, GOOD.replace("</next>", "")):
        for key, value in compute_score("d", text, "g").items():
            gathered[key].append(value)
    assert gathered == {
        "score": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        "kind": ["", "unclosed", "bad_value", "missing", "duplicate", "unclosed"],
        "tag": ["", "update", "check", "think", "think", "next"],
        "kind_id": [0, 2, 5, 1, 4, 2],
        "tag_id": [0, 3, 2, 1, 1, 4],
        "truncated": [0, 1, 0, 1, 0, 1],
    }
    for values in gathered.values():
        assert len({type(value) for value in values}) == 1
        assert type(values[0]) in (float, int, str)


def test_update_rewards() -> None:
    """+1 where the decision matches the evidence, -1 where it does not, turn by turn."""
    assert update_rewards([True, True, False, False], [True, False, True, False]) == [1.0, -1.0, -1.0, 1.0]
    assert update_rewards([], []) == []


@pytest.mark.parametrize("wrong", [1, None, "yes", 1.0])
def test_update_rewards_take_bools(wrong: Any) -> None:
    """A gate that is no real bool is refused by its place, on either side."""
    with pytest.raises(TypeError, match=r"decisions\[1\]"):
        update_rewards([True, wrong], [True, True])
    with pytest.raises(TypeError, match=r"evidence\[0\]"):
        update_rewards([True], [wrong])


def test_update_rewards_match_in_length() -> None:
    """A turn without evidence, or evidence without a turn, is never dropped."""
    with pytest.raises(ValueError, match="2 decisions, but evidence for 1"):
        update_rewards([True, False], [True])
    wrong: Any
    for wrong in (iter([True]), "yes", None):
        with pytest.raises(TypeError, match="evidence is a list of bools, not"):
            update_rewards([True], wrong)


def test_exit_reward() -> None:
    """-0.75 before the last evidence, 0 at it, -0.5 after it."""
    assert [exit_reward(step, 3) for step in range(6)] == [-0.75, -0.75, -0.75, 0.0, -0.5, -0.5]


@pytest.mark.parametrize("wrong", [None, True, 1.0, "1"])
def test_exit_reward_takes_steps(wrong: Any) -> None:
    """A step is an int and not negative; which one is wrong is said."""
    with pytest.raises(TypeError, match="exit_step"):
        exit_reward(wrong, 1)
    with pytest.raises(TypeError, match="last_evidence_step"):
        exit_reward(1, wrong)
    with pytest.raises(ValueError, match="last_evidence_step must not be negative, but is -1"):
        exit_reward(1, -1)


def test_trajectory_reward() -> None:
    """The sum of the three terms, which go by their names too."""
    assert trajectory_reward(1.0, -0.5, 1.0) == 1.5
    assert trajectory_reward(outcome=0.0, exit=-0.75, format=0.0) == -0.75
    whole = trajectory_reward(1, 0, 1)
    assert (whole, type(whole)) == (2.0, float)
    wrong: Any = "1"
    with pytest.raises(TypeError, match="exit must be a number, not str"):
        trajectory_reward(1.0, wrong, 1.0)


def test_one_text_is_no_batch() -> None:
    """A text in place of the list would be scored letter by letter; an unknown mode is told without completions."""
    wrong: Any
    for wrong in ("<think>", None):
        with pytest.raises(TypeError, match=r"^completions is a list with one item for each completion, not one"):
            trl_format_reward(wrong)
    with pytest.raises(ValueError, match="think must be one of"):
        trl_format_reward([], think="zz")  # type: ignore[arg-type] # the wrong mode is what is tested
