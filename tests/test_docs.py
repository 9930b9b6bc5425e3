"""The documentation is true: every block of code in it runs, and the site builds without a warning or a request."""

import doctest
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.example import SybilFailure
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
#: How the output in a page is compared: "..." stands for anything.
FLAGS = doctest.ELLIPSIS
#: Where programs are found: first beside this Python, as in an activated environment.
SEARCHED = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
#: One of the commands runs hundreds of programs; to measure the coverage of each takes longer than they.
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
#: What blocks may hold that is no code.
SHOWN = {"text", "ebnf", "lark", "xml", "toml", "http"}
#: pip as it is here: a clone of ours is all that it finds, and what it installs goes into a folder of the test's.
PIP = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # what builds is here already; to pip the variable is the setting, not the option
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


def run(script: str, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with the command that is installed beside this Python; its output is that of both streams."""
    environment = {**UNMEASURED, "PATH": SEARCHED, "NO_COLOR": "1", "COLUMNS": "80", **more}
    command = ["bash", *options, "-c", script]
    return subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


def shell(example: Example) -> str | None:
    """Run a block of commands."""
    pip = {**PIP, "PIP_FIND_LINKS": "dist", "PIP_TARGET": "installed", "PIP_UPGRADE": "1"}
    done = run(example.parsed, "-euo", "pipefail", **pip)
    unknown = "does not provide the extra" in done.stdout  # for which pip only warns
    return f"exit {done.returncode}\n{done.stdout}" if done.returncode or unknown else None


def console(example: Example) -> str | None:
    """Run a session: each command after "$ ", compared with the output that follows it."""
    for part in re.split(r"^\$ ", example.parsed, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        done = run(command)
        if not doctest.OutputChecker().check_output(wanted, done.stdout, FLAGS):
            return f"$ {command}\nexpected:\n{wanted}\ngot:\n{done.stdout}"
    return None


def is_json(example: Example) -> None:
    """Read a block of JSON, or one document a line."""
    try:
        json.loads(example.parsed)
    except ValueError:
        for line in example.parsed.splitlines():
            json.loads(line)


def sessions(document: Document) -> Iterable[Region]:
    """Find Python sessions, as the doctest module runs them; "pycon" is the language that highlights them rightly."""
    examples = DocTestStringParser(DocTestEvaluator(FLAGS))
    for block in CodeBlockParser("pycon")(document):
        for region in examples(block.parsed, document.path):
            region.adjust(block, block.parsed)
            yield region


SYBIL = Sybil(
    [
        SkipParser(),
        PythonCodeBlockParser(),
        sessions,
        *(CodeBlockParser(language, shell) for language in ("sh", "bash")),
        CodeBlockParser("console", console),
        *(CodeBlockParser(language, is_json) for language in ("json", "jsonl")),
    ]
)
RUN = {"python", "pycon", "sh", "bash", "console", "json", "jsonl"}


@pytest.mark.filterwarnings("default:::(ray|pyspark)")  # they warn of what they call themselves
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of code in the page runs, in their order, in a folder that holds what the repository does."""
    for path in ("examples", "fixtures", "gategrammar", "grammar", "LICENSE", "README.md", "pyproject.toml"):
        (tmp_path / path).symlink_to(ROOT / path)
    monkeypatch.chdir(tmp_path)
    if "```sh\npip install " in page.read_text("utf-8"):
        built = run("python -m hatchling build --target wheel --directory dist")
        assert not built.returncode, built.stdout
    for example in SYBIL.parse(page).examples():
        try:
            example.evaluate()
        except SkipTest:
            continue
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_hides_no_code(page: Path) -> None:
    """A block says what it holds, and one that is not run says why."""
    text = page.read_text("utf-8")
    fences = re.findall(r"^ {0,12}```+ *([^\n`]*)$", text, re.MULTILINE)
    assert {language.strip() for language in fences[::2]} <= RUN | SHOWN
    assert all("reason=" in skip for skip in re.findall(r"<!-+ skip: (?!end)(.*?)-->", text))


def test_a_wrong_page_is_found(tmp_path: Path) -> None:
    """The tests above can fail: on Python, on a session, on a command, on its output, and on JSON."""
    for number, block in enumerate(
        (
            "python\nassert False",
            "pycon\n>>> 1 + 1\n3",
            "sh\ngategrammar nonsense",
            "sh\nif",
            "console\n$ echo a\nb",
            "json\n{]",
        )
    ):
        page = tmp_path / f"{number}.md"
        page.write_text(f"```{block}\n```\n", "utf-8")
        (example,) = SYBIL.parse(page).examples()
        with pytest.raises((AssertionError, SybilFailure, ValueError)):
            example.evaluate()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as a release builds it: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    # The theme announces its successor in a banner that this switches off; it is about no page of ours.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def test_site_asks_no_other_host(site: Path) -> None:
    """No page and no style sheet loads anything from elsewhere; links that a reader may follow are no loading."""
    loads = re.compile(r"""(?:<(?!a\b)[a-z]+\b[^>]*\b(?:src|href)=["']?|url\(["']?|@import ["']?)(?:https?:)?//""")
    for path in (*site.glob("**/*.html"), *site.glob("**/*.css")):
        assert not loads.search(path.read_text("utf-8")), path.name


def test_site_shows_the_whole_specification(site: Path) -> None:
    """Each section and each example can be linked to, and the diagrams are in the page."""
    from gategrammar.spec import load

    page = (site / "spec" / "index.html").read_text("utf-8")
    spec = load()
    assert all(f'id="section-{section.number}"' in page for section in spec.sections)
    assert all(f'id="example-{example.number}"' in page for example in spec.examples)
    assert '<svg class="railroad-diagram"' in page


def test_site_documents_every_public_name(site: Path) -> None:
    """The reference has an entry for all that the package offers, and no markup of another documentation system."""
    import gategrammar

    page = (site / "reference" / "index.html").read_text("utf-8")
    assert all(f'id="gategrammar.{name}"' in page for name in gategrammar.__all__)
    assert not re.search(r":(?:func|class|mod|data|attr|meth|exc):", page)
