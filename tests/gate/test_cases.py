"""The handed cases: one page each, its reply and what is right."""

from typing import Any

import pytest

from gate.servers import always, serving
from gate.ways import WAYS, Way, each, handed_cases, page, settings, shape
from gategrammar.gate import GateSettings, decide
from gategrammar.gate.exchange import Reply, read_reply

CASES = handed_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_pure(case: dict[str, Any]) -> None:
    """The pure parts alone reach each handed decision."""
    chosen = GateSettings(**case["settings"])
    asked = min(case["count"], chosen.max_candidates)
    outcome = read_reply(Reply(case["status"], case["body"], {}), chosen, asked)
    assert shape(decide(page(case["count"]), outcome, chosen)) == case["expect"]


@each(WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_over_a_socket(case: dict[str, Any], way: Way) -> None:
    """Every way into the gate reaches each handed decision over a real socket."""
    with serving(always(case["body"], case["status"])) as server:
        decision = way.evaluate(settings(server.url, **case["settings"]), case["count"])
    assert shape(decision) == case["expect"]
    assert decision.active
    assert len(server.exchanges) == 1
