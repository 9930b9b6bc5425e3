"""The group of commands, and what is said where the extra is not installed."""

import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from commands import COMMAND, SURROUNDINGS, started
from gategrammar.cli._app import app


def test_commands_are_listed() -> None:
    """--help names every command with a line on what it does, and private modules are none."""
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert re.search("parse +Parse gate responses", result.stdout)
    assert "_input" not in result.stdout


def test_an_unknown_command() -> None:
    """What is no command is a usage error."""
    result = CliRunner().invoke(app, ["nope"])
    assert result.exit_code == 2
    assert "No such command" in result.output


@pytest.mark.parametrize("name", ["-input", "_input", "-app", ""])
def test_private_modules_are_no_commands(name: str) -> None:
    """No spelling of a private module gets at it."""
    assert app.get_command(click.Context(app), name) is None


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra(missing: str) -> None:
    """Without the extra the command says what to install, and exits with 2."""
    code = f"import sys; sys.modules[{missing!r}] = None; from gategrammar.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"gategrammar: {missing} is not installed; run: pip install 'gategrammar[cli]'\n"


@pytest.mark.parametrize(("redirect", "why"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")])
@pytest.mark.parametrize("arguments", ["--help", "--version", "parse --help", "spec", "spec 4", "export ebnf"])
def test_output_that_cannot_be_written(arguments: str, redirect: str, why: str) -> None:
    """Whatever a command has to say, an output that cannot take it is exit 2 and one line."""
    command = ["/bin/sh", "-c", f'"$@" {arguments} {redirect}', "sh", *COMMAND]
    done = subprocess.run(command, capture_output=True, check=False, env=SURROUNDINGS, text=True)
    assert (done.returncode, done.stderr) == (2, f"gategrammar: cannot write the output: {why}\n")


@pytest.mark.parametrize("arguments", ["--help", "--version", "parse --help", "spec", "export gbnf", "fuzz --count 3"])
def test_a_reader_that_went_away(arguments: str) -> None:
    """Whatever a command has to say, it ends as a shell expects where nobody reads it, and says nothing more."""
    with started(*arguments.split()) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (141, b"")


@pytest.mark.parametrize("name", ["list_commands", "get_command"])
def test_interrupted_inside_click(name: str) -> None:
    """Ctrl-C that meets click itself, or what a command imports, is 130 as well."""
    code = f"""
from gategrammar.cli import _app, main
def interrupted(*arguments):
    raise KeyboardInterrupt
_app.Commands.{name} = interrupted
main()
"""
    done = subprocess.run([sys.executable, "-c", code, "spec"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")
