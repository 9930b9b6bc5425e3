"""The report: in a real browser, and its numbers and its escapes in the file."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import browser
from cases import FIXTURES, trajectories
from commands import run
from gategrammar import format_response

pytest.importorskip("matplotlib", reason="needs the extra report")

EVIL = "<script>document.title = 'run'; console.error('run')</script><img src=http://evil.test/a.png onerror=alert(1)>"
NASTY = f"<think>{EVIL}\u202e\x1b[31m\ud800&amp;漢字</think><check>{EVIL}</check>"
GOOD = format_response("t", update_gate=True, candidate="m", exit_gate=False)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the real loops and of responses that would like to be code, from a file with a name like code."""
    folder = tmp_path_factory.mktemp("report")
    path = folder / "<b>loops.jsonl"
    rows = [*trajectories(), {"step": 7, "turns": [NASTY, f"{GOOD}{EVIL}<next>", GOOD[:-1]]}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = run("score", path, "--quiet", "--report", folder / "report.html")
    assert done.returncode == 1
    return folder / "report.html"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200], ids=["phone", "desk"])
def test_in_chromium(page: Path, tmp_path: Path, *, width: int, dark: bool) -> None:
    """The page fits the window, follows the colour scheme down to the charts, is silent, and asks for nothing."""
    seen = browser.look(page, tmp_path, width=width, dark=dark)
    assert seen.console == []
    assert seen.requests == []
    facts = seen.facts
    assert facts["title"] == "Gate responses: 84.0% parse"
    assert facts["overflow"] == 0
    # What a response holds is text: it is shown, and makes no element.
    assert "<script>document.title" in facts["text"]
    assert facts["scripts"] == 0
    assert not {"img", "b", "script"} & set(facts["elements"])
    ground, ink, labels = (luminance(facts[name]) for name in ("ground", "ink", "labels"))
    assert (ground[0] < 0.1) is dark
    assert min(contrast(ground[0], each) for each in [*ink, *labels]) > 4.5


def test_the_browser_would_tell(tmp_path: Path) -> None:
    """What the test above finds missing is found where it is: console messages, requests, elements, overflow."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<script>console.error('seen')</script><img src='http://evil.test/a.png' width=2000>"
        "<link rel=stylesheet href='https://evil.test/b.css'>"
    )
    (tmp_path / "profile").mkdir()
    seen = browser.look(page, tmp_path / "profile")
    assert any("seen" in line for line in seen.console)
    assert set(seen.requests) == {"http://evil.test/a.png", "https://evil.test/b.css"}
    assert seen.facts["scripts"] == 1
    assert seen.facts["overflow"] > 0


def luminance(colours: str | list[str]) -> list[float]:
    """Return the relative luminance of CSS colours (WCAG 2.2)."""
    found = []
    for colour in [colours] if isinstance(colours, str) else colours:
        channels = [int(channel) / 255 for channel in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        found.append(sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))
    return found


def contrast(one: float, other: float) -> float:
    """Return the contrast ratio of two luminances (WCAG 2.2)."""
    low, high = sorted((one, other))
    return (high + 0.05) / (low + 0.05)


def items(page: Path) -> list[str]:
    """Return the failures on a page, each as text without tags."""
    found = re.findall(r"<li>(.*?)</li>", page.read_text("utf-8"), re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", item)) for item in found]


def test_the_failures(page: Path) -> None:
    """Each failure has its count, its message, the excerpt with carets under what is wrong, and its hint."""
    failures = items(page)
    (template,) = (item for item in failures if "holds 'continue|end'" in item)
    assert "bad_value next" in template
    assert "2 × (12.5% of the failures)" in template
    assert "<next>continue|end^^^^^^^^^^^^</next>" in template
    assert "Hint: the prompt's template was copied instead of filled in" in template
    assert "first at" in template
    assert "(turns.2.response: line 4, column 7)" in template
    cut = next(item for item in failures if "unclosed next" in item and "found the end of the text" in item)
    assert "← the text ends here" in cut


def test_nothing_that_hides_reaches_the_page(page: Path) -> None:
    """Control codes, direction marks and surrogates are escaped, as on a terminal; markup is text."""
    text = page.read_text("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", text)
    assert "<script" not in text
    assert "&lt;b&gt;loops.jsonl" in text
    (nasty,) = (item for item in items(page) if "document.title = 'run'; console" in item and "bad_value" in item)
    assert "\\u202e\\x1b[31m\\ud800&amp;漢字" in nasty


def test_the_numbers(page: Path) -> None:
    """The totals, the steps and the table of kinds are those of the summary."""
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page.read_text("utf-8"))))
    assert "Trajectories 28 16 right, 12 wrong" in text
    assert "Responses 100 84 parsed, 16 failed" in text
    assert "Truncated 3.0% 3 ended too early" in text
    assert re.search(r"bad_value check 5 31\.2% 0", text)


def test_the_same_run_gives_the_same_page(page: Path) -> None:
    """The page holds no time and no random ids, so two pages can be compared."""
    again = page.with_name("again.html")
    run("score", page.with_name("<b>loops.jsonl"), "--quiet", "--report", again)
    assert again.read_bytes() == page.read_bytes()
    ids = re.findall(r'\bid="([^"]*)"', page.read_text("utf-8"))
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        ([], ["<figure", "<li>", "commonest"]),
        ([{"turns": [GOOD]}], ["training steps", "<li>", "By kind"]),
        ([{"step": 1, "turns": [""]}], ["Reasoning", "Candidate"]),
        ([{"step": None, "turns": [format_response("", update_gate=False, candidate="", exit_gate=True)]}], ["<li>"]),
    ],
    ids=["nothing", "all good", "all bad", "empty texts"],
)
def test_pages_with_little_on_them(tmp_path: Path, rows: list[dict[str, Any]], missing: list[str]) -> None:
    """A part of the page for which there is nothing is left out."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    done = run("score", "-", "--report", tmp_path / "a.html", "--exit-zero", stdin=lines)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a.html").read_text("utf-8")
    assert not [part for part in missing if part in text]
    assert "</html>" in text


def test_twenty_of_many(tmp_path: Path) -> None:
    """Of many sorts of failures the twenty commonest are shown, the commonest first."""
    rows = [{"turns": [f"<think></think><check>{n}</check>" for n in range(30) for _ in range(n)]}]
    run("score", "-", "--report", tmp_path / "a.html", stdin=json.dumps(rows[0]).encode())
    found = [int(re.findall(r"([0-9,]+) ×", item)[0]) for item in items(tmp_path / "a.html")]
    assert found == list(range(29, 9, -1))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.jsonl", "a page is called .html or .htm"),
        ("none/a.html", "there is no such folder to write a page to"),
        ("folder.html", "there is no such folder to write a page to"),
    ],
)
def test_a_place_for_no_page(tmp_path: Path, name: str, message: str) -> None:
    """A report that could not be written, or would overwrite data, is refused before anything is read."""
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "a.jsonl").write_text("data")
    done = run("score", FIXTURES / "trajectories.jsonl", "--report", tmp_path / name)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert (tmp_path / "a.jsonl").read_text() == "data"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "folder.html"]
