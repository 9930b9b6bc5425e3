"""Servers and models that others wrote."""

import contextlib
import importlib.util
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from gate.programs import program
from gate.ways import OWN_WAYS, Way, each, page, settings
from gategrammar.gate import GateDecision, reasons
from gategrammar.gate.settings import MODES, Mode

if importlib.util.find_spec("jevcompat") is None:
    pytest.skip("jevcompat is not installed; it comes with the extra 'test'", allow_module_level=True)
from jevcompat.mock import FAULTS, MockConfig, Running

KEY = "key-1"
#: What the gate says to the faults that concern it; all others leave a page that is judged.
EXPECTED = {
    "wrong-route": "HTTP 404 (not_found)",
    "xssi-200": reasons.NOT_JSON,
    "auth-rejects-header": "HTTP 401 (authentication_error)",
    "auth-x-api-key": "HTTP 403 (authentication_error)",
    "reject-jev-latest": "HTTP 404 (not_found)",
    "string-only-text": "HTTP 422",
    "nan": reasons.BAD_NUMBER,
}
EXPECTED_OF_NOUL = {"boolean-type": reasons.NO_READABLE_ANSWER, "noul-range": reasons.NO_READABLE_ANSWER}
#: These answer without reading the request, so that the kernel may reset the connection before the answer is read.
UNREAD = {"wrong-route", "auth-rejects-header", "auth-x-api-key"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_spec_exact_server_with_one_fault(fault: str, mode: Mode) -> None:
    """Each fault of a server either has its reason, or is none of the gate's business and the page is judged."""
    key = None if fault == "auth-rejects-header" else KEY
    with Running(MockConfig(key=key, faults=frozenset({fault}))) as server:
        given = settings(f"{server.url}/v1/systemone", mode=mode, api_key=KEY, threshold=0.5)
        decision = OWN_WAYS[0].evaluate(given)
    expected = EXPECTED | (EXPECTED_OF_NOUL if mode == "noul" else {})
    if fault in UNREAD:
        assert decision.reason in {expected[fault], reasons.CONNECTION_FAILED}
    elif fault in expected:
        assert decision.reason == expected[fault]
    else:
        assert judged(decision, mode)
        assert decision.unreadable == (2 if fault == "first-question-only" else 0)
        assert decision.usage.input_tokens is None if fault in {"no-usage", "float-usage"} else decision.usage


def judged(decision: GateDecision, mode: Mode) -> bool:
    """Tell whether the page was judged, with values in range."""
    top = 1 if mode == "noul" else 4
    values = [verdict.value for verdict in decision.verdicts]
    assert all(value is None or 0 <= value <= top for value in values)
    return decision.active and not decision.degraded and any(value is not None for value in values)


@each(OWN_WAYS)
def test_spec_exact_server(way: Way) -> None:
    """A server without faults judges, also when it is busy now and then."""
    with Running(MockConfig(key=KEY, busy_every=2)) as server:
        given = settings(f"{server.url}/v1/systemone", api_key=KEY, retries=2)
        with way.gate(given) as evaluate:
            decisions = [evaluate("the task", page(20)) for _ in range(5)]
    assert all(judged(decision, "noul") for decision in decisions)
    assert len({decision.verdicts for decision in decisions}) == 1
    assert decisions[0].answered_model == "jevcompat-mock-0.1"


@contextlib.contextmanager
def sparrow() -> Iterator[str]:
    """Run a real small model as a server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program("sparrow-decider"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1/systemone"
        finally:
            process.terminate()


def test_real_model() -> None:
    """A real model answers the gate's requests in both modes, every answer readable (its relevance is chance)."""
    with sparrow() as url:
        for mode in MODES:
            for way in OWN_WAYS:
                decision = way.evaluate(settings(url, mode=mode, timeout=60), 20)
                assert judged(decision, mode), decision.reason
                assert decision.unreadable == 0
