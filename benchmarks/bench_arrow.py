"""Cost of parse_batch(): ratios to plain loops over parse(), in processor time, so that neighbours count less.

The loop that parse_batch() stands for takes the texts out of the column and keeps the results, in a list. "texts
dropped" is a loop over texts that are in a list already, which throws away what it parsed: the longer the texts are,
the more of what parse_batch() does is to write them to new memory, which that loop never touches.

Usage: python benchmarks/bench_arrow.py [--rounds N] [--output FILE.json]
"""

import time
from bisect import bisect
from itertools import product

import pyarrow as pa
import timing
from bench_parse import WITH, document

from gategrammar import parse
from gategrammar.arrow import parse_batch

SIZES = {"300 B": 300, "2 kB": 2_000, "20 kB": 20_000}
#: Python keeps characters in one byte, in two, in four; UTF-8 has other lengths for them.
SENTENCES = {
    "English": WITH,
    "German": "Der Zwischenspeicher wurde vor dem Start für alle gelöscht, 4 von 4 Läufen glückten. ",
    "Japanese": "起動の前にキャッシュを消したので、四回のうち四回とも成功した。",
    "emoji": "\U0001f9f9 the cache, \U0001f680 deploy, 4 of 4 \u2705. ",
}
#: More than a processor's cache, as real batches are.
BATCH = 4_000_000
#: The largest block that the C library learns from.
BLOCK = 30_000_000
#: What document() needs for the tags.
SMALLEST = 100


def encoded_document(size: int, *, heavy: str, sentence: str) -> str:
    """Return a document of about *size* bytes, where document() counts code points."""

    def encoded(length: int) -> int:
        return len(document(length, heavy=heavy, sentence=sentence).encode())

    return document(bisect(range(size), size, lo=SMALLEST, key=encoded), heavy=heavy, sentence=sentence)


def main() -> None:
    """Print the table."""
    given = timing.arguments(__doc__).parse_args()
    # The C library remembers the largest block that was given back, and keeps as much of what is given back after it.
    # Else the loop pays for its memory anew in each round, or does not, as chance will have it.
    bytearray(BLOCK)
    print(f"{timing.machine()}, pyarrow {pa.__version__}, batches of {BATCH // 1_000_000} MB\n")
    print("| size | texts | heavy | loop, µs a row | parse_batch / loop | parse_batch / loop, texts dropped |")
    print("|-|-|-|-|-|-|")
    measured = []
    for name, size in SIZES.items():
        for (language, sentence), heavy in product(SENTENCES.items(), ("think", "update")):
            text = encoded_document(size, heavy=heavy, sentence=sentence)
            texts = [text + str(number) for number in range(BATCH // size)]
            batch = pa.record_batch({"response": texts})

            def loop(batch: pa.RecordBatch = batch) -> object:
                return [parse(text) for text in batch["response"].to_pylist()]

            def dropped(texts: list[str] = texts) -> None:
                for text in texts:
                    parse(text)

            def arrow(batch: pa.RecordBatch = batch) -> object:
                return parse_batch(batch)

            calls = {"loop": loop, "dropped": dropped, "arrow": arrow}
            times = timing.paired(f"{name}, {language}, {heavy}", calls, given.rounds, clock=time.process_time)
            measured.append(times)
            ratios = " | ".join(f"{timing.ratio(times, 'arrow', base):.2f}" for base in ("loop", "dropped"))
            row = [name, language, heavy, f"{times['loop'].median() / len(texts) * 1e6:.1f}", ratios]
            print("|", " | ".join(row), "|", flush=True)
    timing.save(given.output, measured)


if __name__ == "__main__":
    main()
