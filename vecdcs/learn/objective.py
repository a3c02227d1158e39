"""What is maximised for a batch of paths, and where its gradient is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from vecdcs.corpus.flat import IntArray
from vecdcs.learn.rows import NONE, Rows, copy_row
from vecdcs.learn.walks import Chains, Parameters, learned


class Noise(NamedTuple):
    """Noise chains shared by all paths of a kind, each kind one matrix longer than the kind `parent` it goes on from.

    The first kinds have no matrix, only the words `word[kind]`; of the others, `steps[kind]` are the first matrices of
    the chains. Parents precede.
    """

    word: IntArray
    parent: IntArray
    steps: IntArray


class Objective(NamedTuple):
    """What is maximised: log σ(s - shift) + weight * sum over noise of log σ(shift - s).

    With a `clip` above 0 every parameter has its own logit s (all noise is private then), and what is on either side of
    it in a chain is cut to that length.
    """

    shift: float
    private_weight: float
    shared_weight: float
    clip: float


class Gradient(NamedTuple):
    """Where a batch leaves its gradient: rows for words, and pairs of rows whose outer products are for matrices.

    A word or step of -1 marks a row without meaning; a pair counts as so many `uses` of its matrix.
    """

    query_word: IntArray
    query: Rows
    answer_word: IntArray
    answer: Rows
    step: IntArray
    left: Rows
    right: Rows
    uses: IntArray


def room(paths: int, private: int, words: int, pairs: int, dim: int) -> Gradient:
    """Room for the gradient of so many paths, each with private noise, and of the words and pairs of shared noise."""
    chains = paths * (1 + private)
    pairs += paths + chains
    words += chains
    return Gradient(
        np.full(paths, NONE, np.int32),
        np.empty((paths, dim), np.float32),
        np.full(words, NONE, np.int32),
        np.empty((words, dim), np.float32),
        np.full(pairs, NONE, np.int32),
        np.empty((pairs, dim), np.float32),
        np.empty((pairs, dim), np.float32),
        np.ones(pairs, np.int32),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def keep_words(chains: Chains, pull: Rows, out: Gradient) -> None:
    paths, count = len(chains.first), len(chains.last)
    out.query_word[:paths], out.answer_word[:count] = chains.first, chains.last
    out.query[:paths], out.answer[:count] = pull[:paths], pull[paths:]


@njit(cache=True, nogil=True, error_model="numpy")
def keep_pairs(model: Parameters, chains: Chains, rows: Rows, before: Rows, pull: Rows, out: Gradient) -> None:
    """The two rows whose outer product is the gradient of A_b, and those of every chain's A_b+1."""
    paths = len(chains.first)
    for i in range(paths):
        if chains.boundary[i] > 0:
            out.step[i] = learned(model, chains.steps[i, chains.boundary[i] - 1])
            copy_row(before, i, out.left, i)
            copy_row(pull, i, out.right, i)
    for j in range(len(chains.last)):
        i = chains.owner[j]
        if chains.length[i] > chains.boundary[i]:
            out.step[paths + j] = learned(model, chains.steps[j, chains.boundary[i]])
            copy_row(rows, i, out.left, paths + j)
            copy_row(before, paths + j, out.right, paths + j)
