"""Coverage-guided fuzzing: one text, four readers, one verdict.

The fuzzer sees which branches of the readers an input takes, and keeps what takes new ones. Each input is read by the
reference parser, the recogniser (by each of its ways), the stream and the oracle of the tests, which shares no code
with them. Run it by ``fuzz/run.py``.
"""

import os
import random
import sys
from itertools import pairwise
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

with atheris.instrument_imports(include=["gategrammar", "oracle"]):
    from gategrammar import GateParseError, GateResponse, ResponseStream, parse
    from gategrammar.response import recogniser
    from gategrammar.response.lalr import read
    from oracle import MODES, Outside, Think, Verdict, oracle

from cases import verdict_of

#: What says how the rest of an input is read: the modes, and where it is split.
HEADER = 2
#: From which lengths on the recogniser hops through a text: as they are, and such that it goes each of its ways always.
LENGTHS = ((recogniser._HOP, recogniser._HOP_ALWAYS), (0, sys.maxsize), (0, 0))
#: A stream gets fewer pieces than this, or a long text takes too long.
MOST_CUTS = 24
#: What is no part of the parity of a stream (SPEC §10).
SEEN = ("found", "value")


def decode(data: bytes) -> tuple[Think, Outside, random.Random, str]:
    """Return the modes, what chance decides, and the text; every input is one, lone surrogates stand for bad UTF-8."""
    head, rest = data[:HEADER].ljust(HEADER, b"\0"), data[HEADER:]
    think, outside_text = MODES[head[0] % len(MODES)]
    return think, outside_text, random.Random(head[1]), rest.decode("utf-8", "surrogateescape")


def in_pieces(text: str, think: Think, outside_text: Outside, chance: random.Random) -> GateResponse:
    """Read *text* with a stream, split anywhere."""
    stream = ResponseStream(think=think, outside_text=outside_text)
    cuts = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(MOST_CUTS)))
    for start, end in pairwise((0, *cuts, len(text))):
        stream.feed(text[start:end])
    return stream.close()


def without(verdict: Verdict, names: tuple[str, ...]) -> Verdict:
    """Return *verdict* without some fields of its error."""
    if "error" not in verdict:
        return verdict
    return {"error": {name: value for name, value in verdict["error"].items() if name not in names}}


def test_one_input(data: bytes) -> None:
    """Fail if any two readers disagree about what *data* says."""
    think, outside_text, chance, text = decode(data)
    expected = oracle(text, think, outside_text)
    for name, reader, left_out in (
        ("parse", lambda: parse(text, think=think, outside_text=outside_text), ()),
        ("reference", lambda: read(text, think, outside_text), ()),
        ("stream", lambda: in_pieces(text, think, outside_text, chance), SEEN),
    ):
        try:
            got = verdict_of(reader())
        except GateParseError as error:
            got = verdict_of(error)
        if without(got, left_out) != without(expected, left_out):
            raise AssertionError(f"{name}: {text!a}, {think}, {outside_text}: {got}, not {expected}")
    view = text.encode(errors="surrogatepass").decode("latin-1")
    for hop, always in LENGTHS:
        recogniser._HOP, recogniser._HOP_ALWAYS = hop, always
        response = recogniser.recognise(text, think, outside_text)
        if (response is None) != ("error" in expected) or (response and verdict_of(response) != expected):
            raise AssertionError(f"recogniser: {text!a}, {think}, {outside_text}: {response}, not {expected}")
        places = recogniser.find(view, think, outside_text)
        if places and (response is None or places != recogniser.places_of(response, text)):
            raise AssertionError(f"places: {text!a}, {think}, {outside_text}: {places}, not {expected}")
    recogniser._HOP, recogniser._HOP_ALWAYS = LENGTHS[0]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
