"""Mutation testing of the package: mutmut makes the mutants, and a process that has collected the tests forks for each.

    pip install -e '.[dev]' mutmut==3.8.1
    python tests/mutate_package.py                  # all mutants, some minutes
    python tests/mutate_package.py '*lexer*'        # those whose names match
    mutmut show NAME                                # what a mutant changes

``mutmut run`` takes the same settings (pyproject.toml), but has each mutant collect the tests anew, and shrink what
Hypothesis finds, which takes hours. The exit code is 1 if a mutant survived that ``tests/MUTANTS.md`` does not explain.
"""

import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from _pytest.runner import runtestprotocol
from mutmut.__main__ import collect_source_file_mutation_data, create_mutants
from mutmut.configuration import config
from mutmut.mutation import trampoline
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir, setup_source_paths

ROOT = Path(__file__).parent.parent
EXPLAINED = re.compile(r"`([a-z]+\.\w+)` (\d+(?:, \d+)*)")
#: Seconds of the processor for one test; none takes a fifth of it.
PATIENCE = 10
Function: TypeAlias = Callable[..., Any]
#: The name of the mutant by its module; at most one.
ACTIVE: dict[str, str] = {}
#: What mutmut calls these exits.
KILLED, SURVIVED, TIMEOUT = 1, 0, 36


class Mutants:
    """A plugin that runs the collected tests once for each mutant instead of once."""

    def __init__(self, patterns: list[str]) -> None:
        self.found, self.files = collect_source_file_mutation_data(mutant_names=patterns)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Have no mutant judged by an example that was found for another one, and none shrunk: one is enough."""
        from hypothesis import Phase, settings  # pytest wants to be there first

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("gategrammar"), database=None, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge the sources as they are, which must pass, and then each mutant."""
        items = list(session.items)
        if killer := judged("", items)[1]:
            raise session.Failed(f"without a mutant {killer} fails")
        for number, (data, name, _) in enumerate(self.found, 1):
            code, killer = judged(name, items)
            data.exit_code_by_key[name] = code
            if code == SURVIVED:
                print(f"\n{number} of {len(self.found)}: {name} survived", flush=True)
            # Neighbours tend to die by the same test.
            items.sort(key=lambda item: item.nodeid != killer)
        return True


def wrapped(mutants: dict[str, Function]) -> Callable[[Function], Function]:
    """Have a function call the active one of its mutants, or itself; mutmut's own way costs more than our functions."""

    def decorator(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            return mutants.get(ACTIVE.get(function.__module__, ""), function)(*args, **keywords)

        return call

    return decorator


def judged(mutant: str, items: list[pytest.Item]) -> tuple[int, str]:
    """Run the tests with a mutant in a process of its own until one fails; return mutmut's exit code, and that test."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        module, _, name = mutant.rpartition(".")
        ACTIVE[module] = name
        for item, following in zip(items, [*items[1:], None], strict=True):
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
                os.write(sending, item.nodeid.encode())
                os._exit(KILLED)
        os._exit(SURVIVED)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        killer = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return (TIMEOUT if code == -signal.SIGPROF else code), killer


def explained() -> set[str]:
    """Return the mutants that ``MUTANTS.md`` lists as equivalent: "`module.function` number, number"."""
    text = (ROOT / "tests/MUTANTS.md").read_text("utf-8")
    return {
        f"gategrammar.response.{function}__mutmut_{number}"
        for function, numbers in EXPLAINED.findall(text)
        for number in numbers.split(", ")
    }


def main() -> int:
    """Make and judge the mutants; return the exit code."""
    os.chdir(ROOT)
    shutil.rmtree("mutants", ignore_errors=True)
    trampoline.wrap_in_trampoline = wrapped
    Path("mutants").mkdir()
    with contextlib.redirect_stdout(None):
        copy_src_dir()
        copy_also_copy_files()
        setup_source_paths()
        create_mutants(1)
    mutants = Mutants(sys.argv[1:])
    chosen = config()
    arguments = [
        "--rootdir=.",
        "--tb=native",
        "-q",
        *chosen.pytest_add_cli_args,
        *chosen.pytest_add_cli_args_test_selection,
    ]
    os.chdir("mutants")
    if code := pytest.main(arguments, plugins=[mutants]):
        return code
    os.chdir(ROOT)
    for data in mutants.files.values():
        data.save()  # for mutmut results, show and browse
    codes = {name: data.exit_code_by_key[name] for data, name, _ in mutants.found}
    survived = {name for name, code in codes.items() if code == SURVIVED}
    equivalent = survived & explained()
    killed = len(codes) - len(survived)
    print(f"{len(codes)} mutants, {killed} killed, {len(equivalent)} equivalent, {len(survived - equivalent)} survived")
    print(f"killed of those that are not equivalent: {killed / (len(codes) - len(equivalent)):.1%}")
    print(*sorted(survived - equivalent), sep="\n")
    return 1 if survived - equivalent else 0


if __name__ == "__main__":
    sys.exit(main())
