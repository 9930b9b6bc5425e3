"""The count of a run: what parsed, what failed and how, what could not be read; and the exit code that follows."""

from collections import Counter

import attrs
from rich.text import Text

from gategrammar.cli import _terminal as terminal
from gategrammar.cli._ending import Exit
from gategrammar.cli._rows import Fault
from gategrammar.response.errors import GateParseError
from gategrammar.response.result import GateResponse


@attrs.define
class Tally:
    """Counts as the input goes by; as large at the end of a long run as at its start."""

    parsed: int = 0
    failed: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    truncated: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    unread: Counter[str] = attrs.field(factory=Counter)

    def add(self, outcome: GateResponse | GateParseError | Fault) -> int:
        """Count an outcome; returns how many of its sort there have been, this one included."""
        if isinstance(outcome, GateResponse):
            self.parsed += 1
            return self.parsed
        if isinstance(outcome, Fault):
            self.unread[outcome.kind] += 1
            return self.unread[outcome.kind]
        sort = outcome.kind, outcome.tag
        self.failed[sort] += 1
        self.truncated[sort] += outcome.truncated
        return self.failed[sort]

    def exit(self, *, zero: bool) -> Exit:
        """Return the exit code; with *zero*, responses that fail are no failure of the run."""
        if self.unread:
            return Exit.UNREADABLE
        return Exit.FAILED if self.failed and not zero else Exit.GOOD

    def summary(self, *, interrupted: bool) -> Text:
        """Return the counts for people."""
        failed = self.failed.total()
        total = self.parsed + failed
        text = Text("interrupted; until then: " if interrupted else "")
        text.append(f"{total} response{'' if total == 1 else 's'}: ")
        text.append(f"{self.parsed} parsed", terminal.GOOD if self.parsed else "")
        text.append(", ").append(f"{failed} failed", terminal.BAD if failed else "")
        text.append(f" ({failed / total:.1%})\n" if failed else "\n")
        digits = len(str(max(self.failed.values(), default=0)))
        kinds = max((len(kind) for kind, _ in self.failed), default=0)
        tags = max((len(tag) for _, tag in self.failed), default=0)
        for (kind, tag), count in self.failed.most_common():
            text.append(f"  {count:{digits}}  {kind:{kinds}}  ")
            if ended := self.truncated[kind, tag]:
                text.append(f"{tag:{tags}}").append(f"  {ended} at the end of the text\n", terminal.ASIDE)
            else:
                text.append(f"{tag}\n")
        if self.unread:
            faults = ", ".join(f"{count} {kind}" for kind, count in self.unread.most_common())
            text.append(f"{self.unread.total()} not read: {faults}\n", terminal.BAD)
        return text
