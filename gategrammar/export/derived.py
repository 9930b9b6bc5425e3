"""What the spec shows of the grammar: the command that writes ``grammar/derived/`` and two parts of ``SPEC.md``.

Run it after a change of ``grammar/response.lark``, behind ``python -m gategrammar.response.derive``::

    python -m gategrammar.export.derived            # writes them
    python -m gategrammar.export.derived --check    # exits with 1 if one is not up to date
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from gategrammar.export.ebnf import ebnf
from gategrammar.export.formats import export
from gategrammar.export.language import PARSE, response
from gategrammar.response._tables import ACCEPTING, ELEMENTS, ERRORS, MOVES, STAGES, STARTS
from gategrammar.response.grammar import ABSENT, END_OF_INPUT, REQUIRED
from gategrammar.spec import SPEC

_CHECKOUT = Path(__file__).parents[2]
_COMMAND = "python -m gategrammar.export.derived"
_PART = re.compile(r"(?<=<!-- derived: )(?P<name>\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def files() -> Iterator[tuple[str, str]]:
    """Yield each derived file: its path in the repository, and its text."""
    yield "grammar/derived/response.ebnf", export("ebnf")
    yield "grammar/derived/response.svg", export("railroad")
    rules = ebnf(response(ELEMENTS, PARSE, REQUIRED, {}))
    parts = {"ebnf": f"```ebnf\n{rules}```\n", "automaton": automaton()}
    spec = (_CHECKOUT / SPEC).read_text("utf-8")
    yield SPEC, _PART.sub(lambda part: f"{part['name']}{part[2]}\n{parts[part['name']]}\n", spec)


def automaton() -> str:
    """Return the automaton as a table in Markdown: a row per place in a response, a column per tag and for the end."""
    columns = [tag.text for element in ELEMENTS for tag in (element.opening, element.closing)]
    lines = [["", *(f"`{tag}`" for tag in columns), "the end"], ["---"] * (len(columns) + 2)]
    for state, (number, inside) in sorted(enumerate(STAGES), key=lambda one: (one[1], one[0] == STARTS[ABSENT])):
        # Inside an element with values there are two states, before its value and behind it: one place in the text.
        values = number < len(ELEMENTS) and inside and ELEMENTS[number].values
        if values and not MOVES[state].keys() & values.keys():
            continue
        behind = MOVES[state][next(iter(values))] if values else state
        note = f" ({ELEMENTS[0].name} absent)" if state == STARTS[ABSENT] else ""
        cells = [_cell(behind, seen) for seen in (*columns, END_OF_INPUT)]
        lines.append([f"**{_place(state)}**{note}", *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _place(state: int) -> str:
    number, inside = STAGES[state]
    if number == len(ELEMENTS):
        return "done"
    return f"{'inside' if inside else 'expecting'} {ELEMENTS[number].name}"


def _cell(state: int, seen: str) -> str:
    if seen in MOVES[state]:
        return f"→ {_place(MOVES[state][seen])}"
    if seen == END_OF_INPUT and state in ACCEPTING:
        return "→ a response"
    kind, failed = ERRORS[state][seen]
    return f"{kind} {ELEMENTS[failed].name}"


def main() -> int:
    """Write the derived files, or with ``--check`` compare them; return the exit code."""
    stale = 0
    for path, text in files():
        file = _CHECKOUT / path
        if file.is_file() and file.read_text("utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            sys.stderr.write(f"{path} does not follow from response.lark; run: {_COMMAND}\n")
            stale = 1
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
