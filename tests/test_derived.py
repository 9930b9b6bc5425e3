"""What the specification shows of the grammar is derived from it, and is what a reader needs to see."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import attrs
import pytest

from gategrammar.export import derived
from gategrammar.export.language import (
    GENERATION,
    PARSE,
    Chars,
    Either,
    ExportError,
    Join,
    Repeat,
    Rule,
    Text,
    response,
)
from gategrammar.export.railroad import railroad
from gategrammar.response._tables import ELEMENTS

ROOT = Path(__file__).parents[1]
SVG = "{http://www.w3.org/2000/svg}"


def words(svg: str) -> list[str]:
    """Return the texts in a picture, in the order in which they are drawn."""
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own picture


@pytest.mark.parametrize("path", [path for path, _ in derived.files()])
def test_derived_files_are_up_to_date(path: str) -> None:
    """The committed file is what the command makes of the grammar now."""
    assert (ROOT / path).read_text("utf-8") == dict(derived.files())[path]


def test_check_finds_a_stale_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command writes what is missing or stale, and with --check only says so."""
    monkeypatch.setattr(derived, "_CHECKOUT", tmp_path)
    (tmp_path / "grammar").mkdir()
    spec = tmp_path / "grammar" / "SPEC.md"
    spec.write_text("<!-- derived: automaton -->\nold\n<!-- end -->\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["derived", "--check"])
    assert derived.main() == 1
    said = capsys.readouterr().err
    assert said.count("run: python -m gategrammar.export.derived") == 3
    assert not (tmp_path / "grammar" / "derived").exists()
    monkeypatch.setattr(sys, "argv", ["derived"])
    assert derived.main() == 0
    assert spec.read_text("utf-8").startswith("<!-- derived: automaton -->\n\n|  | `<think>` |")
    monkeypatch.setattr(sys, "argv", ["derived", "--check"])
    assert derived.main() == 0
    assert capsys.readouterr().err == ""


def test_command_runs_as_a_module() -> None:
    """The command that the derived files name is there, and finds them up to date."""
    command = [sys.executable, "-m", "gategrammar.export.derived", "--check"]
    assert subprocess.run(command, check=False, timeout=60).returncode == 0


def test_diagrams_show_the_whole_grammar() -> None:
    """Every element has its diagram, in which its tags and its values are literals."""
    drawn = words(railroad(response(ELEMENTS, PARSE, "required", {})))
    for element in ELEMENTS:
        place = drawn.index(element.name, drawn.index("response") + 1)
        assert element.name in drawn[place:]
        assert element.opening.text in drawn
        assert element.closing.text in drawn
        assert set(element.values or {}) <= set(drawn)


def test_diagrams_follow_the_grammar() -> None:
    """Another grammar gives another picture: nothing of this one is spelled in the drawing code."""
    values = {"on": "ON", "off": "OFF", '<&">': "ODD"}
    element = attrs.evolve(ELEMENTS[1], name="switch", values=values)
    drawn = words(railroad(response([element], PARSE, "required", {})))
    assert {"switch", *values} <= set(drawn)
    assert not {"think", "update", "yes"} & set(drawn)


def test_every_shape_is_drawn() -> None:
    """Each kind of node has a picture, the empty one too, and each rule is drawn once, before those it uses."""
    inner = Rule("inner", Chars("abcx"))
    root = Rule("root", Join((Repeat(inner, 1), Repeat(Text("q"), 0, 1), Either((inner, Join(()))))))
    drawn = words(railroad(root))
    assert drawn[0] == "root"
    assert [word for word in drawn if word.startswith("U+")] == ["U+0061 to U+0063", "U+0078"]
    assert drawn.count("inner") == 3  # used twice, and the name over its own diagram


def test_a_bound_cannot_be_drawn() -> None:
    """What a diagram cannot say is an error, not a picture of something else."""
    bounds = {element.name: 10 for element in ELEMENTS}
    for node in (response(ELEMENTS, GENERATION, "required", bounds), Rule("root", Repeat(Text("a"), 2, 3))):
        with pytest.raises(ExportError, match="parse profile only"):
            railroad(node)


def run_export(prelude: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``gategrammar export railroad`` after *prelude*."""
    code = f"{prelude}\nfrom gategrammar.cli import main\nmain()"
    command = [sys.executable, "-c", code, "export", "railroad"]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)


def test_export_command_draws() -> None:
    """The command prints the committed picture."""
    assert run_export().stdout == (ROOT / "grammar" / "derived" / "response.svg").read_text("utf-8")


def test_export_without_the_extra() -> None:
    """Who has not installed the extra is told which it is."""
    done = run_export("import sys\nsys.modules['railroad'] = None")
    assert (done.returncode, done.stdout) == (2, "")
    assert "railroad is not installed; run: pip install 'gategrammar[railroad]'" in done.stderr


def test_picture_is_readable_in_light_and_in_dark() -> None:
    """All colours are named once for light and once for dark, and nothing in the drawing has one of its own."""
    svg = railroad(response(ELEMENTS, PARSE, "required", {}))
    style = svg[svg.index("<style>") : svg.index("</style>")]
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    names = {name for name in ("ground", "ink", "literal", "rule") if f"--railroad-{name}: #" in light}
    assert names == {"ground", "ink", "literal", "rule"}
    assert all(f"--railroad-{name}: #" in dark for name in names)
    assert "fill=" not in svg
    assert "stroke=" not in svg
