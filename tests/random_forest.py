"""Random forests with coordination groups, for the tests of weights, walks and training."""

from __future__ import annotations

import numpy as np

from vecdcs.corpus.flat import FlatTrees


def random_trees(
    rng: np.random.Generator, trees: int, words: int = 12, fields: int = 5, ud: bool = False, largest: int = 9
) -> FlatTrees:
    """Trees of 2 to `largest` nodes; about half the brothers and sisters of a node share a group."""
    parent: list[int] = []
    group: list[int] = []
    start = [0]
    for _ in range(trees):
        first = len(parent)
        size = int(rng.integers(2, largest + 1))
        local = [-1, *(int(rng.integers(0, n)) for n in range(1, size))]
        parent += [-1 if p < 0 else first + p for p in local]
        # Group numbers are unique within a tree: two numbers for every parent, and 0 for none.
        group += [0 if p < 0 else int(rng.choice([0, 2 * p + 1, 2 * p + 2])) for p in local]
        start.append(first + size)
    size, root = len(parent), np.array(parent) < 0
    label, upper = (np.where(root, -1, rng.integers(0, fields, size)).astype(np.int32) for _ in range(2))
    return FlatTrees(
        word=rng.integers(0, words, size).astype(np.int32),
        parent=np.array(parent, np.int32),
        label=label,
        parent_label=np.full(size, -1, np.int32) if ud else upper,
        group=np.array(group, np.int32),
        start=np.array(start, np.int64),
    )


def all_paths(trees: FlatTrees) -> dict[tuple[int, ...], float]:
    """Every path as the list of its nodes, with its weight by definition: 1/(ways on) at each inner node."""
    found: dict[tuple[int, ...], float] = {}
    for node in range(len(trees.word)):
        pending = [((node, other), 1.0) for other in _ways_on(trees, None, node)]
        while pending:
            path, weight = pending.pop()
            found[path] = weight
            onward = _ways_on(trees, path[-2], path[-1])
            pending += [((*path, other), weight / len(onward)) for other in onward]
    return found


def _ways_on(trees: FlatTrees, came_from: int | None, node: int) -> list[int]:
    """Neighbours a path may go on to: not back, and not straight down into the group it came up from."""
    neighbours = [int(n) for n in np.flatnonzero(trees.parent == node)]
    if came_from is not None and trees.parent[came_from] == node and trees.group[came_from] > 0:
        neighbours = [n for n in neighbours if trees.group[n] != trees.group[came_from]]
    if trees.parent[node] >= 0:
        neighbours.append(int(trees.parent[node]))
    return [n for n in neighbours if n != came_from]
