"""The inputs of docs/migration.md, and what readers make of them, in the words of its table."""

import re
from pathlib import Path

from gategrammar import GateParseError, try_parse

PAGE = Path(__file__).parent.parent / "docs" / "migration.md"
_SHOWN = 20


def inputs() -> list[str]:
    """Return the texts of the page, in their order; a trailing line end is the page's, not theirs."""
    return re.findall(r"^```xml\n(.*?)\n```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def column(name: str) -> list[str]:
    """Return the cells of a column of the page's table."""
    rows = [line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    place = [cell.strip() for cell in rows[0]].index(name)
    return [row[place].strip() for row in rows[2:]]


def reading(check: str | None, update: str | None, following: str | None) -> str:
    """Return what a reader takes for the decision, as the table says it."""
    shown = [
        text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…" for text in (check or "", update or "", following or "")
    ]
    return ", ".join(f"`{text}`" if text else "nothing" for text in shown)


def ours(text: str) -> str:
    """Read a text with gategrammar."""
    verdict = try_parse(text)
    if isinstance(verdict, GateParseError):
        return f"`{verdict.kind}` {verdict.tag}"
    gates = "yes" if verdict.update_gate else "no", "end" if verdict.exit_gate else "continue"
    return reading(gates[0], verdict.candidate, gates[1])


_GAP = r"\s*"
#: What is written first: the tags in their order, anchored at both ends, and "." for everything between.
_ANCHORED = re.compile(
    rf"^<think>(.*?)</think>{_GAP}<check>(yes|no)</check>{_GAP}<update>(.*?)</update>{_GAP}<next>(continue|end)</next>$",
    re.DOTALL,
)


def anchored(text: str) -> str:
    """Read a text with the anchored regex."""
    match = _ANCHORED.match(text)
    return reading(*match.groups()[1:]) if match else "refused"


#: open-r1's way with its two tags, carried over to four: lazy bodies of any text, and "$" at the end of any line.
_LAZY = re.compile(
    rf"^<think>.*?</think>{_GAP}<check>.*?</check>{_GAP}<update>.*?</update>{_GAP}<next>.*?</next>$",
    re.DOTALL | re.MULTILINE,
)


def open_r1(text: str) -> str:
    """Give a text the reward of a pattern in the way of open-r1."""
    return "1.0" if _LAZY.match(text) else "0.0"
