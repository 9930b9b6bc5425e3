"""Paired timing: what is compared runs in turn within each round, so that a busy neighbour slows both."""

import gc
import os
import platform
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

#: Returns the seconds that have gone by, or those that the processor worked for this process.
Clock: TypeAlias = Callable[[], float]
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
    functions: Mapping[str, Callable[[], object]], rounds: int, clock: Clock = perf_counter
) -> dict[str, list[float]]:
    """Return seconds per call by name, one per round; the garbage collector waits meanwhile."""
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
    return times


def ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """Return the median over the rounds of the ratio of two."""
    return statistics.median(one / other for one, other in zip(times[name], times[base], strict=True))


def machine() -> str:
    """Describe the machine, for the table's caption."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text("utf-8").splitlines() if cpus.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {model}"
