"""What a model is told: the format, where to stop, and what was wrong with its last answer."""

from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.errors import GateParseError, quote
from gategrammar.response.grammar import ABSENT, IGNORE, REQUIRED, Element, Think, check_modes
from gategrammar.response.tags import CLOSINGS, OPENINGS


def instructions(think: Think = REQUIRED) -> str:
    """Return the part of a prompt that asks for a response in the right form.

    It is text for a model to read: taken for an answer, as by a model that repeats it, it does not parse.

    Args:
        think: how the reasoning arrives, as for :func:`gategrammar.parse`; with "absent" it is not asked for. With
            "prefilled" the prompt has to end with :func:`prefix`.

    Raises:
        ValueError: unknown mode.
    """
    elements = _asked(think)
    form = "\n".join(f"{e.opening.text}{_blank(e)}{e.closing.text}" for e in elements)
    meaning = "\n".join(f"- {e.name}: {_ROLES[e.name]}" for e in elements)
    return (
        f"Answer in exactly this form: {len(elements)} elements in this order, each once, one a line, "
        f"nothing before, between or after them.\n\n{form}\n\n{meaning}\n\n"
        "Spell the tags exactly so, and write none of them inside an element."
    )


def prefix(think: Think = REQUIRED) -> str:
    """Return what a prompt for this mode has to end with: the leading tag for "prefilled", else nothing.

    Raises:
        ValueError: unknown mode.
    """
    check_modes(think, IGNORE)
    return "" if think in (REQUIRED, ABSENT) else ELEMENTS[0].opening.text


def stop_strings() -> list[str]:
    """Return the strings at which a server may stop: the last closing tag.

    A server that cuts the stop string off (most do) leaves a text that does not parse. Ask it to keep the string
    (vLLM: ``include_stop_str_in_output``, SGLang: ``no_stop_trim``), or read its event stream with
    :class:`gategrammar.ResponseStream` and stop when that is complete.
    """
    return [ELEMENTS[-1].closing.text]


def retry_text(error: GateParseError, think: Think = REQUIRED) -> str:
    """Return what to tell the model after a malformed answer.

    It holds no tag, so a model that repeats it in its next answer does not spoil that answer.

    Args:
        error: what :func:`gategrammar.parse` raised.
        think: as for :func:`instructions`.

    Raises:
        ValueError: unknown mode.
    """
    names = ", ".join(element.name for element in _asked(think))
    short = " It may have been cut off: be brief." if error.truncated else ""
    return (
        f"Your last answer could not be read: {_fault(error)}.{short} Answer again, whole, in the form asked for: "
        f"{names}, each once and in this order, the tags spelled as they were shown."
    )


def _asked(think: Think) -> tuple[Element, ...]:
    check_modes(think, IGNORE)
    return ELEMENTS[1:] if think == ABSENT else ELEMENTS


def _blank(element: Element) -> str:
    return "..." if element.values is None else " or ".join(element.values)


def _value(element: Element, opens: bool) -> str:
    """Return the value of *element* that opens its gate, or the one that does not."""
    return next(value for value in element.values or () if MEANING[value] is opens)


def _roles() -> dict[str, str]:
    """Return what each element is for: (U_t, M̂_t, E_t) of arXiv 2602.10560, and the reasoning before it."""
    _, check, update, last = ELEMENTS
    roles = (
        "your reasoning about the text you were given",
        f"{_value(check, opens=True)} if the memory has to change, {_value(check, opens=False)} if it stays as it is",
        f"the whole memory as it is to be from now on; if {check.name} is {_value(check, opens=False)}, as it was",
        f"{_value(last, opens=False)} to go on reading, {_value(last, opens=True)} if {update.name} holds all it needs",
    )
    return {element.name: role for element, role in zip(ELEMENTS, roles, strict=True)}


_ROLES = _roles()


def _fault(error: GateParseError) -> str:
    """Say what failed, in names of elements, since a tag that is quoted could be read as one."""
    element = next(element for element in ELEMENTS if element.name == error.tag)
    match error.kind:
        case "missing":
            return f"{error.tag} is missing, {_came(error)}"
        case "unclosed":
            return f"{error.tag} is not closed, {_came(error)}"
        case "unopened":
            return f"the closing tag of {error.tag} came before its opening tag"
        case "duplicate":
            return f"{_came(error)}, but {error.tag} was already complete"
        case "bad_value":
            allowed = " or ".join(element.values or ())
            return f"{error.tag} holds {quote(error.value or '')}, but must hold {allowed} and nothing else"
        case _:
            return f"text stands outside the elements, before or after {error.tag}"


def _came(error: GateParseError) -> str:
    if error.found is None:
        return "the answer ended there"
    if error.found in OPENINGS:
        return f"the opening tag of {ELEMENTS[OPENINGS[error.found]].name} came there"
    return f"the closing tag of {ELEMENTS[CLOSINGS[error.found]].name} came there"
