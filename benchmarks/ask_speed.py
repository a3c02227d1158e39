"""How fast a large model answers: one question, a thousand at once, from a cold start, and what loading costs.

Makes a random model of 100,000 words of 250 dimensions (the size of the paper's) in a temporary folder, so that nothing
but its size matters. One question is compared with numpy's own product of the answer vectors with a query vector.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH, UNKNOWN, Vocabulary
from vecdcs.model.ask import load
from vecdcs.model.model import Model, save

COMMON = "drug/N man/N book/N student/N canada/N government/N ban/V sell/V write/V live/V learn/V old/J new/J".split()
FIELDS = ("ARG", "SUBJ", "COMP", "in", "on", "of", "by", "with", "about", "where")
LENGTH = np.float32(4.5)  # of vectors as training leaves them
PHRASES = ("banned drugs", "drugs banned by Canada", "Who sells old books?", "Where do students live?")
TREES = (
    "drug/N & ban/V.COMP",
    "drug/N & (ban/V & SUBJ:canada/N).COMP",
    "_ & (sell/V & COMP:(book/N & old/J.SUBJ)).SUBJ",
    "_ & where:(live/V & SUBJ:student/N)",
)


def random_model(folder: Path, words: int, dim: int, seed: int = 0) -> None:
    """A model of random vectors and orthogonal matrices."""
    rng = np.random.default_rng(seed)
    unknown = [f"{UNKNOWN}/{pos}" for pos in PARTS_OF_SPEECH]
    names = (*COMMON, *(f"word{at}/{'NVJR'[at % 4]}" for at in range(words - len(COMMON) - len(unknown))), *unknown)
    fields = (*FIELDS, UNKNOWN)
    query, answer = (LENGTH / np.float32(dim**0.5) * rng.standard_normal((words, dim), np.float32) for _ in range(2))
    matrices = np.array([np.linalg.qr(rng.standard_normal((dim, dim)))[0] for _ in fields], np.float32)
    vocabulary = Vocabulary(names, np.arange(words, 0, -1).astype(float), fields, np.ones(len(fields)))
    save(Model(vocabulary, query, answer, matrices, None, {}), folder, [])


def resident() -> int:
    """Bytes of this process in memory."""
    with Path("/proc/self/statm").open() as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Times(NamedTuple):
    """Seconds on the clock and of the processor; on a busy machine only the second tell of the program."""

    clock: float
    cpu: float


def median(run: Callable[[int], object], repeats: int) -> Times:
    """The median times of a call, after one to warm up."""
    run(0)
    times = [timed(lambda turn=turn: run(turn)) for turn in range(repeats)]  # type: ignore[misc]
    return Times(*(statistics.median(kind) for kind in zip(*times, strict=True)))


def in_turns(*runs: Callable[[int], object], repeats: int = 5) -> list[Times]:
    """The median times of several calls, taken in turns, so that a busy moment of the machine is one for all."""
    for run in runs:
        run(0)
    rounds = [[timed(lambda run=run, turn=turn: run(turn)) for run in runs] for turn in range(repeats)]  # type: ignore[misc]
    return [Times(*(statistics.median(kind) for kind in zip(*each, strict=True))) for each in zip(*rounds, strict=True)]


def timed(run: Callable[[], object]) -> Times:
    """The times of one call, its child processes included."""
    clock, before = time.perf_counter(), processor_seconds()
    run()
    return Times(time.perf_counter() - clock, processor_seconds() - before)


def processor_seconds() -> float:
    """What this process and its finished children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def many_trees(count: int, seed: int = 1) -> list[str]:
    """Different trees of the shapes above."""
    rng = np.random.default_rng(seed)
    made = []
    for at in range(count):
        noun, verb = (f"word{rng.integers(0, 20000) * 4 + kind}/{'NV'[kind]}" for kind in (0, 1))
        made.append(TREES[at % len(TREES)].replace("drug/N", noun).replace("book/N", noun).replace("live/V", verb))
    return made


def memory_of_loading(folder: Path) -> float:
    """Megabytes that loading adds, in a fresh process."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from ask_speed import resident; from vecdcs.model.ask import load\n"
        "before = resident(); model = load(sys.argv[1]); print(resident() - before)"
    )
    command = [sys.executable, "-c", code, str(folder), str(Path(__file__).parent)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1e6


def cold_start(folder: Path, text: str, repeats: int) -> Times:
    """The median times of `vecdcs ask` from its start to its end."""
    command = [sys.executable, "-m", "vecdcs", "ask", text, "-m", str(folder), "--json"]
    return median(lambda _: subprocess.run(command, capture_output=True, check=True), repeats)


def measure(folder: Path, repeats: int) -> dict[str, float]:
    """All figures."""
    model = load(folder)
    query, vectors = model.ask(TREES[0]).vector, np.array(model.answer)
    trees = many_trees(1000)
    queries = model.vectors(model.ask_many(trees))
    together, alone, products = in_turns(
        lambda _: model.answer_many(model.ask_many(trees)),
        lambda turn: [model.answers(text) for text in trees[turn * 50 : turn * 50 + 50]],
        lambda _: [queries[at : at + 200] @ vectors.T for at in range(0, 1000, 200)],
    )
    found = {
        "numpy_product": median(lambda _: vectors @ query, repeats),
        "tree": median(lambda turn: model.answers(TREES[turn % len(TREES)]), repeats),
        "phrase": median(lambda turn: model.answers(PHRASES[turn % len(PHRASES)]), repeats),
        "one_of_1000_together": Times(*(seconds / 1000 for seconds in together)),
        "one_by_one": Times(*(seconds / 50 for seconds in alone)),
        "numpy_product_of_1000": Times(*(seconds / 1000 for seconds in products)),
        "cold_tree": cold_start(folder, TREES[1], 3),
        "cold_phrase": cold_start(folder, PHRASES[1], 3),
    }
    figures = {
        f"{name}_{kind}_ms": 1000 * value for name, times in found.items() for kind, value in times._asdict().items()
    }
    return {
        **figures,
        "tree_to_numpy_product_cpu": found["tree"].cpu / found["numpy_product"].cpu,
        "batch_to_numpy_product_cpu": found["one_of_1000_together"].cpu / found["numpy_product_of_1000"].cpu,
        "batch_speed_up_cpu": found["one_by_one"].cpu / found["one_of_1000_together"].cpu,
        "batch_speed_up_clock": found["one_by_one"].clock / found["one_of_1000_together"].clock,
        "model_mb": sum(path.stat().st_size for path in folder.iterdir()) / 1e6,
        "loading_adds_mb": memory_of_loading(folder),
        "load_average": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=250)
    parser.add_argument("--repeats", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        random_model(Path(folder) / "model", options.words, options.dim)
        found = measure(Path(folder) / "model", options.repeats)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1))


if __name__ == "__main__":
    main()
