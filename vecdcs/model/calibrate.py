"""Fitting what scores are worth to the words that really stand in the trees of a forest."""

from __future__ import annotations

import numpy as np

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.forest import Forest
from vecdcs.model.ask import Asker
from vecdcs.model.model import Model, unit
from vecdcs.model.query import Nodes, Vectors, carried, lowered, node_vectors
from vecdcs.model.search import Calibration, calibrate

SHARDS = 8  # of a large forest, so many are asked about


def calibrate_on(asker: Asker, forest: Forest, nodes: int, seed: int = 0) -> Calibration:
    """Ask for some nodes of a forest by one word beside each, as short questions do; what stands there is the truth."""
    rng = np.random.default_rng(seed)
    shards = rng.permutation(len(forest.shards))
    vectors, words = [], []
    for shard in shards:
        trees = forest.flat(int(shard), asker.vocabulary)
        some = rng.permutation(np.flatnonzero(trees.parent >= 0))[: max(nodes // min(len(shards), SHARDS), 1)]
        asked, truth = across(asker, trees, some[::2], some[1::2])
        vectors.append(asked)
        words.append(truth)
        if sum(map(len, words)) >= nodes:
            break
    return calibrate(asker.answer_space, np.concatenate(vectors), np.concatenate(words), asker.calibration)


def across(model: Model, trees: FlatTrees, up: Nodes, down: Nodes) -> tuple[Vectors, Nodes]:
    """What the nodes `up` ask for at their parents, then what the parents of `down` ask for there; and the words there.

    Vectors are of length 1.
    """
    own, above = node_vectors(model, trees), trees.parent
    asked = [carried(model, trees, up, own[up]), lowered(model, trees, down, own[above[down]])]
    words = trees.word[np.concatenate([above[up], down])].astype(np.int64)
    return unit(np.concatenate(asked)), words
