"""Paths sampled per CPU second, on one core, from a forest (by default that of the treebanks in the shared data)."""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from treebank_forest import open_forest

from vecdcs.learn.chance import stream
from vecdcs.learn.paths import prepare, sample, starts
from vecdcs.learn.session import vocabulary_of
from vecdcs.learn.trainer import joined

BATCH = 4096


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--forest", help="a folder made by `vecdcs build`")
    arguments.add_argument("--paths", type=int, default=3_000_000)
    options = arguments.parse_args()
    with open_forest(options.forest) as forest:
        vocabulary = vocabulary_of(forest)
        walks = prepare(joined([forest.flat(shard, vocabulary) for shard in forest.shards]))
    nodes = starts(walks.node["weight"], stream(1))
    sample(walks, nodes[:1], stream(2), 32)
    edges, count, begin = 0, 0, time.process_time()
    for number in range(-(-options.paths // BATCH)):
        first = number * BATCH % max(len(nodes) - BATCH, 1)
        paths = sample(walks, nodes[first : first + BATCH], stream(2, number), 32)
        edges, count = edges + int(paths.length.sum()) // (1 if forest.ud else 2), count + len(paths.first)
    seconds = time.process_time() - begin
    lengths = np.bincount(paths.length // (1 if forest.ud else 2))
    print(
        f"{count:,} paths of {edges / count:.2f} edges in {seconds:.2f} CPU s; last batch by edges: {lengths.tolist()}"
    )
    print(json.dumps({"paths_per_cpu_s": round(count / seconds), "mean_edges": round(edges / count, 3)}))


if __name__ == "__main__":
    main()
