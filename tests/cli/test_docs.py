"""docs/cli.md: every example is run, and prints what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = re.findall(r"```console\n\$ (.+)\n((?s:.*?))```", (ROOT / "docs/cli.md").read_text("utf-8"))


@pytest.mark.parametrize(("command", "output"), EXAMPLES)
def test_example(command: str, output: str) -> None:
    """The command prints exactly the lines below it, both streams together."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.stdout.decode() == output


def test_there_are_examples() -> None:
    """The page is found and read."""
    assert len(EXAMPLES) == 3
