"""Paired timing on pyperf: what is compared runs in turn within each round, so that a busy neighbour slows both.

pyperf's own runner times one function after the other, in processes of their own. On a machine that others use, too,
the neighbours change in between, and a ratio of two such times says more of them than of the functions. So the rounds
are made here; pyperf keeps what was measured, with the state of the machine, and ``--output`` writes it for its tools::

    python benchmarks/bench_parse.py speed --output speed.json
    python -m pyperf stats speed.json
    python -m pyperf compare_to before.json speed.json
"""

import argparse
import gc
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pyperf

#: Returns the seconds that have gone by, or those that the processor worked for this process.
Clock: TypeAlias = Callable[[], float]
#: What was measured, by the names of the functions.
Times: TypeAlias = Mapping[str, pyperf.Benchmark]
#: How long one measurement runs at least, in seconds.
SHORTEST = 0.004


def calls_for(function: Callable[[], object], clock: Clock) -> int:
    """Return how many calls of *function* a measurement needs."""
    function()  # the first call may load what the others find loaded
    calls = 1
    while (spent := measure(function, calls, clock)) < SHORTEST:
        calls = max(2 * calls, int(calls * SHORTEST / max(spent, 1e-7)))
    return calls


def measure(function: Callable[[], object], calls: int, clock: Clock) -> float:
    """Return the seconds that *calls* calls take."""
    begun = clock()
    for _ in range(calls):
        function()
    return clock() - begun


def paired(
    title: str, functions: Mapping[str, Callable[[], object]], rounds: int, clock: Clock = pyperf.perf_counter
) -> Times:
    """Return the seconds per call by name, one value a round; the garbage collector waits meanwhile.

    Args:
        title: what they are called with; it makes the names unique in the file that :func:`save` writes.
        functions: what is compared.
        rounds: how often each of them is measured.
        clock: what is counted.
    """
    calls = {name: calls_for(function, clock) for name, function in functions.items()}
    times: dict[str, list[float]] = {name: [] for name in functions}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, function in functions.items():
                times[name].append(measure(function, calls[name], clock) / calls[name])
    finally:
        gc.enable()
    return measured(title, times)


def measured(title: str, times: Mapping[str, Sequence[float]]) -> Times:
    """Return what was measured, in seconds a call, for :func:`ratio` and :func:`save`."""
    return {
        name: pyperf.Benchmark([pyperf.Run(values, metadata={"name": f"{title}: {name}"})])
        for name, values in times.items()
    }


def ratio(times: Times, name: str, base: str) -> float:
    """Return the median over the rounds of the ratio of two."""
    pairs = zip(times[name].get_values(), times[base].get_values(), strict=True)
    return statistics.median(one / other for one, other in pairs)


def machine() -> str:
    """Describe the machine, for the table's caption."""
    about = pyperf.Run([1.0]).get_metadata()
    processor = about.get("cpu_model_name", about["platform"])
    return f"{about['python_implementation']} {about['python_version']}, {about['cpu_count']} cores, {processor}"


def arguments(description: str | None, rounds: int = 25) -> argparse.ArgumentParser:
    """Return the parser of what every benchmark takes that measures in rounds."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds", type=_count, metavar="N", default=rounds, help="paired rounds a row (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, metavar="FILE.json", help="keep what was measured, for pyperf's tools")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, not {text!r}")
    return int(text)


def save(path: Path | None, tables: Iterable[Times]) -> None:
    """Write what was measured as a suite of pyperf, if there is a path."""
    if path:
        pyperf.BenchmarkSuite([one for times in tables for one in times.values()]).dump(str(path), replace=True)
