"""docs/gate.md: what it shows runs, and prints what it says; what it lists is what there is."""

import re
import subprocess
import sys

import pytest

from gate.ways import ROOT
from gategrammar.gate import reasons

TEXT = (ROOT / "docs/gate.md").read_text("utf-8")
KNOWN = b'{"detail": {"error_type": "not_found"}}'
EXAMPLES = re.findall(r"<!-- run -->\n```python\n(.*?)```.*?```text\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_examples(code: str, output: str) -> None:
    """Each example runs as it stands, and prints what is shown below it."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.stderr
    assert done.stdout == output
    assert len(EXAMPLES) == 2


def test_every_reason_is_explained() -> None:
    """The tables hold every reason that the gate can give, and no other."""
    fixed = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
    templates = {
        reasons.timed_out(1).replace("1", "N"),
        reasons.too_large(1).replace("1", "N"),
        reasons.floor_kept(1).replace("1", "N"),
        reasons.http_status(999, b"").replace("999", "N"),
        reasons.http_status(999, b'{"detail": {"error_type": "not_found"}}')
        .replace("999", "N")
        .replace("not_found", "type"),
    }
    assert set(re.findall(r"^\| `([^`]+)` \|", TEXT, re.MULTILINE)) == fixed | templates
