"""Composing query vectors of DCS trees: equation (4), and the vector of what surrounds a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.weights import path_weights
from vecdcs.model.model import Model, unit
from vecdcs.model.query import carried, levels, lowered

Vectors = NDArray[np.float32]


def project(model: Model, vectors: Vectors, fields: Sequence[str]) -> Vectors:
    """Vectors through fields in pairs, M of the first and the inverse of the second; unchanged without matrices."""
    if model.has_matrices:
        for place, name in enumerate(fields):
            vectors = vectors @ (model.inverse(name) if place % 2 else model.matrix(name))
    return vectors


def word_vectors(model: Model, words: Sequence[str]) -> Vectors:
    """Query vectors of words, of length 1."""
    return unit(model.query[model.vocabulary.word_ids(words)])


def answer_vectors(model: Model, words: Iterable[str]) -> Vectors:
    """Answer vectors of words, of length 1."""
    return unit(np.asarray(model.answer[model.vocabulary.word_ids(words)], np.float32))


def tree_vectors(model: Model, trees: FlatTrees) -> Vectors:
    """The query vector of the sub-tree of every node, by equation (4): v_x + 1/n sum of v_y M_L M_P^-1."""
    vectors = unit(model.query[trees.word])
    counts = np.bincount(trees.parent[trees.parent >= 0], minlength=len(trees.word))
    for nodes in levels(trees)[:0:-1]:
        shares = carried(model, trees, nodes, vectors[nodes]) / counts[trees.parent[nodes], None]
        np.add.at(vectors, trees.parent[nodes], shares)
    return vectors


def surrounding_vectors(model: Model, trees: FlatTrees) -> Vectors:
    """For every node the vector of the tree re-rooted at it, its own word left out; of length 1, zero if alone."""
    below = tree_vectors(model, trees)
    above = np.zeros_like(below)
    word = unit(model.query[trees.word])
    by_depth, children = levels(trees)[1:], path_weights(trees).children
    mapped = np.zeros_like(below)
    for nodes in by_depth:
        mapped[nodes] = carried(model, trees, nodes, below[nodes])
    for nodes in by_depth:
        for node in nodes:
            parent = trees.parent[node]
            others = children.node[children.start[parent] : children.start[parent + 1]]
            apart = (others != node) & ((trees.group[others] == 0) | (trees.group[others] != trees.group[node]))
            ways = [*mapped[others[apart]]] + ([above[parent]] if trees.parent[parent] >= 0 else [])
            above[node] = word[parent] + (np.mean(ways, 0) if ways else 0)
        above[nodes] = lowered(model, trees, nodes, above[nodes])
    total = above.copy()
    inner = np.flatnonzero(trees.parent >= 0)
    np.add.at(total, trees.parent[inner], mapped[inner])
    return unit(total)
