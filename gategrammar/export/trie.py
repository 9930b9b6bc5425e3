"""Text without a tag, for notations that can neither look ahead nor subtract one language from another.

Theory of operation. All tags begin with the same character, the *lead*, and none holds it again, so a tag can only
begin where the lead stands. What follows the lead is matched against a trie of the tags, and one of three things ends
the attempt before a tag is complete:

* a character that is no branch of the trie and not the lead: the attempt is *broken*, the text goes on;
* the lead: the attempt is *begun* and gives way to the next one at once;
* the end of the text: it is begun, too.

So a text without tags is ``other* (broken other* | begun)*``, where *other* is any character but the lead. Every chunk
but the first starts with the lead, which makes it unambiguous; what may end the text stands last, since engines that
prefer the first alternative (outlines-core) drop all that stands behind one that has ended.

With a bound that would be a counter within a counter, so the bounded form is
``(other | begun{0,run} broken){0,most} begun{0,run}``. A *step* of it is one character, or one broken attempt with the
few that gave way to it. Every text of *most* code points is in it but those with more than *run* attempts in a row.
*run* is small on purpose: a weak model that may not write the tag it wants begins it again and again, and once the
steps are used up it has to close the element instead.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from typing import TypeAlias

from gategrammar.export.language import (
    Chars,
    ExportError,
    Join,
    Node,
    Rule,
    Text,
    Words,
    either,
    join,
    optional,
    repeat,
)

#: How many attempts may give way to each other in a row where there is a bound; the marks of a merge conflict need six.
RUN = 7

Trie: TypeAlias = dict[str, "Trie"]


def _up_to(item: Node, most: int) -> Node:
    return repeat(item, 0, most)


def expand(words: Words, up_to: Callable[[Node, int], Node] = _up_to) -> Node:
    """Return *words* in the other node types.

    Args:
        words: which tags the text does not hold, and how long it is at most.
        up_to: returns a node at most a number of times; used for the steps.

    Raises:
        ExportError: as :func:`lead_of`.
    """
    lead = lead_of(words.tags)
    trie = trie_of(tag[1:] for tag in words.tags)
    other = Rule("other", Chars(lead, negated=True))
    begun = Rule("begun", join(Text(lead), _begun(trie)))
    broken = Rule("broken", join(Text(lead), _broken(trie, lead)))
    if words.most is None:
        return join(repeat(other), repeat(either(join(broken, repeat(other)), begun)))
    gave_way = Rule("attempts", repeat(begun, 0, min(RUN, words.most)))
    step = Rule("step", either(other, join(gave_way, broken)))
    return join(up_to(step, words.most), gave_way)


def lead_of(tags: Sequence[str]) -> str:
    """Return the character that every tag begins with and holds only there.

    Raises:
        ExportError: there is none.
    """
    lead, *others = {tag[0] for tag in tags}
    if others or any(lead in tag[1:] for tag in tags) or any(one.startswith(two) for one, two in permutations(tags, 2)):
        raise ExportError(
            "this format needs tags that all begin with one character, hold it nowhere else, and do not begin with "
            f"each other; the tags are {', '.join(tags)}"
        )
    return lead


def trie_of(words: Iterable[str]) -> Trie:
    """Return the words as a trie; where one ends, nothing follows, since none is the beginning of another."""
    trie: Trie = {}
    for word in words:
        place = trie
        for character in word:
            place = place.setdefault(character, {})
    return trie


def _branches(trie: Trie) -> dict[str, Trie]:
    """Return the branches that do not complete a tag."""
    return {character: further for character, further in trie.items() if further}


def _begun(trie: Trie) -> Node:
    """Return every beginning of a word of the trie that is not the whole word."""
    branches = [join(Text(character), _begun(further)) for character, further in _branches(trie).items()]
    return optional(either(*branches)) if branches else Join(())


def _broken(trie: Trie, lead: str) -> Node:
    """Return every beginning of a word and one character with which neither the word nor a new one goes on."""
    off = Chars(lead + "".join(trie), negated=True)
    branches = [join(Text(character), _broken(further, lead)) for character, further in _branches(trie).items()]
    return either(off, *branches)
