"""The grouped kernel agrees with the path-by-path reference, and the reference with finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from random_forest import random_trees

from vecdcs.learn import reference
from vecdcs.learn.batches import Kinds, dcs_kinds, marginals, no_kinds, shared_noise, ud_kinds, with_noise
from vecdcs.learn.chance import stream
from vecdcs.learn.kernel import gradient
from vecdcs.learn.objective import Gradient, Noise, Objective, room
from vecdcs.learn.paths import prepare, sample, starts
from vecdcs.learn.rows import NONE
from vecdcs.learn.walks import Chains, Parameters

WORDS, FIELDS, LONGEST, DIM = 12, 5, 4, 7
CASES = {
    "full, tied": (dcs_kinds(LONGEST), True, False),
    "full, pair": (dcs_kinds(LONGEST, 3, 2), False, False),
    "ud, tied": (ud_kinds(LONGEST, 2, 2), True, True),
    "ud, pair": (ud_kinds(LONGEST), False, True),
    "no matrix": (no_kinds(3), True, False),
    "full, tied, one still": (dcs_kinds(LONGEST), True, False),
    "full, pair, one still": (dcs_kinds(LONGEST, 3, 2), False, False),
}
NOISES = {"shared": (0, 6), "private": (3, 0), "both": (2, 4)}


def parameters(rng: np.random.Generator, case: str) -> Parameters:
    _, tied, _ = CASES[case]
    matrices = FIELDS if tied else 2 * FIELDS
    made = [rng.normal(0, 0.6, shape) for shape in ((WORDS, DIM), (WORDS, DIM), (matrices, DIM, DIM))]
    still = 2 if "still" in case else NONE
    if still != NONE:
        made[2][still] = np.eye(DIM)
    return Parameters(*(array.astype(np.float32) for array in made), tied, still)


def batch(kinds: Kinds, ud: bool, private: int, shared: int, seed: int = 1, whole: float = 0.0) -> tuple[Chains, Noise]:
    rng = np.random.default_rng(seed)
    walks = prepare(random_trees(rng, 8, WORDS, FIELDS, ud))
    paths = sample(walks, starts(walks.node["weight"], stream(seed))[:60], stream(seed, 1), LONGEST)
    shares = marginals(rng.random(WORDS), rng.random(FIELDS), 0.75, 1.0)
    chains = with_noise(paths, kinds, shares, private, stream(seed, 2), whole)
    return chains, shared_noise(kinds, shares, shared, stream(seed, 3))


def summed(model: Parameters, out: Gradient) -> reference.Sums:
    """The kernel's rows and pairs of rows, added up as the reference adds them."""
    sums = tuple(np.zeros(array.shape) for array in model[:3])
    for word, row in zip(out.query_word, out.query, strict=True):
        sums[0][word] += row if word != NONE else 0
    for word, row in zip(out.answer_word, out.answer, strict=True):
        sums[1][word] += row if word != NONE else 0
    for step, left, right in zip(out.step, out.left, out.right, strict=True):
        if step != NONE:
            reference.add_outer(sums[2], model, int(step), left.astype(float), right.astype(float))
    return sums[0], sums[1], sums[2]


@pytest.mark.parametrize(("shift", "whole"), [(0.0, 0.0), (1.5, 0.5), (0.0, 1.0)])
@pytest.mark.parametrize("noise_name", NOISES)
@pytest.mark.parametrize("case", CASES)
def test_kernel_agrees_with_reference(case: str, noise_name: str, shift: float, whole: float) -> None:
    kinds, _, ud = CASES[case]
    private, shared = NOISES[noise_name]
    model = parameters(np.random.default_rng(0), case)
    chains, noise = batch(kinds, ud, private, shared, whole=whole)
    objective = Objective(shift, 1.0, 0.7, 0.0)
    out = room(len(chains.first), private, shared * kinds.roots, shared * (len(kinds.parent) - kinds.roots), DIM)
    loss = gradient(model, chains, noise, objective, out)
    expected_loss, expected = reference.batch_gradient(model, chains, noise, objective)
    for mine, theirs in zip(summed(model, out), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-4 * max(1.0, np.abs(theirs).max()))
    assert any(np.abs(part).max() > 0.1 for part in expected)
    assert loss == pytest.approx(expected_loss, rel=1e-4)


def test_one_matrix_can_be_chosen_freely() -> None:
    """Every M_P is followed by an M_L^-1: with M G for M and G^-1 M^-1 for M^-1 all scores are the same."""
    model = parameters(np.random.default_rng(3), "full, pair")
    model = Parameters(*(array.astype(np.float64) for array in model[:3]), *model[3:])
    chosen = np.linalg.inv(model.matrix[2])
    turned = model.matrix.copy()
    turned[0::2], turned[1::2] = model.matrix[0::2] @ chosen, model.matrix[2] @ model.matrix[1::2]
    np.testing.assert_allclose(turned[2], np.eye(DIM), atol=1e-9)
    chains, _ = batch(CASES["full, pair"][0], False, 0, 1)
    for i in range(len(chains.first)):
        steps = chains.steps[i, : chains.length[i]].tolist()
        ends = model.query[chains.first[i]], model.answer[chains.last[i]]
        one, other = (reference.product(each, steps) for each in (model, model._replace(matrix=turned)))
        assert ends[0] @ one @ ends[1] == pytest.approx(ends[0] @ other @ ends[1], rel=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_reference_agrees_with_finite_differences(case: str) -> None:
    """Every vector by its true derivative; each matrix by that of the one place where it is updated."""
    kinds, _, ud = CASES[case]
    model = parameters(np.random.default_rng(4), case)
    model = Parameters(*(array.astype(np.float64) for array in model[:3]), *model[3:])
    chains, noise = batch(kinds, ud, 2, 3)
    objective = Objective(0.4, 1.0, 0.5, 0.0)
    checks = 0
    for i in range(12):
        sums = tuple(np.zeros(array.shape) for array in model[:3])
        reference.path_gradient(model, chains, noise, objective, i, (sums[0], sums[1], sums[2]))
        for which in (0, 1):
            direction = _direction(model, which, i)
            numeric = _difference(
                lambda moved, i=i: _value(moved, chains, noise, objective, i), model, which, direction
            )
            assert numeric == pytest.approx(float((sums[which] * direction).sum()), rel=1e-5, abs=1e-7)
        direction = _direction(model, 2, i)
        numeric = _difference(
            lambda moved, i=i: _value(model, chains, noise, objective, i, updated=moved), model, 2, direction
        )
        assert numeric == pytest.approx(float((sums[2] * direction).sum()), rel=1e-5, abs=1e-7)
        checks += abs(numeric) > 1e-4
    assert checks > 6 or len(kinds.parent) == kinds.roots


def _direction(model: Parameters, which: int, seed: int) -> np.ndarray:
    """Somewhere to go for one parameter array; a matrix that stays as it is does not move."""
    direction = np.random.default_rng(seed).normal(size=model[which].shape)
    if which == 2 and model.still != NONE:
        direction[model.still] = 0
    return direction


def _difference(value, model: Parameters, which: int, direction: np.ndarray) -> float:
    """The derivative of the value along a direction of one parameter array."""
    step = 1e-6
    up, down = (
        model._replace(**{Parameters._fields[which]: model[which] + sign * step * direction}) for sign in (1, -1)
    )
    return (value(up) - value(down)) / (2 * step)


def _value(
    model: Parameters, chains: Chains, noise: Noise, objective: Objective, i: int, updated: Parameters | None = None
) -> float:
    """The objective of one path; the matrices on both sides of the boundary are taken from `updated`."""
    updated = updated or model
    target = chains.steps[i, : chains.boundary[i]].tolist()
    reached = model.query[chains.first[i]] @ reference.product(model, target[:-1])
    reached = reached @ reference.product(updated, target[-1:])
    total = 0.0
    for steps, word, weight in reference.contexts(chains, noise, objective, i):
        onward = reference.product(updated, steps[:1]) @ reference.product(model, steps[1:]) @ model.answer[word]
        total += reference.objective_value(float(reached @ onward), weight, objective)
    return total


@pytest.mark.parametrize("clip", [0.6, 2.0, 1e6])
@pytest.mark.parametrize("case", CASES)
def test_kernel_agrees_with_reference_on_own_logits(case: str, clip: float) -> None:
    kinds, _, ud = CASES[case]
    model = parameters(np.random.default_rng(0), case)
    chains, noise = batch(kinds, ud, 3, 0)
    objective = Objective(float(np.log(3)), 1.0, 0.0, clip)
    out = room(len(chains.first), 3, 0, 0, DIM)
    loss = gradient(model, chains, noise, objective, out)
    expected_loss, expected = reference.batch_gradient(model, chains, noise, objective)
    for mine, theirs in zip(summed(model, out), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-4 * max(1.0, np.abs(theirs).max()))
    assert all(np.abs(part).max() > 0.1 for part in expected[: 2 if case == "no matrix" else 3])
    assert loss == pytest.approx(expected_loss, rel=1e-4)


def test_clips_bind() -> None:
    kinds, _, ud = CASES["full, pair"]
    model = parameters(np.random.default_rng(0), "full, pair")
    chains, noise = batch(kinds, ud, 3, 0)
    free, bound = (reference.batch_gradient(model, chains, noise, Objective(1.0, 1.0, 0.0, c))[1] for c in (1e6, 0.6))
    assert all(np.abs(one - other).max() > 0.05 for one, other in zip(free, bound, strict=True))


def test_a_target_counts_for_each_of_its_chains() -> None:
    kinds, _, ud = CASES["full, pair"]
    chains, noise = batch(kinds, ud, 3, 0)
    paths, out = len(chains.first), room(len(chains.first), 3, 0, 0, DIM)
    for clip, uses in ((0.0, 1), (2.0, 4)):
        gradient(parameters(np.random.default_rng(0), "full, pair"), chains, noise, Objective(0.0, 1.0, 0.0, clip), out)
        assert set(out.uses[:paths]) == {uses}
        assert set(out.uses[paths:]) == {1}


@pytest.mark.parametrize("case", CASES)
def test_own_logits_agree_with_finite_differences(case: str) -> None:
    """Every updated parameter goes up the objective in which it alone is taken as it is, all others normalised."""
    kinds, _, ud = CASES[case]
    model = parameters(np.random.default_rng(4), case)
    model = Parameters(*(array.astype(np.float64) for array in model[:3]), *model[3:])
    chains, noise = batch(kinds, ud, 2, 0)
    objective = Objective(0.7, 1.0, 0.0, 1e6)
    checks = 0
    for i in range(12):
        sums = tuple(np.zeros(array.shape) for array in model[:3])
        reference.own_gradient(model, chains, noise, objective, i, (sums[0], sums[1], sums[2]))
        for which in range(3):
            direction = _direction(model, which, i)
            numeric = sum(
                _difference(
                    lambda moved, own=own: _own_value(model, moved, chains, objective, own), model, which, direction
                )
                for own in _own_places(chains, i, which)
            )
            assert numeric == pytest.approx(float((sums[which] * direction).sum()), rel=1e-5, abs=1e-7)
            checks += abs(numeric) > 1e-4
    assert checks > (20 if len(kinds.parent) > 1 else 15)


def _own_places(chains: Chains, i: int, which: int) -> list[tuple[int, int]]:
    """Chain and place of every factor of path i that is updated: place -1 for the query vector, 99 for the answer's."""
    mine = [int(j) for j in np.flatnonzero(chains.owner == i)]
    begin, end = int(chains.boundary[i]), int(chains.length[i])
    target = [(j, begin - 1) for j in mine] if begin > 0 else []
    context = [(j, begin) for j in mine] if end > begin else []
    return ([(j, -1) for j in mine], [(j, 99) for j in mine], target + context)[which]


def _own_value(
    model: Parameters, moved: Parameters, chains: Chains, objective: Objective, own: tuple[int, int]
) -> float:
    """The objective of chain j, the factor at one place taken from `moved` as it is, all others normalised."""
    j, place = own
    i = int(chains.owner[j])
    begin, end = int(chains.boundary[i]), int(chains.length[i])
    steps = chains.steps[i, :begin].tolist() + chains.steps[j, begin:end].tolist()
    row = moved.query[chains.first[i]] if place == -1 else reference.hat(model.query[chains.first[i]])
    for at, step in enumerate(steps):
        row = row @ (reference.matrix(moved, step) if at == place else reference.hat(reference.matrix(model, step)))
    last = moved.answer[chains.last[j]] if place == 99 else reference.hat(model.answer[chains.last[j]])
    return reference.objective_value(float(row @ last), 0.0 if j == i else objective.private_weight, objective)


@pytest.mark.parametrize("ud", [False, True])
def test_noise_keeps_the_directions_of_the_context(ud: bool) -> None:
    kinds = ud_kinds(LONGEST, 3, 2) if ud else dcs_kinds(LONGEST, 3, 2)
    chains, noise = batch(kinds, ud, 2, 3)
    for i in range(len(chains.first)):
        assert 1 <= chains.boundary[i] < chains.length[i] or (chains.length[i] == 1 and chains.boundary[i] == 0)
        directions = chains.steps[i, chains.boundary[i] : chains.length[i]] % 2
        shared, _ = reference.shared_chain(noise, int(chains.kind[i]), 0)
        assert [step % 2 for step in shared] == directions.tolist()
        for j in np.flatnonzero(chains.owner == i):
            assert (chains.steps[j, chains.boundary[i] : chains.length[i]] % 2).tolist() == directions.tolist()


@pytest.mark.parametrize("ud", [False, True])
def test_noise_leaves_whole_paths_their_matrices(ud: bool) -> None:
    kinds = ud_kinds(LONGEST, 3) if ud else dcs_kinds(LONGEST, 3)
    (cut, _), (some, _), (every, _) = (batch(kinds, ud, 2, 3, whole=whole) for whole in (0.0, 0.5, 1.0))
    assert (every.boundary == every.length).all()
    assert (np.bincount(every.kind) == len(every.first) // 3).all()
    kept = some.boundary == some.length
    assert 0.25 < kept.mean() < 0.75
    np.testing.assert_array_equal(some.boundary[~kept], cut.boundary[~kept])


def test_boundaries_are_uniform_and_noise_follows_its_shares() -> None:
    walks = prepare(random_trees(np.random.default_rng(1), 400, WORDS, FIELDS))
    paths = sample(walks, starts(walks.node["weight"], stream(1)), stream(1, 1), LONGEST)
    weights = np.array([4.0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 16.0])
    shares = marginals(weights, np.ones(FIELDS), 0.5, 1.0)
    chains = with_noise(paths, dcs_kinds(LONGEST), shares, 4, stream(5))
    of_six = chains.boundary[chains.length == 6]
    counts = np.bincount(of_six, minlength=6)[1:]
    assert ((counts - len(of_six) / 5) ** 2 / (len(of_six) / 5)).sum() < 25
    words = np.bincount(chains.last[len(paths.first) :], minlength=WORDS)
    assert words[[1, 3, 4, 5, 6, 7, 8, 9, 10]].sum() == 0
    np.testing.assert_allclose(words[[0, 2, 11]] / words.sum(), np.array([2, 1, 4]) / 7, atol=0.02)
