"""What counting alone can do: smoothed pointwise mutual information over the DCS paths of a forest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.dcs.tree import Tree

LONGEST = 2  # edges of a path that is counted
CONTEXT_MASS, PATH_MASS = 20.0, 100.0  # by how many counts a context, and a path, is smoothed
EMPTY = -1

EVERY = slice(None)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = Ints | slice


class Context(NamedTuple):
    """A word, and the labels of the path from it to the blank."""

    word: str
    path: tuple[str, ...]


def contexts(tree: Tree, without: Collection[int] = ()) -> list[Context]:
    """The words around the blank of a tree, at most two edges away, but for some nodes."""
    blank = tree.blanks()[0]
    found = []
    for node, place in enumerate(tree.places):
        if node != blank and node not in without and tree.allowed(node, blank):
            path = tree.path(node, blank)
            found += [Context(place.tree.word, path)] if len(path) <= 2 * LONGEST else []
    return found


@dataclass(frozen=True)
class PathCounts:
    """How often each context, and each path whatever its word, leads to each word of a vocabulary."""

    vocabulary: Vocabulary
    context: dict[Context, int]
    path: dict[tuple[str, ...], int]
    by_context: csr_array
    by_path: csr_array

    def log_shares(self, context: Context, words: Words) -> tuple[Floats, Floats]:
        """log P(y | path) and log P(y | word, path) of words y, each smoothed by what it is a case of."""
        total = self.vocabulary.word_weights
        prior = total[words] / total.sum()
        by_path = _smoothed(self.by_path, self.path.get(context.path, EMPTY), words, prior, PATH_MASS)
        by_context = _smoothed(self.by_context, self.context.get(context, EMPTY), words, by_path, CONTEXT_MASS)
        return np.log(by_path), np.log(by_context)

    def pmi(self, around: Sequence[Context], words: Words = EVERY) -> Floats:
        """The sum of the smoothed PMI of all contexts with words, numbers of the vocabulary."""
        total = np.zeros(len(self.vocabulary.word_weights[words]))
        for context in around:
            by_path, by_context = self.log_shares(context, words)
            total += by_context - by_path
        return total

    def likely(self, around: Sequence[Context], words: Words = EVERY) -> Floats:
        """The same with how likely each word is where the paths end: for one context, log P(y | word, path)."""
        shares = [self.log_shares(context, words)[0] for context in around]
        return self.pmi(around, words) + (np.mean(shares, axis=0) if shares else 0)


def _smoothed(counts: csr_array, row: int, words: Words, prior: Floats, mass: float) -> Floats:
    seen = np.zeros(counts.shape[1])
    if row != EMPTY:
        begin, end = counts.indptr[row : row + 2]
        seen[counts.indices[begin:end]] = counts.data[begin:end]
    return np.asarray(np.maximum(seen[words] + mass * prior, 1e-12) / (seen.sum() + mass))


def count_paths(forest: Forest, wanted: Sequence[Context], vocabulary: Vocabulary) -> PathCounts:
    """Count, shard by shard, the words that the wanted contexts and their paths lead to."""
    context = {item: number for number, item in enumerate(dict.fromkeys(wanted))}
    path = {item: number for number, item in enumerate(dict.fromkeys(item.path for item in context))}
    keys = _Keys(vocabulary, context, path)
    shape = len(vocabulary.words)
    totals = [csr_array((len(rows), shape)) for rows in (context, path)]
    for shard in forest.shards:
        for kind, (rows, ends) in enumerate(zip(*keys.found(forest.flat(shard, vocabulary)), strict=True)):
            part = coo_array((np.ones(len(rows)), (rows, ends)), shape=totals[kind].shape)
            totals[kind] = totals[kind] + part.tocsr()
    return PathCounts(vocabulary, context, path, *totals)


class _Keys:
    """Wanted contexts and paths as sorted numbers, to be looked up for all paths of a shard at once."""

    def __init__(self, vocabulary: Vocabulary, context: dict[Context, int], path: dict[tuple[str, ...], int]) -> None:
        self.fields = len(vocabulary.fields) + 1
        self.words = len(vocabulary.words)
        numbers = [self._path(vocabulary.field_ids(names)[None].astype(np.int64)) for names in path]
        self.path = np.concatenate([*numbers, np.zeros(0, np.int64)])
        starts = vocabulary.word_ids(item.word for item in context).astype(np.int64)
        places = np.fromiter((path[item.path] for item in context), np.int64)
        self.context = places * self.words + starts

    def _path(self, labels: Ints) -> Ints:
        """One number for the labels of a path, of any length."""
        number = np.zeros(len(labels), np.int64)
        for column in labels.T:
            number = number * self.fields + column + 1
        return number

    def found(self, trees: FlatTrees) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """For contexts and for paths: the number of each that occurs."""
        rows: tuple[list[Ints], list[Ints]] = ([], [])
        ends: tuple[list[Ints], list[Ints]] = ([], [])
        for start, end, labels in paths(trees):
            at, kept = _places(self.path, self._path(labels))
            one, both = _places(self.context, at * self.words + start[kept])
            rows[0].append(one)
            ends[0].append(end[kept][both])
            rows[1].append(at)
            ends[1].append(end[kept])
        return (np.concatenate(rows[0]), np.concatenate(rows[1])), (np.concatenate(ends[0]), np.concatenate(ends[1]))


def _places(wanted: Ints, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """The place among the wanted of each key that is wanted, and which these are."""
    if not len(wanted):
        return np.zeros(0, np.int64), np.zeros(len(keys), bool)
    order = np.argsort(wanted, kind="stable")
    at = np.minimum(np.searchsorted(wanted[order], keys), len(wanted) - 1)
    kept = wanted[order][at] == keys
    return order[at[kept]], kept


def paths(trees: FlatTrees) -> Iterator[tuple[Ints, Ints, Ints]]:
    """All allowed paths of one edge, then of two: first words, last words, and labels."""
    child = np.flatnonzero(trees.parent >= 0)
    parent = trees.parent[child].astype(np.int64)
    lower, upper = trees.label[child].astype(np.int64), trees.parent_label[child].astype(np.int64)
    start, end = np.concatenate([child, parent]), np.concatenate([parent, child])
    near, far = np.concatenate([lower, upper]), np.concatenate([upper, lower])
    word = trees.word.astype(np.int64)
    yield word[start], word[end], np.stack([near, far], 1)
    order = np.argsort(end, kind="stable")  # the edges into each node; turned round, those out of it
    degree = np.bincount(end, minlength=len(word))
    first = np.repeat(order, degree[end[order]])
    begin = np.concatenate([[0], np.cumsum(degree)[:-1]])[end[first]]
    rank = np.arange(len(first)) - np.repeat(np.cumsum(degree[end[order]]) - degree[end[order]], degree[end[order]])
    second = order[begin + rank]
    group = np.concatenate([trees.group[child], np.zeros(len(child), np.int32)])  # of siblings, seen from their parent
    kept = (first != second) & ~((group[first] > 0) & (group[first] == group[second]))
    first, second = first[kept], second[kept]
    labels = np.stack([near[first], far[first], far[second], near[second]], 1)
    yield word[start[first]], word[start[second]], labels
