"""The gradient in section 4 of the paper: factors are normalised, and each parameter has a logit of its own.

Vectors are normalised to length 1 and matrices to the norm √d of an orthogonal one; a parameter that is updated takes
the score times its own size. Sizes are then temperatures.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vecdcs.learn.objective import Gradient, Objective, keep_pairs, keep_words
from vecdcs.learn.rows import NONE, Rows, row_dot, row_length, scale_row, shorten_row
from vecdcs.learn.walks import LEAST, Chains, Floats, Parameters, Sizes, matrix_of, meet, part, sizes_of


@njit(cache=True, nogil=True, error_model="numpy")
def gradient_by_own_logits(model: Parameters, chains: Chains, objective: Objective, out: Gradient) -> float:
    """`gradient`, each parameter by its own logit; the loss is that by the logits of the query vectors."""
    paths = len(chains.first)
    sizes = sizes_of(model, chains)
    rows, before = meet(model, chains, sizes)
    pull, turn, share = np.zeros_like(rows), np.zeros_like(rows[:paths]), np.zeros(len(rows), np.float32)
    loss = _own_words(chains, objective, sizes, rows, pull, share)
    _own_matrices(model, chains, objective, sizes, rows, before, turn)
    keep_pairs(model, chains, rows, before, turn, out)
    out.uses[:paths] = len(chains.last) // paths
    _shorten_pairs(chains, objective.clip, out)
    part(model, chains, pull, sizes)
    for r in range(len(rows)):
        if r < paths:
            shorten_row(pull, r, objective.clip * share[r])
        else:
            shorten_row(pull, r, objective.clip)
            scale_row(pull, r, share[r])
    keep_words(chains, pull, out)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _own_words(chains: Chains, objective: Objective, sizes: Sizes, rows: Rows, pull: Rows, share: Floats) -> float:
    """Fill `pull` with the gradients of words at the boundary; what is left to do for them is in `share`.

    For the query vector of a path that is the sum of its chains' weights, as each of them may be no longer than the
    clip; for the answer vector of a chain it is the weight itself.
    """
    loss, paths = 0.0, len(chains.first)
    for j in range(len(chains.last)):
        i, r = chains.owner[j], paths + j
        score = row_dot(rows, i, r)
        logit = sizes.vector[i] * score - objective.shift
        weight = _weight(logit, j == i, objective)
        share[i] += abs(weight)
        share[r] = _weight(sizes.vector[r] * score - objective.shift, j == i, objective)
        for k in range(rows.shape[1]):
            pull[i, k] += weight * rows[r, k]
            pull[r, k] = rows[i, k]
        above = -logit if j == i else logit
        loss += (1.0 if j == i else objective.private_weight) * (np.log1p(np.exp(-abs(above))) + max(above, 0.0))
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _own_matrices(
    model: Parameters, chains: Chains, objective: Objective, sizes: Sizes, rows: Rows, before: Rows, turn: Rows
) -> None:
    """Sum up in `turn` the right side of A_b's gradient, and make of `before` the right sides of all A_b+1."""
    paths = len(chains.first)
    for j in range(len(chains.last)):
        i, r = chains.owner[j], paths + j
        begin, score = chains.boundary[i], row_dot(rows, i, r)
        if begin > 0:
            size = sizes.matrix[matrix_of(model, chains.steps[i, begin - 1])]
            weight = _weight(size * score - objective.shift, j == i, objective)
            weight *= np.float32(min(1.0, objective.clip / max(row_length(rows, r), LEAST)))
            for k in range(rows.shape[1]):
                turn[i, k] += weight * rows[r, k]
        if chains.length[i] > begin:
            size = sizes.matrix[matrix_of(model, chains.steps[j, begin])]
            shorten_row(before, r, objective.clip)
            scale_row(before, r, float(_weight(size * score - objective.shift, j == i, objective)))


@njit(cache=True, nogil=True, inline="always")
def _weight(logit: float, own: bool, objective: Objective) -> np.float32:
    """The derivative of the objective by a logit: 1 - σ for the path itself, -σ for noise."""
    if own:
        return np.float32(1.0 / (1.0 + np.exp(logit)))
    return np.float32(-objective.private_weight / (1.0 + np.exp(-logit)))


@njit(cache=True, nogil=True, error_model="numpy")
def _shorten_pairs(chains: Chains, limit: float, out: Gradient) -> None:
    """Cut what is left of a matrix; `_own_matrices` has cut what is right of it."""
    for row in range(len(chains.first) + len(chains.last)):
        if out.step[row] != NONE:
            shorten_row(out.left, row, limit)
