"""Recordings of real clients over real sockets: what is written, what is not, and that nothing gets in the way."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import httpx2
import openai
import pytest

from gategrammar import parse, parse_message
from gategrammar.record import VARIABLE, record
from loopback import ANSWER, GOOD, Server, chunk, completion, event, served

MESSAGES: Any = [{"role": "user", "content": "Read on, Zoë \ud83d"}]
ASK = {"model": "asked", "messages": [{"role": "user", "content": "Read on, Zoë"}]}
KEY = "sk-loopback-secret"
HEADERS = {"Authorization": f"Bearer {KEY}", "X-Note": "header-secret"}
LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a server that answers with a good completion until it is told otherwise."""
    with served() as one:
        one.answer(completion(GOOD))
        yield one


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where to record."""
    return tmp_path / "record.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    """Return what was recorded; every line is whole, and the last one ends too."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.split(b"\n") if line]


def in_async(library: ModuleType, use: Callable[[Any], Awaitable[Any]], path: Path | None) -> Any:
    """Run *use* with a recorded async client."""

    async def run() -> Any:
        async with library.AsyncClient(headers=HEADERS, trust_env=False) as client:
            assert record(client, path) is client
            return await use(client)

    return asyncio.run(run())


def post(
    library: ModuleType, server: Server, path: Path | None, *, url: str = "/chat/completions", body: Any = ASK
) -> Any:
    """Post with a recorded sync client and return the response."""
    with library.Client(headers=HEADERS, trust_env=False) as client:
        assert record(client, path) is client
        return client.post(server.url + url, json=body)


@LIBRARIES
def test_whole_completions(library: ModuleType, server: Server, path: Path) -> None:
    """A sync and an async client write the same line: both bodies, when, how long, model, finish reason; no header."""
    before = datetime.now().astimezone()
    assert post(library, server, path).json() == completion(GOOD)
    response = in_async(library, lambda client: client.post(server.url + "/chat/completions", json=ASK), path)
    assert response.json() == completion(GOOD)
    for line in lines(path):
        assert before <= datetime.fromisoformat(line.pop("time")) <= datetime.now().astimezone()
        assert 0 < line.pop("seconds") < 60
        assert line == {"model": "tiny", "finish_reason": "stop", "request": ASK, "response": completion(GOOD)}
    assert len(lines(path)) == 2
    for secret in ("secret", "Bearer", "cookie"):
        assert secret not in path.read_text()


@LIBRARIES
def test_streams_are_not_delayed(library: ModuleType, server: Server, path: Path) -> None:
    """The server sends each piece only after the caller has got the one before, and the line holds them all."""
    server.stream(chunk(role="assistant", content=GOOD[:9]), chunk(content=GOOD[9:]), chunk("stop"))
    lockstep = server.hold()
    body = {**ASK, "stream": True}
    got: list[bytes] = []
    with record(library.Client(trust_env=False, timeout=30), path) as client:
        with client.stream("POST", server.url + "/chat/completions", json=body) as response:
            for piece in response.iter_bytes():
                got.append(piece)
                lockstep.release()
        assert len(lines(path)) == 1

    async def use(client: Any) -> list[bytes]:
        got, lockstep = [], server.hold()
        async with client.stream("POST", server.url + "/chat/completions", json=body, timeout=30) as response:
            async for piece in response.aiter_bytes():
                got.append(piece)
                lockstep.release()
        return got

    assert got == server.body == in_async(library, use, path)
    expected = completion(GOOD)
    del expected["choices"][0]["logprobs"]
    for line in lines(path):
        assert (line["request"], line["response"], line["finish_reason"]) == (body, expected, "stop")


def test_openai(server: Server, path: Path) -> None:
    """The real SDK, whole and streamed, gets its answers; parse_message reads what was recorded."""
    with openai.OpenAI(
        base_url=server.url, api_key=KEY, http_client=record(httpx2.Client(trust_env=False), path)
    ) as api:
        whole = api.chat.completions.create(model="asked", messages=MESSAGES[:0])
        server.stream(chunk(role="assistant", reasoning_content="b"), chunk(content=ANSWER), chunk("stop"))
        pieces = [
            one.choices[0].delta.content or ""
            for one in api.chat.completions.create(model="asked", messages=[], stream=True)
        ]
        server.body = json.dumps(completion(GOOD[:50], finish_reason="length")).encode()
        api.with_options(max_retries=0).chat.completions.with_raw_response.create(model="asked", messages=[])
    assert "".join(pieces) == ANSWER
    first, second, third = lines(path)
    assert parse_message(first["response"]) == parse_message(whole) == parse(GOOD)
    assert parse_message(second["response"]).think == "b"
    assert second["request"]["stream"] is True
    assert third["finish_reason"] == "length"
    assert KEY not in path.read_text()


def test_async_openai(server: Server, path: Path) -> None:
    """So does the async SDK, with the SDK's own client."""

    async def run() -> str:
        client = record(openai.DefaultAsyncHttpxClient(trust_env=False), path)
        async with openai.AsyncOpenAI(base_url=server.url, api_key=KEY, http_client=client) as api:
            await api.chat.completions.create(model="asked", messages=[])
            server.stream(chunk(role="assistant", content=GOOD[:9]), chunk(content=GOOD[9:]), chunk("stop"))
            stream = await api.chat.completions.create(model="asked", messages=[], stream=True)
            return "".join([one.choices[0].delta.content or "" async for one in stream])

    assert asyncio.run(run()) == GOOD
    assert [parse_message(line["response"]) for line in lines(path)] == [parse(GOOD)] * 2
    assert KEY not in path.read_text()


@LIBRARIES
def test_leaving_early(library: ModuleType, server: Server, path: Path) -> None:
    """What had come when the caller left a stream is recorded, without a finish reason."""
    server.stream(chunk(content="<think>a"), chunk(content="</think>"), chunk("stop"))
    url = server.url + "/chat/completions"
    lockstep = server.hold()
    with record(library.Client(trust_env=False), path) as client, client.stream("POST", url, json=ASK) as response:
        assert next(response.iter_bytes())
    lockstep.release(4)

    async def use(client: Any) -> None:
        async with client.stream("POST", url, json=ASK) as response:
            async for _ in response.aiter_bytes():
                break

    lockstep = server.hold()
    in_async(library, use, path)
    lockstep.release(4)
    for line in lines(path):
        assert line["finish_reason"] is None
        assert line["response"]["choices"][0]["message"]["content"] == "<think>a"
    assert len(lines(path)) == 2


@LIBRARIES
def test_cancelling(library: ModuleType, server: Server, path: Path) -> None:
    """A task that is cancelled in a stream stays cancelled, and what had come is recorded."""
    server.stream(chunk(content="<think>a"), chunk("stop"))
    lockstep = server.hold()

    async def use(client: Any) -> None:
        begun = asyncio.Event()

        async def read() -> None:
            async with client.stream("POST", server.url + "/chat/completions", json=ASK) as response:
                async for _ in response.aiter_bytes():
                    begun.set()

        task = asyncio.create_task(read())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    in_async(library, use, path)
    lockstep.release(4)
    assert [line["finish_reason"] for line in lines(path)] == [None]


@LIBRARIES
@pytest.mark.parametrize("streamed", [False, True])
def test_a_lost_connection(library: ModuleType, server: Server, path: Path, *, streamed: bool) -> None:
    """The caller gets the library's own error, and nothing is recorded: it would look like an answer of the model."""
    if streamed:
        server.stream(chunk(content="<think>a"))
    server.dropped = True
    with pytest.raises(library.RemoteProtocolError):
        post(library, server, path)
    with pytest.raises(library.RemoteProtocolError):
        in_async(library, lambda client: client.post(server.url + "/chat/completions", json=ASK), path)
    assert not path.exists()


def test_a_stream_that_ends_with_an_error(server: Server, path: Path) -> None:
    """Servers report what goes wrong after they have begun as an event: such an answer broke off, too."""
    server.body = [event(chunk(content="<think>a")), event({"error": {"message": "overloaded"}}), event("[DONE]")]
    post(httpx, server, path)
    assert not path.exists()


@LIBRARIES
def test_what_is_not_recorded(library: ModuleType, server: Server, path: Path) -> None:
    """Other endpoints, other methods, errors, and answers that are no completion leave no line, and no complaint."""
    post(library, server, path, url="/embeddings")
    with record(library.Client(trust_env=False), path) as client:
        client.get(server.url + "/chat/completions")
    server.status = 500
    post(library, server, path)
    server.status, server.body = 200, b'{"object": "list", "data": []}'
    post(library, server, path)
    assert len(server.asked) == 4
    assert not path.exists()


@LIBRARIES
def test_compressed(library: ModuleType, server: Server, path: Path) -> None:
    """A compressed answer is recorded as the caller reads it."""
    server.compressed = True
    assert post(library, server, path).json() == completion(GOOD)
    assert lines(path)[0]["response"] == completion(GOOD)


@LIBRARIES
def test_in_process(library: ModuleType, path: Path) -> None:
    """A transport that answers in the process, with a body made before it is asked for, is recorded too."""
    answer = library.MockTransport(lambda _: library.Response(200, json=completion(GOOD)))
    with record(library.Client(transport=answer), path) as client:
        assert client.post("http://x/v1/chat/completions", json=ASK).json() == completion(GOOD)

    async def use() -> None:
        async with record(library.AsyncClient(transport=answer), path) as client:
            await client.post("http://x/v1/chat/completions", json=ASK)

    asyncio.run(use())
    assert [line["response"] for line in lines(path)] == [completion(GOOD)] * 2


@LIBRARIES
def test_streams_of_ones_own(library: ModuleType, path: Path) -> None:
    """A body that is any async iterator, not a generator, is passed on and recorded."""

    class Body(library.AsyncByteStream):  # type: ignore[misc, name-defined] # the library is a parameter
        def __init__(self) -> None:
            self.pieces = [json.dumps(completion(GOOD)).encode()[place : place + 9] for place in range(0, 999, 9)]

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> bytes:
            if not self.pieces:
                raise StopAsyncIteration
            return self.pieces.pop(0)

    async def use() -> Any:
        transport = library.MockTransport(lambda _: library.Response(200, stream=Body()))
        async with record(library.AsyncClient(transport=transport), path) as client:
            return (await client.post("http://x/v1/chat/completions", json=ASK)).json()

    assert asyncio.run(use()) == completion(GOOD)
    assert [line["response"] for line in lines(path)] == [completion(GOOD)]


@LIBRARIES
def test_mounted_transports(library: ModuleType, server: Server, path: Path) -> None:
    """What goes through a mounted transport, as for a proxy, is recorded; a mount of None is left alone."""
    mounts = {"all://": library.HTTPTransport(), "all://elsewhere": None}
    with record(library.Client(mounts=mounts, trust_env=False), path) as client:
        client.post(server.url + "/chat/completions", json=ASK)
    assert len(lines(path)) == 1


@LIBRARIES
def test_again(library: ModuleType, server: Server, path: Path, tmp_path: Path) -> None:
    """Recording a client twice to one file writes one line, to two files one line each."""
    other = tmp_path / "other.jsonl"
    with library.Client(trust_env=False) as client:
        for target in (path, other, str(path)):
            record(client, target)
        client.post(server.url + "/chat/completions", json=ASK)
    assert (len(lines(path)), len(lines(other))) == (1, 1)


@LIBRARIES
def test_from_the_environment(
    library: ModuleType, server: Server, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable names the file when record is called; without one, or with an empty one, nothing is changed."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with library.Client(trust_env=False) as client:
        before = dict(vars(client))
        assert record(client) is client
        monkeypatch.setenv(VARIABLE, "")
        assert record(client) is client
        assert vars(client) == before
    monkeypatch.setenv(VARIABLE, path.name)
    monkeypatch.chdir(tmp_path)
    with record(library.Client(trust_env=False)) as client:
        monkeypatch.delenv(VARIABLE)
        monkeypatch.chdir("/")
        client.post(server.url + "/chat/completions", json=ASK)
    assert VARIABLE == "MEM_LLM_RECORD"
    assert len(lines(path)) == 1


@LIBRARIES
def test_failures_are_reported_once(
    library: ModuleType, server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that cannot be written breaks no call, whole or streamed, and is one warning that names it."""
    caplog.set_level(logging.DEBUG, logger="gategrammar")
    with record(library.Client(trust_env=False, headers=HEADERS), tmp_path) as client:
        for _ in range(2):
            assert client.post(server.url + "/chat/completions", json=ASK).json() == completion(GOOD)
        for body in (event(chunk("stop", content=GOOD)), b"data: no json\n\n"):
            server.body = [body]
            assert client.post(server.url + "/chat/completions", json=ASK).content == body
    (report,) = [one for one in caplog.records if one.name.startswith("gategrammar")]
    assert report.levelno == logging.WARNING
    assert str(tmp_path) in report.getMessage()
    assert "IsADirectoryError" in report.getMessage()
    assert "secret" not in report.getMessage()


def test_credentials_in_the_body(server: Server, path: Path) -> None:
    """Keys that gateways take in the body are left out at every depth; everything else stays."""
    body = {
        **ASK,
        "max_tokens": 5,
        "api_key": "1-secret",
        "litellm_params": {"apiKey": "2-secret", "aws_session_token": "3-secret", "rpm": 1},
        "extra_headers": {"X-Any": "4-secret", "list": ["5-secret"]},
        "tools": [{"type": "mcp", "authorization": "6-secret", "server_url": "http://x"}],
        "api_base": "http://x",
        "aws_secret_access_key": "7-secret",
        "vertex_credentials": "8-secret",
        "accessToken": "9-secret",
        "auth": {"bearer": ["10-secret"]},
        "Cookie": "11-secret",
    }
    post(httpx, server, path, body=body)
    assert json.loads(server.asked[0]["body"]) == body
    (line,) = lines(path)
    assert "-secret" not in path.read_text()
    assert line["request"]["litellm_params"]["rpm"] == 1
    assert line["request"]["tools"][0]["server_url"] == "http://x"
    assert line["request"] | {name: body[name] for name in body if line["request"][name] != body[name]} == body


def test_words_of_a_prompt_are_no_credentials(server: Server, path: Path) -> None:
    """What the model is told is recorded as it is, about passwords too, and so is what only looks like a credential."""
    schema = {"type": "object", "properties": {"password": {"type": "string"}, "token": {"enum": ["a"]}}}
    body = {
        **ASK,
        "messages": [{"role": "user", "content": "Hm.", "token": "b"}],
        "tools": [{"type": "function", "function": {"name": "login", "parameters": schema}}],
        "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
        "author": "c",
        "tokenizer": "d",
        "secretary": "e",
    }
    post(httpx, server, path, body=body)
    assert [line["request"] for line in lines(path)] == [body]


@LIBRARIES
def test_requests_that_are_gone(library: ModuleType, server: Server, path: Path) -> None:
    """A request whose body was a stream, or is no JSON object, is null; the answer is recorded all the same."""
    with record(library.Client(trust_env=False), path) as client:
        url = server.url + "/chat/completions"
        client.post(url, content=iter([b"{", b"}"]), headers={"content-length": "2"})
        client.post(url, content=b"\xff")
        client.post(url, json=[1])
    assert [line["request"] for line in lines(path)] == [None] * 3
    assert [line["model"] for line in lines(path)] == ["tiny"] * 3


def test_lone_surrogates_and_line_separators(server: Server, path: Path) -> None:
    """A line is ASCII, so no reader breaks it at U+2028, and a lone surrogate comes back as it was."""
    answer = completion(GOOD.replace("cat", "\ud800 \u0085"))
    server.answer(answer)
    post(httpx, server, path)
    assert path.read_bytes().isascii()
    assert len(path.read_text().splitlines()) == 1
    assert lines(path)[0]["response"] == answer


WRITER = """
import sys, httpx
from gategrammar.record import record
url, path, name = sys.argv[1:]
with record(httpx.Client(trust_env=False), path) as client:
    for number in range(40):
        body = {"model": name, "messages": [], "number": number, "pad": name * 20000}
        client.post(url + "/chat/completions", json=body).raise_for_status()
"""


def test_processes_share_a_file(server: Server, path: Path) -> None:
    """Lines of three processes, each far longer than a pipe's or stdio's buffer, never mix."""
    commands = [[sys.executable, "-c", WRITER, server.url, str(path), name] for name in "abc"]
    processes = [subprocess.Popen(command) for command in commands]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    recorded = lines(path)
    assert all(set(line["request"]["pad"]) == {line["request"]["model"]} for line in recorded)
    for name in "abc":
        assert [line["request"]["number"] for line in recorded if line["request"]["model"] == name] == list(range(40))


FULL = """
import logging, resource, signal, sys, httpx
from gategrammar.record import record
url, path = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
logging.basicConfig(format="%(message)s")
with record(httpx.Client(trust_env=False), path) as client:
    for size in (100, resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        client.post(url + "/chat/completions", json={}).raise_for_status()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process limits the size of its files on POSIX only")
def test_a_line_that_did_not_fit(server: Server, path: Path) -> None:
    """After a line of which only a part could be written the next one stands on a line of its own."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, server.url, str(path)], capture_output=True, text=True, check=True
    )
    assert "only 100 of" in done.stderr
    torn, whole = path.read_bytes().splitlines()
    assert len(torn) == 100
    assert json.loads(whole)["response"] == completion(GOOD)


@pytest.mark.parametrize("client", [openai.OpenAI(api_key=KEY), object(), httpx.HTTPTransport(), None, httpx])
def test_what_is_no_client(client: Any, path: Path) -> None:
    """Anything else is refused, with the way to record an SDK's client, and without showing a key."""
    with pytest.raises(TypeError, match=r"http_client=record\(") as caught:
        record(client, path)
    assert KEY not in str(caught.value)


def test_only_the_owner_reads_a_new_file(server: Server, path: Path) -> None:
    """Prompts can be private; a file that is there already keeps its mode."""
    post(httpx, server, path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    post(httpx, server, path)
    assert path.stat().st_mode & 0o777 == 0o644
