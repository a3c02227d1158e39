"""Applying gradients: sums by word and field, caps, orthogonality, and the paper's two regularisers."""

from __future__ import annotations

import numpy as np
import pytest

from vecdcs.learn import reference, update
from vecdcs.learn.objective import Gradient
from vecdcs.learn.rows import NONE, sort
from vecdcs.learn.trainer import orthogonal
from vecdcs.learn.walks import Parameters

DIM, FIELDS = 6, 3
FREE = update.Rate(0.1, 0.0, 0.0)


def gradient(rng: np.random.Generator, pairs: int = 40) -> Gradient:
    words = rng.integers(-1, 5, 30).astype(np.int32)
    rows = rng.normal(size=(30, DIM)).astype(np.float32)
    steps = rng.integers(-1, 2 * FIELDS, pairs).astype(np.int32)
    left, right = (rng.normal(size=(pairs, DIM)).astype(np.float32) for _ in range(2))
    return Gradient(words, rows, words, rows, steps, left, right, rng.integers(1, 4, pairs).astype(np.int32))


def uses() -> update.Uses:
    counts = [np.zeros(size, np.int64) for size in (5, 5, FIELDS)]
    return update.Uses(*counts, np.zeros(FIELDS), np.zeros(FIELDS, np.int64))


def model(rng: np.random.Generator, tied: bool) -> Parameters:
    shapes = ((5, DIM), (5, DIM), (FIELDS if tied else 2 * FIELDS, DIM, DIM))
    return Parameters(*(rng.normal(size=shape).astype(np.float32) for shape in shapes), tied)


def test_words_move_along_the_sum_of_their_rows() -> None:
    step = gradient(np.random.default_rng(1))
    table, used = np.zeros((5, DIM), np.float32), np.zeros(5, np.int64)
    by_word = sort(step.query_word, 5)
    update.update_words(table, used, step.query, by_word, 0, 2, FREE)
    update.update_words(table, used, step.query, by_word, 2, 5, FREE)
    for word in range(5):
        mine = step.query_word == word
        np.testing.assert_allclose(table[word], 0.1 * step.query[mine].sum(0), rtol=1e-4, atol=1e-6)
        assert used[word] == mine.sum()


def test_caps_shorten_steps() -> None:
    step = gradient(np.random.default_rng(1))
    by_word = sort(step.query_word, 5)
    table, used = np.zeros((5, DIM), np.float32), np.zeros(5, np.int64)
    update.update_words(table, used, step.query, by_word, 0, 5, update.Rate(10.0, 0.0, 0.3))
    np.testing.assert_allclose(np.linalg.norm(table, axis=1), 0.3, rtol=1e-5)


def test_decay_is_a_scale_of_parameter_and_steps() -> None:
    """As if the sum were stored, and read times 1/(1 + decay * uses)."""
    rng = np.random.default_rng(6)
    stored = rng.normal(size=(5, DIM))
    table, used = stored.astype(np.float32), np.zeros(5, np.int64)
    for _ in range(20):
        step = gradient(rng)
        by_word = sort(step.query_word, 5)
        update.update_words(table, used, step.query, by_word, 0, 5, update.Rate(0.1, 0.02, 0.0))
        for word, row in zip(step.query_word, step.query, strict=True):
            stored[word] += 0.1 * row if word != NONE else 0.0
    assert used.min() > 50
    np.testing.assert_allclose(table, stored / (1 + 0.02 * used[:, None]), rtol=1e-4, atol=1e-5)


def test_decay_of_fields_is_by_the_uses_of_both_matrices() -> None:
    rng = np.random.default_rng(7)
    learned, counted = model(rng, False), uses()
    stored = learned.matrix.astype(np.float64)
    for _ in range(20):
        step = gradient(rng)
        by_step = sort(step.step, 2 * FIELDS)
        for field in range(FIELDS):
            rate, binding = update.Rate(0.01, 0.003, 0.0), update.Binding(False, 0, 0, 0, 10**9)
            update.update_field(learned, counted, step, by_step, field, rate, binding)
        for k, s in enumerate(step.step):
            if s != NONE:
                stored[s] += 0.01 * np.outer(step.left[k].astype(float), step.right[k])
    counts = np.repeat(counted.field, 2)[:, None, None]
    assert counts.min() > 300
    np.testing.assert_allclose(learned.matrix, stored / (1 + 0.003 * counts), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("tied", [True, False])
def test_fields_move_along_the_sum_of_their_outer_products(tied: bool) -> None:
    rng = np.random.default_rng(2)
    learned, step = model(rng, tied), gradient(rng)
    expected = learned.matrix.astype(np.float64)
    for k in range(len(step.step)):
        if step.step[k] != NONE:
            part = np.zeros_like(expected)
            reference.add_outer(
                part, learned, int(step.step[k]), step.left[k].astype(float), step.right[k].astype(float)
            )
            expected += 0.1 * part
    by_step = sort(step.step, 2 * FIELDS)
    for field in range(FIELDS):
        update.update_field(learned, uses(), step, by_step, field, FREE, update.Binding(False, 0, 0, 0, 10**9))
    np.testing.assert_allclose(learned.matrix, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("tied", [True, False])
def test_drifted_matrices_are_brought_back(tied: bool) -> None:
    rng = np.random.default_rng(3)
    start = model(rng, tied)
    learned = start._replace(matrix=orthogonal(start.matrix))
    used, binding = uses(), update.Binding(True, 0.02, 0, 0, 1)
    for _ in range(50):
        step = gradient(rng)
        by_step = sort(step.step, 2 * FIELDS)
        for field in range(FIELDS):
            update.update_field(learned, used, step, by_step, field, update.Rate(0.02, 0.0, 0.1), binding)
    errors = learned.matrix.transpose(0, 2, 1) @ learned.matrix - np.eye(DIM)
    assert np.abs(errors).max() < 0.1
    exact = orthogonal(learned.matrix)
    assert np.abs(exact.transpose(0, 2, 1) @ exact - np.eye(DIM)).max() < 1e-6


def penalty(matrix: np.ndarray, inverse: np.ndarray, gamma: float, kappa: float) -> float:
    def off(x: np.ndarray) -> float:
        return float(((x - np.trace(x) / DIM * np.eye(DIM)) ** 2).sum())

    return gamma * off(inverse @ matrix) + kappa * (off(matrix.T @ matrix) + off(inverse.T @ inverse))


@pytest.mark.parametrize(("gamma", "kappa"), [(1.0, 0.0), (0.0, 1.0), (0.3, 0.7)])
def test_regularisers_follow_their_gradient(gamma: float, kappa: float) -> None:
    rng = np.random.default_rng(4)
    pair = [rng.normal(size=(DIM, DIM)).astype(np.float32) for _ in range(2)]
    moved = [matrix.copy() for matrix in pair]
    strength = 1e-3
    update.regularise(moved[0], moved[1], strength, update.Binding(False, 0, gamma, kappa, 1))
    step = [(before - after) / strength for before, after in zip(pair, moved, strict=True)]
    exact = [matrix.astype(np.float64) for matrix in pair]
    for which in (0, 1):
        direction = rng.normal(size=(DIM, DIM))
        shifted = [
            [matrix + (k == which) * sign * 1e-5 * direction for k, matrix in enumerate(exact)] for sign in (1, -1)
        ]
        slope = (penalty(*shifted[0], gamma, kappa) - penalty(*shifted[1], gamma, kappa)) / 2e-5
        assert float((step[which] * direction).sum()) == pytest.approx(slope, rel=2e-2, abs=1e-2)


def test_regularisers_make_an_inverse() -> None:
    rng = np.random.default_rng(5)
    matrix = (np.eye(DIM) + 0.3 * rng.normal(size=(DIM, DIM))).astype(np.float32)
    inverse = (np.eye(DIM) + 0.3 * rng.normal(size=(DIM, DIM))).astype(np.float32)
    for _ in range(500):
        update.regularise(matrix, inverse, 50.0, update.Binding(False, 0, 1e-3, 1e-4, 1))
    assert penalty(matrix, inverse, 1.0, 0.0) < 1e-4


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_regularisers_never_overshoot(size: float) -> None:
    rng = np.random.default_rng(6)
    pair = [(size * (np.eye(DIM) + 0.5 * rng.normal(size=(DIM, DIM)))).astype(np.float32) for _ in range(2)]
    errors = []
    for _ in range(60):
        errors.append(penalty(*(matrix.astype(np.float64) for matrix in pair), 1.0, 1.0) / size**4)
        update.regularise(pair[0], pair[1], 1e6, update.Binding(False, 0, 1.0, 1.0, 1))
    assert (np.diff(errors) <= 1e-6).all()
    assert errors[-1] < 1e-2 * errors[0]
