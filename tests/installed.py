"""Use an installed gategrammar from outside its sources: the grammar has to be found, and the command has to run.

Usage: python tests/installed.py FIXTURES
"""

import subprocess
import sys
from pathlib import Path

import gategrammar


def main(fixtures: Path) -> None:
    """Parse a good and a broken response with the library, and the good one with the command."""
    text = (fixtures / "gate-response-valid.txt").read_text("utf-8")
    response = gategrammar.parse(text)
    error = gategrammar.try_parse(
        text.rstrip()[:-1]
    )  # only the reference parser, which reads the grammar, explains this
    assert isinstance(error, gategrammar.UnclosedTagError), error
    command = Path(sys.executable).with_name("gategrammar")
    subprocess.run([command, "parse", fixtures / "gate-response-valid.txt"], check=True, stdout=subprocess.DEVNULL)
    print(f"{Path(gategrammar.__file__).parent}: {response.candidate[:40]!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
