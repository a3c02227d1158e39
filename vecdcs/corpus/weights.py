"""Path weights of equation (5) summed over all paths: how often a walk starts at a node and crosses an edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray

Floats = NDArray[np.float64]


class Children(NamedTuple):
    """The children of node n are node[start[n]:start[n+1]], in order."""

    start: NDArray[np.int64]
    node: IntArray


class PathWeights(NamedTuple):
    """What all paths through a node weigh.

    `down` is the weight of all paths that come down into the node and end there or go on, `up` that of all paths that
    leave it upwards (0 at a root). `word` is the weight of all paths that start at the node, `edge` = up * down of all
    that cross the edge to its parent in one direction, seen from the edge (0 at a root): without groups on the way a
    path and its reverse weigh the same, and so it is the sum of the weights of the paths that cross it.
    """

    children: Children
    up: Floats
    down: Floats
    word: Floats
    edge: Floats


def path_weights(trees: FlatTrees) -> PathWeights:
    """The weights of every node and edge, in time linear in the forest."""
    children = Children(*_children(trees.parent))
    down, below = _down(trees.parent, children)
    up = _up(trees.parent, trees.group, down, below, children)
    return PathWeights(children, up, down, up + below, up * down)


def word_totals(trees: FlatTrees, weights: PathWeights, size: int) -> Floats:
    """The weight of each of `size` words: its expected number of starts in one epoch."""
    return np.bincount(trees.word, weights.word, minlength=size).astype(np.float64, copy=False)


def field_totals(trees: FlatTrees, weights: PathWeights, size: int) -> Floats:
    """The weight of each of `size` fields: every edge counts for the labels at both of its ends."""
    total = np.zeros(size)
    for labels in (trees.label, trees.parent_label):
        labelled = labels >= 0
        total += np.bincount(labels[labelled], weights.edge[labelled], minlength=size)
    return total


@njit(cache=True, nogil=True)
def _children(parent: IntArray) -> tuple[NDArray[np.int64], IntArray]:
    size = len(parent)
    start = np.zeros(size + 1, np.int64)
    for n in range(size):
        if parent[n] >= 0:
            start[parent[n] + 1] += 1
    for n in range(size):
        start[n + 1] += start[n]
    place = start[:-1].copy()
    node = np.empty(start[size], np.int32)
    for n in range(size):
        if parent[n] >= 0:
            node[place[parent[n]]] = n
            place[parent[n]] += 1
    return start, node


@njit(cache=True, nogil=True)
def _down(parent: IntArray, children: Children) -> tuple[Floats, Floats]:
    """1 + the mean over the children, and their sum; parents precede children, so one pass from the end."""
    down, below = np.ones(len(parent)), np.zeros(len(parent))
    for n in range(len(parent) - 1, -1, -1):
        count = children.start[n + 1] - children.start[n]
        if count:
            down[n] += below[n] / count
        if parent[n] >= 0:
            below[parent[n]] += down[n]
    return down, below


@njit(cache=True, nogil=True)
def _up(parent: IntArray, group: IntArray, down: Floats, below: Floats, children: Children) -> Floats:
    """1 + the mean over the ways on at the parent: its own parent and the siblings of no common group."""
    up = np.zeros(len(parent))
    for n in range(len(parent)):
        p = parent[n]
        if p < 0:
            continue
        total, ways = up[p], np.int64(parent[p] >= 0)
        if group[n] == 0:
            total += below[p] - down[n]
            ways += children.start[p + 1] - children.start[p] - 1
        else:
            for i in range(children.start[p], children.start[p + 1]):
                s = children.node[i]
                if group[s] != group[n]:
                    total += down[s]
                    ways += 1
        up[n] = 1.0 + (total / ways if ways else 0.0)
    return up
