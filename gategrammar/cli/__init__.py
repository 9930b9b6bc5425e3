"""The command line: one module per command, each with a click command named ``command``."""

import signal
import sys


def main() -> None:
    """Run ``gategrammar``; exits with 0, 1 (some response failed) or 2 (usage or unreadable input)."""
    # Until a command has something to tell (gategrammar.cli._ending), Ctrl-C ends the process without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        import click  # noqa: F401 - only asks whether the extra is installed
        import rich  # noqa: F401 - ditto
    except ModuleNotFoundError as missing:
        sys.stderr.write(f"gategrammar: {missing.name} is not installed; run: pip install 'gategrammar[cli]'\n")
        sys.exit(2)
    from gategrammar.cli._app import app
    from gategrammar.cli._ending import orderly

    with orderly(lambda: None):  # for what is wrong with the command line itself
        app()
