"""``gategrammar gate`` as a program: what it prints where, and what it says to wrong input."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gate.programs import program
from gate.servers import Exchange, always, answers, serving

HITS: list[dict[str, Any]] = [
    {"hash": "a1b2c3d4e5f6", "title": "Session cookies expire", "keywords": ["session"], "score": 1.50},
    {"hash": "ffeeddccbbaa", "title": "Kitchen waste \x1b[31mred", "summary": None, "note": "\ud800"},
]
TASK = ("--task", "the session cookie of a user expires")


def run(page: object, *options: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command on *page* (bytes, or data to encode) from standard input."""
    given = page if isinstance(page, bytes) else json.dumps(page).encode()
    clean = {name: value for name, value in os.environ.items() if name != "TYPESAFE_API_KEY"}
    command = [program("gategrammar"), "gate", "-", *options]
    return subprocess.run(command, input=given, capture_output=True, check=False, env=clean | environment)


@pytest.mark.parametrize("wrap", [lambda hits: hits, lambda hits: {"total": 2, "results": hits, "next": None}])
def test_local(wrap: Any) -> None:
    """The narrowed page keeps its form and all else in it; the lines name what was dropped."""
    done = run(wrap(HITS), *TASK, "--local")
    assert json.loads(done.stdout) == wrap(HITS[:1])
    assert done.stderr.decode().splitlines() == [
        "gated: mode=noul model=local-lexical judged=2 kept=1 dropped=1",
        "dropped: ffeeddcc",
    ]
    assert done.returncode == 0


def test_explain_escapes_what_it_shows() -> None:
    """The table has every verdict, and no control code of the page reaches the terminal."""
    done = run(HITS, *TASK, "--local", "--explain")
    table = done.stderr.decode()
    assert "keep" in table
    assert "drop" in table
    assert r"Kitchen waste \x1b[31mred" in table
    assert "\x1b[31mred" not in table


def test_off_says_so_and_passes_the_page_through() -> None:
    """Without a key the page comes out byte for byte, with advice."""
    page = b'[ {"hash":"x", "n":1.50} ]'
    done = run(page, *TASK)
    assert done.stdout == page
    assert "the gate is off (no API key), the page is unchanged" in done.stderr.decode()
    assert "TYPESAFE_API_KEY" in done.stderr.decode()
    assert done.returncode == 0
    unusable = run(page, *TASK, "--api-key-env", "MY", MY="a b")
    assert "check what the environment variable MY holds" in unusable.stderr.decode()
    assert "a b" not in unusable.stderr.decode()


def test_server_with_key_and_mode() -> None:
    """The options reach the server; a judged page is narrowed by its answers."""
    body = b'{"answers": {"m0": {"type": "score", "score": 1}, "m1": {"type": "score", "score": 3.5}}}'
    with serving(always(body)) as server:
        options = (*TASK, "--endpoint", server.url, "--mode", "score", "--score-min", "3", "--model", "m")
        done = run(HITS, *options, "--api-key-env", "K", K="key-1")
    assert [hit["hash"] for hit in json.loads(done.stdout)] == ["ffeeddccbbaa"]
    assert b'"note": "\\ud800"' in done.stdout  # what cannot be encoded stays escaped
    (exchange,) = server.exchanges
    assert exchange.headers["authorization"] == "Bearer key-1"
    assert exchange.json["model"] == "m"
    assert exchange.json["questions"]["m0"]["type"] == "score"


def test_degraded_page_is_whole_and_exit_is_0() -> None:
    """A server that fails leaves the page as it was, and the line says why."""
    page = json.dumps(HITS).encode()
    with serving(always(answers(2, 0.1), 500)) as server:
        done = run(page, *TASK, "--endpoint", server.url, "--explain")
    assert done.stdout == page
    assert "DEGRADED(HTTP 500)" in done.stderr.decode()
    assert done.returncode == 0


def test_empty_page() -> None:
    """An empty page stays empty, and that is said."""
    done = run([], *TASK, "--local")
    assert (done.stdout, done.returncode) == (b"[]", 0)
    assert "the page is empty" in done.stderr.decode()


@pytest.mark.parametrize(
    ("page", "options", "message"),
    [
        (b"{", TASK, "standard input: line 1, column 2: not JSON"),
        (b"\xff", TASK, "standard input: not UTF-8 (byte 0)"),
        (b"[NaN]", TASK, "standard input: not usable JSON: NaN is no JSON value; write null"),
        (b'[{"hash": "a", "hash": "b"}]', TASK, "standard input: not usable JSON: it has the name 'hash' twice"),
        (b"[" + b"9" * 5000 + b"]", TASK, "standard input: "),
        (b"[" * 100_000, TASK, "standard input: "),
        ({"hits": []}, TASK, 'expected a list of hits, or an object with such a list as "results"'),
        ({"results": {}}, TASK, "expected a list of hits"),
        ([[]], TASK, "standard input: hit 0: expected an object, not a list"),
        ([{"hash": "a"}, {"title": "t"}], TASK, 'standard input: hit 1: has no "hash"'),
        ([{"hash": 7}], TASK, "standard input: hit 0: hash must be a str, not int"),
        ([{"hash": "a", "keywords": "b"}], TASK, "hit 0: keywords must be a list or tuple of str"),
        ([], (), "Missing option '--task'"),
        ([], (*TASK, "--min-keep", "0"), "--min-keep must be a whole number from 1"),
        ([], (*TASK, "--endpoint", "http://h/"), "plain http to another machine needs --allow-http\n"),
        ([], (*TASK, "--threshold", "1.5"), "threshold must be from 0 to 1, not 1.5"),
        ([], (*TASK, "--endpoint", "http://u:hunter2@h/"), "endpoint must not hold a user name or password"),
        ([], (*TASK, "--endpoint", "http://example.org/"), "endpoint must be https"),
    ],
)
def test_wrong_input(page: object, options: tuple[str, ...], message: str) -> None:
    """A user's mistake is named, with its place, without a traceback; the exit code is 2."""
    done = run(page, *options)
    error = done.stderr.decode()
    assert message in error
    assert "Traceback" not in error
    assert "hunter2" not in error
    assert (done.stdout, done.returncode) == (b"", 2)


def test_ctrl_c_while_the_server_is_silent() -> None:
    """Ctrl-C ends a waiting command at once, without a traceback and without output."""
    with serving(Exchange.hang) as server:
        command = [program("gategrammar"), "gate", "-", *TASK, "--endpoint", server.url, "--timeout", "3600"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(HITS).encode())
            process.stdin.close()
            process.stdin = None
            server.wait_until_asked()
            process.send_signal(signal.SIGINT)
            output, error = process.communicate()
    assert (output, error.strip(), process.returncode) == (b"", b"interrupted, nothing is decided", 130)


@pytest.mark.parametrize("options", [("--local",), ()], ids=["local", "off"])
def test_the_page_is_out_before_anything_is_said(options: tuple[str, ...]) -> None:
    """Where standard error takes nothing, the page is not lost."""
    clean = {name: value for name, value in os.environ.items() if name != "TYPESAFE_API_KEY"}
    command = [program("gategrammar"), "gate", "-", *TASK, *options]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, input=json.dumps(HITS).encode(), stdout=-1, stderr=full, check=False, env=clean)
    assert json.loads(done.stdout) == (HITS[:1] if options else HITS)


@pytest.mark.parametrize("depth", [900, 984, 985, 986, 5000])
def test_deep_nesting(depth: int) -> None:
    """A page is narrowed, or refused as nested too deeply, also where it can just be read but not be written."""
    first, *others = (json.dumps(hit) for hit in HITS)
    deep = f'{first[:-1]}, "x": {"[" * depth}{"]" * depth}}}'
    done = run(f"[{', '.join([deep, *others])}]".encode(), *TASK, "--local")
    assert (done.returncode == 0) != (b"nested too deeply" in done.stderr)
    assert b"Traceback" not in done.stderr


def test_closed_standard_input() -> None:
    """It is unreadable input like any other."""
    command = ["/bin/sh", "-c", '"$@" <&-', "sh", program("gategrammar"), "gate", "-", *TASK, "--local"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "standard input: cannot be read: standard input is closed" in done.stderr


def test_missing_file(tmp_path: Path) -> None:
    """A page that is not there, or is a folder, is named."""
    for path, why in ((tmp_path / "none.json", "No such file or directory"), (tmp_path, "Is a directory")):
        command = [program("gategrammar"), "gate", str(path), *TASK, "--local"]
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        assert done.returncode == 2
        assert f"{path}: cannot be read: {why}" in done.stderr


def test_the_name_of_a_variable_is_harmless() -> None:
    """What reaches the terminal is escaped, what was given as an option too."""
    done = run(HITS, *TASK, "--api-key-env", "\x1b[31mX")
    assert b"\x1b" not in done.stderr
    assert b"\\x1b[31mX" in done.stderr
