"""The formats: what there is to export, with the facts about each in one table."""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import get_args

import attrs

from gategrammar._resources import resource
from gategrammar.export.ebnf import ebnf
from gategrammar.export.gbnf import gbnf
from gategrammar.export.language import GENERATION, PARSE, ExportError, Profile, Rule, response
from gategrammar.export.llguidance import llguidance
from gategrammar.export.regex import regex
from gategrammar.response._tables import ELEMENTS
from gategrammar.response.grammar import ABSENT, IGNORE, REQUIRED, Think, check_modes

#: The bound of a body for which none is given, in steps.
DEFAULT_BOUND = 1_000


@attrs.frozen
class Format:
    """A format that a grammar can be exported in.

    Attributes:
        title: the notation, and who reads it.
        write: spells the language.
        remark: writes a comment; None where the notation has none.
        profiles: which profiles the notation can say, the default first.
        most: the largest bound. Up to it the engines compile the grammar in seconds (benchmarks/bench_export.py; a
            caveat names what they need for it); 0 where there are no bounds.
        caveats: what a user has to know.
    """

    title: str
    write: Callable[[Rule], str]
    remark: Callable[[Sequence[str]], str] | None
    profiles: tuple[Profile, ...] = (GENERATION, PARSE)
    most: int = 0
    caveats: tuple[str, ...] = ()


def _hashes(lines: Sequence[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)


def _slashes(lines: Sequence[str]) -> str:
    return "".join(f"// {line}\n" for line in lines)


def _block(lines: Sequence[str]) -> str:
    return "/* " + "\n   ".join(lines) + " */\n"


def _comment(lines: Sequence[str]) -> str:
    return "<!--\n" + "".join(f"  {line}\n" for line in lines) + "-->\n"


def _railroad(root: Rule) -> str:
    try:
        from gategrammar.export.railroad import railroad
    except ModuleNotFoundError as missing:
        raise ExportError(f"{missing.name} is not installed; run: pip install 'gategrammar[railroad]'") from None
    return railroad(root)


_FULL_MATCH = "It is meant for a full match (re.fullmatch); it needs no flags."
_UNICODE = "Engines work on UTF-8, so lone surrogates, which parse() takes, cannot be generated."

FORMATS: dict[str, Format] = {
    "regex": Format(
        "regular expression for Python's re, Rust's regex and llguidance",
        regex,
        remark=None,
        most=2_000,
        caveats=(
            _FULL_MATCH,
            "Rust's regex refuses large bounds unless its size_limit is raised.",
            "An engine that builds the whole automaton before it starts wants the format outlines.",
        ),
    ),
    "outlines": Format(
        "regular expression for outlines-core, as the format regex but without bounds",
        regex,
        remark=None,
        profiles=(PARSE,),
        caveats=(
            _FULL_MATCH,
            "outlines-core looks at every token in every state before it starts, and a bound makes too many states: "
            "limit the tokens of an answer instead.",
        ),
    ),
    "llguidance": Format(
        "Lark dialect of llguidance, and of OpenAI's custom tools",
        llguidance,
        _slashes,
        most=4_000,
        caveats=("The response is one terminal on purpose: llguidance's lexer is greedy.", _UNICODE),
    ),
    "gbnf": Format(
        "GBNF of llama.cpp",
        gbnf,
        _hashes,
        most=20_000,
        caveats=("Give it as the field grammar of a request.", _UNICODE),
    ),
    "xgrammar": Format(
        "EBNF of xgrammar, for vLLM and SGLang",
        gbnf,
        _hashes,
        most=2_000,
        caveats=(_UNICODE,),
    ),
    "ebnf": Format(
        "EBNF of the W3C, as in the XML specification",
        ebnf,
        _block,
        profiles=(PARSE,),
        caveats=("A - B is what A is and B is not. The content of an element is trimmed of space at both ends.",),
    ),
    "railroad": Format(
        "railroad diagrams of the productions of ebnf, as one SVG (extra railroad)",
        _railroad,
        _comment,
        profiles=(PARSE,),
        caveats=("The picture has colours for light and for dark surroundings; a page may set its own.",),
    ),
}


def export(
    name: str,
    *,
    profile: Profile | None = None,
    think: Think = REQUIRED,
    max_think: int | None = None,
    max_update: int | None = None,
) -> str:
    """Return the grammar of the responses for constrained decoding.

    Args:
        name: the format, one of :data:`FORMATS`.
        profile: "generation", a part of the language that a weak model can finish, or "parse", exactly what
            :func:`gategrammar.parse` accepts. If not given, generation where the format can say it.
        think: how the reasoning arrives, as for :func:`gategrammar.parse`.
        max_think: generation profile: how long the reasoning is at most, in steps. A step is a character, or what
            begins like a tag and breaks off. So every text of that many code points can be generated, unless it holds
            more than seven such beginnings in a row (eight "<", for one).
        max_update: the same for the memory.

    Returns:
        The grammar, with a comment at its head where the notation has comments; :func:`notes` returns what it says.

    Raises:
        ExportError: the format cannot say it.
        ValueError: unknown format, profile or mode.
    """
    wanted = _Wanted.of(name, profile, think, max_think, max_update)
    form = FORMATS[name]
    text = form.write(response(ELEMENTS, wanted.profile, think, wanted.bounds))
    return (form.remark(wanted.notes()) if form.remark else "") + text


def notes(
    name: str,
    *,
    profile: Profile | None = None,
    think: Think = REQUIRED,
    max_think: int | None = None,
    max_update: int | None = None,
) -> list[str]:
    """Return what the comment of the grammar says, line by line; arguments and errors as :func:`export`."""
    return _Wanted.of(name, profile, think, max_think, max_update).notes()


@cache
def grammar_version() -> str:
    """Return which grammar the exports are derived from: the beginning of the file's SHA-256."""
    return sha256(resource("grammar/response.lark").read_bytes()).hexdigest()[:12]


@attrs.frozen
class _Wanted:
    """What was asked for, checked and complete."""

    name: str
    profile: Profile
    think: Think
    bounds: dict[str, int]

    @classmethod
    def of(cls, name: str, profile: Profile | None, think: Think, *bounds: int | None) -> "_Wanted":
        if name not in list(FORMATS):  # a list, which may be asked for what cannot be hashed
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {name!r}")
        form = FORMATS[name]
        if profile is not None and profile not in get_args(Profile):
            raise ValueError(f"profile must be one of {', '.join(map(repr, get_args(Profile)))}, not {profile!r}")
        check_modes(think, IGNORE)
        if profile is not None and profile not in form.profiles:
            raise ExportError(f"{name} has no bounds, so it can say the {form.profiles[0]} profile only")
        profile = profile or form.profiles[0]
        given = dict(zip((e.name for e in ELEMENTS if e.values is None), bounds, strict=True))
        for element, bound in given.items():
            if bound is not None:
                _check_bound(element, bound, name, profile, think)
        complete = {e: DEFAULT_BOUND if bound is None else bound for e, bound in given.items()}
        if think == ABSENT:
            del complete[ELEMENTS[0].name]
        return cls(name, profile, think, complete if profile == GENERATION else {})

    def notes(self) -> list[str]:
        form = FORMATS[self.name]
        what = {
            PARSE: "exactly what gategrammar.parse() accepts",
            GENERATION: "a part of what gategrammar.parse() accepts that a weak model can finish",
        }
        lines = [
            f"Gate responses: {form.title}.",
            f"Derived from grammar/response.lark, version {grammar_version()}; to be derived again, not edited.",
            f'Profile {self.profile}: {what[self.profile]}, with think="{self.think}".',
        ]
        if self.bounds:
            bounds = ", ".join(f"{element} {bound}" for element, bound in self.bounds.items())
            lines.append(f"Bounds in characters, where the beginning of a tag that breaks off counts once: {bounds}.")
        return [*lines, *form.caveats]


def _check_bound(element: str, bound: object, name: str, profile: Profile, think: Think) -> None:
    """Raise what is wrong with a bound that was given."""
    if profile == PARSE:
        raise ExportError(f"the parse profile has no bounds, so none can be given for {element}")
    if think == ABSENT and element == ELEMENTS[0].name:
        raise ExportError(f"{element} is absent, so no bound can be given for it")
    if not isinstance(bound, int) or isinstance(bound, bool):
        raise TypeError(f"the bound of {element} must be an int, not {type(bound).__name__}")
    if not 0 <= bound <= FORMATS[name].most:
        raise ExportError(f"the bound of {element} must be from 0 to {FORMATS[name].most} in {name}, not {bound}")
