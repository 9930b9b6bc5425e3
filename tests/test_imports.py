"""What is loaded when, and which way imports point (the house's arrows)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gategrammar
from cases import FIXTURES

PACKAGE = Path(gategrammar.__file__).parent
HEAVY = {"lark", "httpx", "httpx2", "rich", "click", "pyarrow", "hypothesis", "jinja2", "matplotlib"}

#: Modules of gategrammar.response, in an order in which each may import only what stands before it.
RESPONSE = [
    "text",
    "grammar",
    "hints",
    "errors",
    "result",
    "_tables",
    "tags",
    "recogniser",
    "stream",
    "lexer",
    "lalr",
    "derive",
]


def loaded(code: str) -> set[str]:
    """Run *code* in a fresh interpreter; return which of the heavy packages it loaded."""
    code += "\nimport sys; print(*(set(sys.modules) & set(sys.argv[1:])))"
    done = subprocess.run([sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    """Importing the package loads attrs and the standard library only."""
    assert loaded("import gategrammar") == set()


@pytest.mark.parametrize("name", ["gate-response-valid.txt", "gate-response-nested-think.txt"])
def test_a_valid_response_loads_nothing_heavy(name: str) -> None:
    """Parsing a valid response, plain or nested, asking for its spans, and streaming it never load Lark."""
    code = (
        f"import gategrammar\ntext = open({str(FIXTURES / name)!r}, encoding='utf-8').read()\n"
        "gategrammar.parse(text).spans\nstream = gategrammar.ResponseStream()\nstream.feed(text)\nstream.close()\n"
        "try:\n    gategrammar.ResponseStream().feed('</think>')\nexcept gategrammar.GateParseError:\n    pass"
    )
    assert loaded(code) == set()


def test_a_broken_response_loads_the_parser() -> None:
    """The reference parser is loaded when there is something to explain, and nothing else with it."""
    assert loaded("import gategrammar\ngategrammar.try_parse('<think>')") == {"lark"}


def imports_of(path: Path) -> set[str]:
    """Return the modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def below(path: Path, *packages: str) -> set[str]:
    """Return what a file imports from *packages* of gategrammar."""
    return {name for name in imports_of(path) if any(f"{name}.".startswith(f"gategrammar.{p}.") for p in packages)}


def test_the_arrows_inside_response() -> None:
    """Each module of response imports only what stands before it; parse.py stands on them all."""
    modules = {path.stem for path in (PACKAGE / "response").glob("*.py")} - {"__init__", "parse"}
    assert modules == set(RESPONSE)
    for place, module in enumerate(RESPONSE):
        imported = below(PACKAGE / "response" / f"{module}.py", *(f"response.{later}" for later in RESPONSE[place:]))
        assert imported == set(), module
    # The reference path does not stand on what is derived from it.
    for module in ("lexer", "lalr"):
        assert not below(
            PACKAGE / "response" / f"{module}.py", "response._tables", "response.tags", "response.recogniser"
        )


def test_the_arrows_between_packages() -> None:
    """The two halves know nothing of each other, and nothing below knows the command line or the exports."""
    for path in (PACKAGE / "response").glob("*.py"):
        assert not below(path, "gate", "export", "cli", "fuzzing", "messages", "reward", "record", "arrow"), path
    for path in (PACKAGE / "gate").glob("*.py"):
        assert not below(path, "response", "export", "cli", "fuzzing", "messages", "reward", "record", "arrow"), path
    for path in set(PACKAGE.rglob("*.py")) - {PACKAGE / "__main__.py", *(PACKAGE / "cli").rglob("*.py")}:
        assert not below(path, "cli"), path
