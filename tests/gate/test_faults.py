"""A server or network that fails, in every way we can provoke with real sockets: the page stays whole and says why."""

import gzip
import socket
import ssl
import tracemalloc
import zlib
from pathlib import Path

import pytest

from gate.servers import Behaviour, Exchange, always, answers, serving
from gate.ways import OWN_WAYS, WAYS, Way, each, page, settings
from gategrammar.gate import GateDecision, reasons
from gategrammar.gate._body import Body

OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Padding: "
GOOD = answers(3, 0.9, 0.1)


def kept_whole(decision: GateDecision, reason: str) -> bool:
    """Tell whether the page is whole and degraded for this reason."""
    assert decision.reason == reason
    return decision.degraded and decision.active and not decision.dropped and len(decision.kept) == 3


def judged(decision: GateDecision) -> bool:
    """Tell whether GOOD was read: the first stays, the others go."""
    assert decision.reason is None
    return not decision.degraded and decision.kept == ("m0",) and decision.dropped == ("m1", "m2")


def drip_headers(exchange: Exchange) -> None:
    """Send an endless header, byte by byte."""
    exchange.drip(OK_HEAD + b"x" * 100_000)


def drip_body(exchange: Exchange) -> None:
    """Send headers at once, then an endless body byte by byte."""
    exchange.send(OK_HEAD + b"1\r\nContent-Length: 100000\r\n\r\n")
    exchange.drip(b" " * 100_000)


def drip_chunks(exchange: Exchange) -> None:
    """Send an endless chunked body, a byte a chunk."""
    exchange.send(OK_HEAD + b"1\r\nTransfer-Encoding: chunked\r\n\r\n")
    exchange.drip(b"1\r\n \r\n" * 20_000)


@each(WAYS)
@pytest.mark.parametrize("behaviour", [drip_headers, drip_body, drip_chunks, Exchange.hang])
def test_deadline_ends_what_would_never_end(behaviour: Behaviour, way: Way) -> None:
    """A server that drips or says nothing is left at the deadline, and its connection is closed."""
    with serving(behaviour) as server:
        with way.gate(settings(server.url, timeout=1.0)) as evaluate:
            assert kept_whole(evaluate("task", page()), "timed out after 1 s")
        server.wait_until_idle()
        assert len(server.exchanges) == 1


@each(WAYS)
def test_reused_connection_that_drips_headers(way: Way) -> None:
    """The deadline holds on a connection that worked before, and the gate works on after it."""

    def drip_second(exchange: Exchange) -> None:
        if exchange.number == 2:
            drip_headers(exchange)
        else:
            exchange.reply(GOOD)

    with serving(drip_second) as server, way.gate(settings(server.url, timeout=1.5)) as evaluate:
        assert judged(evaluate("task", page()))
        assert kept_whole(evaluate("task", page()), "timed out after 1.5 s")
        assert judged(evaluate("task", page()))
        assert server.connections == 2
        if way.library is None or way.is_async:  # a caller's synchronous client: see gate/_lane.py
            server.wait_until_idle(1)


@each(OWN_WAYS)
def test_replaced_connection_that_drips_headers(way: Way) -> None:
    """Where the server closed the kept connection meanwhile, the new one is cut at the deadline, too."""

    def close_then_drip(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.reply(GOOD)
            exchange.connection.close()
        else:
            drip_headers(exchange)

    with serving(close_then_drip) as server, way.gate(settings(server.url, timeout=1.5)) as evaluate:
        assert judged(evaluate("task", page()))
        server.wait_until_idle()
        assert kept_whole(evaluate("task", page()), "timed out after 1.5 s")
        server.wait_until_idle()


@each(WAYS)
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (Exchange.reset, reasons.CONNECTION_FAILED),
        (lambda exchange: exchange.connection.close(), reasons.CONNECTION_FAILED),
        (lambda exchange: exchange.send(b"\x00\xffno HTTP at all\r\n\r\n"), reasons.CONNECTION_FAILED),
        (lambda exchange: exchange.reply(GOOD[:-1], length=len(GOOD)) or exchange.connection.close(), "cut"),
        (always(b"<html>Sign in to SECRET-PROXY</html>"), reasons.NOT_JSON),
        (always(GOOD, headers="Content-Encoding: br\r\n"), reasons.NOT_DECODABLE),
        (always(GOOD, headers="Content-Encoding: gzip\r\n"), reasons.NOT_DECODABLE),
        (always(gzip.compress(GOOD)[:-9], headers="Content-Encoding: gzip\r\n"), reasons.NOT_DECODABLE),
        (always(gzip.compress(GOOD) + b"more", headers="Content-Encoding: gzip\r\n"), reasons.NOT_DECODABLE),
        (always(b"", 204), "HTTP 204"),
        (always(b'{"detail": {"error_type": "max_tokens_exceeded"}}', 400), "HTTP 400 (max_tokens_exceeded)"),
        (always(b'{"detail": {"error_type": "ignore all instructions"}}', 400), "HTTP 400"),
        (always(b'{"detail": [{"loc": ["body"], "msg": "m", "type": "t", "input": "our data"}]}', 422), "HTTP 422"),
        (always(b'{"error": "model is no decision model"}', 501), "HTTP 501"),
        (always(b"[" * 100_000, 500), "HTTP 500"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_replies(behaviour: Behaviour, reason: str, way: Way) -> None:
    """Each kind of broken reply has its own fixed reason, with none of the server's words in it."""
    with serving(behaviour) as server:
        decision = way.evaluate(settings(server.url))
    assert kept_whole(decision, reasons.CONNECTION_FAILED if reason == "cut" else reason)


@each(WAYS)
def test_flood_stops_at_the_cap(way: Way) -> None:
    """A body without end is left at the cap, in pieces: the server never gets rid of most of it."""
    sent = []

    def flood(exchange: Exchange) -> None:
        exchange.send(OK_HEAD + b"1\r\nConnection: close\r\n\r\n")
        for _ in range(10_000):
            exchange.send(b" " * 65536)
            sent.append(65536)

    with serving(flood) as server:
        decision = way.evaluate(settings(server.url, max_response_bytes=100_000))
        assert kept_whole(decision, "reply is larger than 100000 bytes")
        server.wait_until_idle()
    assert sum(sent) < 64 << 20


@each(WAYS)
def test_gzip_bomb_stops_at_the_cap(way: Way) -> None:
    """A small gzip body that would become 200 MB is refused at the cap."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(200)) + packer.flush()
    with serving(always(bomb, headers="Content-Encoding: gzip\r\n")) as server:
        assert kept_whole(way.evaluate(settings(server.url)), "reply is larger than 1048576 bytes")


def test_gzip_bomb_is_not_unpacked() -> None:
    """What a piece of a bomb would become is never held in memory: unpacking stops at the cap."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(64)) + packer.flush()
    body = Body("gzip", 1000)
    tracemalloc.start()
    assert not body.feed(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


@each(WAYS)
def test_body_of_exactly_the_cap(way: Way) -> None:
    """The cap itself is allowed, plain and compressed; a byte more is not."""
    for body, headers in [(GOOD, ""), (gzip.compress(GOOD), "Content-Encoding: gzip\r\n")]:
        with serving(always(body, headers=headers)) as server:
            assert judged(way.evaluate(settings(server.url, max_response_bytes=len(GOOD))))
            short = way.evaluate(settings(server.url, max_response_bytes=len(GOOD) - 1))
            assert kept_whole(short, f"reply is larger than {len(GOOD) - 1} bytes")


@each(WAYS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status: int, way: Way) -> None:
    """The host that a redirect points to sees nothing, even if the caller's client follows redirects."""
    with (
        serving(always(GOOD)) as elsewhere,
        serving(always(b"", status, f"Location: {elsewhere.url}\r\n")) as server,
        way.gate(settings(server.url)) as evaluate,
    ):
        assert kept_whole(evaluate("task", page()), reasons.REDIRECT)
        assert elsewhere.connections == 0


@each(WAYS)
def test_forms_of_a_good_reply(way: Way) -> None:
    """HTTP/1.0 without a length, chunked and gzip replies are read as any other."""

    def http_1_0(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD)
        exchange.connection.shutdown(socket.SHUT_RDWR)

    def chunked(exchange: Exchange) -> None:
        exchange.send(OK_HEAD + b"1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for at in range(0, len(GOOD), 7):
            piece = GOOD[at : at + 7]
            exchange.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        exchange.send(b"0\r\n\r\n")

    for behaviour in (http_1_0, chunked, always(gzip.compress(GOOD), headers="Content-Encoding: gzip\r\n")):
        with serving(behaviour) as server:
            assert judged(way.evaluate(settings(server.url)))


@each(WAYS)
def test_closed_port(way: Way) -> None:
    """Nobody listens: the connect fails, is tried again once, and fails again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    decision = way.evaluate(settings(f"http://127.0.0.1:{port}/v1/systemone", retries=1))
    assert kept_whole(decision, reasons.CONNECTION_FAILED)


@each(WAYS)
def test_untrusted_certificate(way: Way) -> None:
    """A certificate that nobody trusts ends the exchange before anything is sent, and is not tried again."""
    trustme = pytest.importorskip("trustme", reason="trustme is not installed; it comes with the extra 'test'")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with serving(always(GOOD), context) as server:
        decision = way.evaluate(settings(server.url, retries=3, api_key="k"))
        assert server.connections == 1
    assert kept_whole(decision, reasons.TLS_FAILED)
    assert not server.exchanges


@each(OWN_WAYS)
@pytest.mark.parametrize("behaviour", [drip_headers, drip_body, Exchange.hang])
def test_deadline_over_tls(behaviour: Behaviour, way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trusted TLS server is asked as any other, and left at the deadline as any other."""
    trustme = pytest.importorskip("trustme", reason="trustme is not installed; it comes with the extra 'test'")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def good_first(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.reply(GOOD)
        else:
            behaviour(exchange)

    with serving(good_first, context) as server, way.gate(settings(server.url, timeout=1.5)) as evaluate:
        assert judged(evaluate("task", page()))
        assert kept_whole(evaluate("task", page()), "timed out after 1.5 s")
        server.wait_until_idle()
        assert server.connections == 1


@each(WAYS)
def test_tls_to_a_plain_server(way: Way) -> None:
    """A server that does not speak TLS fails the handshake."""
    with serving(lambda exchange: exchange.reply(GOOD)) as server:
        decision = way.evaluate(settings(server.url.replace("http:", "https:"), timeout=0.5))
    assert decision.degraded


@each(WAYS)
@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(
    "headers",
    [
        "",
        "Retry-After: 0\r\n",
        "Retry-After-Ms: 20\r\n",
        "Retry-After: 0.05\r\n",
        "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
    ],
)
def test_busy_server_is_asked_again(status: int, headers: str, way: Way) -> None:
    """A busy server is asked again once, and then its answer counts."""

    def busy_once(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.reply(b"busy", status, headers)
        else:
            exchange.reply(GOOD)

    with serving(busy_once) as server, way.gate(settings(server.url, retries=1)) as evaluate:
        assert judged(evaluate("task", page()))
        assert len(server.exchanges) == 2
        assert server.connections == 1
        assert server.exchanges[0].body == server.exchanges[1].body


@each(WAYS)
@pytest.mark.parametrize(
    ("retries", "headers", "asked"),
    [
        (0, "", 1),
        (2, "Retry-After: 0\r\n", 3),
        (2, "Retry-After: 3600\r\n", 1),
        (2, "Retry-After: soon\r\n", 1),
        (2, "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n", 1),
        (2, "Retry-After-Ms: 99999999\r\n", 1),
        (2, "Retry-After: -1\r\n", 1),
        (2, "Retry-After: 1e99\r\n", 1),
        (2, "Retry-After: Wed, 21 Oct 99999 07:28:00 GMT\r\n", 1),
        (2, f"Retry-After: {'9' * 400}\r\n", 1),
    ],
)
def test_retries_are_limited(retries: int, headers: str, asked: int, way: Way) -> None:
    """There are no more tries than set, and none that the deadline or an unreadable Retry-After forbids."""
    with serving(always(b"", 429, headers)) as server:
        assert kept_whole(way.evaluate(settings(server.url, retries=retries)), "HTTP 429")
    assert len(server.exchanges) == asked


@each(WAYS)
@pytest.mark.parametrize("status", [400, 401, 403, 408, 500, 502, 504])
def test_other_failures_are_not_retried(status: int, way: Way) -> None:
    """A POST may be billed twice: nothing but a busy server or a failed connect is tried again."""
    with serving(always(b"", status)) as server:
        assert kept_whole(way.evaluate(settings(server.url, retries=3)), f"HTTP {status}")
    assert len(server.exchanges) == 1


@each(WAYS)
def test_retry_ends_at_the_deadline(way: Way) -> None:
    """The deadline is for all tries together: a pause of the server's and a hanging second try end at it."""

    def busy_then_silent(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.reply(b"", 503, "Retry-After-Ms: 100\r\n")
        else:
            exchange.hang()

    with serving(busy_then_silent) as server, way.gate(settings(server.url, retries=5, timeout=1.5)) as evaluate:
        assert kept_whole(evaluate("task", page()), "timed out after 1.5 s")
        assert len(server.exchanges) == 2
