"""Cost of parse_batch(): ratios to plain loops over parse(), in processor time, so that neighbours count less.

The loop that parse_batch() stands for takes the texts out of the column and keeps the results, in a list. "texts
dropped" is a loop over texts that are in a list already, which throws away what it parsed: the longer the texts are,
the more of what parse_batch() does is to write them to new memory, which that loop never touches.

Usage: python benchmarks/bench_arrow.py [--rounds N] [--output FILE.json]
"""

import time

import pyarrow as pa
import timing
from bench_parse import WITH, document

from gategrammar import parse
from gategrammar.arrow import parse_batch

SIZES = {"300 B": 300, "2 kB": 2_000, "20 kB": 20_000}
#: More than a processor's cache, as real batches are.
BATCH = 4_000_000


def main() -> None:
    """Print the table."""
    given = timing.arguments(__doc__).parse_args()
    print(f"{timing.machine()}, pyarrow {pa.__version__}, batches of {BATCH // 1_000_000} MB\n")
    print("| size | heavy | loop, µs a row | parse_batch / loop | parse_batch / loop, texts dropped |\n|-|-|-|-|-|")
    measured = []
    for name, size in SIZES.items():
        for heavy in ("think", "update"):
            texts = [document(size, heavy=heavy, sentence=WITH) + str(number) for number in range(BATCH // size)]
            batch = pa.record_batch({"response": texts})

            def loop(batch: pa.RecordBatch = batch) -> object:
                return [parse(text) for text in batch["response"].to_pylist()]

            def dropped(texts: list[str] = texts) -> None:
                for text in texts:
                    parse(text)

            def arrow(batch: pa.RecordBatch = batch) -> object:
                return parse_batch(batch)

            calls = {"loop": loop, "dropped": dropped, "arrow": arrow}
            times = timing.paired(f"{name}, {heavy}", calls, given.rounds, clock=time.process_time)
            measured.append(times)
            ratios = " | ".join(f"{timing.ratio(times, 'arrow', base):.2f}" for base in ("loop", "dropped"))
            print(f"| {name} | {heavy} | {times['loop'].median() / len(texts) * 1e6:.1f} | {ratios} |", flush=True)
    timing.save(given.output, measured)


if __name__ == "__main__":
    main()
