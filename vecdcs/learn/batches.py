"""From sampled paths to what is learned from them: a boundary for each path, and noise after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray
from vecdcs.learn.chance import number, uniform
from vecdcs.learn.kernel import Chains, Noise
from vecdcs.learn.paths import Paths

Cumulative = NDArray[np.float64]

BLOCK = 16


class Kinds(NamedTuple):
    """The kinds of context a path can have: the directions of its matrices, as a tree grown from the last one.

    Kind k puts one matrix, inverse if `inverse[k]`, before the context of kind `parent[k]`; kind 0 is empty.
    """

    parent: IntArray
    inverse: IntArray
    width: int


class Marginals(NamedTuple):
    """Cumulated shares of words and fields, for drawing noise from."""

    word: Cumulative
    field: Cumulative


def dcs_kinds(longest: int) -> Kinds:
    """In a DCS path M and inverse alternate and an inverse comes last, so a context is known by its length."""
    length = np.arange(2 * longest, dtype=np.int32)
    return Kinds(np.maximum(length - 1, 0).astype(np.int32), (length % 2).astype(np.int32), 0)


def ud_kinds(longest: int) -> Kinds:
    """In a vecUD path M (up) comes before inverses (down): a context is known by its numbers of both."""
    downs, ups = np.divmod(np.arange((longest + 1) ** 2, dtype=np.int32), longest + 1)
    parent = np.where(ups > 0, downs * (longest + 1) + ups - 1, np.maximum(downs - 1, 0) * (longest + 1))
    return Kinds(parent.astype(np.int32), (ups == 0).astype(np.int32), longest + 1)


def no_kinds() -> Kinds:
    """Without matrices every context is empty."""
    return Kinds(np.zeros(1, np.int32), np.zeros(1, np.int32), 0)


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
    word = np.empty(count, np.int32)
    steps = np.empty((len(kinds.parent), count), np.int32)
    for k in range(count):
        word[k] = draw(shares.word, uniform(key, k))
    for kind in range(1, len(kinds.parent)):
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
    length = paths.length if len(kinds.parent) > 1 else np.zeros(count, np.int32)
    for i in range(count):
        boundary[i] = 1 + number(key, i) % np.uint64(length[i] - 1) if length[i] > 1 else 0
        if uniform(key, (2 + private) * count + i) < whole:
            boundary[i] = length[i]
        kind[i] = _kind(kinds, length[i], boundary[i], paths.ups[i])
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
def _kind(kinds: Kinds, length: int, boundary: int, ups: int) -> int:
    tail = length - boundary
    if kinds.width == 0:
        return tail
    downs = min(tail, length - ups)
    return downs * kinds.width + tail - downs
