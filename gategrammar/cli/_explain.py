"""What a run says on standard error: explanations as it goes, as many as help, and the summary."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gategrammar.cli import _diagnostics as diagnostics
from gategrammar.cli._input import Record, Verdict
from gategrammar.cli._rows import Fault
from gategrammar.cli._tally import Tally
from gategrammar.cli._terminal import Terminal
from gategrammar.response.errors import GateParseError

if TYPE_CHECKING:
    from rich.text import Text


class Explainer:
    """Counts what a run comes to, and says on standard error what is wrong.

    Args:
        console: where to say it.
        tally: where to count it; its summary ends the run.
        limit: how many errors of each kind and tag are explained; all are counted.
        at_end: say it after the run: between the lines of a table it would be in the way.
    """

    def __init__(self, console: Terminal, tally: Tally, *, limit: int, at_end: bool) -> None:
        self.console = console
        self.tally = tally
        self._limit = limit
        self._at_end = at_end
        self._waiting: list[Text] = []
        self._left_out = 0

    def verdict(self, record: Record, verdict: Verdict, write: Callable[[], None]) -> None:
        """Take note of a response.

        Args:
            record: the response.
            verdict: what it comes to.
            write: writes that to standard output; after it is counted, so that the summary after Ctrl-C speaks of all
                that was written, and before it is explained.
        """
        count = self.tally.add(verdict)
        write()
        if isinstance(verdict, GateParseError):
            self._say(count, lambda: diagnostics.of_error(record, verdict))

    def fault(self, fault: Fault) -> None:
        """Take note of input that could not be read."""
        self._say(self.tally.add(fault), lambda: diagnostics.of_fault(fault))

    def close(self, *, interrupted: bool = False) -> None:
        """Say what has waited, and the summary."""
        if self._waiting:
            self.console.print()
        for text in self._waiting:
            self.console.print(text, end="")
        self.console.print(self.tally.summary(interrupted=interrupted), end="")
        if self._left_out and self._limit:
            self.console.print(f"not explained above: {self._left_out} more; --error-limit 0 explains all")

    def _say(self, count: int, diagnostic: Callable[[], diagnostics.Diagnostic]) -> None:
        if count > self._limit:
            self._left_out += 1
            return
        text = diagnostics.layout(diagnostic(), self.console.width)
        if self._at_end:
            self._waiting.append(text)
        else:
            self.console.print(text, end="")
