"""Writing the report: one file that needs no network and no script."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gategrammar.cli._rows import name
from gategrammar.cli._statistics import Score, percent, share
from gategrammar.cli._terminal import harmless

if TYPE_CHECKING:
    from collections import Counter

#: So that a forgotten argument never makes a report of a file of data.
_ENDINGS = (".html", ".htm")
#: How many failures are shown.
_COMMONEST = 20
#: How many files are named.
_FILES = 5


class Report:
    """A page to be written when a run is over; what would prevent that is found before it begins.

    Args:
        path: where to.
        files: what is scored, as named on the command line.
        modes: how it is parsed, by what that is called.

    Raises:
        click.UsageError: the path is no place for a page, or the extra ``report`` is not installed.
    """

    def __init__(self, path: str, files: Sequence[str], modes: Mapping[str, str]) -> None:
        self._path = Path(path)
        self._files = files
        self._modes = modes
        if not path.lower().endswith(_ENDINGS):
            raise click.UsageError(f"--report {harmless(path)}: a page is called {' or '.join(_ENDINGS)}")
        if not self._path.parent.is_dir() or self._path.is_dir():
            raise click.UsageError(f"--report {harmless(path)}: there is no such folder to write a page to")
        for needed in ("jinja2", "matplotlib"):
            if find_spec(needed) is None:
                raise click.UsageError(f"{needed} is not installed; run: pip install 'gategrammar[report]'")

    def write(self, score: Score, *, interrupted: bool) -> None:
        """Write the page; an earlier one is there until the new one is whole."""
        page = self._html(score, interrupted=interrupted)
        descriptor, whole = tempfile.mkstemp(dir=self._path.parent, prefix=".report-", suffix=self._path.suffix)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a Path opens no descriptor
                file.write(page)
            Path(whole).chmod(0o666 & ~_umask())
            Path(whole).replace(self._path)
        except BaseException:
            Path(whole).unlink(missing_ok=True)
            raise

    def _html(self, score: Score, *, interrupted: bool) -> str:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        from gategrammar.cli._report import charts

        environment = Environment(
            loader=PackageLoader("gategrammar.cli", "_report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"harmless": harmless, "percent": percent, "share": share}
        texts = {"parsed": "responses that parse", "failed": "responses that fail"}
        contents = {"think": "reasoning (think)", "candidate": "candidate memory (update)"}
        histograms: list[tuple[str, str, dict[str, Counter[int]]]] = [
            ("responses", "Responses", {texts[which]: score.lengths[which] for which in texts}),
            *((which, title.capitalize(), {title: score.lengths[which]}) for which, title in contents.items()),
        ]
        return environment.get_template("page.html.j2").render(
            score=score,
            interrupted=interrupted,
            files=[name(file) for file in self._files[:_FILES]],
            more_files=len(self._files[_FILES:]),
            modes=self._modes,
            rates=charts.rates(score) if any(each.responses for _, each in score.steps) else None,
            failures=charts.failures(score) if score.failed else None,
            lengths=[
                (title, charts.lengths(histogram, which))
                for which, title, histogram in histograms
                if any(counts for counts in histogram.values())
            ],
            commonest=score.commonest(_COMMONEST),
        )


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
