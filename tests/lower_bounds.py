"""Print pip constraints that pin every runtime dependency, extras included, to its lower bound in pyproject.toml.

What only developers use (the extras test, dev and docs) is left out: they take what is new.

Usage: python tests/lower_bounds.py > constraints.txt
"""

import re
import sys
import tomllib
from pathlib import Path

DEVELOPERS = {"test", "dev", "docs"}
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[.*\])?\s*>=\s*(?P<version>[0-9.]+)")


def constraints(pyproject: str) -> list[str]:
    """Return a line ``name==version`` per dependency of the project and its extras."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(need for name in extras if name not in DEVELOPERS for need in extras[name])]
    bounds = {bound["name"]: bound["version"] for need in wanted if (bound := BOUND.match(need))}
    unbound = [need for need in wanted if not BOUND.match(need) and not need.startswith("gategrammar")]
    if unbound:
        raise SystemExit(f"pyproject.toml: no lower bound for {', '.join(unbound)}")
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    path = Path(__file__).parent.parent / "pyproject.toml"
    sys.stdout.write("\n".join(constraints(path.read_text("utf-8"))) + "\n")
