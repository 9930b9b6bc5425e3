"""Read a long text chunk by chunk with a gated memory, against any OpenAI-compatible server.

    export OPENAI_BASE_URL=http://127.0.0.1:8080/v1
    python examples/gated_reader.py book.txt "Who is the author?" --server llama.cpp

The server is asked for text that the grammar allows, the answer is judged while it streams in, and generation stops
at the first hopeless character. A malformed answer is asked for again; when that does not help, the memory stays as
it was and reading goes on. The log is on standard error, the final memory on standard output.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from gategrammar import GateParseError, GateResponse, ResponseStream
from gategrammar.export import export, instructions, retry_text
from gategrammar.response.grammar import Think

log = logging.getLogger("gated_reader")

Messages = list[dict[str, str]]
#: Asks the model: returns what arrived, and the response or what was wrong with it.
Ask = Callable[[Messages], tuple[str, GateResponse | GateParseError]]

#: How each server takes a grammar; llama.cpp would else move the reasoning into a field of its own.
CONSTRAINTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "none": lambda _: {},
    "llama.cpp": lambda bounds: {"grammar": export("gbnf", **bounds), "reasoning_format": "none"},
    "vllm": lambda bounds: {"structured_outputs": {"grammar": export("xgrammar", **bounds)}},
    "sglang": lambda bounds: {"ebnf": export("xgrammar", **bounds)},
}


def chunks(text: str, size: int) -> list[str]:
    """Cut *text* into pieces of at most *size* characters, at the last line break or space before that."""
    pieces = []
    while len(text) > size:
        cut = max(text.rfind("\n", 0, size), text.rfind(" ", 0, size)) + 1 or size
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text] if text else pieces


def read(pieces: list[str], question: str, ask: Ask, *, think: Think, retries: int) -> Iterator[str]:
    """Yield the memory after each chunk; the last one is the answer."""
    memory = ""
    for number, piece in enumerate(pieces, 1):
        where = f"chunk {number} of {len(pieces)}"
        messages = [
            {"role": "system", "content": instructions(think)},
            {"role": "user", "content": f"Question: {question}\n\nMemory so far: {memory}\n\nText, {where}:\n{piece}"},
        ]
        response = answer(messages, ask, where, think=think, retries=retries)
        if response is None:
            log.warning("%s: no readable answer, the memory stays as it was", where)
        else:
            memory = response.next_memory(memory)
            log.info("%s: update %s, exit %s", where, response.update_gate, response.exit_gate)
        yield memory
        if response is not None and response.exit_gate:
            return


def answer(messages: Messages, ask: Ask, where: str, *, think: Think, retries: int) -> GateResponse | None:
    """Ask until an answer can be read, at most *retries* times more; None if none can."""
    for attempt in range(retries + 1):
        text, verdict = ask(messages)
        if isinstance(verdict, GateResponse):
            return verdict
        log.warning("%s, attempt %d: %s", where, attempt + 1, ascii(str(verdict)))
        messages = [
            *messages[:2],
            {"role": "assistant", "content": text},
            {"role": "user", "content": retry_text(verdict, think)},
        ]
    return None


def asker(client: httpx.Client, request: dict[str, Any], think: Think) -> Ask:
    """Return a function that sends *request* with messages, and judges the answer while it arrives."""

    def ask(messages: Messages) -> tuple[str, GateResponse | GateParseError]:
        said = [{**message, "content": well_formed(message["content"])} for message in messages]
        body = {**request, "messages": said, "stream": True}
        arrived: list[str] = []
        judge = ResponseStream(think=think)
        with client.stream("POST", "chat/completions", json=body) as answered:
            if answered.is_error:
                answered.read()
            answered.raise_for_status()
            try:
                for piece in deltas(answered.iter_bytes()):
                    arrived.append(piece)
                    judge.feed(piece)
                    if judge.complete:
                        break
                return "".join(arrived), judge.close()
            except GateParseError as error:
                return "".join(arrived), error

    return ask


def well_formed(text: str) -> str:
    """Return *text* with what UTF-8 cannot say replaced; the two halves of a character are put together."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def deltas(stream: Iterator[bytes]) -> Iterator[str]:
    """Yield the pieces of text in a stream of server-sent events.

    Only a line feed ends a line here: the text may hold U+2028 and other characters that str.splitlines() cuts at.

    Raises:
        ValueError: an event is no JSON, or says that the server failed.
    """
    waiting = b""
    for data in stream:
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and line[5:].strip() != b"[DONE]":
                match json.loads(line[5:]):
                    case {"error": problem}:
                        raise ValueError(f"the server failed: {problem}")
                    case {"choices": [{"delta": {"content": str(piece)}}, *_]}:
                        yield piece


def at_least(least: int) -> Callable[[str], int]:
    """Return a type for arguments that are whole numbers from *least* up."""

    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return int(text)

    return number


def main() -> int:
    """Run the example; return the exit code: 0, 1 where the server failed, 2 for wrong usage, 130 for Ctrl-C."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="a text in UTF-8")
    parser.add_argument("question")
    parser.add_argument("--server", choices=CONSTRAINTS, default="none", help="how it takes a grammar (default: none)")
    parser.add_argument(
        "--think",
        choices=["required", "absent"],
        default="required",
        help="absent: the server delivers the reasoning in another field (default: required)",
    )
    parser.add_argument(
        "--chunk", type=at_least(1), default=2_000, metavar="N", help="characters a chunk (default: 2000)"
    )
    parser.add_argument(
        "--retries", type=at_least(0), default=2, metavar="N", help="after a malformed answer (default: 2)"
    )
    parser.add_argument(
        "--max-think", type=at_least(1), default=600, metavar="N", help="bound of the reasoning (default: 600)"
    )
    parser.add_argument(
        "--max-update", type=at_least(1), default=600, metavar="N", help="bound of the memory (default: 600)"
    )
    parser.add_argument(
        "--max-tokens", type=at_least(1), default=1_200, metavar="N", help="for one answer (default: 1200)"
    )
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--seed", type=int)
    wanted = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if not (base := os.environ.get("OPENAI_BASE_URL")):
        parser.error("set OPENAI_BASE_URL, for instance to http://127.0.0.1:8080/v1")
    try:
        text = wanted.file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"cannot read {wanted.file}: {error}")
    bounds = {"think": wanted.think, "max_update": wanted.max_update}
    if wanted.think != "absent":
        bounds["max_think"] = wanted.max_think
    try:
        constraint = CONSTRAINTS[wanted.server](bounds)
    except ValueError as error:  # a bound beyond what the server's engine can do
        parser.error(str(error))
    request = {
        "model": os.environ.get("OPENAI_MODEL", "default"),
        "max_tokens": wanted.max_tokens,
        "temperature": wanted.temperature,
        **({} if wanted.seed is None else {"seed": wanted.seed}),
        **constraint,
    }
    headers = {"authorization": f"Bearer {key}"} if (key := os.environ.get("OPENAI_API_KEY")) else {}
    memory, code = "", 0
    try:
        with httpx.Client(base_url=base, headers=headers, timeout=httpx.Timeout(10, read=300)) as client:
            ask = asker(client, request, wanted.think)
            pieces = chunks(text, wanted.chunk)
            for after in read(pieces, wanted.question, ask, think=wanted.think, retries=wanted.retries):
                memory = after
    except httpx.HTTPStatusError as error:
        log.critical("%s answered %d: %s", base, error.response.status_code, ascii(error.response.text[:300]))
        code = 1
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:  # ValueError: see deltas()
        log.critical("%s: %s", base, ascii(str(error)))
        code = 1
    except KeyboardInterrupt:
        log.warning("stopped; the memory so far follows")
        code = 130
    sys.stdout.buffer.write(memory.encode("utf-8", "backslashreplace") + b"\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
