"""The gradient of a batch of paths: at each place of the path one matrix product for all that need the same matrix.

The model gives a path the score v_x A_1 ... A_p · u_y. Noise replaces everything after the boundary b, so the score is
reached · onward with reached = v_x A_1 ... A_b and onward = A_b+1 ... A_p u_y. Only v_x, u_y, the noise words' u_z,
A_b, A_b+1 and the first matrix of each noise chain have gradients, as in section 4 of the paper. `reference.py` says
the same for one path at a time.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.learn.objective import Gradient, Noise, Objective, keep_pairs, keep_words
from vecdcs.learn.own_logits import gradient_by_own_logits
from vecdcs.learn.rows import NONE, Rows, copy_row, sort, take_rows
from vecdcs.learn.walks import Chains, Parameters, as_they_are, learned, meet, multiply, part, want

LOSS_CHAINS = 8


@njit(cache=True, nogil=True, error_model="numpy")
def gradient(model: Parameters, chains: Chains, noise: Noise, objective: Objective, out: Gradient) -> float:
    """Fill `out` with the gradient of a batch; returns (an estimate of) the loss, summed over its paths."""
    paths = len(chains.first)
    out.query_word[:], out.answer_word[:], out.step[:] = NONE, NONE, NONE
    if paths == 0:
        return 0.0
    if objective.clip > 0.0:
        return gradient_by_own_logits(model, chains, objective, out)
    sizes = as_they_are()
    rows, before = meet(model, chains, sizes)
    pull = np.empty_like(rows)
    loss = 0.0
    if noise.word.size:
        loss += _against_shared(model, chains, noise, objective, rows[:paths], pull[:paths], out)
    else:
        pull[:paths] = 0.0
    loss += _against_private(chains, objective, rows, before, pull)
    keep_pairs(model, chains, rows, before, pull, out)
    part(model, chains, pull, sizes)
    keep_words(chains, pull, out)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _against_private(chains: Chains, objective: Objective, rows: Rows, before: Rows, pull: Rows) -> float:
    """Scores of the paths and of their private noise; `pull` gets the gradients at the boundary.

    The rows before A_b+1 are scaled to give the gradient of that matrix.
    """
    loss, shift, paths = 0.0, np.float32(objective.shift), len(chains.first)
    for j in range(len(chains.last)):
        i, r = chains.owner[j], paths + j
        score = -shift
        for k in range(rows.shape[1]):
            score += rows[i, k] * rows[r, k]
        if j == i:
            share = 1.0 / (1.0 + np.exp(score))
            loss += np.log1p(np.exp(-abs(score))) + max(-score, 0.0)
        else:
            share = -objective.private_weight / (1.0 + np.exp(-score))
            loss += objective.private_weight * (np.log1p(np.exp(-abs(score))) + max(score, 0.0))
        factor = np.float32(share)
        for k in range(rows.shape[1]):
            pull[i, k] += factor * rows[r, k]
            pull[r, k] = factor * rows[i, k]
            before[r, k] *= factor
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _against_shared(
    model: Parameters, chains: Chains, noise: Noise, objective: Objective, reached: Rows, back: Rows, out: Gradient
) -> float:
    """Scores against shared noise: per kind one product for the scores and one for each side of the gradient."""
    chain, needed = _noise_chains(model, chains, noise)
    grown = np.zeros_like(chain)
    order, begin = sort(chains.kind, len(noise.parent))
    rows = take_rows(reached, order)
    pulled = np.empty_like(rows)
    score = np.empty((len(order), noise.word.shape[1]), np.float32)
    for kind in range(len(noise.parent)):
        some = slice(begin[kind], begin[kind + 1])
        if begin[kind] < begin[kind + 1]:
            np.dot(rows[some], chain[kind].T, score[some])
    loss = _noise_shares(score, objective)
    for kind in range(len(noise.parent)):
        some = slice(begin[kind], begin[kind + 1])
        if begin[kind] < begin[kind + 1]:
            np.dot(score[some], chain[kind], pulled[some])
            np.dot(score[some].T, rows[some], grown[kind])
    for j in range(len(order)):
        copy_row(pulled, j, back, order[j])
    _keep_noise(model, chains, noise, chain, grown, needed, begin, out)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _noise_chains(model: Parameters, chains: Chains, noise: Noise) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The noise chains of every kind in use, each one product from its parent's."""
    kinds, (roots, count) = len(noise.parent), noise.word.shape
    needed = np.zeros(kinds, np.bool_)
    for i in range(len(chains.kind)):
        needed[chains.kind[i]] = True
    for kind in range(kinds - 1, roots - 1, -1):
        needed[noise.parent[kind]] |= needed[kind]
    which, keys = np.empty(count, np.int32), np.empty(count, np.int32)
    chain = np.empty((kinds, count, model.query.shape[1]), np.float32)
    for root in range(roots):
        chain[root] = take_rows(model.answer, noise.word[root])
    for kind in range(roots, kinds):
        if needed[kind]:
            chain[kind] = chain[noise.parent[kind]]
            active = 0
            for k in range(count):
                active = want(model, k, noise.steps[kind, k], True, which, keys, active)
            multiply(model, as_they_are(), chain[kind], which[:active], keys[:active])
    return chain, needed


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_noise(
    model: Parameters,
    chains: Chains,
    noise: Noise,
    chain: NDArray[np.float32],
    grown: NDArray[np.float32],
    needed: NDArray[np.bool_],
    begin: NDArray[np.int64],
    out: Gradient,
) -> None:
    """Gradients of the first noise matrix of each kind, and through all of them those of the noise words."""
    kinds, (roots, count) = len(noise.parent), noise.word.shape
    which, keys = np.empty(count, np.int32), np.empty(count, np.int32)
    at = len(chains.first) + len(chains.last)
    for kind in range(kinds - 1, roots - 1, -1):
        if begin[kind] < begin[kind + 1]:
            place = at + (kind - roots) * count
            for k in range(count):
                out.step[place + k] = learned(model, noise.steps[kind, k])
            out.right[place : place + count] = chain[noise.parent[kind]]
    # `grown` becomes the sum over a kind and its descendants, but only its own part is the matrix's.
    for kind in range(kinds - 1, roots - 1, -1):
        if needed[kind]:
            place = at + (kind - roots) * count
            out.left[place : place + count] = grown[kind]
    for kind in range(kinds - 1, roots - 1, -1):
        if needed[kind]:
            active = 0
            for k in range(count):
                active = want(model, k, noise.steps[kind, k], False, which, keys, active)
            multiply(model, as_they_are(), grown[kind], which[:active], keys[:active])
            grown[noise.parent[kind]] += grown[kind]
    place = len(chains.last)
    out.answer_word[place : place + roots * count] = noise.word.ravel()
    out.answer[place : place + roots * count] = grown[:roots].reshape(-1, grown.shape[2])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "arcp", "nsz", "reassoc"})
def _noise_shares(score: Rows, objective: Objective) -> float:
    """Turn scores in place into -weight σ(s - shift); the loss is estimated from the first few chains of each path."""
    shift, weight = np.float32(objective.shift), np.float32(objective.shared_weight)
    log2e, one = np.float32(1.4426950408889634), np.float32(1.0)
    power = np.empty(score.shape[1], np.int32)
    scale = power.view(np.float32)
    seen = min(LOSS_CHAINS, score.shape[1])
    loss = 0.0
    for i in range(score.shape[0]):
        row = score[i]
        for j in range(seen):
            above = float(row[j] - shift)
            loss += np.log1p(np.exp(-abs(above))) + max(above, 0.0)
        for j in range(len(row)):
            # exp(shift - s) as 2^whole * 2^part, the first by its bits, the second by its Taylor series around 1/2.
            exponent = min(max((shift - row[j]) * log2e, np.float32(-126.0)), np.float32(126.0))
            whole = np.floor(exponent)
            t = (exponent - whole - np.float32(0.5)) * np.float32(0.6931471805599453)
            t2 = t * t
            even = one + t2 * (np.float32(1 / 2) + t2 * (np.float32(1 / 24) + t2 * np.float32(1 / 720)))
            odd = t * (one + t2 * (np.float32(1 / 6) + t2 * np.float32(1 / 120)))
            power[j] = (np.int32(whole) + np.int32(127)) << np.int32(23)
            row[j] = (even + odd) * np.float32(1.4142135623730951)
        for j in range(len(row)):
            row[j] = one / (one + row[j] * scale[j])
        for j in range(len(row)):
            row[j] *= -weight
    return float(loss * objective.shared_weight * score.shape[1] / seen)
