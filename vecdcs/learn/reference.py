"""The gradient of section 4 for one path at a time, as short as can be: what kernel.py must agree with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecdcs.learn.objective import Noise, Objective
from vecdcs.learn.walks import Chains, Parameters

Array = NDArray[np.float64]
Sums = tuple[Array, Array, Array]


def matrix(model: Parameters, step: int) -> Array:
    """The matrix of a step: M of field f for 2f, its inverse for 2f + 1."""
    if model.tied:
        return np.asarray(model.matrix[step // 2].T if step % 2 else model.matrix[step // 2], np.float64)
    return np.asarray(model.matrix[step], np.float64)


def product(model: Parameters, steps: list[int]) -> Array:
    """A_1 ... A_n."""
    result = np.eye(model.query.shape[1])
    for step in steps:
        result = result @ matrix(model, step)
    return result


def shared_chain(noise: Noise, kind: int, k: int) -> tuple[list[int], int]:
    """The matrices of the k-th shared noise chain of a kind, and its word."""
    steps = []
    while kind >= len(noise.word):
        steps.append(int(noise.steps[kind, k]))
        kind = int(noise.parent[kind])
    return steps, int(noise.word[kind, k])


def contexts(chains: Chains, noise: Noise, objective: Objective, i: int) -> list[tuple[list[int], int, float]]:
    """All a path is scored with: matrices from the boundary on, last word, and weight (0 marks the path itself)."""
    begin, end = chains.boundary[i], chains.length[i]
    mine = [j for j in range(len(chains.last)) if chains.owner[j] == i]
    found = [
        (chains.steps[j, begin:end].tolist(), int(chains.last[j]), objective.private_weight if j != i else 0.0)
        for j in mine
    ]
    for k in range(noise.word.shape[1]):
        found.append((*shared_chain(noise, int(chains.kind[i]), k), objective.shared_weight))
    return found


def objective_value(score: float, weight: float, objective: Objective) -> float:
    """log σ(s - shift) for the path itself (weight 0), weight * log σ(shift - s) for noise."""
    signed = score - objective.shift if weight == 0.0 else objective.shift - score
    return float(-np.logaddexp(0.0, -signed)) * (weight or 1.0)


def slope(score: float, weight: float, objective: Objective) -> float:
    """The derivative of `objective_value` by the score."""
    sigma = 1.0 / (1.0 + np.exp(objective.shift - score))
    return float(1.0 - sigma if weight == 0.0 else -weight * sigma)


def add_outer(sums: Array, model: Parameters, step: int, left: Array, right: Array) -> None:
    """Add the gradient left^T right of a step's matrix, transposed where the matrix is."""
    if (step // 2 if model.tied else step) == model.still:
        return
    if model.tied:
        sums[step // 2] += np.outer(right, left) if step % 2 else np.outer(left, right)
    else:
        sums[step] += np.outer(left, right)


def path_gradient(model: Parameters, chains: Chains, noise: Noise, objective: Objective, i: int, sums: Sums) -> float:
    """Add one path's gradient to the sums for query vectors, answer vectors and matrices; returns its loss."""
    target = chains.steps[i, : chains.boundary[i]].tolist()
    before = model.query[chains.first[i]] @ product(model, target[:-1])
    reached = model.query[chains.first[i]] @ product(model, target)
    back = np.zeros_like(reached)
    loss = 0.0
    for steps, word, weight in contexts(chains, noise, objective, i):
        onward = product(model, steps) @ model.answer[word]
        score = float(reached @ onward)
        share = slope(score, weight, objective)
        loss -= objective_value(score, weight, objective)
        back += share * onward
        sums[1][word] += share * (reached @ product(model, steps))
        if steps:
            add_outer(sums[2], model, steps[0], reached, share * (product(model, steps[1:]) @ model.answer[word]))
    sums[0][chains.first[i]] += product(model, target) @ back
    if target:
        add_outer(sums[2], model, target[-1], before, back)
    return loss


def hat(factor: Array) -> Array:
    """A factor normalised: a vector to length 1, a matrix to norm √d."""
    return factor / size(factor)


def size(factor: Array) -> float:
    """What `hat` divides by."""
    return float(np.linalg.norm(factor)) / (1.0 if factor.ndim == 1 else np.sqrt(len(factor)))


def hats(model: Parameters, steps: list[int]) -> Array:
    """The product of normalised matrices."""
    result = np.eye(model.query.shape[1])
    for step in steps:
        result = result @ hat(matrix(model, step))
    return result


def cut(row: Array, limit: float) -> Array:
    """A row, no longer than the limit."""
    return row * min(1.0, limit / max(float(np.linalg.norm(row)), 1e-12))


def own_gradient(model: Parameters, chains: Chains, noise: Noise, objective: Objective, i: int, sums: Sums) -> float:
    """`path_gradient` with normalised factors and own logits; the loss is that by the query vector's logit."""
    target = chains.steps[i, : chains.boundary[i]].tolist()
    first, limit = model.query[chains.first[i]], objective.clip
    before, reached = hat(first) @ hats(model, target[:-1]), hat(first) @ hats(model, target)
    back, turn, mass, loss = np.zeros_like(reached), np.zeros_like(reached), 0.0, 0.0
    for steps, word, weight in contexts(chains, noise, objective, i):
        last = model.answer[word]
        onward = hats(model, steps) @ hat(last)
        score = float(reached @ onward)
        share = slope(size(first) * score, weight, objective)
        loss -= objective_value(size(first) * score, weight, objective)
        back, mass = back + share * onward, mass + abs(share)
        sums[1][word] += slope(size(last) * score, weight, objective) * cut(reached @ hats(model, steps), limit)
        if target:
            turn += slope(size(matrix(model, target[-1])) * score, weight, objective) * cut(onward, limit)
        if steps:
            share = slope(size(matrix(model, steps[0])) * score, weight, objective)
            right = share * cut(hats(model, steps[1:]) @ hat(last), limit)
            add_outer(sums[2], model, steps[0], cut(reached, limit), right)
    sums[0][chains.first[i]] += cut(hats(model, target) @ back, limit * mass)
    if target:
        add_outer(sums[2], model, target[-1], cut(before, limit), turn)
    return loss


def batch_gradient(model: Parameters, chains: Chains, noise: Noise, objective: Objective) -> tuple[float, Sums]:
    """The summed gradient of a batch, path by path."""
    sums = (
        np.zeros(model.query.shape, np.float64),
        np.zeros(model.answer.shape, np.float64),
        np.zeros(model.matrix.shape, np.float64),
    )
    one = own_gradient if objective.clip > 0 else path_gradient
    loss = sum(one(model, chains, noise, objective, i, sums) for i in range(len(chains.first)))
    return loss, sums
