"""Cost of parse_batch(): ratios to a plain loop over parse(), in processor time, so that neighbours count less.

The loop has the texts in a list and throws away what it parsed; parse_batch() takes them out of Arrow's memory and puts
the results back there. "kept" is the loop that does that much: texts out of the column, results in a list.

Usage: python benchmarks/bench_arrow.py [--rounds N]
"""

import argparse
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25, help="paired rounds a row (default 25)")
    rounds = parser.parse_args().rounds
    print(f"{timing.machine()}, pyarrow {pa.__version__}, batches of {BATCH // 1_000_000} MB\n")
    print("| size | heavy | loop, µs a row | parse_batch / loop | parse_batch / kept |\n|-|-|-|-|-|")
    for name, size in SIZES.items():
        for heavy in ("think", "update"):
            texts = [document(size, heavy=heavy, sentence=WITH) + str(number) for number in range(BATCH // size)]
            batch = pa.record_batch({"response": texts})

            def loop(texts: list[str] = texts) -> None:
                for text in texts:
                    parse(text)

            def kept(batch: pa.RecordBatch = batch) -> object:
                return [parse(text) for text in batch["response"].to_pylist()]

            def arrow(batch: pa.RecordBatch = batch) -> object:
                return parse_batch(batch)

            times = timing.paired({"loop": loop, "kept": kept, "arrow": arrow}, rounds, clock=time.process_time)
            ratios = [f"{timing.ratio(times, 'arrow', base):.2f}" for base in ("loop", "kept")]
            print(
                f"| {name} | {heavy} | {min(times['loop']) / len(texts) * 1e6:.1f} | {' | '.join(ratios)} |", flush=True
            )


if __name__ == "__main__":
    main()
