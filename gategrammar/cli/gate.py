"""``gategrammar gate``: narrow one page of memories, as a host's search tool would."""

import json
import re
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import click
from rich.table import Table

from gategrammar.cli._ending import orderly
from gategrammar.cli._rows import STDIN, opened, strict, type_name
from gategrammar.cli._terminal import ASIDE, Terminal, harmless, json_line
from gategrammar.gate import (
    Candidate,
    GateDecision,
    GateSettings,
    LocalSystemOne,
    RecallGate,
    gated_line,
    narrow,
    reasons,
)
from gategrammar.gate.settings import MODES

_DEFAULTS = GateSettings()
_FIELDS = ("title", "summary", "keywords", "kind")
_ADVICE = {
    reasons.NO_KEY: "set the environment variable {env} (see --api-key-env), or use --local",
    reasons.UNUSABLE_KEY: "check what the environment variable {env} holds, or use --local",
    reasons.NO_ENDPOINT: "give --endpoint, or use --local",
}


@click.command("gate", short_help="Narrow a page of memories.")
@click.argument("page", metavar="PAGE.json")
@click.option("--task", required=True, help="What the agent is working on.")
@click.option("--local", is_flag=True, help="Judge in this process by shared words: no key, no network.")
@click.option("--mode", type=click.Choice(MODES), default=_DEFAULTS.mode, show_default=True)
@click.option("--threshold", type=float, default=_DEFAULTS.threshold, show_default=True, help="In noul mode.")
@click.option("--score-min", type=float, default=_DEFAULTS.score_min, show_default=True, help="In score mode.")
@click.option(
    "--min-keep", type=int, default=_DEFAULTS.min_keep, show_default=True, help="How many stay if none passes."
)
@click.option("--max-candidates", type=int, default=_DEFAULTS.max_candidates, show_default=True)
@click.option("--endpoint", default=_DEFAULTS.endpoint, show_default=True, help="URL of the decision server.")
@click.option("--model", default=_DEFAULTS.model, show_default=True)
@click.option("--api-key-env", default=_DEFAULTS.api_key_env, show_default=True, help="Variable that holds the key.")
@click.option("--timeout", type=float, default=_DEFAULTS.timeout, show_default=True, help="Seconds, all in all.")
@click.option("--retries", type=int, default=_DEFAULTS.retries, show_default=True, help="For a busy server.")
@click.option("--allow-http", is_flag=True, help="Allow plain http to another machine.")
@click.option("--explain", is_flag=True, help="Show every verdict as a table.")
def command(page: str, task: str, *, local: bool, explain: bool, **options: Any) -> None:
    """Narrow PAGE.json, a list of hits or an object with such a list as "results"; - is standard input.

    A hit has a "hash", and may have a "title", "summary", "keywords" (a list) and "kind"; anything else in it is left
    as it is. The narrowed page goes to standard output, what the gate did to standard error. A page that cannot be
    judged comes out as it went in, and the exit code is 0: only unreadable input is an error.
    """
    judge = LocalSystemOne() if local else None
    try:
        settings = GateSettings(**options | ({"model": judge.model} if judge else {}))
    except ValueError as error:
        raise click.UsageError(_in_options(str(error), options)) from None
    name = "standard input" if page == STDIN else harmless(page)
    try:
        with opened(page) as file:
            text = file.read()
    except OSError as error:
        raise click.UsageError(f"{name}: cannot be read: {error.strerror or error}") from None
    document = _decoded(text, name)
    hits = document["results"] if isinstance(document, dict) and "results" in document else document
    if not isinstance(hits, list):
        raise click.UsageError(f'{name}: expected a list of hits, or an object with such a list as "results"')
    candidates = [_candidate(hit, f"{name}: hit {at}") for at, hit in enumerate(hits)]
    terminal = Terminal(stderr=True)
    with orderly(lambda: click.echo("interrupted, nothing is decided", err=True)):
        # Off a terminal there is nothing to show, and nothing that may fail before the page is out.
        waiting = terminal.status("asking the judge") if terminal.is_terminal else nullcontext()
        with RecallGate(settings, judge=judge) as gate, waiting:
            decision = gate.evaluate(task, candidates)
        try:
            narrowed = _narrowed(text, document, hits, decision)
        except RecursionError:  # it could just be read, but not be written
            raise click.UsageError(f"{name}: nested too deeply") from None
        sys.stdout.buffer.write(narrowed)
        sys.stdout.flush()
        if explain and decision.active:
            terminal.print(_table(candidates, decision))
        terminal.print(_said(decision, settings))


def _in_options(message: str, settings: Iterable[str]) -> str:
    """Return a message about settings with the names that they have here."""
    for name in settings:
        message = re.sub(rf"\b{name}\b(=True)?", f"--{name.replace('_', '-')}", message)
    return message


def _decoded(text: bytes, name: str) -> Any:
    try:
        return strict.decode(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name}: not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise click.UsageError(f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except ValueError as error:  # what JSON leaves open
        raise click.UsageError(f"{name}: not usable JSON: {error}") from None
    except RecursionError:
        raise click.UsageError(f"{name}: nested too deeply") from None


def _candidate(hit: Any, place: str) -> Candidate:
    if not isinstance(hit, dict):
        raise click.UsageError(f"{place}: expected an object, not {type_name(hit)}")
    if "hash" not in hit:
        raise click.UsageError(f'{place}: has no "hash"')
    given = {field: hit[field] for field in _FIELDS if hit.get(field) is not None}
    try:
        return Candidate(hash=hit["hash"], **given)
    except ValueError as error:
        raise click.UsageError(f"{place}: {error}") from None


def _narrowed(text: bytes, document: Any, hits: list[Any], decision: GateDecision) -> bytes:
    """The page to print; byte for byte as it came where nothing was dropped."""
    if not decision.dropped:
        return text
    kept = narrow(hits, decision)
    whole = kept if document is hits else document | {"results": kept}
    return json_line(whole).encode() + b"\n"


def _said(decision: GateDecision, settings: GateSettings) -> str:
    if not decision.active:
        advice = _ADVICE[str(decision.reason)].format(env=harmless(settings.api_key_env))
        return f"the gate is off ({decision.reason}), the page is unchanged: {advice}"
    return gated_line(decision) or "the page is empty: nothing to judge"


def _table(candidates: list[Candidate], decision: GateDecision) -> Table:
    title = f"{decision.mode} by {decision.answered_model or harmless(decision.model)}"
    table = Table(title=title, title_justify="left")
    for heading in ("", "value", "verdict", "hash", "title"):
        table.add_column(heading, justify="right" if heading in {"", "value"} else "left", overflow="fold")
    for at, (candidate, verdict) in enumerate(zip(candidates, decision.verdicts, strict=True)):
        if verdict.value is not None:
            value = f"{verdict.value:.3f}"
        elif at >= decision.judged:
            value = "untouched"
        else:
            value = "" if decision.degraded else "unreadable"
        shown = "keep" if verdict.keep else "drop"
        style = "" if verdict.keep else ASIDE
        table.add_row(str(at), value, shown, harmless(candidate.hash), harmless(candidate.title), style=style)
    return table
