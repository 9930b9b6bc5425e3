"""``gategrammar export``: what it prints, where, and how it refuses."""

import subprocess
import sys

import pytest

from gategrammar.export import FORMATS, export, instructions, notes


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "gategrammar", "export", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_each_format(name: str) -> None:
    """Standard output is the grammar and nothing else; what cannot be a comment in it is on standard error."""
    done = run(name)
    assert (done.returncode, done.stdout.rstrip("\n")) == (0, export(name).rstrip("\n"))
    said = "" if FORMATS[name].remark else "".join(f"# {line}\n" for line in notes(name))
    assert done.stderr == said


def test_the_options_reach_the_grammar() -> None:
    """Profile, mode and bounds are those of export()."""
    done = run("gbnf", "--think", "prefilled", "--max-think", "7", "--max-update", "0", "--profile", "generation")
    assert done.stdout == export("gbnf", think="prefilled", max_think=7, max_update=0)
    assert run("regex", "--profile", "parse").stdout == export("regex", profile="parse") + "\n"


def test_prompt() -> None:
    """The instructions are on standard output, the stop strings on standard error."""
    done = run("prompt", "--think", "absent")
    assert done.stdout == instructions("absent") + "\n"
    assert done.stderr == '# stop strings: ["</next>"]\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gbnf", "--max-think", "20001"], "the bound of think must be from 0 to 20000 in gbnf, not 20001"),
        (["gbnf", "--max-update=-1"], "the bound of update must be from 0 to 20000 in gbnf, not -1"),
        (["gbnf", "--max-think", "many"], "'many' is not a valid integer"),
        (["ebnf", "--profile", "generation"], "ebnf has no bounds"),
        (["xml"], "'xml' is not one of"),
        (["prompt", "--max-think", "3"], "prompt takes no --max-think"),
        ([], "Missing argument 'FORMAT'"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    """Wrong usage exits with 2, prints nothing on standard output, and says what can be done."""
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
