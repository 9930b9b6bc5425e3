"""What the gate needs, and what it leaves alone."""

import subprocess
import sys


def test_gate_stands_alone() -> None:
    """The gate loads nothing that is not in the core (httpx itself takes click and rich)."""
    others = ["lark", "httpx2", "numpy", "jsonschema"]
    code = f"import sys, gategrammar.gate; print([name for name in {others} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
