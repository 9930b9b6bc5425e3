"""Run the coverage-guided fuzzing for some seconds, from the corpora in fixtures/.

    python fuzz/run.py --seconds 60                      # what CI does
    python fuzz/run.py --seconds 3600 --corpus corpus    # a long run, which goes on from where the last one stopped

Needs Linux and ``pip install atheris hypothesis``. A finding ends the run with exit code 1; the input is left in
``finding-…`` in the working directory, and ``python fuzz/target.py FILE`` shows it again.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests"))


def seed(corpus: Path) -> None:
    """Write every case of the fixtures as an input of the target."""
    from cases import handed, pairs, recorded
    from oracle import MODES

    for number, case in enumerate((*handed(), *pairs("."), *pairs("valid"), *pairs("invalid"), *recorded())):
        modes = case.modes.get("think", MODES[0][0]), case.modes.get("outside_text", MODES[0][1])
        head = bytes([MODES.index(modes), number % 256])
        (corpus / f"fixture-{number:04}").write_bytes(head + case.text.encode("utf-8", "surrogatepass"))


def main() -> int:
    """Run the target; return its exit code."""
    from gategrammar.response._tables import MEANING
    from gategrammar.response.tags import TAGS

    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=60, help="how long to run (default: %(default)s)")
    arguments.add_argument("--corpus", type=Path, help="folder that keeps the interesting inputs (default: none kept)")
    arguments.add_argument("--seed", type=int, default=0, help="of the fuzzer's chance; 0: another each run")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as work:
        corpus = given.corpus or Path(work, "corpus")
        corpus.mkdir(parents=True, exist_ok=True)
        seed(corpus)
        words = Path(work, "words")
        words.write_text("".join(f'"{word}"\n' for word in (*TAGS, *MEANING)), "utf-8")
        command = [
            sys.executable,
            str(Path(__file__).with_name("target.py")),
            str(corpus),
            f"-dict={words}",
            f"-max_total_time={given.seconds}",
            f"-seed={given.seed}",
            "-max_len=2048",
            "-timeout=20",
            "-artifact_prefix=finding-",
            "-print_final_stats=1",
        ]
        return min(1, abs(subprocess.run(command, check=False).returncode))


if __name__ == "__main__":
    sys.exit(main())
