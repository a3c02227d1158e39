"""What a build costs: CPU microseconds a word by step, peak memory, and bytes against CoNLL-U.

    python benchmarks/build_speed.py [TEXT...] [--words 200000]

Without TEXT, the beginning of a file of the shared corpus. Prints a table, then one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
from itertools import islice
from pathlib import Path

from vecdcs.corpus.build import Progress, build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options
from vecdcs.text.conllu import format_sentence
from vecdcs.text.parser import load_parser
from vecdcs.text.source import open_bytes

SHARED = Path(os.environ.get("VECDCS_SHARED", Path(__file__).parent.parent.parent / "shared"))
SAMPLED = 2000  # sentences whose CoNLL-U is weighed


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("text", nargs="*", type=Path)
    arguments.add_argument("--words", type=int, default=200_000)
    options = arguments.parse_args()
    sources = options.text or [SHARED / "data/corpus/general/simplewiki_00.txt.xz"]
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample.txt"
        write_sample(sources, sample, options.words)
        write_sample(sources, Path(folder) / "warm.txt", 1000)
        build([Path(folder) / "warm.txt"], Path(folder) / "warm")  # compiled code and weights are loaded once
        progress = Progress()
        forest = build([sample], Path(folder) / "forest", Options(), progress=progress)
        figures = costs(progress) | sizes(forest)
    for name, value in figures.items():
        print(f"{name:40}{value:12,.2f}")
    print(json.dumps(figures))


def write_sample(sources: list[Path], sample: Path, words: int) -> None:
    """The first lines of the sources, until there are enough words."""
    with sample.open("wb") as out:
        for source in sources:
            with open_bytes(source) as stream:
                for line in stream:
                    if words <= 0:
                        return
                    words -= len(line.split())
                    out.write(line)


def costs(progress: Progress) -> dict[str, float]:
    words = progress.fresh["words"]
    steps = {f"{step}_us_per_word": 1e6 * spent / words for step, spent in progress.seconds.items()}
    rest = sum(cost for step, cost in steps.items() if step != "parse_us_per_word")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    speed = 1e6 / sum(steps.values())
    return {**steps, "all_but_parse_us_per_word": rest, "words_per_cpu_second": speed, "peak_rss_mb": peak}


def sizes(forest: Forest) -> dict[str, float]:
    """Bytes of the tables as a share of the CoNLL-U of the same text, weighed on its first sentences."""
    parsed = load_parser().parse(found.text for found in forest.sentences())
    told = list(islice(parsed, SAMPLED))
    per_word = sum(len(format_sentence(one).encode()) for one in told) / sum(len(one.tokens) for one in told)
    conllu = per_word * forest.totals["words"]
    edges = (forest.path / "edges.parquet").stat().st_size
    everything = sum(path.stat().st_size for path in forest.path.rglob("*") if path.is_file())
    shares = {"edges_to_conllu": edges / conllu, "forest_to_conllu": everything / conllu}
    return {"conllu_bytes_per_word": per_word, **shares}


if __name__ == "__main__":
    main()
