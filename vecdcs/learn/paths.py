"""Sampling paths by a random walk, each as often as its weight says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray
from vecdcs.corpus.weights import path_weights
from vecdcs.learn.chance import number, uniform

LONGEST = 32


# A node's numbers lie side by side, in one cache line: a walk starts anywhere in the forest and reads few nodes.
NODE = np.dtype(
    {
        "names": ["up", "down", "weight", "word", "parent", "label", "parent_label", "group", "child", "child_end"],
        "formats": ["f8", "f8", "f8", "i4", "i4", "i4", "i4", "i4", "i4", "i4"],
        "itemsize": 64,
    },
    align=True,
)


class Walks(NamedTuple):
    """A forest made ready for walking: the children of node n are children[node[n].child : node[n].child_end]."""

    node: NDArray[np.void]
    children: IntArray


class Paths(NamedTuple):
    """Sampled paths: first and last word, and the matrices between them.

    `steps[i, :length[i]]` names the matrices of path i in order: 2f is M of field f, 2f+1 its inverse. An edge of a
    DCS tree has two, M_P then the inverse of M_L; one of a vecUD tree has one, M up and its inverse down. `ups` counts
    the edges walked upwards, which always come first.
    """

    first: IntArray
    last: IntArray
    length: IntArray
    ups: IntArray
    steps: IntArray


def prepare(trees: FlatTrees) -> Walks:
    """Weigh a forest and lay out what a walk needs."""
    weights = path_weights(trees)
    node = np.zeros(len(trees.word), NODE)
    for name in ("word", "parent", "label", "parent_label", "group"):
        node[name] = getattr(trees, name)
    node["up"], node["down"], node["weight"] = weights.up, weights.down, weights.word
    node["child"], node["child_end"] = weights.children.start[:-1], weights.children.start[1:]
    return Walks(node, weights.children.node)


@njit(cache=True, nogil=True)
def starts(weight: NDArray[np.float64], key: np.uint64) -> IntArray:
    """The first nodes of one epoch's paths, shuffled: each node as often as its weight, fractions by chance."""
    counts = np.empty(len(weight), np.int64)
    for n in range(len(weight)):
        whole = np.int64(weight[n])
        counts[n] = whole + np.int64(uniform(key, n) < weight[n] - whole)
    nodes = np.repeat(np.arange(len(weight)), counts).astype(np.int32)
    for n in range(len(nodes) - 1, 0, -1):
        other = number(key, len(weight) + n) % np.uint64(n + 1)
        nodes[n], nodes[other] = nodes[other], nodes[n]
    return nodes


@njit(cache=True, nogil=True)
def sample(walks: Walks, nodes: IntArray, key: np.uint64, longest: int = LONGEST) -> Paths:
    """One path from each node; a walk of `longest` edges ends there."""
    count = len(nodes)
    first, last, length, ups = (
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
    )
    steps = np.empty((count, 2 * longest), np.int32)
    for i in range(count):
        end, length[i], ups[i] = _walk(walks, nodes[i], number(key, i), longest, steps[i])
        first[i], last[i] = walks.node[nodes[i]].word, walks.node[end].word
    return Paths(first, last, length, ups, steps)


@njit(cache=True, nogil=True)
def thinned(paths: Paths, keep: NDArray[np.float64], key: np.uint64) -> Paths:
    """The paths that are kept, each with the chance of its last word."""
    kept = np.empty(len(paths.last), np.bool_)
    for i in range(len(kept)):
        kept[i] = uniform(key, i) < keep[paths.last[i]]
    return Paths(paths.first[kept], paths.last[kept], paths.length[kept], paths.ups[kept], paths.steps[kept])


@njit(cache=True, nogil=True)
def _walk(walks: Walks, node: int, key: np.uint64, longest: int, steps: IntArray) -> tuple[int, int, int]:
    """Walk from a node: where it ended, the number of matrices on the way, and of edges upwards.

    A single draw at each node decides both whether to stop there and where to go: `up` and `down` of the edge just
    crossed are 1 (stop) plus the mean over the ways on.
    """
    length, ups, edges = 0, 0, 0
    rest = uniform(key, 0) * walks.node[node].weight
    upwards = rest < walks.node[node].up
    came_from = node
    while True:
        if upwards:
            came_from, node = node, walks.node[node].parent
            length = _add_up(walks.node[came_from].label, walks.node[came_from].parent_label, steps, length)
            ups += 1
            rest = uniform(key, edges + 1) * walks.node[came_from].up - 1.0
        else:
            node = _child(walks, node, came_from, rest - (walks.node[node].up if edges == ups else 0.0))
            came_from = node
            length = _add_down(walks.node[node].parent_label, walks.node[node].label, steps, length)
            rest = uniform(key, edges + 1) * walks.node[node].down - 1.0
        edges += 1
        if rest < 0.0 or edges == longest:
            return node, length, ups
        rest *= _ways_on(walks, node, came_from)
        upwards = came_from != node and rest < walks.node[node].up


@njit(cache=True, nogil=True)
def _ways_on(walks: Walks, node: int, came_from: int) -> int:
    """The number of ways on; `came_from` is a child if the walk came up, the node itself if it came down."""
    ways = int(walks.node[node].child_end - walks.node[node].child)
    if came_from == node:
        return ways
    ways += int(walks.node[node].parent >= 0)
    if walks.node[came_from].group == 0:
        return ways - 1
    for i in range(walks.node[node].child, walks.node[node].child_end):
        ways -= int(walks.node[walks.children[i]].group == walks.node[came_from].group)
    return ways


@njit(cache=True, nogil=True)
def _child(walks: Walks, node: int, came_from: int, rest: float) -> int:
    """The allowed child in whose share of the weights `rest` falls."""
    chosen = -1
    for i in range(walks.node[node].child, walks.node[node].child_end):
        child = walks.children[i]
        if came_from != node and (child == came_from or 0 < walks.node[child].group == walks.node[came_from].group):
            continue
        chosen = child
        rest -= walks.node[child].down
        if rest < 0.0:
            break
    return chosen


@njit(cache=True, nogil=True, inline="always")
def _add_up(near: int, far: int, steps: IntArray, length: int) -> int:
    """Up an edge: M of the label at the near end, and the inverse of that at the far end (none in a vecUD tree)."""
    steps[length] = 2 * near
    if far < 0:
        return length + 1
    steps[length + 1] = 2 * far + 1
    return length + 2


@njit(cache=True, nogil=True, inline="always")
def _add_down(near: int, far: int, steps: IntArray, length: int) -> int:
    """Down an edge: M of the label at the near end (none in a vecUD tree), and the inverse of that at the far end."""
    if near >= 0:
        steps[length] = 2 * near
        length += 1
    steps[length] = 2 * far + 1
    return length + 1
