"""Strategies for the text between the tags: what models, editors and chat servers put there.

All of it is made from the grammar's tags and values: how a tag can be misspelt is known here, which tags there are is
not.
"""

import string

from hypothesis import strategies as st

from gategrammar.response._tables import ELEMENTS, MEANING
from gategrammar.response.grammar import FORBID, Element, OutsideText, Stage
from gategrammar.response.tags import ANY_TAG, TAGS
from gategrammar.response.text import WHITE_SPACE, skip_space

_FULL_WIDTH = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
#: Taken for white space by an eye, by ``\s`` or by ``str.strip()``, and other code points that break naive readers.
_ODD = "\x00\x1b\x1c\x1f\u180e\u200b\u200d\u2060\ufeff\ud83d\udd51"
#: What most text is made of.
_PLAIN = string.ascii_lowercase + string.digits + " .,-_<>/"
#: What stands around, in and after the answers of real models.
_SCAFFOLDING = ("<|im_end|>", "</s>", "```", "```xml\n", "<!--", "-->", "<![CDATA[", "<", "</", ">", "&", "\r\n")


def look_alikes(tag: str) -> list[str]:
    """Return spellings of *tag* that are no tag (SPEC §2.2), the likeliest first."""
    name = tag.strip("</>")
    return [
        tag.replace(name, name.title()),
        tag.upper(),
        tag.replace(name, f"{name} "),
        tag.replace(name, f" {name}"),
        tag.replace(name, f"{name}s"),
        tag.replace(name, f"{name}\n"),
        tag.replace(name, f'{name} id="1"'),
        tag.replace(name, f"{name}/"),
        tag.replace("<", "&lt;").replace(">", "&gt;"),
        tag.replace("<", "[").replace(">", "]"),
        tag.replace("<", "<\\"),
        tag.translate(_FULL_WIDTH),
        tag[:-1],
    ]


def near_values(element: Element) -> list[str]:
    """Return what stands in *element* instead of one of its values, the likeliest first (SPEC §5.1)."""
    allowed = list(element.values or ())
    spelled = [
        wrong
        for value in allowed
        for wrong in (
            value.title(),
            value.upper(),
            f"{value}.",
            f'"{value}"',
            f"**{value}**",
            f"```\n{value}\n```",
            f"{value} {value}",
            f"{value}\u200b",
            f"\x1f{value}",
            value.translate(_FULL_WIDTH),
            f"{element.opening.text[:-1]} {value}",
            f"{value}{look_alikes(element.closing.text)[0]}",
            value[:-1],
        )
    ]
    foreign = [value for value in MEANING if value not in allowed]
    return [*spelled, "|".join(allowed), " or ".join(allowed), *foreign, "true", "none", ""]


white = st.text(alphabet=WHITE_SPACE, max_size=3)
_words = st.sampled_from(
    [
        *MEANING,
        *_SCAFFOLDING,
        *(spelling for tag in TAGS for spelling in look_alikes(tag)),
        *(wrong for element in ELEMENTS if element.values for wrong in near_values(element)),
    ]
)
#: Any text without a tag, lone surrogates included (SPEC §2.1, §2.2).
free_text = (
    st.lists(
        st.text(alphabet=_PLAIN, max_size=12)
        | _words
        | white
        | st.text(alphabet=_ODD, min_size=1, max_size=2)
        | st.text(st.characters(exclude_categories=()), max_size=3),
        max_size=3,
    )
    .map("".join)
    .filter(lambda text: not ANY_TAG.search(text))
)
#: Text that is not only white space.
stray_text = (
    st.tuples(free_text, _words, free_text)
    .map("".join)
    .filter(lambda text: skip_space(text, 0, len(text)) < len(text) and not ANY_TAG.search(text))
)


def outside(outside_text: OutsideText) -> st.SearchStrategy[str]:
    """Return what may stand outside the elements without being an error (SPEC §6)."""
    return white if outside_text == FORBID else free_text


def gap(stage: Stage, outside_text: OutsideText) -> st.SearchStrategy[str]:
    """Return what may stand before a tag there without changing what the response says."""
    if not stage.inside:
        return outside(outside_text)
    return white if ELEMENTS[stage.element].values else free_text
