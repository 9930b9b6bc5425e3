"""The charts of the report: SVG that takes its colours and its type from the page round it."""

import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from gategrammar.cli._statistics import Score
from gategrammar.response._tables import ELEMENTS

#: Colours by the names of the page's CSS variables. matplotlib knows no variables, so each gets a colour that nothing
#: else has, and :func:`_svg` puts the variable in its place.
_NAMES = ("ink", "muted", "line", "good", "bad", *(f"series-{number}" for number in range(len(ELEMENTS))))
_COLOURS = {name: f"#0a0b{number:02x}" for number, name in enumerate(_NAMES)}
#: How many points a line has at most, and an axis labels.
_POINTS, _TICKS = 60, 7
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
    steps = score.steps.fewer(_POINTS)
    middle = (steps.width - 1) / 2
    with _chart("rates") as (axes, written):
        for name, colour, marker, counts in (
            ("responses that parse", "good", "o", [(step, each.parsed, each.responses) for step, each in steps]),
            ("trajectories", "series-3", "s", [(step, each.reward, each.trajectories) for step, each in steps]),
        ):
            points = [(step + middle, part / whole) for step, part, whole in counts if whole]
            axes.plot(*zip(*points, strict=True), marker=marker, color=_COLOURS[colour], label=name, markersize=4)
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("step")
    return "".join(written)


def failures(score: Score) -> str:
    """Draw the failures by kind, the commonest first, and in each kind by tag."""
    totals: Counter[str] = Counter()
    for (kind, _), count in score.failed.items():
        totals[kind] += count
    kinds = [kind for kind, _ in totals.most_common()]
    with _chart("failures", height=0.9 + 0.42 * len(kinds)) as (axes, written):
        left = [0] * len(kinds)
        for number, element in enumerate(ELEMENTS):
            counts = [score.failed[kind, element.name] for kind in kinds]
            if any(counts):
                colour = _COLOURS[f"series-{number}"]
                axes.barh(kinds, counts, left=left, color=colour, label=element.name, height=0.7)
                left = [one + other for one, other in zip(left, counts, strict=True)]
        for kind, total in totals.items():
            axes.annotate(f"{total:,}", (total, kind), (4, 0), textcoords="offset points", va="center")
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.grid(visible=False)
        axes.xaxis.set_visible(False)
        axes.spines["bottom"].set_visible(False)
    return "".join(written)


def lengths(histograms: Mapping[str, Counter[int]], name: str) -> str:
    """Draw histograms over the same bins, each as the share of what it counts that has such a length.

    Args:
        histograms: counts by bin (see ``half_octave``), by name.
        name: of the chart, for the ids in it.
    """
    with _chart(name) as (axes, written):
        places = [place for histogram in histograms.values() for place in histogram]
        edges = range(min(places), max(places) + 2)
        for (label, histogram), colour in zip(histograms.items(), ("good", "bad"), strict=False):
            if total := histogram.total():
                shares = [histogram[place] / total for place in edges[:-1]]
                axes.stairs(shares, edges, color=_COLOURS[colour], fill=True, alpha=0.25)
                axes.stairs(shares, edges, color=_COLOURS[colour], label=label, linewidth=1.6)
        ticks = {_place(length): text for length, text in _ROUND if edges[0] <= _place(length) <= edges[-1]}
        if len(ticks) > _TICKS:
            ticks = {place: text for place, text in ticks.items() if "3" not in text}
        if "0" in ticks.values():  # there is no room for a 1 beside it
            ticks.pop(_place(1), None)
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.set_xlabel("code points (logarithmic)")
    return "".join(written)


#: Where the axis of lengths is labelled; no text is longer.
_ROUND = [(0, "0")] + [
    (digit * 10**zeros, f"{digit}{'0' * (zeros % 3)}{('', 'k', 'M', 'G')[zeros // 3]}")
    for zeros in range(12)
    for digit in (1, 3)
]


def _place(length: int) -> float:
    """Return where a length stands on the axis on which the bins are numbered."""
    return 1 + 2 * math.log2(length) if length else 0.5


@contextmanager
def _chart(name: str, height: float = _HEIGHT) -> Iterator[tuple[Axes, list[str]]]:
    """Give axes to be drawn on, and then put the chart, an element to stand in a page, into the list."""
    written: list[str] = []
    with mpl.rc_context(_STYLE):
        figure = Figure((_WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        yield axes, written
        if len(axes.get_legend_handles_labels()[0]) > 1:
            figure.legend(loc="outside upper left", ncols=len(ELEMENTS), handlelength=1.2, columnspacing=1.2)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = file.getvalue()
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    # Several charts stand in one page, and ids are the page's.
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    for variable, colour in _COLOURS.items():
        svg = svg.replace(colour, f"var(--{variable})")
    # The numbers stand beside each chart as text.
    written.append(svg.replace("<svg", '<svg aria-hidden="true"', 1))
