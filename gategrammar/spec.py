"""The written specification as data: ``grammar/SPEC.md``, its sections and its numbered examples.

An example is a fenced block whose info string begins with ``example``: an input, a line with a single dot, and the
verdict as JSON. What the marks in an input stand for is said in the specification itself, section 1.3; here is what
takes them away again. A reader for another language takes the JSON that this prints instead::

    python -m gategrammar.spec --dump
"""

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import attrs

from gategrammar._resources import resource

#: Where the specification lies; see gategrammar/_resources.py.
SPEC = "grammar/SPEC.md"

#: What stands for a character that cannot be seen; any code point at all can be written as ⟦N⟧, N hexadecimal.
MARKS = {"→": "\t", "␍": "\r", "␀": "\0"}
#: Parts the pieces that a stream is fed.
SEAM = "¦"

_MARK = re.compile(f"⟦([0-9A-F]{{1,6}})⟧|[⟦⟧{''.join(MARKS)}]")
#: What the file is made of beside prose. Fences come first, so that what stands in one is never taken for a heading.
PART = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)$"
    r"|^(?P<level>\#{2,}) (?P<number>[0-9A-Z]+(?:\.[0-9]+)*)\.? (?P<title>[^\n]+)$",
    re.MULTILINE | re.DOTALL,
)
_EXAMPLE = "example"


class SpecError(ValueError):
    """``SPEC.md`` is not written as its own section 1.3 says."""


@attrs.frozen
class Example:
    """One numbered example.

    Attributes:
        number: counted from 1 through the whole specification.
        section: the number of the section that it stands in.
        line: where its fence opens in the file, 1-based.
        kind: what is shown: one of :data:`KINDS`.
        parameters: how the input is to be read, by name.
        input: a text, the pieces of a stream, or the JSON value, as the kind says.
        expected: the verdict.
    """

    number: int
    section: str
    line: int
    kind: str
    parameters: dict[str, str]
    input: Any
    expected: Any


@attrs.frozen
class Section:
    """One section.

    Attributes:
        number: "4.1", or "A" for an appendix.
        title: its heading without the number.
        level: how many ``#`` the heading has.
        start: the offset of the heading in the file, in code points.
        end: the offset behind the section and its subsections.
    """

    number: str
    title: str
    level: int
    start: int
    end: int


@attrs.frozen
class Spec:
    """The specification.

    Attributes:
        text: the file.
        sections: in their order.
        examples: in their order.
    """

    text: str
    sections: tuple[Section, ...]
    examples: tuple[Example, ...]

    def numbered(self, start: int = 0, end: int | None = None) -> str:
        """Return the text from offset *start* to *end*, each example headed by its number, for people to read."""
        end = len(self.text) if end is None else end
        numbers = iter(e.number for e in self.examples if e.line > self.text.count("\n", 0, start))

        def headed(part: re.Match[str]) -> str:
            return f"**Example {next(numbers)}**\n\n{part.group()}" if is_example(part) else part.group()

        return PART.sub(headed, self.text[start:end])


def unmark(text: str) -> str:
    """Return what *text* stands for: each mark replaced by its character.

    Raises:
        ValueError: a mark is broken.
    """
    return _MARK.sub(_marked, text)


def _marked(mark: re.Match[str]) -> str:
    if mark[1]:
        return chr(int(mark[1], 16))
    if mark[0] not in MARKS:
        raise ValueError(f"a {mark[0]} that is part of no mark ⟦N⟧")
    return MARKS[mark[0]]


def _pieces(text: str) -> list[str]:
    return [unmark(piece) for piece in text.split(SEAM)]


#: The kinds of example: the parameters that each may have, and how its input is read.
KINDS: dict[str, tuple[frozenset[str], Callable[[str], Any]]] = {
    "response": (frozenset({"think", "outside_text"}), unmark),
    "stream": (frozenset({"think", "outside_text"}), _pieces),
    "trajectory": (frozenset(), json.loads),
    "write": (frozenset(), json.loads),
    "arguments": (frozenset(), json.loads),
    "answers": (frozenset({"mode", "count", "levels"}), unmark),
}
_PLAIN = "response"


def load() -> Spec:
    """Return the specification that this version carries."""
    return read(resource(SPEC).read_text("utf-8"))


def read(text: str) -> Spec:
    """Take the specification apart.

    Raises:
        SpecError: an example is not written as section 1.3 says; the message names its line.
    """
    sections: list[Section] = []
    examples: list[Example] = []
    for part in PART.finditer(text):
        if part["number"]:
            level = len(part["level"])
            sections.append(Section(part["number"], part["title"], level, part.start(), len(text)))
        elif is_example(part):
            line = text.count("\n", 0, part.start()) + 1
            if not sections:
                raise SpecError(f"{SPEC}, line {line}: an example belongs to a section")
            examples.append(_example(part, len(examples) + 1, sections[-1].number, line))
    ends = (
        next((later.start for later in sections[i + 1 :] if later.level <= section.level), len(text))
        for i, section in enumerate(sections)
    )
    return Spec(text, tuple(attrs.evolve(s, end=end) for s, end in zip(sections, ends, strict=True)), tuple(examples))


def is_example(part: re.Match[str]) -> bool:
    """Tell whether *part*, a match of :data:`PART`, is an example."""
    return part["info"] is not None and part["info"].split()[:1] == [_EXAMPLE]


def _example(part: re.Match[str], number: int, section: str, line: int) -> Example:
    words = part["info"].split()[1:]
    kind = words.pop(0) if words and "=" not in words[0] else _PLAIN
    if kind not in KINDS:
        raise SpecError(f"{SPEC}, line {line}: no kind of example: {kind}; there are {', '.join(KINDS)}")
    names, read_input = KINDS[kind]
    parameters = dict(word.split("=", 1) for word in words)
    if unknown := parameters.keys() - names:
        raise SpecError(f"{SPEC}, line {line}: no parameter of a {kind} example: {', '.join(sorted(unknown))}")
    given, dot, expected = f"\n{part['body']}".partition("\n.\n")
    if not dot:
        raise SpecError(f"{SPEC}, line {line}: an example needs a line with a single dot before its verdict")
    try:
        return Example(number, section, line, kind, parameters, read_input(given[1:]), json.loads(expected))
    except ValueError as error:
        raise SpecError(f"{SPEC}, line {line}: {error}") from None


def main() -> int:
    """Print the examples as JSON with ``--dump``; return the exit code."""
    if sys.argv[1:] != ["--dump"]:
        sys.stderr.write("usage: python -m gategrammar.spec --dump\n")
        return 2
    json.dump([attrs.asdict(example) for example in load().examples], sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
