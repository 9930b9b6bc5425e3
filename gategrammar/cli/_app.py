"""The group of commands: every public module of this package is one, imported only when it is called."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click

import gategrammar.cli
from gategrammar.cli._ending import orderly

#: A module cannot be called what a command cannot be called, and the other way round.
_NAMES = {module.name.replace("_", "-"): module.name for module in iter_modules(gategrammar.cli.__path__)}


class Commands(click.Group):
    """Commands by module, so that ``gategrammar parse`` never pays for what another command imports.

    How a command ends is ours to say, ``--help`` included: click would make 1 of a Ctrl-C and of a reader that went
    away, which is what a failed response makes.
    """

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Read the arguments of the group."""
        with orderly(lambda: None):
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; one that has something to tell when it is interrupted does so itself."""
        with orderly(lambda: None):
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, sorted."""
        return sorted(name for name in _NAMES if not name.startswith("-"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command *cmd_name*, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"gategrammar.cli.{_NAMES[cmd_name]}").command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gategrammar")
def app() -> None:
    """Strict reading of decisions that language models write as text."""
