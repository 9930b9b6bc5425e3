"""The judge: what grammar/SPEC.md says of a text, spelled cell by cell and sharing no code with the package.

It is written to be checked by eye against the page. `TABLE` holds every cell of the automaton (§2, §2.1, §5): a line
is a state, a column is the tag it sees, or the end of input. A cell is the next state or the error. `oracle` walks
that table over the tags of a text; beside it there are only the two rules that look at the text before a tag:
values (§2.2) and text outside the elements (§2.4).
"""

import re
from typing import Any, Literal, TypeAlias

Think = Literal["required", "prefilled", "absent"]
Outside = Literal["ignore", "forbid"]

ELEMENTS = ("think", "check", "update", "next")
TAGS = ("<think>", "</think>", "<check>", "</check>", "<update>", "</update>", "<next>", "</next>")
END = "end"
VALUES = {"check": ("yes", "no"), "next": ("continue", "end")}
WHITE_SPACE = (
    "\u0009\u000a\u000b\u000c\u000d\u0020\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
START = {"required": "expect_think", "prefilled": "in_think", "absent": "expect_check_only"}
MODES: tuple[tuple[Think, Outside], ...] = (
    ("required", "ignore"),
    ("required", "forbid"),
    ("prefilled", "ignore"),
    ("prefilled", "forbid"),
    ("absent", "ignore"),
    ("absent", "forbid"),
)

# "expect_check" is reached from inside think, whose tags may come again (§2.1); "expect_check_only" is where
# think="absent" starts: there think counts as complete (§5). A cell "kind element" is an error.
_TABLE = """
state             | <think>         | </think>        | <check>         | </check>        | <update>         | </update>        | <next>         | </next>        | end
expect_think      | in_think        | unopened think  | missing think   | unopened check  | missing think    | unopened update  | missing think  | unopened next  | missing think
in_think          | in_think        | expect_check    | unclosed think  | unclosed think  | unclosed think   | unclosed think   | unclosed think | unclosed think | unclosed think
expect_check      | in_think        | expect_check    | in_check        | unopened check  | missing check    | unopened update  | missing check  | unopened next  | missing check
expect_check_only | duplicate think | duplicate think | in_check        | unopened check  | missing check    | unopened update  | missing check  | unopened next  | missing check
in_check          | unclosed check  | unclosed check  | unclosed check  | expect_update   | unclosed check   | unclosed check   | unclosed check | unclosed check | unclosed check
expect_update     | duplicate think | duplicate think | duplicate check | duplicate check | in_update        | unopened update  | missing update | unopened next  | missing update
in_update         | unclosed update | unclosed update | unclosed update | unclosed update | unclosed update  | expect_next      | unclosed update| unclosed update| unclosed update
expect_next       | duplicate think | duplicate think | duplicate check | duplicate check | duplicate update | duplicate update | in_next        | unopened next  | missing next
in_next           | unclosed next   | unclosed next   | unclosed next   | unclosed next   | unclosed next    | unclosed next    | unclosed next  | done           | unclosed next
done              | duplicate think | duplicate think | duplicate check | duplicate check | duplicate update | duplicate update | duplicate next | duplicate next | accept
"""  # noqa: E501  one line of the table is one state, or it could not be read against the page


def _read_table() -> dict[str, dict[str, str]]:
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in _TABLE.strip().splitlines()]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


TABLE = _read_table()
# Inside an element the text is its content; elsewhere it is text outside, charged to the element expected (§2.4).
INSIDE = {"in_think": "think", "in_check": "check", "in_update": "update", "in_next": "next"}
OUTSIDE = {
    "expect_think": "think",
    "expect_check": "check",
    "expect_check_only": "check",
    "expect_update": "update",
    "expect_next": "next",
    "done": "next",
}


# The four fields of §3 and "spans", or "error" with the fields of §4 that a verdict is compared by.
Verdict: TypeAlias = dict[str, Any]


def tags_of(text: str) -> list[tuple[int, str]]:
    """Return the tags of *text* with their offsets (§1.2); no tag can begin inside another."""
    return [(match.start(), match.group()) for match in re.finditer("|".join(TAGS), text)]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without its white space (§1.3); of nothing but white space, the empty span at its end."""
    rest = text[start:end].lstrip(WHITE_SPACE)
    start = end - len(rest)
    return start, start + len(rest.rstrip(WHITE_SPACE))


def position(text: str, offset: int) -> tuple[int, int]:
    """Return the 1-based line and column of *offset*; LF, CRLF and CR each end one line (§4).

    No error stands between a CR and its LF: neither is a tag, nor text that is not white space.
    """
    lines = re.split("\r\n|\r|\n", text[:offset])
    return len(lines), len(lines[-1]) + 1


def may_grow(text: str, element: str) -> bool:
    """Say whether *text*, the rest of the input, can become a value and its closing tag (§2.2)."""
    start, _ = trim(text, 0, len(text))
    for value in VALUES[element]:
        if value.startswith(text[start:]):
            return True
        if text.startswith(value, start):
            rest, _ = trim(text, start + len(value), len(text))
            if f"</{element}>".startswith(text[rest:]):
                return True
    return False


def oracle(text: str, think: Think = "required", outside_text: Outside = "ignore") -> Verdict:
    """Return the one verdict that grammar/SPEC.md gives *text*."""

    def error(kind: str, tag: str, offset: int, found: str | None, value: str | None = None) -> Verdict:
        line, column = position(text, offset)
        truncated = kind in ("missing", "unclosed") and found is None
        return {
            "error": {
                "kind": kind,
                "tag": tag,
                "offset": offset,
                "line": line,
                "column": column,
                "found": found,
                "value": value,
                "truncated": truncated,
            }
        }

    state = START[think]
    before = 0  # where the text before the tag begins
    opened = {"think": 0}  # where an element's content begins; that of a prefilled think at 0 (§5)
    closed: dict[str, int] = {}  # where it ends; think ends at its last closing tag (§2.1)
    for at, seen in [*tags_of(text), (len(text), END)]:
        found = None if seen == END else seen
        first, last = trim(text, before, at)

        if state in OUTSIDE and outside_text == "forbid" and first < last:
            return error("stray_text", OUTSIDE[state], first, None)
        element = INSIDE.get(state)
        if (
            element in VALUES
            and text[first:last] not in VALUES[element]
            and not (seen == END and may_grow(text[before:], element))
        ):
            return error("bad_value", element, before, found, text[first:last])
        # An allowed value followed by the beginning of its closing tag is no value, yet no bad one at the end.

        cell = TABLE[state][seen]
        if cell == "accept":
            break
        if " " in cell:
            kind, tag = cell.split()
            return error(kind, tag, at, found)
        if cell in INSIDE and state in OUTSIDE and INSIDE[cell] not in closed:
            opened[INSIDE[cell]] = at + len(seen)
        if seen.startswith("</"):
            closed[seen[2:-1]] = at
        state = cell
        before = at + len(seen)

    spans = {name: list(trim(text, opened[name], closed[name])) for name in ELEMENTS if name in closed}
    content = {name: text[start:end] for name, (start, end) in spans.items()}
    return {
        "think": content.get("think", ""),
        "update_gate": content["check"] == "yes",
        "candidate": content["update"],
        "exit_gate": content["next"] == "end",
        "spans": {name: spans.get(name) for name in ELEMENTS},
    }
