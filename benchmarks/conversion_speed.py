"""Tokens per CPU second of UD to DCS conversion, on the treebanks; the last line is JSON.

    python benchmarks/conversion_speed.py [--shared ../shared] [--treebank ewt]

Reading is measured beside converting, and beside both the time that splitting the same lines at tabs takes in plain
Python: no reader in Python can be faster than that.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from vecdcs.dcs.convert import convert, convert_ud
from vecdcs.text.conllu import Sentence, parse_conllu

REPEATS = 3


def best(job: Callable[[], object]) -> float:
    """The least CPU time of a few repeats."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shared", type=Path, default=Path(os.environ.get("VECDCS_SHARED", "../shared")))
    options.add_argument("--treebank", default="ewt")
    chosen = options.parse_args()
    path = chosen.shared / "data" / "treebanks" / f"en_{chosen.treebank}-ud-train.conllu.xz"
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        text = stream.read()
    sentences: list[Sentence] = parse_conllu(text)
    tokens = sum(len(sentence.tokens) for sentence in sentences)
    seconds = {
        "split": best(lambda: deque((line.split("\t") for line in text.split("\n")), 0)),
        "read": best(lambda: parse_conllu(text)),
        "convert": best(lambda: deque(map(convert, sentences), 0)),
        "convert_ud": best(lambda: deque(map(convert_ud, sentences), 0)),
    }
    for name, spent in seconds.items():
        print(f"{name:>10}: {tokens / spent:>12,.0f} tokens per CPU second")
    result = {f"{name}_tokens_per_cpu_s": round(tokens / spent) for name, spent in seconds.items()}
    print(json.dumps({"treebank": chosen.treebank, "tokens": tokens, **result}))


if __name__ == "__main__":
    main()
