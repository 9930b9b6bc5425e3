"""Mutation testing of the grammar, which is data to a tool that mutates Python.

    python tests/mutate_grammar.py          # all mutants, some minutes
    python tests/mutate_grammar.py --list   # only say what they are

Each mutant is ``grammar/response.lark`` with one small change, in a copy of the sources. What follows from the grammar
is derived anew, so that no test fails only because the derived tables are stale; then the derivation, or a test of what
responses mean, has to fail. A mutant that nothing notices is printed, and the exit code is 1.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
GRAMMAR = "grammar/response.lark"
TABLES = "gategrammar/response/_tables.py"
#: What says what responses mean; the first failure is enough.
TESTS = ["tests/test_corpora.py", "tests/test_automaton_cells.py", "tests/test_acceptance.py"]
SLOW = "tests/test_acceptance.py::test_a8_no_defaults"
#: Mutants that mean the same grammar, each with the reason.
EQUIVALENT = {
    "repeat _closed (1 of rule think)": "blocks in a row are one block to _closed already",
    "make _opened (1 of rule _opened) optional": "the group around it is optional already",
    "make _closed (2 of rule _opened) optional": "the group around it is optional already",
    "repeat THINK_OPEN (3 of rule _opened)": "the lexer puts a TEXT between two of them",
    "repeat TEXT (4 of rule _opened)": "the lexer sends one TEXT after each THINK_OPEN",
    "repeat THINK_CLOSE (3 of rule _closed)": "_closed may be followed by any number of them already",
    "drop %ignore OUTSIDE": "it is for readers: the lexer makes an OUTSIDE only where none is allowed",
}

RULE = re.compile(r"^([a-z_]+):(.*)$", re.MULTILINE)
TERMINAL = re.compile(r'^([A-Z_]+):(\s*)"(.*)"$', re.MULTILINE)
SYMBOL = re.compile(r"[A-Za-z_]+")
GROUP = re.compile(r"\(([^()|]+)\|([^()|]+)\)")


def spliced(source: str, start: int, end: int, text: str) -> str:
    """Return *source* with a part replaced."""
    return source[:start] + text + source[end:]


def rules(source: str) -> Iterator[tuple[str, str]]:
    """Yield mutants of the rules: dropped, with symbols dropped, swapped, replaced, made optional or repeated."""
    names = [match[1] for match in TERMINAL.finditer(source)]
    for rule in RULE.finditer(source):
        yield f"drop rule {rule[1]}", spliced(source, *rule.span(), "")
        symbols = [(rule.start(2) + s.start(), rule.start(2) + s.end(), s[0]) for s in SYMBOL.finditer(rule[2])]
        for number, (start, end, symbol) in enumerate(symbols):
            where = f"{symbol} ({number + 1} of rule {rule[1]})"
            yield f"drop {where}", spliced(source, start, end, "")
            yield f"make {where} optional", spliced(source, start, end, f"{symbol}?")
            yield f"repeat {where}", spliced(source, start, end, f"{symbol}+")
            if symbol in names:
                other = names[(names.index(symbol) + 1) % len(names)]
                yield f"replace {where} by {other}", spliced(source, start, end, other)
        for (start, _, first), (_, end, second) in pairwise(symbols):
            between = source[start + len(first) : end - len(second)]
            if first != second and "|" not in between:  # the order of alternatives means nothing
                swapped = spliced(source, start, end, second + between + first)
                yield f"swap {first} and {second} in rule {rule[1]}", swapped
        for group in GROUP.finditer(rule[2]):
            span = (rule.start(2) + group.start(), rule.start(2) + group.end())
            for kept in group.groups():
                yield f"keep only {kept.strip()} in rule {rule[1]}", spliced(source, *span, kept)
        if ")?" in rule[2]:
            yield f"make nothing optional in rule {rule[1]}", source.replace(rule[0], rule[0].replace(")?", ")"))


def terminals(source: str) -> Iterator[tuple[str, str]]:
    """Yield mutants of the tags and values: dropped, misspelt, in any case, with the text of another."""
    found = list(TERMINAL.finditer(source))
    for number, terminal in enumerate(found):
        name, _, text = terminal.groups()
        yield f"drop terminal {name}", spliced(source, *terminal.span(), "")
        other = found[(number + 1) % len(found)][3]
        for what, changed in (
            ("cut", text[:-1]),
            ("longer", f"{text}s"),
            ("in capitals", text.upper()),
            (f"as {other}", other),
        ):
            yield f"{name} {what}", spliced(source, *terminal.span(3), changed)
        yield f"{name} in any case", spliced(source, terminal.end(), terminal.end(), "i")


def directives(source: str) -> Iterator[tuple[str, str]]:
    """Yield mutants of what stands in no rule."""
    for line in re.findall(r"^%.*$", source, re.MULTILINE):
        yield f"drop {line}", source.replace(line, "")


def mutants(source: str) -> dict[str, str]:
    """Return all mutants by what they do; the same text twice is one mutant."""
    found: dict[str, str] = {}
    for make in (rules, terminals, directives):
        for name, text in make(source):
            if text != source and text not in found.values():
                found[name] = text
    return found


def noticed(folder: Path) -> str | None:
    """Say what notices the grammar in *folder*: the derivation, or a test; None if nothing does."""
    shutil.copy(ROOT / TABLES, folder / TABLES)  # those of the mutant before may not even be importable
    derive = [sys.executable, "-m", "gategrammar.response.derive"]
    if subprocess.run(derive, cwd=folder, capture_output=True, check=False).returncode:
        return "the derivation"
    tests = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"--deselect={SLOW}", *TESTS]
    done = subprocess.run(tests, cwd=folder, capture_output=True, check=False, text=True)
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else "the tests"


def main() -> int:
    """Run all mutants; return the exit code."""
    source = (ROOT / GRAMMAR).read_text("utf-8")
    found = mutants(source)
    if "--list" in sys.argv[1:]:
        print(*found, sep="\n")
        return 0
    survived = []
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        for name in ("gategrammar", "grammar", "fixtures", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        if what := noticed(folder):
            print(f"the grammar itself fails: {what}")
            return 1
        for name, text in found.items():
            (folder / GRAMMAR).write_text(text, "utf-8")
            what = noticed(folder)
            print(f"{name}: {what or EQUIVALENT.get(name) or 'SURVIVED'}", flush=True)
            if what is None:
                survived.append(name)
    survivors = [name for name in survived if name not in EQUIVALENT]
    killed, equivalent = len(found) - len(survived), len(survived) - len(survivors)
    print(f"{len(found)} mutants, {killed} killed, {equivalent} equivalent, {len(survivors)} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
