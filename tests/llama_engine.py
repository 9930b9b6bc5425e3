"""llama.cpp's own grammar engine, without a model: the functions of the library inside xllamacpp.

They are no public interface, so a newer xllamacpp may lack them; then there is nothing to ask.
"""

import ctypes
import importlib.util
from collections.abc import Iterable
from ctypes import POINTER, c_bool, c_char_p, c_size_t, c_uint32, c_void_p
from pathlib import Path

#: A std::vector is three pointers: its begin, its end, and the end of what it holds.
_Vector = c_void_p * 3
_INIT = "_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"
_CLONE = "_Z24llama_grammar_clone_implRK13llama_grammar"
_FREE = "_Z23llama_grammar_free_implP13llama_grammar"
_ACCEPT = "_Z20llama_grammar_acceptP13llama_grammarj"
_STACKS = "_Z24llama_grammar_get_stacksP13llama_grammar"


def library() -> ctypes.CDLL | None:
    """Return the library, or None where it is not installed or another one."""
    found = importlib.util.find_spec("xllamacpp")
    if found is None or found.origin is None:
        return None
    files: Iterable[Path] = Path(found.origin).parent.glob("*.so")
    loaded = ctypes.CDLL(str(next(iter(files))))
    return loaded if all(hasattr(loaded, name) for name in (_INIT, _CLONE, _FREE, _ACCEPT, _STACKS)) else None


class Grammar:
    """A compiled GBNF grammar."""

    def __init__(self, loaded: ctypes.CDLL, grammar: str) -> None:
        self._init, self._clone, self._free = loaded[_INIT], loaded[_CLONE], loaded[_FREE]
        self._accept, self._stacks = loaded[_ACCEPT], loaded[_STACKS]
        self._init.restype = self._clone.restype = c_void_p
        self._init.argtypes = [c_void_p, c_char_p, c_char_p, c_bool, c_void_p, c_size_t, c_void_p, c_size_t]
        self._clone.argtypes = self._free.argtypes = self._stacks.argtypes = [c_void_p]
        self._free.restype = self._accept.restype = None
        self._accept.argtypes = [c_void_p, c_uint32]
        self._stacks.restype = POINTER(_Vector)
        self._grammar = self._init(None, grammar.encode(), b"root", 0, None, 0, None, 0)
        if not self._grammar:
            raise ValueError("llama.cpp refuses the grammar")

    def __del__(self) -> None:
        if self._grammar:
            self._free(self._grammar)

    def __call__(self, text: str) -> bool:
        """Return whether the text is in the language."""
        state = self._clone(self._grammar)
        try:
            for character in text:
                self._accept(state, ord(character))
                begin, end, _ = self._stacks(state).contents
                if begin == end:
                    return False
            return self._done(state)
        finally:
            self._free(state)

    def _done(self, state: int) -> bool:
        """Return whether one of the stacks has nothing left to read."""
        begin, end, _ = self._stacks(state).contents
        count = (end - begin) // ctypes.sizeof(_Vector)
        return any(stack[0] == stack[1] for stack in (_Vector * count).from_address(begin))
