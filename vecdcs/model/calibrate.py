"""Fitting what scores are worth to the words that really stand in the trees of a forest."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.forest import Forest
from vecdcs.model.ask import Asker
from vecdcs.model.leanings import Kind, by_edges
from vecdcs.model.model import Model, unit
from vecdcs.model.query import Nodes, Vectors, carried, lowered, node_vectors
from vecdcs.model.search import KIND, Calibration, calibrate, implied_calibration
from vecdcs.model.steps import goes_stepwise

SHARDS = 8  # of a large forest, so many are asked about
BESIDE = 2  # words beside a node that ask for it, as in short questions


def calibrate_on(asker: Asker, forest: Forest, nodes: int, seed: int = 0) -> Calibration:
    """Ask for some nodes of a forest by one or two words beside each; the words that stand there are the truth."""
    rng = np.random.default_rng(seed)
    shards = rng.permutation(len(forest.shards))
    some: list[Asked] = []
    for shard in shards:
        trees = forest.flat(int(shard), asker.vocabulary)
        some.append(asked_by_few(asker, trees, rng, max(nodes // min(len(shards), SHARDS), 1)))
        if sum(len(asked.words) for asked in some) >= nodes:
            break
    vectors, backs, words = (np.concatenate([asked[at] for asked in some]) for at in (0, 1, 2))
    lean = by_edges(asker, (kinds for asked in some for kinds in asked.kinds))
    start = implied_calibration(asker)
    if not goes_stepwise(asker):
        start = replace(start, kind=KIND)
    return calibrate(asker.answer_space, vectors, words, start, asker.asking_back(lean, backs))


class Asked(NamedTuple):
    """Queries of length 1, also of answer vectors, the words that answer them, and the kinds of edges of each."""

    vectors: Vectors
    backs: Vectors
    words: Nodes
    kinds: list[list[Kind]]


def asked_by_few(model: Model, trees: FlatTrees, rng: np.random.Generator, count: int) -> Asked:
    """What up to two words beside each of some nodes ask for there."""
    child = np.flatnonzero(trees.parent >= 0)
    by, at = np.tile(child, 2), np.concatenate([trees.parent[child], child])  # asked for by a child, by the parent
    order = rng.permutation(len(at))
    order = order[np.argsort(at[order], kind="stable")]
    first = np.flatnonzero(np.diff(at[order], prepend=-1))
    some = rng.permutation(len(first))[:count]
    ends = np.append(first, len(order))
    own = node_vectors(model, trees), node_vectors(model, trees, answers=True)
    vectors, backs = (np.zeros((len(some), model.dim), np.float32) for _ in own)
    kinds = [list[Kind]() for _ in some]
    for place in range(BESIDE):
        rows = np.flatnonzero(first[some] + place < ends[some + 1])
        edge = order[first[some[rows]] + place]
        up = edge < len(child)
        for total, side in zip((vectors, backs), own, strict=True):
            total[rows] += _across(model, trees, side, by[edge], up)
        asks = model.vocabulary.parts[trees.word[np.where(up, by[edge], trees.parent[by[edge]])]]
        lower, upper = trees.label[by[edge]], trees.parent_label[by[edge]]
        fields = np.where(up, lower, upper), np.where(up, upper, lower)
        for row, *kind in zip(rows.tolist(), asks.tolist(), *(each.tolist() for each in fields), strict=True):
            kinds[row].append((kind[0], kind[1], kind[2]))
    return Asked(unit(vectors), unit(backs), trees.word[at[order[first[some]]]].astype(np.int64), kinds)


def _across(model: Model, trees: FlatTrees, own: Vectors, nodes: Nodes, up: NDArray[np.bool_]) -> Vectors:
    """What nodes ask for at their parents where `up`, else what their parents ask for at them."""
    found = np.empty((len(nodes), model.dim), np.float32)
    found[up] = carried(model, trees, nodes[up], own[nodes[up]])
    found[~up] = lowered(model, trees, nodes[~up], own[trees.parent[nodes[~up]]])
    return found
