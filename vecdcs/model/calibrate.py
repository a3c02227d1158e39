"""Fitting what scores are worth to the words that really stand in the trees of a forest."""

from __future__ import annotations

import numpy as np

from vecdcs.corpus.forest import Forest
from vecdcs.model.ask import Asker
from vecdcs.model.compose import surrounding_vectors
from vecdcs.model.search import Calibration, calibrate


def calibrate_on(asker: Asker, forest: Forest, nodes: int, seed: int = 0) -> Calibration:
    """Ask for some nodes of a forest by what surrounds them; the words that stand there are the truth."""
    rng = np.random.default_rng(seed)
    shards = rng.permutation(len(forest.shards))
    vectors, words = [], []
    for shard in shards:
        trees = forest.flat(int(shard), asker.vocabulary)
        some = rng.permutation(len(trees.word))[: max(nodes // min(len(shards), 8), 1)]
        vectors.append(surrounding_vectors(asker, trees)[some])
        words.append(trees.word[some].astype(np.int64))
        if sum(map(len, words)) >= nodes:
            break
    return calibrate(asker.answer_space, np.concatenate(vectors), np.concatenate(words), asker.calibration)
