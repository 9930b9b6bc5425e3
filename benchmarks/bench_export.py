"""What the exported grammars cost: their size, and how long each engine takes to compile and to use them.

One line per format, engine, profile and bound: characters of the grammar, seconds to compile it, milliseconds for each
byte of a response with full bodies (the mask of what may come next, and taking the byte; Python only matches, llama.cpp
only takes). Engines that are not installed are left out. An engine that looks at every token in every state
(outlines-core) costs in proportion to its vocabulary, so that can be set; real ones have 32,000 tokens and more.

Usage: python benchmarks/bench_export.py [--vocabulary N] [--bounds N,N,…] [--engine NAME]
"""

import argparse
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from timing import machine

import llama_engine
from cases import recorded
from gategrammar import format_response
from gategrammar.export import FORMATS, export

#: Takes a whole response, and returns whether it is in the language.
Take = Callable[[str], bool]
Compile = Callable[[str], Take]
#: How long the bodies of the response are at most, in characters: some engines need a second for each.
BODY = 60
#: Past this an engine is not asked about larger bounds, in seconds.
PATIENCE = 60


def tokens(count: int) -> list[bytes]:
    """Return *count* tokens: all bytes, then pieces of the words of the recorded answers, short ones first."""
    found = dict.fromkeys(bytes([byte]) for byte in range(256))
    words = re.findall(r" ?\w+|[^\w\s]+", " ".join(case.text for case in recorded()))
    pieces = (
        word[at : at + length] for length in range(2, 24) for word in words for at in range(len(word) - length + 1)
    )
    for piece in pieces:
        if len(found) < count:
            found[piece.encode()] = None
    return list(found)


def python(pattern: str) -> Take:
    """Compile for Python's re."""
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def llguidance(vocabulary: list[bytes], *, regex: bool) -> Compile:
    """Return a compiler for llguidance."""
    import llguidance

    class Tokenizer:
        eos_token_id, bos_token_id, special_token_ids = len(vocabulary), None, ()
        tokens = (*vocabulary, b"\xff<end>")

        def __call__(self, text: bytes) -> list[int]:
            return list(text)

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))

    def compile_(grammar: str) -> Take:
        matcher = llguidance.LLMatcher(
            tokenizer, llguidance.LLMatcher.grammar_from_regex(grammar) if regex else grammar
        )
        assert matcher.compute_bitmask(), matcher.get_error()

        def take(text: str) -> bool:
            return all(matcher.compute_bitmask() and matcher.consume_token(byte) for byte in text.encode())

        return take

    return compile_


def outlines(vocabulary: list[bytes]) -> Compile:
    """Return a compiler for outlines-core."""
    import outlines_core

    numbered = outlines_core.Vocabulary(len(vocabulary), {token: [n] for n, token in enumerate(vocabulary)})

    def compile_(pattern: str) -> Take:
        guide = outlines_core.Guide(outlines_core.Index(pattern, numbered))
        return lambda text: all(byte in guide.get_tokens() and bool(guide.advance(byte)) for byte in text.encode())

    return compile_


def llama(grammar: str) -> Take:
    """Compile for llama.cpp."""
    library = llama_engine.library()
    assert library is not None
    return llama_engine.Grammar(library, grammar)


def xgrammar(vocabulary: list[bytes]) -> Compile:
    """Return a compiler for xgrammar."""
    import xgrammar

    info = xgrammar.TokenizerInfo(
        [*vocabulary, b"</s>"], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[len(vocabulary)]
    )
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)

    def compile_(grammar: str) -> Take:
        matcher = xgrammar.GrammarMatcher(compiler.compile_grammar(grammar))

        def take(text: str) -> bool:
            for byte in text.encode():
                matcher.fill_next_token_bitmask(mask)
                if not matcher.accept_token(byte):
                    return False
            return True

        return take

    return compile_


def engines(vocabulary: list[bytes]) -> dict[str, tuple[str, Compile]]:
    """Return the format and the compiler of every engine that is installed."""
    found: dict[str, tuple[str, Compile]] = {"Python re": ("regex", python)}
    if importlib.util.find_spec("llguidance"):
        found["llguidance"] = ("llguidance", llguidance(vocabulary, regex=False))
        found["llguidance (regex)"] = ("regex", llguidance(vocabulary, regex=True))
    if llama_engine.library():
        found["llama.cpp"] = ("gbnf", llama)
    if importlib.util.find_spec("xgrammar"):
        found["xgrammar"] = ("xgrammar", xgrammar(vocabulary))
    if importlib.util.find_spec("outlines_core"):
        found["outlines-core"] = ("outlines", outlines(vocabulary))
    return found


def line(name: str, engine: str, compile_: Compile, bound: int | None) -> float:
    """Measure and print one line; return the seconds to compile."""
    grammar = export(name, profile="parse") if bound is None else export(name, max_think=bound, max_update=bound)
    begun = perf_counter()
    take = compile_(grammar)
    compiled = perf_counter() - begun
    body = ("word < </th " * BODY)[: BODY if bound is None else min(BODY, bound)]
    text = format_response(body, update_gate=True, candidate=body, exit_gate=True)
    begun = perf_counter()
    taken = take(text)
    spent = (perf_counter() - begun) / len(text) * 1_000
    what = "parse" if bound is None else f"{bound:,}"
    print(
        f"{engine:20} {name:12} {what:>8} {len(grammar):8,} {compiled:9.3f} {spent:9.3f}{'' if taken else '  refused'}"
    )
    return compiled


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vocabulary", type=int, default=2_000, metavar="N")
    parser.add_argument("--bounds", type=lambda text: [int(bound) for bound in text.split(",")], default=[100, 1_000])
    parser.add_argument("--engine", action="append", help="only this one; may be repeated")
    wanted = parser.parse_args()
    vocabulary = tokens(wanted.vocabulary)
    print(f"{machine()}; {len(vocabulary):,} tokens")
    print(f"{'engine':20} {'format':12} {'bound':>8} {'size':>8} {'compile s':>9} {'ms a byte':>9}")
    for engine, (name, compile_) in engines(vocabulary).items():
        if wanted.engine and engine not in wanted.engine:
            continue
        most = FORMATS[name].most
        for bound in [None, *sorted({bound for bound in (*wanted.bounds, most) if 0 < bound <= most})]:
            if line(name, engine, compile_, bound) > PATIENCE:
                break


if __name__ == "__main__":
    main()
