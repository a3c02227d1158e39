"""Paths learned per CPU second with the whole default recipe, beside the one-core sgemm speed in the same run.

By default on the forest of the treebanks in the shared data, its vocabulary padded by a Zipf tail to 50,000 words and
100 fields. CPU time is that of all threads, for sampling, gradients, updates and orthogonality. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from treebank_forest import open_forest

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.learn import blas
from vecdcs.learn.recipes import plan
from vecdcs.learn.session import vocabulary_of
from vecdcs.learn.trainer import Trainer

WORDS, FIELDS = 50_000, 100
EPOCHS = 32  # enough for the recipe's full micro-batches; training of fewer than 2,000 steps takes smaller ones
ROUND = 1.0  # CPU seconds of one training before another takes its turn


def sgemm_gflops(dim: int = 250, rows: int = 1024, seconds: float = 0.3) -> float:
    """GFLOP per CPU second of (1024 x 250) by (250 x 250) in single precision, on one core."""
    left, right = np.ones((rows, dim), np.float32), np.ones((dim, dim), np.float32)
    out = np.empty((rows, dim), np.float32)
    np.dot(left, right, out=out)
    count, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        np.dot(left, right, out=out)
        count += 1
    return 2e-9 * rows * dim * dim * count / (time.process_time() - begin)


def padded(
    names: tuple[str, ...], weights: NDArray[np.float64], size: int, kind: str
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """A list continued to `size` items by weights that fall as 1/rank."""
    more = max(size - len(names), 0)
    tail = weights[weights > 0].min() * len(names) / np.arange(len(names) + 1, len(names) + more + 1)
    return (*names, *(f"{kind}{k}/N" for k in range(more))), np.concatenate([weights, tail])


class Spread:
    """A forest in which some of the rarer words are exchanged for words of the tail, so that all are in use."""

    def __init__(self, source: list[FlatTrees], known: int, size: int) -> None:
        rng = np.random.default_rng(0)
        self.shards, self.trees = range(len(source)), []
        share = 1 / np.arange(1, size + 1)
        for trees in source:
            drawn = rng.choice(size, len(trees.word), p=share / share.sum())
            tail = (drawn >= known) & (trees.word > 100)
            self.trees.append(replace(trees, word=np.where(tail, drawn, trees.word).astype(np.int32)))

    def flat(self, shard: int, vocabulary: Vocabulary) -> FlatTrees:
        return self.trees[shard]


class Run:
    """A training under way, and what its rounds took: paths, and CPU seconds."""

    def __init__(self, trainer: Trainer) -> None:
        self.steps = (report for _ in range(1000) for report in trainer.run())
        self.paths: list[int] = []
        self.spent: list[float] = []
        for _ in range(3):
            next(self.steps)

    def go_on(self) -> None:
        """Train for a round."""
        paths, begin = 0, time.process_time()
        while time.process_time() - begin < ROUND:
            paths += next(self.steps).paths
        self.spent.append(time.process_time() - begin)
        self.paths.append(paths)

    def found(self, dim: int, gflops: float) -> dict[str, float]:
        speed = sum(self.paths) / sum(self.spent)
        ratio = round(speed / gflops, 1)
        return {"dim": dim, "paths_per_cpu_s": round(speed), "sgemm_gflops": round(gflops, 1), "ratio": ratio}


def measure(trainers: list[Trainer], seconds: float, dim: int) -> list[dict[str, float]]:
    """Train each for so many CPU seconds, by turns, as the machine's speed changes; sgemm is looked at in between."""
    runs, speeds = [Run(trainer) for trainer in trainers], []
    while sum(runs[-1].spent) < seconds:
        speeds.append(sgemm_gflops())
        for run in runs:
            run.go_on()
    found = [run.found(dim, float(np.median(speeds))) for run in runs]
    for trainer, figures in zip(trainers, found, strict=True):
        print(f"d = {dim}, workers {trainer.workers}: {figures}")
    cost = {trainer.workers: np.divide(run.spent, run.paths) for trainer, run in zip(trainers, runs, strict=True)}
    for workers in sorted(cost.keys() - {1}) if 1 in cost else []:
        times = np.median(cost[workers] / cost[1])
        print(f"d = {dim}, CPU a path with {workers} workers: {times:.3f} times that with one (median of rounds)")
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--forest", help="a folder made by `vecdcs build`")
    arguments.add_argument("--recipe", default="default")
    arguments.add_argument("--seconds", type=float, default=15.0, help="CPU seconds for each measurement")
    arguments.add_argument("--dims", type=int, nargs="+", default=[100, 250], help="the last one is reported last")
    arguments.add_argument("--workers", type=int, nargs="+", default=[2, 1], help="the last one is reported last")
    options = arguments.parse_args()
    blas.pin()
    with open_forest(options.forest) as forest:
        vocabulary = vocabulary_of(forest)
        source = [forest.flat(shard, vocabulary) for shard in forest.shards]
    known = len(vocabulary.words)
    words, fields = (
        padded(vocabulary.words, vocabulary.word_weights, WORDS, "tail"),
        padded(vocabulary.fields, vocabulary.field_weights, FIELDS, "field"),
    )
    spread = Spread(source, known, len(words[0]))
    print(f"{len(words[0]):,} words, {len(fields[0]):,} fields, {sum(len(trees.word) for trees in source):,} nodes")
    for dim in options.dims:
        chosen = plan(options.recipe, dim=dim, epochs=EPOCHS)
        trainers = [Trainer(chosen, Vocabulary(*words, *fields), spread, workers) for workers in options.workers]
        found = measure(trainers, options.seconds, dim)
    print(json.dumps(found[-1]))


if __name__ == "__main__":
    main()
