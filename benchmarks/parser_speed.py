"""Words per CPU second of the shipped parser on one core, from raw text to UD sentences, and its peak memory.

python benchmarks/parser_speed.py [--words 300000] [--shared ../shared]
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from vecdcs.text.parser import load_parser
from vecdcs.text.tokenizer import tokenize


def sample(folder: Path, words: int) -> Iterator[str]:
    """The first paragraphs of every file, `words` (by whitespace) in all."""
    files = sorted(folder.rglob("*.txt.xz"))
    for file in files:
        left = words // len(files)
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            for line in stream:
                left -= line.count(" ") + 1
                if left < 0:
                    break
                yield line


def gemm() -> float:
    """GFLOP per CPU second of a 512-cube product here: what the figures must be read against."""
    import numpy as np

    a = np.random.default_rng(0).standard_normal((512, 512), np.float32)
    a @ a
    started = time.process_time()
    for _ in range(40):
        a @ a
    return 40 * 2 * 512**3 / (time.process_time() - started) / 1e9


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--words", type=int, default=300_000)
    options.add_argument("--shared", type=Path, default=Path(os.environ.get("VECDCS_SHARED", "../shared")))
    options.add_argument("--parser", default="english")
    given = options.parse_args()
    parser = load_parser(given.parser)
    for name in ("general", "novels"):
        texts = list(sample(given.shared / "data" / "corpus" / name, given.words // 2))
        started = time.process_time()
        counted = sum(len(chunk) for text in texts for chunk in tokenize(text))
        tokenised = time.process_time() - started
        started = time.process_time()
        parsed = sentences = 0
        for sentence in parser.parse(texts):
            sentences, parsed = sentences + 1, parsed + len(sentence.tokens)
        spent = time.process_time() - started
        assert parsed == counted
        print(f"{name}: {parsed} words, {sentences} sentences, {parsed / spent:,.0f} words per CPU second", end=" ")
        print(f"(tokeniser alone {counted / tokenised:,.0f})")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; sgemm {gemm():.0f} GFLOP/s")


if __name__ == "__main__":
    main()
