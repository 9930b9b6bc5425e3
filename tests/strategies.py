"""Hypothesis strategies for texts near the language, the one place where the tests' random texts come from.

Random text never holds a tag, and random tags are never a response, so all of these are built from the table of the
oracle or start from a valid text. Which of them still parse is for the oracle to say.
"""

from hypothesis import strategies as st

from oracle import END, INSIDE, OUTSIDE, START, TABLE, TAGS, VALUES, WHITE_SPACE, Outside, Think, tags_of

LONG = 20_000  # code points that make a text a long one
WALK = 12  # steps
ASTRAY = [True] + 7 * [False]  # whether a step goes anywhere, or ends the walk

white = st.text(st.sampled_from(WHITE_SPACE), max_size=3)
# What str.strip(), \s or an eye takes for white space, and other code points that break naive readers.
near_white = st.sampled_from("\x00\x1b\x1c\x1d\x1e\x1f\u180e\u200b\u200d\u2060\ufeff\ud83d\udd51")
look_alikes = st.sampled_from(
    [
        "<Check>",
        "</CHECK>",
        "< check>",
        "<check >",
        "<check/>",
        "<check a='1'>",
        "<check\n>",
        "<\\check>",
        "&lt;check&gt;",
        "＜check＞",
        "<сheck>",
        "<thinking>",
        "</thinks>",
        "<updated>",
        "</ update>",
        "<nextt>",
        "<<next",
        "<|im_end|>",
        "```",
        "<",
        "</",
        ">",
        "<!--",
        "<chec",
        "</updat",
        "<nex",
        "</thin",
        "yes<",
    ]
)
right_values = st.sampled_from([value for values in VALUES.values() for value in values])
near_values = st.sampled_from(
    [
        "",
        "y",
        "ye",
        "Yes",
        "YES",
        "yes.",
        "yess",
        "y es",
        "no no",
        "n",
        "No",
        "yes|no",
        "yes or no",
        "'yes'",
        "yes\u200b",
        "yeſ",
        "cont",
        "continue|end",
        "continues",
        "End",
        "en",
        "stop",
        "end\x1f",
        "none",
        "true",
        "```\nyes\n```",
    ]
)
_rich_text = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=()), max_size=6), white, near_white, look_alikes, near_values),
    max_size=4,
).map("".join)
free_text = st.one_of(
    st.sampled_from(["", "so:", " a\r\nb "]),  # drawn fast, since most places of a text need no more
    _rich_text.filter(lambda text: not tags_of(text)),
)
pieces = st.one_of(st.sampled_from(TAGS), st.sampled_from(TAGS), free_text, right_values, near_values, white)


@st.composite
def values(draw: st.DrawFn, element: str) -> str:
    """Draw an allowed value of check or next in odd white space."""
    return draw(white) + draw(st.sampled_from(VALUES[element])) + draw(white)


@st.composite
def responses(draw: st.DrawFn, think: Think = "required", outside_text: Outside = "ignore") -> str:
    """Draw a text that parses: nested and repeated think, any free text, odd white space, text outside."""
    outside = free_text if outside_text == "ignore" else white
    head = ""
    if think != "absent":
        if think == "required":
            head = draw(outside) + "<think>"
        head += draw(free_text)
        for reopened in draw(st.lists(st.booleans(), max_size=3)):
            head += ("</think>" + draw(outside) if reopened else "") + "<think>" + draw(free_text)
        for _ in range(draw(st.integers(1, 2))):
            head += "</think>" + draw(outside)
    check, update, last = draw(values("check")), draw(free_text), draw(values("next"))
    gaps = [draw(outside) for _ in range(4)]
    elements = f"<check>{check}</check>{gaps[1]}<update>{update}</update>{gaps[2]}<next>{last}</next>"
    return head + gaps[0] + elements + gaps[3]


def _edit(text: str, edit: str, *, start: int, end: int, piece: str, to: int) -> str:
    """Return *text* with one edit of its part from *start* to *end*."""
    part, rest = text[start:end], text[:start] + text[end:]
    to = min(to, len(rest))
    return {
        "cut": text[:end],
        "delete": rest,
        "double": text[:end] + text[start:],
        "move": rest[:to] + part + rest[to:],
        "replace": text[:start] + piece + text[end:],
        "insert": text[:end] + piece + text[end:],
        "case": text[:start] + part.swapcase() + text[end:],
    }[edit]


@st.composite
def mutations(draw: st.DrawFn, think: Think = "required", outside_text: Outside = "ignore") -> str:
    """Draw a valid response with one to three edits, of a tag or anywhere; many of them stay valid."""
    text = draw(responses(think, outside_text))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        places = st.sampled_from(range(len(text) + 1))  # not integers(), which prefers the ends
        tags = tags_of(text)
        whole_tag = draw(st.booleans())
        if whole_tag and tags:
            start, tag = tags[draw(st.sampled_from(range(len(tags))))]
            end = start + len(tag)
        else:
            start, end = sorted((draw(places), draw(places)))
        edit = draw(st.sampled_from(["cut", "delete", "double", "move", "replace", "insert", "case"]))
        text = _edit(text, edit, start=start, end=end, piece=draw(pieces), to=draw(places))
    return text


@st.composite
def stretched(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Draw one of *texts* with a long run somewhere: long texts may go another way through a reader than short ones."""
    text = draw(texts)
    at = draw(st.one_of(st.sampled_from([0, len(text)]), st.integers(0, len(text))))
    run = draw(st.sampled_from([" ", "\n\u3000", "x", "< ", "a </upd\r\n"]))
    return text[:at] + run * (LONG // len(run)) + text[at:]


def soups() -> st.SearchStrategy[str]:
    """Draw tags, values, look-alikes and text in any order."""
    return st.lists(pieces, max_size=14).map("".join)


@st.composite
def walks(draw: st.DrawFn, think: Think = "required", outside_text: Outside = "ignore") -> str:
    """Draw a walk of the automaton that mostly takes allowed tags and may leave the path or stop anywhere."""
    state, text = START[think], ""
    for _ in range(WALK):
        element = INSIDE.get(state)
        if element in VALUES:
            text += draw(st.one_of(values(element), values(element), values(element), near_values))
        elif state in OUTSIDE and outside_text == "forbid":
            text += draw(st.one_of(white, white, white, free_text))
        else:
            text += draw(free_text)
        allowed = [tag for tag in TAGS if " " not in TABLE[state][tag]]
        astray = not allowed or draw(st.sampled_from(ASTRAY))
        seen = draw(st.sampled_from([*TAGS, END] if astray else allowed))
        if seen == END:
            break
        text += seen
        if " " not in TABLE[state][seen]:
            state = TABLE[state][seen]
    return text
