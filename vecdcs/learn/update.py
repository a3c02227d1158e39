"""Applying a step's gradients: sums per word and per field, each computed and applied by one worker alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray
from vecdcs.learn.objective import Gradient
from vecdcs.learn.rows import Rows, Sorted, copy_row
from vecdcs.learn.walks import Parameters

BLOCK, GENTLE = 512, 0.1


class Rate(NamedTuple):
    """A step size `now`, and no summed step longer than `cap`; both steps and parameter shrink as 1/(1 + decay * uses).

    Shrinking both is a step size that falls and a penalty on the parameter's length (Bottou's way of L2).
    """

    now: float
    decay: float
    cap: float


class Uses(NamedTuple):
    """The optimiser's memory: how often each parameter was used, and for each field

    `drift`, how far its matrices have moved since they were last made orthogonal, and `due`, the uses since the
    regularisers were last applied.
    """

    query: NDArray[np.int64]
    answer: NDArray[np.int64]
    field: NDArray[np.int64]
    drift: NDArray[np.float64]
    due: NDArray[np.int64]


class Binding(NamedTuple):
    """What holds M and its inverse in shape: orthogonality, whenever they drifted, or the paper's regularisers."""

    orthogonal: bool
    drift: float
    inverse: float
    orthogonality: float
    every: int


@njit(cache=True, nogil=True, error_model="numpy")
def update_words(
    table: Rows, uses: NDArray[np.int64], rows: Rows, by_word: Sorted, first: int, last: int, rate: Rate
) -> None:
    """Move the vectors of words first ... last - 1 along the sums of their rows."""
    total = np.empty(table.shape[1], np.float32)
    for word in range(first, last):
        count = by_word.begin[word + 1] - by_word.begin[word]
        if count == 0:
            continue
        total[:] = 0.0
        for i in range(by_word.begin[word], by_word.begin[word + 1]):
            row = by_word.order[i]
            for k in range(len(total)):
                total[k] += rows[row, k]
        _shrink(table[word], rate, uses[word], count)
        uses[word] += count
        step = _step(rate, uses[word], np.sqrt(np.dot(total, total)))
        for k in range(len(total)):
            table[word, k] += step * total[k]


@njit(cache=True, nogil=True, error_model="numpy")
def update_field(
    model: Parameters, uses: Uses, step: Gradient, by_step: Sorted, field: int, rate: Rate, binding: Binding
) -> None:
    """Move a field's matrices along the sums of their outer products, and hold them in shape."""
    begin, middle, end = by_step.begin[2 * field], by_step.begin[2 * field + 1], by_step.begin[2 * field + 2]
    if begin == end:
        return
    own = slice(field, field + 1) if model.tied else slice(2 * field, 2 * field + 2)
    count, none = step.uses[by_step.order[begin:end]].sum(), by_step.order[:0]
    straight, inverse = by_step.order[begin:middle], by_step.order[middle:end]
    for m in range(own.start, own.stop):
        _shrink(model.matrix[m].ravel(), rate, uses.field[field], count)
    uses.field[field] += count
    uses.due[field] += count
    used = uses.field[field]
    if model.tied:
        moved = _move(model.matrix[field], step, straight, inverse, used, rate)
    else:
        moved = _move(model.matrix[2 * field], step, straight, none, used, rate)
        moved += _move(model.matrix[2 * field + 1], step, inverse, none, used, rate)
    uses.drift[field] += moved
    if binding.orthogonal and uses.drift[field] > binding.drift * np.sqrt(model.matrix.shape[1]):
        uses.drift[field] = 0.0
        for m in range(own.start, own.stop):
            model.matrix[m] = nearer_orthogonal(model.matrix[m])
    if not binding.orthogonal and uses.due[field] >= binding.every:
        strength = rate.now / (1.0 + rate.decay * uses.field[field]) * uses.due[field]
        uses.due[field] = 0
        regularise(model.matrix[2 * field], model.matrix[2 * field + 1], strength, binding)


@njit(cache=True, nogil=True, error_model="numpy")
def _move(matrix: Rows, step: Gradient, straight: IntArray, turned: IntArray, used: int, rate: Rate) -> float:
    """Add the outer products of the rows `straight`, and of the rows `turned` with their sides exchanged."""
    count, dim = len(straight) + len(turned), matrix.shape[0]
    if count == 0:
        return 0.0
    size = min(count, BLOCK)
    left, right = np.empty((size, dim), np.float32), np.empty((size, dim), np.float32)
    total = np.empty((dim, dim), np.float32)
    part = np.empty_like(total) if count > size else total
    for start in range(0, count, size):
        here = min(size, count - start)
        for i in range(here):
            at = start + i
            if at < len(straight):
                copy_row(step.left, straight[at], left, i)
                copy_row(step.right, straight[at], right, i)
            else:
                copy_row(step.right, turned[at - len(straight)], left, i)
                copy_row(step.left, turned[at - len(straight)], right, i)
        np.dot(left[:here].T, right[:here], part if start else total)
        if start:
            total += part
    flat = total.ravel()
    length = np.sqrt(np.dot(flat, flat))
    factor = _step(rate, used, length)
    for i in range(dim):
        for k in range(dim):
            matrix[i, k] += factor * total[i, k]
    return float(factor * length)


@njit(cache=True, nogil=True, error_model="numpy")
def _step(rate: Rate, used: int, length: float) -> np.float32:
    """The step size for a parameter used so often, whose gradient is so long."""
    step = rate.now / (1.0 + rate.decay * used)
    if rate.cap > 0.0 and step * length > rate.cap:
        step = rate.cap / length
    return np.float32(step)


@njit(cache=True, nogil=True, error_model="numpy")
def _shrink(values: NDArray[np.float32], rate: Rate, used: int, count: int) -> None:
    """What is left of a parameter used so often after so many uses more."""
    if rate.decay > 0.0:
        values *= np.float32((1.0 + rate.decay * used) / (1.0 + rate.decay * (used + count)))


@njit(cache=True, nogil=True, error_model="numpy")
def nearer_orthogonal(matrix: Rows) -> Rows:
    """One Newton-Schulz step towards the nearest orthogonal matrix; the error is squared."""
    gram = np.dot(matrix.T, matrix)
    nearer: Rows = np.dot(matrix, gram)
    for i in range(len(nearer)):
        for k in range(len(nearer)):
            nearer[i, k] = np.float32(1.5) * matrix[i, k] - np.float32(0.5) * nearer[i, k]
    return nearer


@njit(cache=True, nogil=True, error_model="numpy")
def regularise(matrix: Rows, inverse: Rows, strength: float, binding: Binding) -> None:
    """A step down γ |M^-1 M - cI|² + κ (|M^T M - cI|² + the same of M^-1), c by the trace; never overshooting."""
    off, scale = _off_scaled_identity(np.dot(inverse, matrix))
    skew, matrix_scale = _off_scaled_identity(np.dot(matrix.T, matrix))
    inverse_skew, inverse_scale = _off_scaled_identity(np.dot(inverse.T, inverse))
    gamma = _gentle(2 * binding.inverse * strength, scale)
    kappa = _gentle(4 * binding.orthogonality * strength, matrix_scale)
    inverse_kappa = _gentle(4 * binding.orthogonality * strength, inverse_scale)
    forth, back = np.dot(inverse.T, off), np.dot(off, matrix.T)
    matrix -= gamma * forth + kappa * np.dot(matrix, skew)
    inverse -= gamma * back + inverse_kappa * np.dot(inverse, inverse_skew)


@njit(cache=True, nogil=True, error_model="numpy")
def _gentle(step: float, scale: float) -> np.float32:
    """A step that leaves a part of the error of matrices of this scale: the error shrinks by 1 - 2 * step * scale."""
    return np.float32(min(step, GENTLE / max(abs(scale), 1e-12)))


@njit(cache=True, nogil=True, error_model="numpy")
def _off_scaled_identity(matrix: Rows) -> tuple[Rows, float]:
    """X - cI with c = tr(X)/d, and c."""
    scale = np.trace(matrix) / np.float32(matrix.shape[0])
    for k in range(matrix.shape[0]):
        matrix[k, k] -= scale
    return matrix, float(scale)
