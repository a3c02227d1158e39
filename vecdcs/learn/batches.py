"""From sampled paths to what is learned from them: a boundary for each path, and noise after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray
from vecdcs.learn.chance import number, uniform
from vecdcs.learn.objective import Noise
from vecdcs.learn.paths import Paths
from vecdcs.learn.walks import Chains

Cumulative = NDArray[np.float64]

BLOCK = 16


class Kinds(NamedTuple):
    """The kinds of context a path can have: the directions of its matrices, as trees grown from the last one.

    Kind k puts one matrix, inverse if `inverse[k]`, before the context of kind `parent[k]`; the first `roots` kinds are
    empty, and trees grow from `trees` of them, so that not all paths of a micro-batch meet the same noise.
    """

    parent: IntArray
    inverse: IntArray
    width: int
    roots: int
    trees: int


class Marginals(NamedTuple):
    """Cumulated shares of words and fields, for drawing noise from."""

    word: Cumulative
    field: Cumulative


def dcs_kinds(longest: int, roots: int = 1, trees: int = 1) -> Kinds:
    """In a DCS path M and inverse alternate and an inverse comes last, so a context is known by its length."""
    length = np.arange(1, 2 * longest, dtype=np.int32)
    return _planted(length - 1, length % 2, 0, roots, trees)


def ud_kinds(longest: int, roots: int = 1, trees: int = 1) -> Kinds:
    """In a vecUD path M (up) comes before inverses (down): a context is known by its numbers of both."""
    downs, ups = np.divmod(np.arange(1, (longest + 1) ** 2, dtype=np.int32), longest + 1)
    parent = np.where(ups > 0, downs * (longest + 1) + ups - 1, (downs - 1) * (longest + 1))
    return _planted(parent, ups == 0, longest + 1, roots, trees)


def no_kinds(roots: int = 1) -> Kinds:
    """Without matrices every context is empty."""
    return _planted(np.empty(0, np.int32), np.empty(0, np.int32), 0, roots, 1)


def _planted(parent: IntArray, inverse: NDArray[np.generic], width: int, roots: int, trees: int) -> Kinds:
    """Empty kinds, then the same tree on each of the first of them; a parent of 0 stands for the tree's root."""
    begins = roots + len(parent) * np.arange(trees)
    parents = [np.where(parent == 0, root, begin + parent - 1) for root, begin in enumerate(begins)]
    none = np.zeros(roots, np.int32)
    every = np.concatenate([none, *parents]), np.concatenate([none, *[inverse] * trees])
    return Kinds(every[0].astype(np.int32), every[1].astype(np.int32), width, roots, trees)


def marginals(
    word: NDArray[np.float64], field: NDArray[np.float64], word_power: float, field_power: float
) -> Marginals:
    """The distributions of noise: weights to a power."""
    return Marginals(_cumulated(word, word_power), _cumulated(field, field_power))


def _cumulated(weights: NDArray[np.float64], power: float) -> Cumulative:
    total = np.cumsum(np.where(weights > 0, weights, 0.0) ** power * (weights > 0))
    return np.asarray(total / total[-1], np.float64)


@njit(cache=True, nogil=True)
def draw(shares: Cumulative, at: float) -> int:
    """The item in whose share a number of [0, 1) falls."""
    return int(np.searchsorted(shares, at, side="right"))


@njit(cache=True, nogil=True)
def shared_noise(kinds: Kinds, shares: Marginals, count: int, key: np.uint64) -> Noise:
    """`count` noise chains of every kind, those of a kind longer by one matrix than those of its parent.

    BLOCK chains in a row share their fields, not their words: they then go through one matrix product together.
    """
    word = np.empty((kinds.roots, count), np.int32)
    steps = np.empty((len(kinds.parent), count), np.int32)
    for root in range(kinds.roots):
        for k in range(count):
            word[root, k] = draw(shares.word, uniform(key, root * count + k))
    for kind in range(kinds.roots, len(kinds.parent)):
        for k in range(count):
            steps[kind, k] = 2 * draw(shares.field, uniform(key, kind * count + k // BLOCK)) + kinds.inverse[kind]
    return Noise(word, kinds.parent, steps)


@njit(cache=True, nogil=True)
def with_noise(
    paths: Paths, kinds: Kinds, shares: Marginals, private: int, key: np.uint64, whole: float = 0.0
) -> Chains:
    """Choose a boundary for every path, its end with chance `whole`, and draw `private` noise chains for each."""
    count = len(paths.first)
    boundary, kind = np.empty(count, np.int32), np.empty(count, np.int32)
    length = paths.length if len(kinds.parent) > kinds.roots else np.zeros(count, np.int32)
    for i in range(count):
        boundary[i] = 1 + number(key, i) % np.uint64(length[i] - 1) if length[i] > 1 else 0
        if uniform(key, (2 + private) * count + i) < whole:
            boundary[i] = length[i]
        kind[i] = _kind(kinds, length[i], boundary[i], paths.ups[i], i)
    owner = np.empty(count * (1 + private), np.int32)
    last = np.empty(count * (1 + private), np.int32)
    steps = np.empty((count * (1 + private), paths.steps.shape[1]), np.int32)
    last[:count], steps[:count] = paths.last, paths.steps
    for i in range(count):
        owner[i] = i
        for k in range(private):
            j = count + i * private + k
            owner[j] = i
            _draw_chain(shares, number(key, count + j), steps, last, i, j, boundary[i], length[i])
    return Chains(paths.first, length, boundary, kind, last, owner, steps)


@njit(cache=True, nogil=True)
def _draw_chain(
    shares: Marginals, key: np.uint64, steps: IntArray, last: IntArray, i: int, j: int, begin: int, end: int
) -> None:
    """Chain j as path i, but with a random word and random fields from the boundary on; directions stay."""
    last[j] = draw(shares.word, uniform(key, 0))
    for place in range(begin, end):
        steps[j, place] = 2 * draw(shares.field, uniform(key, place + 1)) + steps[i, place] % 2


@njit(cache=True, nogil=True)
def _kind(kinds: Kinds, length: int, boundary: int, ups: int, i: int) -> int:
    """The kind of path i: paths take turns at roots and trees."""
    tail = length - boundary
    if tail == 0:
        return i % kinds.roots
    downs = min(tail, length - ups)
    place = downs * kinds.width + tail - downs if kinds.width else tail
    size = (len(kinds.parent) - kinds.roots) // kinds.trees
    return kinds.roots + i % kinds.trees * size + place - 1
