"""A progress bar for long runs, where somebody is looking."""

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self, TypeVar

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gategrammar.cli._terminal import Terminal

_Item = TypeVar("_Item")
#: A run that is over sooner, in seconds, needs no bar.
_SOON = 0.5


class Bar:
    """Shows on standard error how far a run is: how much of the total where that is known, items, their rate.

    Nothing is shown unless standard error is a terminal and standard output is not: lines that go by are progress
    enough, and would break the bar.
    """

    def __init__(self, console: Terminal, total: int | None, done: str = "read") -> None:
        self._wanted = console.is_interactive and not sys.stdout.isatty()
        self._bar = Progress(
            BarColumn(),
            TaskProgressColumn(),
            TextColumn(f"{{task.fields[items]:,}} {done}, {{task.fields[rate]:,.0f}}/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=total, items=0, rate=0.0)
        self._shown = False
        self._bytes = self._items = 0
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._bar.stop()

    def read(self, count: int) -> None:
        """Note that *count* bytes have been read."""
        self._bytes += count

    def track(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Hand the items on and count them."""
        for item in items:
            yield item
            self._items += 1
            if self._wanted and (elapsed := time.monotonic() - self._begun) > _SOON:
                if not self._shown:
                    self._shown = True
                    self._bar.start()
                rate = self._items / elapsed
                self._bar.update(self._task, completed=self._bytes, items=self._items, rate=rate)
