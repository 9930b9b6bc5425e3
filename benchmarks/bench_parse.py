"""Speed of parse(): ratios to a careful user's possessive regex, worst cases, errors, memory.

All contestants run in turn within each round, and the median of the ratios is shown (timing.py says why).

Usage: python benchmarks/bench_parse.py [--rounds N] [--output FILE.json] [speed|ways|worst|errors|memory …]
"""

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import timing
from readers import READERS, peers, possessive

from gategrammar import ResponseStream, parse, try_parse
from gategrammar.response import recogniser

#: Sentences of 66 code points: with what begins a tag, with neither, with what ends one.
WITH = "the cache was cleared before the deploy and a<4 of 4 runs passed. "
WITHOUT = "the cache was cleared before the deploy and 3 of 4 runs passed.. "
ENDS = "the cache was cleared before the deploy -> 4 of 4 runs passed.... "
SENTENCES = {"`<` every 66": WITH, "none": WITHOUT, "`>` every 66": ENDS}
SIZES = {"300 B": 300, "2 kB": 2_000, "20 kB": 20_000, "1 MB": 1_000_000}
SMALL = 60
#: Some peers take minutes for more.
LONGEST_FOR_PEERS = 100_000


def document(size: int, *, heavy: str, sentence: str) -> str:
    """Return a response of about *size* code points, most of them in one element."""
    frame = "<think>\n{}\n</think>\n<check>yes</check>\n<update>\n{}\n</update>\n<next>continue</next>"
    room = size - len(frame)
    small = min(SMALL, room // 2)
    small_text, large_text = ((sentence * (length // len(sentence) + 1))[:length] for length in (small, room - small))
    return frame.format(*((large_text, small_text) if heavy == "think" else (small_text, large_text)))


def worst(n: int) -> dict[str, str]:
    """Return texts that are hard for some reader, of a size that grows with *n*."""
    head, tail = "<think>t</think><check>yes</check><update>", "</update><next>end</next>"
    turn = f"{head}m{tail}"
    return {
        "nested think": "<think>" * n + "</think>" * n + turn[16:],
        "think closers": "<think>" + "</think>" * n + turn[16:],
        "think openers": "<think>" * n,
        "repeated think": "<think>a</think>b" * n + turn[16:],
        "foreign tag in think": "<think>" * n + "<update></think>" + turn[16:],
        "runs of <": head + "<" * n + tail,
        "half tags": head + "</updat" * n + tail,
        "spaces in check": f"<think>t</think><check>{' ' * n}yes{' ' * n}</check><update>m{tail}",
        "spaces in check, no value": f"<think>t</think><check>{' ' * n}",
        "spaces in update": head + " " * n + "m" + " " * n + tail,
        "repeated turns": turn * n,
        "line ends, then an error": head + "\r\n" * n,
        "prose around": "x\n" * n + turn + "y\n" * n,
    }


def stream(text: str, piece: int) -> None:
    """Feed a text in pieces; the verdict does not matter."""
    reader = ResponseStream()
    try:
        for start in range(0, len(text), piece):
            reader.feed(text[start : start + piece])
        reader.close()
    except ValueError:
        pass


def unfit(peer: Callable[[str], object], text: str) -> str:
    """Say why a peer is not measured with a text; "" if it is."""
    if len(text) > LONGEST_FOR_PEERS:
        return "–"
    try:
        peer(text)
    except Exception as error:  # noqa: BLE001 - the peers raise what they like
        return type(error).__name__
    return ""


def speed(rounds: int) -> Iterator[timing.Times]:
    """Print the table of ratios to (b); yield what was measured, row by row."""
    others, missing = peers()
    readers: dict[str, Callable[[str], object]] = {**READERS, **others}
    names = [name for name in readers if name != "possessive re"]
    print(f"\n### Ratio to a careful possessive regex, medians of {rounds} paired rounds\n")
    print(f"{timing.machine()}\n")
    print("| size | heavy | text | regex, µs | " + " | ".join(names) + " |")
    print("|-|-|-|-|" + "-|" * len(names))
    for size, length in SIZES.items():
        for mark, sentence in SENTENCES.items():
            for heavy in ("think", "update"):
                text = document(length, heavy=heavy, sentence=sentence)
                assert parse(text) == possessive(text)
                left_out = {name: why for name, read in others.items() if (why := unfit(read, text))}
                calls = {name: partial(read, text) for name, read in readers.items() if name not in left_out}
                times = timing.paired(f"{size}, {heavy}, {mark}", calls, rounds)
                cells = [left_out.get(name) or f"{timing.ratio(times, name, 'possessive re'):.2f}" for name in names]
                base = times["possessive re"].median() * 1e6
                print(f"| {size} | {heavy} | {mark} | {base:.1f} | " + " | ".join(cells) + " |", flush=True)
                yield times
    for reason in missing:
        print(f"\nnot measured: {reason}")


def ways(rounds: int) -> Iterator[timing.Times]:
    """Print what the recogniser's ways cost beside one match of all, near the lengths where it changes its way."""
    usual = recogniser._HOP, recogniser._HOP_ALWAYS
    print("\n### The recogniser's ways, as multiples of one match\n")
    print("| size | text | hop | hop, else one match |\n|-|-|-|-|")

    def read(hop: int, always: int, text: str) -> None:
        recogniser._HOP, recogniser._HOP_ALWAYS = hop, always
        recogniser.recognise(text, "required", "ignore")

    for length in (500, 1_000, 1_500, 2_000, 4_000, 8_000):
        for mark, sentence in SENTENCES.items():
            text = document(length, heavy="think", sentence=sentence)
            ends = {"match": (sys.maxsize, sys.maxsize), "hop": (0, 0), "either": (0, sys.maxsize)}
            calls = {name: partial(read, *lengths, text) for name, lengths in ends.items()}
            times = timing.paired(f"{length}, {mark}", calls, rounds)
            cells = [f"{timing.ratio(times, name, 'match'):.2f}" for name in ("hop", "either")]
            print(f"| {length:,} | {mark} | {' | '.join(cells)} |", flush=True)
            yield times
    recogniser._HOP, recogniser._HOP_ALWAYS = usual


def growth(rounds: int) -> Iterator[timing.Times]:
    """Print what four times the input costs, for parse() and for a stream fed one character at a time."""
    print("\n### Four times the input, times the cost (linear: 4)\n")
    print("| case | parse() | stream, 1 character a piece |")
    print("|-|-|-|")
    readers: dict[str, tuple[int, Callable[[str], object]]] = {
        "parse()": (20_000, try_parse),
        "stream": (2_000, lambda text: stream(text, 1)),
    }
    for name in worst(1):
        cells = []
        for reader, (n, read) in readers.items():
            calls = {size: partial(read, worst(size)[name]) for size in (n, 4 * n)}
            # Time of the processor, since these take long enough for a neighbour to come in between.
            by_name = {str(size): call for size, call in calls.items()}
            times = timing.paired(f"{name}, {reader}", by_name, max(5, rounds // 3), process_time)
            cells.append(f"{min(times[str(4 * n)].get_values()) / min(times[str(n)].get_values()):.1f}")
            yield times
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def errors(rounds: int) -> Iterator[timing.Times]:
    """Print what an error costs, as a multiple of a successful match of (b) at the same size."""
    text = document(300, heavy="think", sentence=WITH)
    broken = {
        "no check": text.replace("<check>yes</check>", ""),
        "bad value": text.replace("yes", "maybe"),
        "cut": text[:-20],
        "no think": text.replace("<think>", ""),
    }
    print("\n### An error at 300 B, as a multiple of a regex match at 300 B (Lark loaded)\n")
    print("| error | ratio |")
    print("|-|-|")
    calls: dict[str, Callable[[], object]] = {"match": partial(possessive, text)}
    calls |= {name: partial(try_parse, case) for name, case in broken.items()}
    times = timing.paired("300 B", calls, rounds)
    for name in broken:
        print(f"| {name} | {timing.ratio(times, name, 'match'):.1f} |")
    yield times


def memory(_rounds: int) -> Iterator[timing.Times]:
    """Print the peak of extra memory for a response of 100 MB, as a multiple of its size; yield nothing."""
    print("\n### Peak extra memory for 100 MB (parse(): result included)\n")
    print("| case | multiple of the size |")
    print("|-|-|")
    for heavy in ("think", "update"):
        for name, sentence in SENTENCES.items():
            text = document(100_000_000, heavy=heavy, sentence=sentence)
            tracemalloc.start()
            response = parse(text)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert response.update_gate
            print(f"| {heavy}, {name} | {peak / len(text):.2f} |", flush=True)
    yield from ()


TABLES = {"speed": speed, "ways": ways, "worst": growth, "errors": errors, "memory": memory}


def main() -> None:
    """Print the tables that are asked for, or all."""
    parser = timing.arguments(__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all by default")
    given = parser.parse_args()
    if unknown := set(given.tables) - set(TABLES):
        parser.error(f"unknown table {', '.join(sorted(unknown))}: choose from {', '.join(TABLES)}")
    timing.save(given.output, [times for name in given.tables or TABLES for times in TABLES[name](given.rounds)])


if __name__ == "__main__":
    main()
