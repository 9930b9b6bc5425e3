"""What the parser is measured against: the reference path, what careful users write by hand, and peers."""

import logging
import re
from collections.abc import Callable

from gategrammar import GateResponse, parse
from gategrammar.response.lalr import read
from gategrammar.response.text import WHITE_SPACE

SPACE = f"[{WHITE_SPACE}]*+"
BODY = r"(?:[^<]++|<(?!/?(?:think|check|update|next)>))*+"
POSSESSIVE = re.compile(
    f"{BODY}<think>({BODY}(?:</?think>{BODY})*)</think>{BODY}"
    f"<check>{SPACE}(yes|no){SPACE}</check>{BODY}"
    f"<update>({BODY})</update>{BODY}"
    f"<next>{SPACE}(continue|end){SPACE}</next>{BODY}"
)


def possessive(text: str) -> GateResponse:
    """(b) A careful user's regex, of the same strictness: it takes exactly what parse() takes by default."""
    match = POSSESSIVE.fullmatch(text)
    if match is None:
        raise ValueError("no gate response")
    think, check, update, last = match.groups()
    return GateResponse(think.strip(WHITE_SPACE), check == "yes", update.strip(WHITE_SPACE), last == "end")


TAGS = ("<check>", "</check>", "<update>", "</update>", "<next>", "</next>")


def scanner(text: str) -> GateResponse:
    """(c) find, rfind and count, as one would write it in Rust."""
    if any(text.count(tag) != 1 for tag in TAGS):
        raise ValueError("no gate response")
    places = [text.find(tag) for tag in TAGS]
    start = text.find("<think>")
    end = text.rfind("</think>", 0, places[0])
    if not 0 <= start < end < places[0] or places != sorted(places) or text.find("think>", places[0]) >= 0:
        raise ValueError("no gate response")
    check, update, last = (
        text[places[n] + len(TAGS[n]) : places[n + 1]].strip(WHITE_SPACE) for n in range(0, len(TAGS), 2)
    )
    if check not in ("yes", "no") or last not in ("continue", "end"):
        raise ValueError("no gate response")
    return GateResponse(text[start + len("<think>") : end].strip(WHITE_SPACE), check == "yes", update, last == "end")


def lalr(text: str) -> GateResponse:
    """(a) The reference path: Lark's LALR parser."""
    return read(text, "required", "ignore")


def peers() -> tuple[dict[str, Callable[[str], object]], list[str]]:
    """Return (d) the peers that are installed, and why others are not there."""
    found: dict[str, Callable[[str], object]] = {}
    missing = []
    try:
        import llm_xml_parser.core.parser as llm_xml
    except ImportError as error:
        missing.append(f"llm-xml-parser: {error}")
    else:
        logging.disable(logging.WARNING)  # it sets up a log of its own, of each step of each text
        tags = ("think", "check", "update", "next")
        config = dict.fromkeys(tags, "single")
        found["llm-xml-parser"] = lambda text: llm_xml.parse(text, config)
    try:
        from verifiers.parsers.xml_parser import XMLParser
    except ImportError as error:
        missing.append(f"verifiers: {error}")
    else:
        found["verifiers"] = XMLParser(["think", "check", "update", "next"]).parse
    return found, missing


READERS: dict[str, Callable[[str], object]] = {
    "possessive re": possessive,
    "gategrammar": parse,
    "LALR": lalr,
    "find/count": scanner,
}
