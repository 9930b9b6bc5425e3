"""``examples/gated_reader.py`` as a process against a real server: what it does when answers or the server are bad."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gategrammar import format_response
from gategrammar.export import retry_text
from gategrammar.response.errors import GateParseError
from gategrammar.response.parse import try_parse
from loopback import Server, chunk, event, events, served

EXAMPLE = Path(__file__).parent.parent / "examples" / "gated_reader.py"
BROKEN = "<think>hm</think><check>maybe</check>"


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve chat completions."""
    with served() as running:
        yield running


def turn(memory: str, *, update: bool = True, last: bool = False) -> list[bytes]:
    """Return a good answer as a stream of two pieces."""
    text = format_response("why", update, memory, last)
    chunks = chunk(content=text[:30]), chunk(content=text[30:]), chunk("stop")
    return [event(json.dumps(one)) for one in chunks] + [event("[DONE]")]  # in ASCII, so that any text can be sent


def command(folder: Path, text: str, *options: str) -> list[str]:
    """Return the command that reads *text* in chunks of 10 characters."""
    book = folder / "book.txt"
    book.write_text(text, "utf-8")
    return [sys.executable, str(EXAMPLE), str(book), "Who?", "--chunk", "10", *options]


def run(folder: Path, url: str, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the example to its end."""
    environment = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "key-secret"}
    return subprocess.run(
        command(folder, text, *options), env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def messages(server: Server) -> list[list[dict[str, str]]]:
    """Return the messages of each request so far."""
    return [json.loads(asked["body"])["messages"] for asked in server.asked]


def test_the_memory_goes_from_chunk_to_chunk(tmp_path: Path, server: Server) -> None:
    """Each prompt holds the memory so far, a closed update gate keeps it, and the exit gate ends the reading."""
    server.bodies = [turn("one"), turn("two", update=False), turn("three", last=True)]
    done = run(tmp_path, server.url, "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd")
    assert (done.returncode, done.stdout) == (0, "three\n")
    prompts = [asked[1]["content"] for asked in messages(server)]
    assert [prompt.split("\n\n")[1] for prompt in prompts] == [
        "Memory so far: ",
        "Memory so far: one",
        "Memory so far: one",
    ]
    assert "chunk 3 of 4: update True, exit True" in done.stderr
    assert "key-secret" not in done.stderr


def test_a_malformed_answer_is_asked_for_again(tmp_path: Path, server: Server) -> None:
    """The model is shown its own answer and what was wrong with it; a good one then counts."""
    server.bodies = [events(chunk(content=BROKEN), chunk(content="never read")), turn("m")]
    done = run(tmp_path, server.url, "short")
    assert (done.returncode, done.stdout) == (0, "m\n")
    assert "WARNING chunk 1 of 1, attempt 1: \"<check> holds 'maybe'" in done.stderr
    first, second = messages(server)
    error = try_parse(BROKEN)
    assert isinstance(error, GateParseError)
    assert second == [
        *first,
        {"role": "assistant", "content": BROKEN},
        {"role": "user", "content": retry_text(error, "required")},
    ]


def test_a_chunk_without_a_readable_answer_is_passed_over(tmp_path: Path, server: Server) -> None:
    """After the last retry the memory stays as it was and the next chunk is read."""
    bad = events(chunk(content=BROKEN))
    server.bodies = [turn("one"), bad, bad, turn("three")]
    done = run(tmp_path, server.url, "aaaaaaaaa bbbbbbbbb ccccccccc", "--retries", "1")
    assert (done.returncode, done.stdout) == (0, "three\n")
    assert "chunk 2 of 3: no readable answer, the memory stays as it was" in done.stderr
    assert "Memory so far: one" in messages(server)[3][1]["content"]


def test_characters_that_utf8_cannot_say(tmp_path: Path, server: Server) -> None:
    """A memory with a lone surrogate goes on with a mark in its place; the halves of a character become one."""
    server.bodies = [turn("a\ud800"), turn("\ud83d\ude00")]
    server.body = turn("m", last=True)
    done = run(tmp_path, server.url, "aaaaaaaaa bbbbbbbbb ccccccccc")
    assert (done.returncode, done.stdout) == (0, "m\n")
    assert [asked[1]["content"].split("\n\n")[1] for asked in messages(server)][1:] == [
        "Memory so far: a\ufffd",
        "Memory so far: \U0001f600",
    ]


def test_an_answer_that_just_ends(tmp_path: Path, server: Server) -> None:
    """A stream that ends before the response does is malformed too."""
    server.bodies = [events(chunk(content="<think>cut off in the mid"), chunk("length")), turn("m")]
    done = run(tmp_path, server.url, "short")
    assert (done.returncode, done.stdout) == (0, "m\n")
    assert "<think> is not closed" in done.stderr


def test_generation_stops_at_the_first_hopeless_character(tmp_path: Path, server: Server) -> None:
    """The second question comes while the first answer is still being written."""
    lockstep = server.hold()
    server.bodies = [events(chunk(content=BROKEN), *[chunk(content="x")] * 1000), turn("m")]
    environment = {**os.environ, "OPENAI_BASE_URL": server.url}
    with subprocess.Popen(command(tmp_path, "short"), env=environment, stdout=-1, stderr=-1, text=True) as running:
        assert running.stderr is not None
        assert "attempt 1" in running.stderr.readline()
        lockstep.release(2000)
        out, _ = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, "m\n")


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, b"out of\x1b[2J memory", "answered 500: 'out of\\x1b[2J memory'"),
        (200, [event("no JSON")], "Expecting"),
        (200, [event({"error": {"message": "out of memory"}})], "the server failed: {"),
    ],
)
def test_a_server_that_fails(tmp_path: Path, server: Server, status: int, body: bytes | list[bytes], why: str) -> None:
    """The run ends with exit code 1, one line that says why, and what was remembered."""
    server.status, server.body = status, body
    done = run(tmp_path, server.url, "short")
    assert (done.returncode, done.stdout) == (1, "\n")
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "nonsense", "http://[/"])
def test_a_server_that_is_not_there(tmp_path: Path, url: str) -> None:
    """A wrong address is named, without a traceback."""
    done = run(tmp_path, url, "short")
    assert done.returncode == 1
    assert done.stderr.startswith(f"CRITICAL {url}: ")
    assert done.stderr.count("\n") == 1


def test_interrupt(tmp_path: Path, server: Server) -> None:
    """Ctrl-C prints the memory so far and ends with 130."""
    lockstep = server.hold()
    lockstep.release(3)  # the first answer has four pieces, and then nothing comes
    server.bodies = [turn("one"), turn("two")]
    environment = {**os.environ, "OPENAI_BASE_URL": server.url}
    arguments = command(tmp_path, "aaaaaaaaa bbbbbbbbb")
    with subprocess.Popen(arguments, env=environment, stdout=-1, stderr=-1, text=True) as running:
        while len(server.asked) < 2:  # so the first chunk is done with
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "one\n")
    assert "stopped" in err
    lockstep.release(10)


def test_events_without_text(tmp_path: Path, server: Server) -> None:
    """Whatever else a server sends between the pieces is passed over."""
    odd: list[Any] = [
        [],
        None,
        {"choices": None},
        {"choices": []},
        {"choices": [{"delta": None}]},
        {"choices": [7]},
        {"usage": {}},
    ]
    first, second, *rest = turn("m")
    server.body = [first, *[event(json.dumps(one)) for one in odd], event(chunk(content=None)), second, *rest]
    assert run(tmp_path, server.url, "short").stdout == "m\n"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--chunk", "0"], "0 is less than 1"),
        (["--retries=-1"], "-1 is less than 0"),
        (["--server", "llama.cpp", "--max-think", "99999999"], "20000"),
    ],
)
def test_numbers_out_of_range(tmp_path: Path, options: list[str], why: str) -> None:
    """A number that makes no sense is refused before anything is asked."""
    done = run(tmp_path, "http://127.0.0.1:1/v1", "short", *options)
    assert done.returncode == 2
    assert why in done.stderr.replace(",", "")
    assert "Traceback" not in done.stderr


def test_wrong_usage(tmp_path: Path) -> None:
    """A missing address and a missing file are exit code 2, and say what to do."""
    bare = {name: value for name, value in os.environ.items() if name != "OPENAI_BASE_URL"}
    done = subprocess.run(command(tmp_path, "x"), env=bare, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "set OPENAI_BASE_URL" in done.stderr
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(tmp_path / "none.txt"), "Who?"],
        env={**bare, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "cannot read" in done.stderr
