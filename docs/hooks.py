"""What the site makes out of files that lie elsewhere: the specification, the reference, and which pages there are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import gategrammar
from gategrammar import spec

#: A verdict shorter than this is shown on one line.
_ONE_LINE = 100
#: A page that fills its tab alone needs no list of the pages in it.
_WIDE = "---\nhide: [navigation]\n---\n\n"
_ROOT = Path(__file__).parents[1]
_MADE = {"spec.md", "reference.md"}
#: Modules that the reference leaves out: what they offer is a command, or is offered by the package itself.
_INNER = {"cli", "response", "spec"}
#: A picture in the specification: its path is relative to grammar/.
_PICTURE = re.compile(r"^!\[[^\]]*\]\((derived/[^)]+\.svg)\)$", re.MULTILINE)
_SECTION = re.compile(r"\b((?:[Ss]ection|appendix) )([0-9A-Z]+(?:\.[0-9]+)*)\b")
_CROSS_REFERENCE = re.compile(r":(?:py:)?(?:attr|class|data|func|meth|mod|exc):(?=<code>)")
#: How docstrings cite the specification.
_CITED = re.compile(r"SPEC §([0-9.]*[0-9])")


def on_config(config: MkDocsConfig) -> None:
    """Leave pages out of the navigation that are not written yet, and sections without a page."""
    config.nav = list(_existing(config.nav or []))


def _existing(entries: list[Any]) -> Iterator[Any]:
    for entry in entries:
        ((title, page),) = entry.items()
        if isinstance(page, list):
            if pages := list(_existing(page)):
                yield {title: pages}
        elif page in _MADE or (_ROOT / "docs" / page).is_file():
            yield entry


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that are made."""
    for name, content in (("spec.md", _specification()), ("reference.md", _reference())):
        files.append(File.generated(config, name, content=_WIDE + content))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to the specification's file, which are right in the repository, lead to its page."""
    return markdown.replace("](../grammar/SPEC.md)", "](spec.md)")


def on_page_content(html: str, **_: Any) -> str:
    """Take the roles off the cross references in docstrings, which are written for Sphinx, and link what they cite."""
    return _CITED.sub(r'<a href="../spec/#section-\1">SPEC §\1</a>', _CROSS_REFERENCE.sub("", html))


def _specification() -> str:
    """Return SPEC.md for the site: examples numbered, pictures in place, and sections that can be linked to."""
    document = spec.load()
    examples = iter(document.examples)
    made, position = [], 0
    for part in spec.PART.finditer(document.text):
        made.append(_prose(document.text[position : part.start()]))
        position = part.end()
        if part["number"]:
            made.append(f"{part.group()} {{: #section-{part['number']} }}")
        else:
            made.append(_example(part, next(examples)) if spec.is_example(part) else part.group())
    return "".join(made) + _prose(document.text[position:])


def _prose(text: str) -> str:
    text = _SECTION.sub(r"[\1\2](#section-\2)", text)
    return _PICTURE.sub(lambda picture: _drawn((_ROOT / "grammar" / picture[1]).read_text("utf-8")), text)


def _drawn(svg: str) -> str:
    return f'<div class="drawing">{svg.strip()}</div>'


def _example(part: re.Match[str], example: spec.Example) -> str:
    """Return an example as two blocks, its input and its verdict, under its number and what is special about it."""
    fence, (given, _, expected) = part["fence"], f"\n{part['body']}".partition("\n.\n")
    kind = [] if example.kind == "response" else [example.kind]
    notes = " · ".join(f"`{note}`" for note in (*kind, *(f"{k}={v}" for k, v in example.parameters.items())))
    verdict = json.dumps(example.expected) if len(expected) < _ONE_LINE else expected
    return (
        f'<div class="example" id="example-{example.number}" markdown>\n'
        f"[Example {example.number}](#example-{example.number}) {notes}\n\n"
        f"{fence}text\n{given[1:]}\n{fence}\n\n{fence}json\n{verdict.strip()}\n{fence}\n</div>"
    )


def _reference() -> str:
    """Return the reference: what the package offers, then each of its modules that is meant to be imported."""
    made = ["# Reference\n\nSPEC is the [specification](spec.md): what a rule below comes from.\n"]
    # Functions before classes, since they are what one looks for first.
    names = sorted(gategrammar.__all__, key=str.swapcase)
    made.append("## gategrammar\n\n" + "".join(f"::: gategrammar.{name}\n\n" for name in names))
    modules = (module.name for module in iter_modules(gategrammar.__path__))
    made += (
        f"::: gategrammar.{name}\n    options:\n      heading_level: 2\n\n"
        for name in modules
        if not name.startswith("_") and name not in _INNER
    )
    return "\n".join(made)
