"""Railroad diagrams: one for each rule of the exported grammar, in one SVG.

The picture is readable where its surroundings are light and where they are dark: every colour is a custom property with
a value for either, and a page that has colours of its own may set them (``--railroad-ink`` and its like).
"""

from collections.abc import Iterable, Iterator

from railroad import (  # type: ignore[import-untyped] # it carries annotations, but no marker that says so
    Choice,
    Diagram,
    DiagramItem,
    Group,
    NonTerminal,
    OneOrMore,
    Optional,
    Sequence,
    Skip,
    Stack,
    Style,
    Terminal,
    ZeroOrMore,
)

from gategrammar.export.language import Chars, Either, ExportError, Join, Node, Repeat, Rule, Text, Words
from gategrammar.export.notation import ranges

#: How wide a sequence may become before it is continued on the next line, in pixels: a phone held upright, nearly.
_WIDEST = 480
#: Pixels round a diagram, and from one diagram's top to its name.
_PADDING, _NAME = 12, 18

_STYLE = """
:where(svg.railroad-diagram) {
  --railroad-ground: #fff; --railroad-ink: #1f2328; --railroad-literal: #dafbe1; --railroad-rule: #eef1f4;
}
@media (prefers-color-scheme: dark) {
  :where(svg.railroad-diagram) {
    --railroad-ground: #0d1117; --railroad-ink: #d1d7e0; --railroad-literal: #12402a; --railroad-rule: #2a313c;
  }
}
svg.railroad-diagram { background-color: var(--railroad-ground); }
svg.railroad-diagram path { fill: none; stroke: var(--railroad-ink); stroke-width: 1.5; }
svg.railroad-diagram rect { fill: var(--railroad-rule); stroke: var(--railroad-ink); stroke-width: 1.5; }
svg.railroad-diagram .terminal rect { fill: var(--railroad-literal); }
svg.railroad-diagram rect.group-box { fill: none; stroke-dasharray: 6 4; }
svg.railroad-diagram text { fill: var(--railroad-ink); font: 13px monospace; text-anchor: middle; white-space: pre; }
svg.railroad-diagram text.comment { font: italic 12px monospace; }
svg.railroad-diagram text.name { font: bold 14px monospace; text-anchor: start; }
"""


def railroad(root: Rule) -> str:
    """Return the diagrams of *root* and of every rule that it needs, as one SVG document.

    Args:
        root: the language, as :func:`gategrammar.export.language.response` returns it.

    Raises:
        ExportError: there is a bound.
    """
    picture = DiagramItem("svg", {"class": "railroad-diagram", "role": "img", "xmlns": "http://www.w3.org/2000/svg"})
    DiagramItem("title", {}, f"Railroad diagrams of the rules of a {root.name}").addTo(picture)
    Style(_STYLE).addTo(picture)
    width, height = 0.0, 0.0
    for rule in dict.fromkeys(_rules(root)):
        diagram = Diagram(_item(rule.node), type="complex").format(_PADDING)
        DiagramItem("text", {"class": "name", "x": _PADDING, "y": height + _NAME}, rule.name).addTo(picture)
        placed = DiagramItem("g", {"transform": f"translate(0 {height + _NAME:g})"}).addTo(picture)
        placed.children += diagram.children
        width = max(width, float(diagram.attrs["width"]))
        height += _NAME + float(diagram.attrs["height"])
    picture.attrs |= {"width": width, "height": height, "viewBox": f"0 0 {width:g} {height:g}"}
    written: list[str] = []
    picture.writeSvg(written.append)
    return "".join(written) + "\n"


def _rules(node: Node) -> Iterator[Rule]:
    """Yield the rules under *node*, breadth first: the one that is used before those that it uses."""
    level = [node]
    while level:
        below: list[Node] = []
        for one in level:
            match one:
                case Rule():
                    yield one
                    below.append(one.node)
                case Join() | Either():
                    below += one.items
                case Repeat():
                    below.append(one.item)
        level = below


def _item(node: Node) -> DiagramItem:
    """Draw one node."""
    match node:
        case Text(text):
            drawn = Terminal(text)
        case Rule():
            drawn = NonTerminal(node.name)
        case Words(most=None):
            drawn = Group(ZeroOrMore(NonTerminal("any character")), "without a tag")
        case Chars(members, negated=False):
            drawn = Choice(0, *map(_range, ranges(members)))
        case Either(items):
            drawn = Choice(0, *map(_item, items))
        case Join(items):
            drawn = _lines(map(_item, items))
        case Repeat(item, 0, None):
            drawn = ZeroOrMore(_item(item))
        case Repeat(item, 1, None):
            drawn = OneOrMore(_item(item))
        case Repeat(item, 0, 1):
            drawn = Optional(_item(item))
        case _:
            raise ExportError("a diagram cannot count, so there are diagrams of the parse profile only")
    return drawn


def _range(ends: tuple[str, str]) -> DiagramItem:
    return NonTerminal(" to ".join(dict.fromkeys(f"U+{ord(end):04X}" for end in ends)))


def _lines(items: Iterable[DiagramItem]) -> DiagramItem:
    """Draw *items* one after the other, on as many lines as they need."""
    lines: list[list[DiagramItem]] = [[]]
    for item in items:
        if lines[-1] and Sequence(*lines[-1], item).width > _WIDEST:
            lines.append([])
        lines[-1].append(item)
    if len(lines) > 1:
        return Stack(*(Sequence(*line) for line in lines))
    return Sequence(*lines[0]) if lines[0] else Skip()
