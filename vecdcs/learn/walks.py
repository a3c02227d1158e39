"""Going along paths: at each place one matrix product for all the rows that need the same matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray
from vecdcs.learn.rows import NONE, Rows, copy_row, row_length, scale_row, sort, take_rows

Floats = NDArray[np.float32]

FEW = 10
LEAST = 1e-12


class Parameters(NamedTuple):
    """Query and answer vectors, and matrices: one a field if tied (its transpose is the inverse), else M, M^-1.

    The matrix numbered `still` is I and stays so; nothing is multiplied by it.
    """

    query: Rows
    answer: Rows
    matrix: Rows
    tied: bool
    still: int = NONE


class Chains(NamedTuple):
    """Paths to learn from, and the private noise of each.

    Path i runs from `first[i]` over the matrices `steps[i, :length[i]]`, of which the first `boundary[i]` are the
    target. Chain j goes on from the target of path `owner[j]` over `steps[j, boundary:length]` to `last[j]`; chains 0,
    1, 2 ... are the paths themselves, those from len(first) on are noise. `kind[i]` is the kind of shared noise.
    """

    first: IntArray
    length: IntArray
    boundary: IntArray
    kind: IntArray
    last: IntArray
    owner: IntArray
    steps: IntArray


class Sizes(NamedTuple):
    """What factors are divided by: the length of each row's vector, and |M|/√d; empty to take them as they are."""

    vector: Floats
    matrix: Floats


@njit(cache=True, nogil=True)
def as_they_are() -> Sizes:
    return Sizes(np.empty(0, np.float32), np.empty(0, np.float32))


@njit(cache=True, nogil=True, error_model="numpy")
def sizes_of(model: Parameters, chains: Chains) -> Sizes:
    """The lengths of all vectors, and the sizes of all matrices, that the chains need."""
    paths = len(chains.first)
    vector = np.empty(paths + len(chains.last), np.float32)
    for i in range(paths):
        vector[i] = row_length(model.query, chains.first[i])
    matrix = np.zeros(len(model.matrix), np.float32)
    for j in range(len(chains.last)):
        vector[paths + j] = row_length(model.answer, chains.last[j])
        for place in range(chains.length[chains.owner[j]]):
            if j < paths or place >= chains.boundary[chains.owner[j]]:
                matrix[matrix_of(model, chains.steps[j, place])] = 1.0
    for m in range(len(matrix)):
        if matrix[m] > 0.0:
            flat = model.matrix[m].ravel()
            matrix[m] = max(np.sqrt(np.dot(flat, flat) / model.matrix.shape[1]), LEAST)
    return Sizes(vector, matrix)


@njit(cache=True, nogil=True, error_model="numpy")
def meet(model: Parameters, chains: Chains, sizes: Sizes) -> tuple[Rows, Rows]:
    """From both ends to the boundary: first v_x A_1 ... A_b for every path, then A_b+1 ... A_p u_y for every chain.

    Also returned: the same rows one product earlier, without A_b or A_b+1.
    """
    paths, count = len(chains.first), len(chains.first) + len(chains.last)
    rows = np.empty((count, model.query.shape[1]), np.float32)
    rows[:paths], rows[paths:] = take_rows(model.query, chains.first), take_rows(model.answer, chains.last)
    for r in range(len(sizes.vector)):
        scale_row(rows, r, 1.0 / max(sizes.vector[r], LEAST))
    before = np.empty_like(rows)
    which, keys = np.empty(count, np.int32), np.empty(count, np.int32)
    for place in range(_longest_side(chains)):
        active = 0
        for r in range(count):
            side, path = _side(chains, r)
            if side > place:
                end = chains.length[path] - 1 - place
                step = chains.steps[r, place] if r < paths else chains.steps[r - paths, end]
                active = want(model, r, step, r >= paths, which, keys, active)
            if side == place + 1:
                copy_row(rows, r, before, r)
        multiply(model, sizes, rows, which[:active], keys[:active])
    return rows, before


@njit(cache=True, nogil=True, error_model="numpy")
def part(model: Parameters, chains: Chains, rows: Rows, sizes: Sizes) -> None:
    """From the boundary to both ends: back through A_b ... A_1 for every path, on by A_b+1 ... A_p for every chain."""
    paths, count = len(chains.first), len(chains.first) + len(chains.last)
    which, keys = np.empty(count, np.int32), np.empty(count, np.int32)
    for place in range(_longest_side(chains)):
        active = 0
        for r in range(count):
            side, path = _side(chains, r)
            if side > place:
                begin = chains.boundary[path]
                step = chains.steps[r, begin - 1 - place] if r < paths else chains.steps[r - paths, begin + place]
                active = want(model, r, step, r < paths, which, keys, active)
        multiply(model, sizes, rows, which[:active], keys[:active])


@njit(cache=True, nogil=True, error_model="numpy")
def _longest_side(chains: Chains) -> int:
    return int(max(chains.boundary.max(), (chains.length - chains.boundary).max()))


@njit(cache=True, nogil=True, inline="always")
def _side(chains: Chains, r: int) -> tuple[int, int]:
    """The number of matrices between row r and the boundary, and its path: first all targets, then all contexts."""
    if r < len(chains.first):
        return chains.boundary[r], r
    path = chains.owner[r - len(chains.first)]
    return chains.length[path] - chains.boundary[path], path


@njit(cache=True, nogil=True, inline="always")
def want(model: Parameters, row: int, step: int, back: bool, which: IntArray, keys: IntArray, count: int) -> int:
    """Put a row and its matrix on the list of what `multiply` shall do, if there is anything to do; its new length."""
    if matrix_of(model, step) == model.still:
        return count
    which[count], keys[count] = row, key_of(model, step, back)
    return count + 1


@njit(cache=True, nogil=True, inline="always")
def key_of(model: Parameters, step: int, back: bool) -> int:
    """Twice the number of a step's matrix, plus 1 if it is to be transposed: if an inverse, or going back, not both."""
    if model.tied:
        return step ^ int(back)
    return 2 * step + int(back)


@njit(cache=True, nogil=True, inline="always")
def matrix_of(model: Parameters, step: int) -> int:
    """The number of a step's matrix."""
    return step // 2 if model.tied else step


@njit(cache=True, nogil=True, inline="always")
def learned(model: Parameters, step: int) -> int:
    """The step itself, or none if its matrix stays as it is."""
    return NONE if matrix_of(model, step) == model.still else step


@njit(cache=True, nogil=True, error_model="numpy")
def multiply(model: Parameters, sizes: Sizes, rows: Rows, which: IntArray, keys: IntArray) -> None:
    """rows[which[j]] times the matrix of keys[j], over its size if given: grouped by matrix, one product each."""
    kinds = 2 * model.matrix.shape[0]
    order, begin = sort(keys, kinds)
    gathered = np.empty((len(which), rows.shape[1]), np.float32)
    product = np.empty_like(gathered)
    for j in range(len(which)):
        copy_row(rows, which[order[j]], gathered, j)
    for key in range(kinds):
        # A product of few rows takes longer to set up than row by row.
        size = begin[key + 1] - begin[key]
        stride = 1 if size < FEW else max(size, 1)
        for start in range(begin[key], begin[key + 1], stride):
            some = slice(start, start + stride)
            if key % 2 == 1:
                np.dot(gathered[some], model.matrix[key // 2].T, product[some])
            else:
                np.dot(gathered[some], model.matrix[key // 2], product[some])
        if len(sizes.matrix) and size:
            product[begin[key] : begin[key + 1]] /= sizes.matrix[key // 2]
    for j in range(len(which)):
        copy_row(product, j, rows, which[order[j]])
