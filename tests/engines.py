"""Other people's engines, each reduced to two questions: is this text in the language, and what may come next."""

import random
import re
from collections.abc import Callable, Iterable, Iterator

import llguidance
import outlines_core

from oracle_automaton import ALPHABET

Matches = Callable[[str], bool]
#: A vocabulary of single bytes, and some tokens of several that lie across the ends of tags, as real ones do.
PIECES = [p.encode() for p in ("</", "><", ">\n<", "th", "ink", "check", "update", "no", "end", "<<", " the", "é")]
TOKENS = [bytes([byte]) for byte in range(256)] + PIECES
END = len(TOKENS)


class _Bytes:
    """A tokenizer over :data:`TOKENS` in the shape that llguidance asks for."""

    eos_token_id = END
    bos_token_id = None
    tokens = (*TOKENS, b"\xff<end>")
    special_token_ids = (END,)

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))


def llguidance_matcher(grammar: str) -> llguidance.LLMatcher:
    """Return llguidance's matcher; a grammar that it refuses fails the test."""
    matcher = llguidance.LLMatcher(_tokenizer, grammar)
    assert not matcher.is_error(), matcher.get_error()
    return matcher


def matches_llguidance(grammar: str) -> Matches:
    """Return llguidance's verdict on whole texts."""
    matcher = llguidance_matcher(grammar)

    def matches(text: str) -> bool:
        matcher.reset()
        tokens = list(text.encode())
        return matcher.validate_tokens(tokens) == len(tokens) and _accepts(matcher, tokens)

    return matches


def _accepts(matcher: llguidance.LLMatcher, tokens: list[int]) -> bool:
    return (not tokens or matcher.consume_tokens(tokens)) and matcher.is_accepting()


def walk_llguidance(grammar: str, chance: random.Random) -> Iterator[str]:
    """Yield texts that llguidance generates: in each state one of the tokens that its mask allows."""
    matcher = llguidance_matcher(grammar)
    while True:
        matcher.reset()
        text = b""
        while not matcher.is_stopped():
            mask = matcher.compute_logit_bias()
            allowed = [token for token, bias in enumerate(mask) if bias]
            token = _choose(allowed, chance)
            if token == END:
                break
            text += TOKENS[token]
            assert matcher.consume_token(token), matcher.get_error()
        assert not matcher.is_error(), matcher.get_error()
        yield text.decode()


def _choose(allowed: list[int], chance: random.Random) -> int:
    """Choose what brings a walk near the tags: most of the many tokens allowed in free text are of no interest."""
    near = [token for token in allowed if token == END or TOKENS[token][:1] in b"<>/thinkcheupdayxosm \n"]
    return chance.choice(near if near and chance.random() < 0.95 else allowed)


class Outlines:
    """outlines-core's index of a regular expression, over tokens of whole characters.

    Not over bytes: where the text may end, outlines-core allows no token that holds only the beginning of a character.
    """

    def __init__(self, pattern: str, characters: Iterable[str] = ALPHABET) -> None:
        self._tokens = list(dict.fromkeys([*characters, *(piece.decode() for piece in PIECES)]))
        self._numbers = {token: number for number, token in enumerate(self._tokens)}
        self._end = len(self._tokens)
        vocabulary = {token.encode(): [number] for token, number in self._numbers.items()}
        self._index = outlines_core.Index(pattern, outlines_core.Vocabulary(self._end, vocabulary))

    def __call__(self, text: str) -> bool:
        """Return the verdict on a whole text."""
        state = self.step(self.start(), text)
        return state is not None and self.final(state)

    def start(self) -> int:
        """Return the start state."""
        return int(self._index.get_initial_state())

    def final(self, state: int) -> bool:
        """Return whether a text may end in *state*."""
        return bool(self._index.is_final_state(state))

    def step(self, state: int, text: str) -> int | None:
        """Return the state after *text*, or None where the index allows no such text."""
        following: int | None = state
        for character in text:
            number = self._numbers[character]
            following = None if following is None else self._index.get_next_state(following, number)
        return following

    def walk(self, chance: random.Random) -> Iterator[str]:
        """Yield texts that the index generates."""
        while True:
            state, text = self.start(), ""
            while allowed := self._index.get_allowed_tokens(state):
                token = chance.choice(allowed)
                if token == self._end:
                    break
                text += self._tokens[token]
                state = self._index.get_next_state(state, token)
            yield text


def matches_re(pattern: str) -> Matches:
    """Return Python's verdict on whole texts."""
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None
