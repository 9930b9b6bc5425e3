"""The charts of the report: SVG that takes its colours and its type from the page round it."""

import io
import re
from collections import Counter
from collections.abc import Mapping

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from gategrammar.cli._statistics import Score
from gategrammar.response._tables import ELEMENTS
from gategrammar.response.errors import ERRORS

#: Colours by the names of the page's CSS variables. matplotlib knows no variables, so each gets a colour that nothing
#: else has, and :func:`_svg` puts the variable in its place.
_NAMES = ("ink", "muted", "line", "good", "bad", *(f"series-{number}" for number in range(len(ELEMENTS))))
_COLOURS = {name: f"#0a0b{number:02x}" for number, name in enumerate(_NAMES)}
_MARKERS = "osD^vPX*"
#: In inches of 72 units; as wide as a phone, so that text keeps its size there.
_WIDTH, _HEIGHT = 5.2, 3.0
_STYLE = {
    "axes.edgecolor": _COLOURS["line"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": _COLOURS["muted"],
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.size": 12,
    "grid.color": _COLOURS["line"],
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "gategrammar",
    "text.color": _COLOURS["ink"],
    "xtick.color": _COLOURS["muted"],
    "ytick.color": _COLOURS["muted"],
}


def rates(score: Score) -> str:
    """Draw the shares of right responses and of right trajectories over the training steps."""
    lines = list(score.steps)
    figure, axes = _figure()
    series: tuple[tuple[str, str, list[tuple[int, float, int]]], ...] = (
        ("responses that parse", "good", [(step, each.parsed, each.responses) for step, each in lines]),
        ("trajectories (r_format)", "series-3", [(step, each.reward, each.trajectories) for step, each in lines]),
    )
    for number, (name, colour, counts) in enumerate(series):
        points = [(step + (score.steps.width - 1) / 2, part / whole) for step, part, whole in counts if whole]
        marker = _MARKERS[number] if len(points) <= 40 else ""  # noqa: PLR2004 - more would run into each other
        axes.plot(*zip(*points, strict=True), marker, linestyle="-", color=_COLOURS[colour], label=name, markersize=5)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlabel("step")
    return _svg(figure, axes, "rates")


def failures(score: Score) -> str:
    """Draw the failures by kind, and in each kind by tag."""
    kinds = [kind for kind in ERRORS if any(kind == one for one, _ in score.failed)]
    figure, axes = _figure(height=0.9 + 0.42 * len(kinds))
    left = [0] * len(kinds)
    for number, element in enumerate(ELEMENTS):
        counts = [score.failed[kind, element.name] for kind in kinds]
        if any(counts):
            colour = _COLOURS[f"series-{number}"]
            axes.barh(kinds, counts, left=left, color=colour, label=element.name, height=0.7)
            left = [one + other for one, other in zip(left, counts, strict=True)]
    for kind, total in zip(kinds, left, strict=True):
        axes.annotate(f"{total:,}", (total, kind), (4, 0), textcoords="offset points", va="center")
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.grid(visible=False)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    return _svg(figure, axes, "failures")


def lengths(histograms: Mapping[str, Counter[int]], name: str) -> str:
    """Draw histograms over the same bins, each as the share of what it counts that has such a length.

    Args:
        histograms: counts by bin (see :func:`gategrammar.cli._statistics.half_octave`), by name.
        name: of the chart, for the ids in it.
    """
    figure, axes = _figure()
    bins = [place for histogram in histograms.values() for place in histogram]
    first, last = min(bins), max(bins)
    for (label, histogram), colour in zip(histograms.items(), ("good", "bad"), strict=False):
        total = histogram.total()
        shares = [histogram[place] / total if total else 0 for place in range(first, last + 1)]
        axes.stairs(shares, range(first, last + 2), color=_COLOURS[colour], fill=True, alpha=0.25)
        axes.stairs(shares, range(first, last + 2), color=_COLOURS[colour], label=label, linewidth=1.6)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: _length(place)))
    axes.set_xlabel("code points (logarithmic)")
    return _svg(figure, axes, name)


def _length(place: float) -> str:
    """Return the shortest length in a bin, shortened."""
    if place < 1:
        return "0"
    length = 2 ** ((place - 1) / 2)
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if length >= limit:
            return f"{length / limit:.3g}{unit}"
    return f"{length:.3g}"


def _figure(height: float = _HEIGHT) -> tuple[Figure, Axes]:
    with mpl.rc_context(_STYLE):
        figure = Figure((_WIDTH, height), layout="constrained")
        return figure, figure.add_subplot()


def _svg(figure: Figure, axes: Axes, name: str) -> str:
    """Return the chart as an element to stand in a page."""
    if len(axes.get_legend_handles_labels()[0]) > 1:
        figure.legend(loc="outside upper left", ncols=len(ELEMENTS), handlelength=1.2, columnspacing=1.2)
    written = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Several charts stand in one page, and ids are the page's.
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    for variable, colour in _COLOURS.items():
        svg = svg.replace(colour, f"var(--{variable})")
    return svg.replace("<svg", '<svg aria-hidden="true"', 1)
