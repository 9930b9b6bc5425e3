"""A grammar of the same shape as ours whose tags, values and names are as awkward as they can be."""

from gategrammar.response.grammar import Element
from gategrammar.response.lalr import compile_grammar

#: Tags and values of characters that mean something in one notation or another; names that a notation needs itself.
AWKWARD = r"""
response: root answer
answer: text_it end
root: ROOT_OPEN TEXT ROOT_CLOSE
text_it: IT_OPEN (A | B | C | D) IT_CLOSE
end: END_OPEN TEXT END_CLOSE
ROOT_OPEN: "^(.*)-]"
ROOT_CLOSE: "^/(.*)-]"
IT_OPEN: "^\"\\"
IT_CLOSE: "^/\"\\'"
END_OPEN: "^é🙂{2}"
END_CLOSE: "^|#&~"
A: "a.b"
B: "[x-z]+"
C: "\\d{2}|$"
D: "\"'/ ?"
%declare TEXT OUTSIDE
%ignore OUTSIDE
"""
GOOD = '^(.*)-]one ^(.*)- two^/(.*)-]^"\\{}^/"\\\'^é🙂{{2}}^é🙂{{2 ^^ ^|#^|#&~'
VALUES = ["a.b", "[x-z]+", "\\d{2}|$", "\"'/ ?"]


def awkward() -> tuple[Element, ...]:
    """Return the elements of the awkward grammar."""
    return compile_grammar(AWKWARD).elements
