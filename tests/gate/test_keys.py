"""Where the key comes from, when the gate is off, and that the key is seen nowhere but in the one header."""

import asyncio
import contextlib
import logging
import socket
import threading
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from gate.servers import Exchange, always, answers, serving
from gate.ways import OWN_WAYS, WAYS, Way, each, httpx2, page, settings
from gategrammar.gate import (
    AsyncRecallGate,
    GateSettings,
    LocalSystemOne,
    RecallGate,
    gated_block,
    gated_line,
    log_line,
    reasons,
)

KEY = "sk-Zq9secret+key/0123456789"
GOOD = answers(3, 0.9, 0.1)


def authorization(way: Way, settings: GateSettings, **options: Any) -> str | None:
    """Evaluate a page and return the header that the server saw."""
    with serving(always(GOOD)) as server:
        asked = GateSettings(endpoint=server.url, timeout=5, **settings_of(settings))
        assert not way.evaluate(asked, **options).degraded
    return server.exchanges[0].headers.get("authorization")


def settings_of(given: GateSettings) -> dict[str, Any]:
    """Return the key's settings."""
    return {"api_key": given.api_key, "api_key_env": given.api_key_env}


async def from_vault(reference: str) -> str:
    """Resolve asynchronously, as a vault's client does."""
    await asyncio.sleep(0)
    return f"async-{reference}"


def in_two_steps(reference: str) -> Awaitable[str]:
    """Return an awaitable from a plain function."""
    return from_vault(reference)


def raising(reference: str) -> str:
    """Fail with the key in the message, as a careless resolver may."""
    raise RuntimeError(f"vault at {reference} refused {KEY}")


@each(WAYS)
def test_order_of_sources(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """The literal key comes first, then the resolver's, then the environment's; blank ones count as none."""
    monkeypatch.setenv("MY_KEY", "from-env")
    literal = GateSettings(api_key="literal", api_key_env="MY_KEY")
    reference = GateSettings(api_key_env="MY_KEY")
    blank = GateSettings(api_key="  ", api_key_env="MY_KEY")
    neither = GateSettings(api_key_env="")
    expected: list[tuple[GateSettings, Any, str | None]] = [
        (literal, lambda _: "resolved", "Bearer literal"),
        (reference, lambda ref: f"resolved-{ref}", "Bearer resolved-MY_KEY"),
        (blank, from_vault, "Bearer async-MY_KEY"),
        (reference, in_two_steps, "Bearer async-MY_KEY"),
        (reference, None, "Bearer from-env"),
        (reference, lambda _: None, "Bearer from-env"),
        (reference, lambda _: " ", "Bearer from-env"),
        (reference, raising, "Bearer from-env"),
        (neither, lambda _: "resolved", None),
        (reference, lambda _: "two words", None),
        (reference, lambda _: 7, None),
    ]
    for given, resolver, header in expected:
        assert authorization(way, given, resolve_key=resolver) == header


@each(WAYS)
def test_slow_resolver_ends_at_the_deadline(way: Way) -> None:
    """The deadline covers the key look-up, even one that blocks its thread."""
    release = threading.Event()

    def blocking(_: str) -> str:
        release.wait()
        return "late"

    async def sleeping(_: str) -> str:
        await asyncio.sleep(3600)
        return "late"

    with serving(always(GOOD)) as server:
        for resolver in (blocking, sleeping):
            decision = way.evaluate(settings(server.url, timeout=0.2), resolve_key=resolver)
            assert decision.degraded
            assert decision.reason == "timed out after 0.2 s"
        release.set()
    assert not server.exchanges


@each(WAYS)
@pytest.mark.parametrize(
    ("given", "resolver", "reason"),
    [
        ({}, None, reasons.NO_KEY),
        ({"api_key": " "}, lambda _: "", reasons.NO_KEY),
        ({}, raising, reasons.NO_KEY),
        ({}, lambda _: "clé", reasons.UNUSABLE_KEY),
        ({"api_key": KEY, "enabled": False}, None, reasons.DISABLED),
        ({"api_key": KEY, "endpoint": ""}, None, reasons.NO_ENDPOINT),
    ],
)
def test_gate_is_off(
    given: dict[str, Any], resolver: Any, reason: str, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate that is off keeps all, asks nobody, and adds no block and no line to the host's result."""
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    decision = way.evaluate(GateSettings(**{"endpoint": "https://judge.invalid/", **given}), resolve_key=resolver)
    assert not decision.active
    assert not decision.degraded
    assert decision.reason == reason
    assert len(decision.kept) == 3
    assert (gated_block(decision), gated_line(decision)) == (None, None)
    assert log_line(decision).startswith("gate OFF mode=noul ")


@each(OWN_WAYS)
def test_judge_in_process_needs_nothing(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local judge works with no endpoint, and does not even look for a key."""
    monkeypatch.setattr(socket.socket, "connect", None)
    monkeypatch.setattr(socket, "getaddrinfo", None)
    for given in (GateSettings(), GateSettings(endpoint="")):
        decision = way.evaluate(given, judge=LocalSystemOne(), resolve_key=lambda _: pytest.fail("asked for a key"))
        assert decision.active
        assert not decision.degraded
        assert decision.answered_model == "local-lexical"


@each(WAYS)
def test_empty_page(way: Way) -> None:
    """Of an empty page nothing is asked, and no key is looked up."""
    with serving(always(GOOD)) as server:
        decision = way.evaluate(settings(server.url), 0, resolve_key=lambda _: pytest.fail("asked for a key"))
    assert decision.active
    assert not decision.degraded
    assert not decision.verdicts
    assert not server.exchanges
    assert gated_block(decision) is None


@each(OWN_WAYS)
def test_broken_certificates_of_the_machine(way: Way, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A gate on a machine whose certificates cannot be read keeps the page whole."""
    (tmp_path / "broken.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "broken.pem"))
    decision = way.evaluate(GateSettings(endpoint="https://localhost/", api_key="k"))
    assert (decision.degraded, decision.reason) == (True, reasons.REQUEST_FAILED)


@each(OWN_WAYS)
def test_page_from_a_generator(way: Way) -> None:
    """A page that can be walked only once is judged whole."""
    with way.gate(GateSettings(), judge=LocalSystemOne()) as evaluate:
        assert len(evaluate("title", (candidate for candidate in page(3))).verdicts) == 3


@each(WAYS)
def test_live_settings(way: Way) -> None:
    """Settings given as a callable are asked once per page; one that fails degrades the page."""
    asked: list[float] = []

    with serving(always(GOOD)) as server:

        def live() -> Any:
            asked.append(1)
            if len(asked) == 3:
                raise RuntimeError(KEY)
            return "nonsense" if len(asked) == 4 else settings(server.url, threshold=[1.0, 0.05][len(asked) - 1])

        with way.gate(live) as evaluate:
            assert evaluate("task", page()).floored
            assert len(evaluate("task", page()).kept) == 3
            for _ in range(2):
                decision = evaluate("task", page())
                assert (decision.degraded, decision.reason) == (True, reasons.SETTINGS_UNAVAILABLE)
    assert len(asked) == 4


def test_callers_auth_gives_way_to_the_key() -> None:
    """A caller's client that logs in elsewhere sends our key to the judge; without a key its own auth stays."""
    with serving(always(GOOD)) as server, httpx.Client(auth=("user", "password")) as client:
        for given in ({"api_key": KEY}, {"api_key_env": ""}):
            with RecallGate(settings(server.url, **given), client=client) as gate:
                assert not gate.evaluate("task", page()).degraded
        first, second = (exchange.headers["authorization"] for exchange in server.exchanges)
    assert first == f"Bearer {KEY}"
    assert second.startswith("Basic ")


def echo(exchange: Exchange) -> None:
    """Put the key wherever a server can put text."""
    key = exchange.headers["authorization"].removeprefix("Bearer ")
    exchange.reply(answers(3, 0.9, 0.1, model=f"model-{key}"))


def failing(status: int) -> Callable[[Exchange], None]:
    """Refuse with the key in the body."""

    def refuse(exchange: Exchange) -> None:
        key = exchange.headers["authorization"].removeprefix("Bearer ")
        exchange.reply(b'{"detail": {"error_type": "%b", "message": "%b"}}' % (key.encode(), key.encode()), status)

    return refuse


@each(WAYS)
@pytest.mark.parametrize(
    "behaviour",
    [
        echo,
        failing(400),
        failing(401),
        failing(529),
        Exchange.hang,
        Exchange.reset,
        always(KEY.encode()),
        always(b"", 307, "Location: http://127.0.0.1/\r\n"),
    ],
)
def test_key_is_seen_nowhere(
    behaviour: Any, way: Way, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """After each failure the key is in no log record (all loggers, all levels), audit, line, repr or output."""
    caplog.set_level(logging.DEBUG)
    with serving(behaviour) as server:
        given = settings(server.url, api_key=KEY, timeout=1.0 if behaviour is Exchange.hang else 30)
        with way.gate(given) as evaluate:
            decision = evaluate("task", page())
            seen = [
                given,
                decision,
                decision.to_dict(),
                log_line(decision),
                gated_line(decision),
                gated_block(decision),
            ]
            seen += [evaluate, getattr(evaluate, "__self__", None)]
        assert server.exchanges[0].headers["authorization"] == f"Bearer {KEY}"
    output = capfd.readouterr()
    seen += [output.out, output.err, caplog.text, [vars(record) for record in caplog.records]]
    assert KEY not in repr(seen)
    assert "httpx" in caplog.text or "httpcore" in caplog.text or decision.degraded


@pytest.mark.parametrize("key", ["two words", "new\nline", "clé", "tab\t"])
def test_unusable_literal_key_is_refused_unseen(key: str) -> None:
    """A key that cannot be sent is refused when the settings are built, and not quoted in the error."""
    with pytest.raises(ValueError, match="api_key must be printable ASCII") as caught:
        GateSettings(api_key=key)
    assert key not in "".join(traceback.format_exception(caught.value))


def test_cancellation_shows_no_key() -> None:
    """A cancelled page propagates, and a traceback with all local variables shows no key."""

    async def cancelled() -> str:
        with serving(Exchange.hang) as server:
            async with AsyncRecallGate(settings(server.url, api_key=KEY)) as gate:
                task = asyncio.create_task(gate.evaluate("task", page()))
                await asyncio.to_thread(server.wait_until_asked)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                assert task.cancelled()
                try:
                    await task
                except asyncio.CancelledError as error:
                    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        return pytest.fail("nothing was raised")

    text = asyncio.run(cancelled())
    assert "evaluate" in text
    assert KEY not in text


def test_wrong_arguments() -> None:
    """What is the host programmer's mistake is an error that names it, not a degraded page."""
    with pytest.raises(TypeError, match="settings must be GateSettings"):
        RecallGate({"api_key": KEY})  # type: ignore[arg-type] # that is the mistake
    with pytest.raises(TypeError, match="unexpected keyword argument 'jugde'"):
        RecallGate(jugde=LocalSystemOne())  # type: ignore[call-arg] # ditto
    with pytest.raises(TypeError, match="client must be an httpx or httpx2 Client, not AsyncClient"):
        RecallGate(client=httpx.AsyncClient())
    with pytest.raises(TypeError, match="client must be an httpx or httpx2 AsyncClient, not Client"):
        AsyncRecallGate(client=httpx2.Client())
    with pytest.raises(TypeError, match="not str"):
        RecallGate(client="https://…")
    with pytest.raises(TypeError, match="judge must be a LocalSystemOne"):
        RecallGate(judge="lexical")  # type: ignore[arg-type] # ditto
    with pytest.raises(ValueError, match="not both"), httpx.Client() as client:
        RecallGate(client=client, judge=LocalSystemOne())
    with RecallGate() as gate, pytest.raises(TypeError, match="task must be a str"):
        gate.evaluate(None, page())  # type: ignore[arg-type] # the mistake in question
    with RecallGate() as gate, pytest.raises(TypeError, match="Candidate objects"):
        gate.evaluate("task", [{"hash": "x"}])  # type: ignore[list-item] # the mistake in question
