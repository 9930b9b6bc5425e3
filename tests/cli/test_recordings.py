"""``gategrammar parse`` on what ``gategrammar.record`` has written: whole, streamed, cut, and with several choices."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from gategrammar import parse
from gategrammar.record import record
from loopback import ANSWER, GOOD, Server, chunk, completion, served

CUT = GOOD[:50]


def run(*arguments: str | Path, code: int, text: str | None = None) -> tuple[list[dict[str, Any]], str]:
    """Run the command; return the objects on its standard output, and what it said beside them."""
    command = [sys.executable, "-m", "gategrammar", "parse", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", input=text, check=False, timeout=60)
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file recorded from a real server, an answer of each sort a line."""
    path = tmp_path_factory.mktemp("recording") / "answers.jsonl"

    def ask(server: Server) -> None:
        client.post(server.url + "/chat/completions", json={"model": "asked", "messages": []}).raise_for_status()

    with served() as server, record(httpx.Client(trust_env=False), path) as client:
        for whole in (
            completion(GOOD),
            completion(ANSWER, reasoning_content=" b "),
            completion(CUT, finish_reason="length"),
            completion(None, refusal="No."),
            completion(GOOD, GOOD.replace("yes", "no")),
        ):
            server.answer(whole)
            ask(server)
        server.stream(chunk(role="assistant", reasoning="b"), chunk(content=ANSWER[:9]), chunk(content=ANSWER[9:]))
        ask(server)
        server.stream(chunk(role="assistant", content=CUT), chunk("length"))
        ask(server)
    return path


def test_recordings_are_read_as_they_are(recording: Path) -> None:
    """Each choice is a response, think is found where it is, and the other fields of the line come along."""
    objects, said = run(recording, code=1)
    assert [(one["line"], one["error"] is None) for one in objects] == [
        (1, True),
        (2, True),
        (3, False),
        (4, False),
        (5, True),
        (5, True),
        (6, True),
        (7, False),
    ]
    good = parse(GOOD)
    for number, think, gate in ((0, "a", True), (1, "b", True), (4, "a", True), (5, "a", False), (6, "b", True)):
        result = objects[number]["result"]
        assert (result["think"], result["update_gate"], result["candidate"]) == (think, gate, good.candidate)
    assert objects[0]["result"] == good.to_dict()
    assert objects[0]["input"] == {key: value for key, value in line(recording, 0).items() if key != "response"}
    assert "8 responses: 5 parsed, 3 failed" in said


def test_hints_of_the_server(recording: Path) -> None:
    """What the message says about its end is in the error, for programs and for people, whole or streamed."""
    objects, said = run(recording, code=1)
    for number in (2, 7):
        assert "max_tokens" in objects[number]["error"]["hint"]
        assert objects[number]["error"]["truncated"]
    assert "refused: 'No.'" in objects[3]["error"]["hint"]
    assert said.count("hint: the answer was cut by max_tokens") == 2


def line(path: Path, number: int) -> dict[str, Any]:
    """Return a line of a JSONL file."""
    read: dict[str, Any] = json.loads(path.read_bytes().split(b"\n")[number])
    return read


def test_modes_and_fields(recording: Path) -> None:
    """A path leads to one choice or message, and the modes are those of parse_message."""
    text = json.dumps({"response": {"body": completion(ANSWER, GOOD)}})
    (first,), _ = run("-", "--field", "response.body.choices.0.message", "--think", "absent", code=0, text=text)
    (second,), _ = run("-", "--field", "response.body.choices.1", code=0, text=text)
    assert (first["result"]["think"], second["result"]["think"]) == ("", "a")
    assert second["input"]["response"]["body"]["choices"][0] == completion(ANSWER)["choices"][0]
    objects, _ = run(recording, "--outside-text", "forbid", code=1)
    assert len(objects) == 8


@pytest.mark.parametrize(
    ("response", "why"),
    [
        ({}, "no chat message"),
        ({"error": {"message": "busy"}}, "no chat message"),
        ({"choices": []}, "0 choices"),
        ({"choices": [{"delta": {"content": GOOD}}]}, "no chat message"),
        ({"content": 5}, "not int"),
        ({"content": [{"type": "image_url\x1b[2J"}]}, r"image_url\x1b[2J"),
        ({"content": ANSWER, "reasoning": {"effort": "low"}}, "not dict"),
        ([GOOD], "a list, not a string"),
        (None, "null, not a string"),
    ],
)
def test_what_is_no_message_is_unreadable(response: Any, why: str) -> None:
    """Another shape is a fault of the input with its line and what to do, and the lines after it are read."""
    text = json.dumps({"response": response}) + "\n" + json.dumps({"response": GOOD})
    objects, said = run("-", code=2, text=text)
    assert [one["line"] for one in objects] == [2]
    assert "<stdin>:1" in said
    assert why in said
    assert "\x1b" not in said
