"""What a host puts around the gate: the task, the page, the block, the lines."""

from types import SimpleNamespace
from typing import Any

import pytest

from gate.ways import page
from gategrammar.gate import (
    TOOL_NOTE,
    Answers,
    Candidate,
    GateDecision,
    GateSettings,
    Refused,
    Usage,
    current_task,
    decide,
    gated_block,
    gated_line,
    log_line,
    narrow,
)

TEXT = {"type": "text", "text": "a"}


def decided(*values: float | None, **settings: Any) -> GateDecision:
    """Decide a page of as many candidates as there are values."""
    hashes = [f"{at}{'abcdef0123456789' * 2}" for at in range(len(values))]
    chosen = GateSettings(**settings)
    answers = Answers(values[: chosen.max_candidates], "jev-1.13.0", Usage(296, 20))
    return decide([Candidate(hash=hash_) for hash_ in hashes], answers, chosen)


@pytest.mark.parametrize(
    ("messages", "keywords", "task"),
    [
        ([{"role": "user", "content": " fix it \n"}], ["a"], "fix it"),
        ([{"role": "user", "content": "old"}, {"role": "user", "content": "new"}], [], "new"),
        ([{"role": "user", "content": "asked"}, {"role": "assistant", "content": "done"}], [], "asked"),
        ([{"role": "user", "content": "asked"}, {"role": "user", "content": "  "}], [], "asked"),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}],
                }
            ],
            [],
            "a\nb",
        ),
        ([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], [], "a"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], ["x", "y"], "x y"),
        ([{"role": "user", "content": [{"type": ["text"], "text": 7}, "loose", None]}], ["x"], "x"),
        ([{"role": "user", "content": None}, {"role": "user"}, {}, None, 7], ["x"], "x"),
        ([SimpleNamespace(role="user", content="of an SDK")], [], "of an SDK"),
        ([{"role": "user", "content": [SimpleNamespace(type="text", text="part")]}], [], "part"),
        ([], [], ""),
        ((message for message in [{"role": "user", "content": "from a generator"}]), [], "from a generator"),
    ],
)
def test_current_task(messages: Any, keywords: list[str], task: str) -> None:
    """The task is the newest user message that has text, whatever form it has; else the search words."""
    assert current_task(messages, keywords) == task


def test_narrow() -> None:
    """Results of the host's own kind are narrowed by position; a page of another length is an error."""
    decision = decided(0.9, 0.1, 0.8)
    assert narrow([1, "two", None], decision) == [1, None]
    assert narrow(("a", "b", "c"), decision) == ["a", "c"]
    with pytest.raises(ValueError, match="the page has 2 results, but the decision is on 3"):
        narrow([1, 2], decision)


def test_judged_page() -> None:
    """Block and lines of an ordinary page."""
    decision = decided(0.9, 0.1, 0.25)
    assert gated_block(decision) == {
        "mode": "noul",
        "model": "jev-latest",
        "candidates": 3,
        "judged": 3,
        "untouched": 0,
        "kept": 1,
        "dropped": 2,
        "degraded": False,
        "input_tokens": 296,
        "dropped_hashes": ["1abcdef0", "2abcdef0"],
    }
    assert gated_line(decision, read_tool="mem_read") == (
        "gated: mode=noul model=jev-latest judged=3 kept=1 dropped=2\n"
        "dropped: 1abcdef0, 2abcdef0 (read one back with mem_read)"
    )
    assert log_line(decision) == (
        "gate mode=noul model=jev-latest candidates=3 judged=3 kept=1 dropped=2 input_tokens=296 "
        "verdicts=0abcdef0:0.9:keep,1abcdef0:0.1:drop,2abcdef0:0.25:drop"
    )


def test_page_with_everything() -> None:
    """Untouched and unreadable candidates are counted where there are any."""
    decision = decided(0.9, None, 0.1, 0.1, max_candidates=3)
    assert gated_line(decision) == (
        "gated: mode=noul model=jev-latest judged=3 untouched=1 unreadable=1 kept=3 dropped=1\ndropped: 2abcdef0"
    )
    assert log_line(decision) == (
        "gate mode=noul model=jev-latest candidates=4 judged=3 untouched=1 unreadable=1 kept=3 dropped=1 "
        "input_tokens=296 verdicts=0abcdef0:0.9:keep,1abcdef0:na:keep,2abcdef0:0.1:drop,3abcdef0:na:keep"
    )
    block = gated_block(decision)
    assert block is not None
    assert (block["untouched"], block["unreadable"]) == (1, 1)


def test_floored_page() -> None:
    """The floor is a NOTE, with its reason."""
    decision = decided(0.1, 0.2, min_keep=1)
    note = "no candidate reached the threshold; kept the best 1"
    assert gated_line(decision) == (
        f"gated: mode=noul model=jev-latest judged=2 kept=1 dropped=1 NOTE({note})\ndropped: 0abcdef0"
    )
    assert f'reason="{note}" input_tokens=296 verdicts=' in log_line(decision)


def test_degraded_page() -> None:
    """A page that could not be judged says so everywhere."""
    decision = decide(page(2), Refused("timed out after 8 s"), GateSettings(mode="score"))
    assert gated_line(decision) == (
        "gated: mode=score model=jev-latest judged=2 kept=2 dropped=0 DEGRADED(timed out after 8 s)"
    )
    assert log_line(decision) == (
        "gate DEGRADED mode=score model=jev-latest candidates=2 judged=2 kept=2 dropped=0 "
        'reason="timed out after 8 s" verdicts=m0:na:keep,m1:na:keep'
    )


def test_hashes_that_would_break_a_line() -> None:
    """A hash with line breaks, separators or terminal codes cannot forge a line, a verdict or a colour."""
    names = ["a\ngate x", "b,c:d e", "\x1b[31mred", "\ud800abc"]
    decision = decide([Candidate(hash=name) for name in names], Answers((0.1, 0.1, 0.1, 0.9)), GateSettings())
    lines = (gated_line(decision) or "") + log_line(decision)
    assert lines.count("\n") == 1
    assert "\x1b" not in lines
    assert lines.encode()
    assert log_line(decision).rpartition("=")[2].count(",") == 3
    assert gated_block(decision)["dropped_hashes"] == ["a\ngate x", "b,c:d e", "\x1b[31mred"]  # type: ignore[index] # the gate was on


def test_tool_note() -> None:
    """The note explains every word that a block or line can hold, in few words."""
    assert all(word in TOOL_NOTE for word in ("gated", "DEGRADED", "NOTE", "hash", "read"))
    assert len(TOOL_NOTE.split()) < 90
