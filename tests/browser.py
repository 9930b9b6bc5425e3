"""A real headless Chromium: what a page shows, says on its console, and asks the network for."""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Opens the page in a frame of a given width, and tells what only a script can see; the page itself needs none.
_PROBE = """<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">
<body><iframe src="PAGE" style="width:WIDTHpx;height:800px;border:0"></iframe><pre></pre><script>
onload = () => {
  const page = document.querySelector("iframe").contentDocument, root = page.documentElement;
  const of = (element, name) => page.defaultView.getComputedStyle(element)[name];
  document.querySelector("pre").textContent = JSON.stringify({
    title: page.title,
    text: page.body.innerText,
    overflow: root.scrollWidth - root.clientWidth,
    scripts: page.scripts.length,
    requests: page.defaultView.performance.getEntriesByType("resource").map((entry) => entry.name),
    ground: of(page.body, "backgroundColor"),
    ink: of(page.body, "color"),
    labels: [...page.querySelectorAll("svg text")].map((text) => of(text, "fill")),
    elements: [...new Set([...page.querySelectorAll("*")].map((element) => element.localName))],
  });
};
</script>"""


@dataclass(frozen=True)
class Seen:
    """What Chromium made of a page.

    Attributes:
        facts: what the probe found in it.
        console: the lines on its console.
        requests: what the page asked for, in vain or not.
    """

    facts: dict[str, Any]
    console: list[str]
    requests: list[str]


def chromium() -> str:
    """Return the command; without one, skip, but fail where the tests must not skip."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        reason = "needs Chromium (Debian's package chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def look(page: Path, profile: Path, *, width: int = 1200, dark: bool = False) -> Seen:
    """Open a page in Chromium.

    Args:
        page: the file.
        profile: an empty folder for Chromium.
        width: of the window, in pixels.
        dark: whether the system prefers dark pages.
    """
    command = chromium()
    with _proxy(page.read_bytes(), width) as address:
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            f"--proxy-server={address}",
            "--proxy-bypass-list=<-loopback>",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ]
        done = subprocess.run(
            [command, *options, "http://page.test/probe"],
            capture_output=True,
            check=True,
            encoding="utf-8",
            timeout=180,
        )
    dump = _Pre()
    dump.feed(done.stdout)
    console = re.findall(r"CONSOLE\S* (.*)", done.stderr)
    facts = json.loads(dump.text)
    return Seen(facts, console, facts.pop("requests"))


class _Pre(HTMLParser):
    """The text of the pre element that the probe has filled."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its signature
        self._inside = tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.text += data if self._inside else ""


@contextmanager
def _proxy(page: bytes, width: int) -> Iterator[str]:
    """Run a proxy that knows the page and the probe, and nothing else: what Chromium itself asks for fails."""
    pages = {
        "http://page.test/page": page,
        "http://page.test/probe": _PROBE.replace("PAGE", "/page").replace("WIDTH", str(width)).encode(),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path)
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(found or b"")

        do_CONNECT = do_POST = do_GET  # noqa: N815 - ditto

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - ditto
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
