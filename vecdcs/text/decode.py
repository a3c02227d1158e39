"""Arc scores to trees: the best head of every word, mended where these are no tree with one root."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def are_trees(heads: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which rows of heads (batch x words, 0 is the root) have exactly one root and no cycle."""
    batch, words = heads.shape
    above = np.concatenate([np.zeros((batch, 1), heads.dtype), heads], 1)
    steps = 1
    while steps < words:
        above = np.take_along_axis(above, above, 1)
        steps *= 2
    reached: NDArray[np.bool_] = ~above.any(1) & ((heads == 0).sum(1) == 1)
    return reached


def mend(heads: NDArray[np.integer], scores: NDArray[Any]) -> NDArray[np.integer]:
    """The heads of one sentence as a tree: one root, then every cycle broken where it costs least.

    `scores` is words x (1 + words). Greedy rather than the full maximum spanning tree: few sentences need it at all.
    """
    heads = heads.copy()
    words = len(heads)
    scores = np.array(scores, np.float64)
    scores[np.arange(words), np.arange(1, words + 1)] = -1e9  # no word is its own head
    _one_root(heads, scores)
    while True:
        hanging = _hanging(heads)
        loose = np.flatnonzero(~hanging[1:])
        if not len(loose):
            return heads
        cycle = _cycle(heads, int(loose[0]))
        gain = scores[cycle][:, 1:] - scores[cycle, heads[cycle]][:, None]
        gain[:, ~hanging[1:]] = -np.inf
        best, head = divmod(int(gain.argmax()), words)
        heads[cycle[best]] = head + 1


def _one_root(heads: NDArray[np.integer], scores: NDArray[np.float64]) -> None:
    roots = np.flatnonzero(heads == 0)
    if len(roots):
        root = int(roots[scores[roots, 0].argmax()])
    else:
        root = int((scores[:, 0] - scores[np.arange(len(heads)), heads]).argmax())
    for other in roots:
        heads[other] = 1 + int(scores[other, 1:].argmax())
    heads[root] = 0


def _hanging(heads: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which words (0 is the root above all) lead up to the root."""
    above = np.concatenate([np.zeros(1, heads.dtype), heads])
    for _ in range(len(heads).bit_length()):
        above = above[above]
    hanging: NDArray[np.bool_] = above == 0
    return hanging


def _cycle(heads: NDArray[np.integer], start: int) -> list[int]:
    """The cycle (0-based words) that a loose word leads up to."""
    seen: dict[int, None] = {}
    at = start
    while at not in seen:
        seen[at] = None
        at = int(heads[at]) - 1
    order = list(seen)
    return order[order.index(at) :]
