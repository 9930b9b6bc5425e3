"""Where the files that are not Python are found: the grammar, the spec, the fixtures."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def resource(path: str) -> Traversable:
    """Return the file or folder *path*, given as in the repository ("grammar/response.lark").

    In a wheel it lies in the package; in a checkout, an sdist and an editable install beside the package.

    Raises:
        FileNotFoundError: the installation is damaged.
    """
    shipped = files("gategrammar") / "_shipped" / path
    for place in (shipped, Path(__file__).parent.parent / path):
        if place.is_file() or place.is_dir():
            return place
    raise FileNotFoundError(f"{path} is missing from this installation of gategrammar; install it again")
