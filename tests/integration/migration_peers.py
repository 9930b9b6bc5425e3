"""What docs/migration.md says of verifiers and LangChain, checked with the real libraries.

They do not go with the libraries of the tests, so this is no test that pytest finds. It runs in an environment of its
own:

    pip install -e . 'verifiers==0.1.14' langchain-core defusedxml
    PYTHONPATH=tests python tests/integration/migration_peers.py
"""

import asyncio
import inspect

import verifiers
from langchain_core.exceptions import OutputParserException
from langchain_core.output_parsers import XMLOutputParser
from verifiers.parsers.xml_parser import XMLParser

from gategrammar import format_response
from migration import column, inputs, reading

FIELDS = ["think", "check", "update", "next"]


def by_verifiers(text: str) -> str:
    """Read a text with verifiers: the fields, and its format reward."""
    parser = XMLParser(FIELDS)
    parsed = parser.parse(text)
    score = parser.get_format_reward_func()([{"role": "assistant", "content": text}])
    if inspect.isawaitable(score):
        score = asyncio.run(score)
    return f"{reading(*(getattr(parsed, name, None) for name in FIELDS[1:]))}; {score:.1f}"


def by_langchain(text: str) -> str:
    """Read a text with LangChain, in a root element, since the four have none; the last value of a name counts."""
    try:
        found = XMLOutputParser().parse(f"<root>{text}</root>")["root"]
    except OutputParserException:
        return "refused"
    fields = {name: value for one in found for name, value in one.items()}
    return reading(*(fields.get(name) for name in FIELDS[1:]))


def main() -> None:
    """Compare the columns of the page with what the libraries do."""
    texts = inputs()
    for name, read in (("verifiers", by_verifiers), ("LangChain", by_langchain)):
        found = [read(text) for text in texts]
        assert column(name) == found, f"{name}: {found}"
    good = format_response("t", update_gate=True, candidate="AT&T <5", exit_gate=True)
    assert by_langchain(good) == "refused"
    try:
        XMLOutputParser().parse(good.replace("AT&T <5", "m"))
    except OutputParserException:
        print("verifiers", verifiers.__version__, "and LangChain read as the page says")
    else:
        raise AssertionError("LangChain reads a response without a root element")


if __name__ == "__main__":
    main()
