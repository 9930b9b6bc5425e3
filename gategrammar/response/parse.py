"""The doors: parse, try_parse, format_response."""

from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.errors import GateParseError
from gategrammar.response.grammar import IGNORE, REQUIRED, Element, OutsideText, Think, check_modes
from gategrammar.response.recogniser import recognise
from gategrammar.response.result import GateResponse
from gategrammar.response.tags import ANY_TAG
from gategrammar.response.text import check_text


def parse(text: str, *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE) -> GateResponse:
    """Read one gate response: exactly, or an error that names the tag that failed.

    Args:
        text: the answer of the model, whole. No code point is refused as such, there is no limit to the size, and time
            and memory grow linearly (SPEC §2.1).
        think: how the reasoning arrives (SPEC §7): "required", in the text; "prefilled", in the text, but its
            opening tag is the end of the prompt; "absent", in another field.
        outside_text: text before, between and after the elements: "ignore" it, or "forbid" it (SPEC §6).

    Returns:
        The two gates, the candidate memory and the reasoning.

    Raises:
        GateParseError: the text is no gate response; one subclass per kind (SPEC §9). No text gives a default.
        TypeError: *text* is no str.
        ValueError: unknown mode.
    """
    try:
        response = recognise(text, think, outside_text)
    except TypeError:
        check_text(text)
        check_modes(think, outside_text)
        raise
    if response is not None:
        return response
    # Most programs that read good responses never need the parser that explains bad ones.
    from gategrammar.response.lalr import read

    return read(text, think, outside_text)


def try_parse(
    text: str, *, think: Think = REQUIRED, outside_text: OutsideText = IGNORE
) -> GateResponse | GateParseError:
    """Read one gate response like :func:`parse`, but return the error instead of raising it.

    Raises:
        TypeError: *text* is no str.
        ValueError: unknown mode.
    """
    try:
        return parse(text, think=think, outside_text=outside_text)
    except GateParseError as error:
        return error.with_traceback(None)


def format_response(think: str, update_gate: bool, candidate: str, exit_gate: bool) -> str:
    """Write the canonical text of a response: one element a line (SPEC §11).

    Parsing it gives the gates and the trimmed texts back.

    Raises:
        TypeError: a text is no str, or a gate no bool.
        ValueError: a text holds a tag, which cannot be escaped.
    """
    contents = zip(ELEMENTS, (think, update_gate, candidate, exit_gate), strict=True)
    # Joined, since formatting would ask a subclass of str what it looks like, and write what was not checked.
    return "\n".join("".join((e.opening.text, _written(e, content), e.closing.text)) for e, content in contents)


def _written(element: Element, content: object) -> str:
    if element.values is not None:
        if not isinstance(content, bool):
            raise TypeError(f"the gate of {element.name} must be a bool, not {type(content).__name__}")
        return next(value for value in element.values if MEANING[value] is content)
    if not isinstance(content, str):
        raise TypeError(f"the text of {element.name} must be a str, not {type(content).__name__}")
    if tag := ANY_TAG.search(content):
        raise ValueError(
            f"the text of {element.name} holds the tag {tag.group()} at offset {tag.start()}; "
            "there is no escaping: spell it otherwise"
        )
    return content
