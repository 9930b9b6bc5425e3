"""The tags of ``_tables.py``, ready to be searched for."""

from gategrammar.response._tables import ELEMENTS
from gategrammar.response.grammar import one_of

#: The number of the element by the tag that opens it, and by the tag that closes it.
OPENINGS = {element.opening.text: number for number, element in enumerate(ELEMENTS)}
CLOSINGS = {element.closing.text: number for number, element in enumerate(ELEMENTS)}
TAGS = (*OPENINGS, *CLOSINGS)
#: Finds the next tag, whichever it is.
ANY_TAG = one_of(TAGS)
