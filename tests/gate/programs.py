"""Installed programs, as subprocesses."""

import sysconfig
from pathlib import Path

import pytest


def program(name: str) -> str:
    """Return the path of an installed program; the test is skipped where it is not installed."""
    path = Path(sysconfig.get_path("scripts")) / name
    if not path.exists():
        pytest.skip(f"{name} is not installed; it comes with the extra 'test'")
    return str(path)
