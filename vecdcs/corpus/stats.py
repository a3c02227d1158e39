"""What a forest is like: its size, how long its paths are, its most frequent words and fields, what a cut loses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary, cut
from vecdcs.corpus.weights import Children, path_weights
from vecdcs.errors import VecdcsError

LONGEST = 24  # path lengths are told apart up to here

Floats = NDArray[np.float64]


def statistics(
    forest: Forest, top: int = 20, min_word: float | None = None, min_field: float | None = None
) -> dict[str, Any]:
    """All figures, ready for JSON."""
    vocabulary = cut(forest.word_weights(), forest.field_weights(), min_word, min_field)
    lengths = path_lengths(forest, vocabulary)
    totals = forest.totals
    return {
        **totals,
        "trees_per_sentence": totals["trees"] / totals["sentences"],
        "nodes_per_tree": totals["nodes"] / totals["trees"],
        "paths": float(lengths.sum()),
        "mean_path_length": float(lengths @ np.arange(1, LONGEST + 1) / lengths.sum()),
        "path_lengths": lengths.tolist(),
        "top_words": _top(vocabulary.words, vocabulary.word_weights, top),
        "top_fields": _top(vocabulary.fields, vocabulary.field_weights, top),
        "vocabulary": {"words": len(vocabulary.words), "fields": len(vocabulary.fields)},
        "unknown": {
            "words": _unknown_share(vocabulary.words, vocabulary.word_weights),
            "fields": _unknown_share(vocabulary.fields, vocabulary.field_weights),
        },
    }


def _top(items: tuple[str, ...], weights: Floats, top: int) -> list[list[str | float]]:
    return [[item, float(weight)] for item, weight in zip(items[:top], weights, strict=False)]


def _unknown_share(items: tuple[str, ...], weights: Floats) -> float:
    """The share of the weight that rare items have, which a model does not tell apart."""
    rare = sum(float(weight) for item, weight in zip(items, weights, strict=True) if item.startswith(UNKNOWN))
    return rare / float(weights.sum())


def path_lengths(forest: Forest, vocabulary: Vocabulary) -> Floats:
    """The weight of all paths of 1, 2, ... LONGEST edges; longer ones count as LONGEST."""
    total = np.zeros(LONGEST)
    for shard in forest.shards:
        total += tree_path_lengths(forest.flat(shard, vocabulary))
    return total


def tree_path_lengths(trees: FlatTrees) -> Floats:
    """The same for some trees."""
    weights = path_weights(trees)
    lengths: Floats = _lengths(trees.parent, trees.group, weights.children, LONGEST)
    lengths[-1] += weights.word.sum() - lengths.sum()
    return lengths


@njit(cache=True, nogil=True)
def _lengths(parent: IntArray, group: IntArray, children: Children, longest: int) -> Floats:
    """By length, the weight of the paths that go down into each node and that go up out of it first.

    down[n, k] is the weight of going on for k more edges after having come down into n, up[n, k] that after having
    gone up from n to its parent; at each node the ways on share the weight equally, as in equation (5).
    """
    size = len(parent)
    down, up, total = np.zeros((size, longest)), np.zeros((size, longest)), np.zeros(longest)
    for n in range(size - 1, -1, -1):
        down[n, 0] = 1.0
        count = children.start[n + 1] - children.start[n]
        for i in range(children.start[n], children.start[n + 1]):
            down[n, 1:] += down[children.node[i], :-1] / count
    for n in range(size):
        p = parent[n]
        if p < 0:
            continue
        up[n, 0] = 1.0
        ways = 1 if parent[p] >= 0 else 0
        for i in range(children.start[p], children.start[p + 1]):
            s = children.node[i]
            if s != n and (group[s] == 0 or group[s] != group[n]):
                ways += 1
                up[n, 1:] += down[s, :-1]
        if parent[p] >= 0:
            up[n, 1:] += up[p, :-1]
        if ways:
            up[n, 1:] /= ways
        total += up[n] + down[n]
    return total


def plot(figures: dict[str, Any], path: Path) -> None:
    """Path lengths, and the most frequent words and fields, as a picture."""
    try:
        import matplotlib
    except ImportError as error:
        raise VecdcsError("plots need matplotlib: pip install 'vecdcs[plot]'") from error
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, (lengths, words, fields) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    share = np.array(figures["path_lengths"]) / figures["paths"]
    lengths.bar(range(1, LONGEST + 1), share)
    lengths.set(title="path lengths", xlabel="edges", ylabel="share of paths")
    lengths.set(yscale="log", xlim=(0.4, 14.6), ylim=(1e-5, 1))
    for axes, name in ((words, "top_words"), (fields, "top_fields")):
        items = figures[name][:15][::-1]
        axes.barh([str(item) for item, _ in items], [weight for _, weight in items])
        axes.set(title=name.replace("_", " "), xlabel="path weight")
    figure.savefig(path)
    plt.close(figure)
