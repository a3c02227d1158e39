"""Support vector machines with a Gaussian kernel, one for each pair of classes: libsvm's scheme, its kernel by BLAS."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError

Floats = NDArray[np.float32]
Classes = NDArray[np.int64]


class Pair(NamedTuple):
    """One against another: the rows of the support vectors, their coefficients, and the bias."""

    one: int
    other: int
    rows: Classes
    coefficients: NDArray[np.float64]
    bias: float


class Machine(NamedTuple):
    """All pairs, over the features they were fitted to."""

    features: Floats
    gamma: float
    classes: int
    pairs: tuple[Pair, ...]


def fit(features: Floats, labels: Classes, c: float = 2.0, gamma: float = 0.25) -> Machine:
    """Fit a machine to every pair of classes that occur."""
    rows = {int(one): np.flatnonzero(labels == one) for one in np.unique(labels)}
    inner = {one: kernel(features[of], features[of], gamma) for one, of in rows.items()}
    pairs = []
    for one, other in combinations(rows, 2):
        cross = kernel(features[rows[one]], features[rows[other]], gamma)
        near = np.block([[inner[one], cross], [cross.T, inner[other]]])
        pairs.append(_pair(near, one, other, rows[one], rows[other], c))
    return Machine(features, gamma, max(rows) + 1, tuple(pairs))


def predict(machine: Machine, features: Floats) -> Classes:
    """The class with most votes; the first of equals, as libsvm has it."""
    near = kernel(features, machine.features, machine.gamma)
    votes = np.zeros((len(features), machine.classes), np.int32)
    for one, other, rows, coefficients, bias in machine.pairs:
        won = near[:, rows] @ coefficients + bias > 0
        votes[won, one] += 1
        votes[~won, other] += 1
    return np.asarray(votes.argmax(1), np.int64)


def kernel(left: Floats, right: Floats, gamma: float) -> Floats:
    """exp(-γ |x - y|²) of every row with every row."""
    power = left @ right.T  # turned into -γ |x - y|² in place: it may be large
    power *= 2 * gamma
    power -= gamma * np.einsum("ij,ij->i", left, left)[:, None]
    power -= gamma * np.einsum("ij,ij->i", right, right)
    return np.asarray(np.exp(np.minimum(power, 0, out=power), out=power), np.float32)


def _pair(near: Floats, one: int, other: int, first: Classes, second: Classes, c: float) -> Pair:
    """The machine that tells rows of one class from rows of another, by how near they are to each other."""
    machine = _svc()(C=c, kernel="precomputed", cache_size=100)
    machine.fit(near.astype(np.float64), np.repeat([True, False], [len(first), len(second)]))
    rows = np.concatenate([first, second])[machine.support_]
    return Pair(one, other, rows, machine.dual_coef_[0], float(machine.intercept_[0]))


def _svc() -> Any:
    try:
        from sklearn.svm import SVC
    except ImportError as error:
        raise InputError("relation classification needs scikit-learn: pip install 'vecdcs[eval]'") from error
    return SVC


def folds(labels: Classes, count: int, seed: int) -> Iterator[tuple[Classes, Classes]]:
    """Rows to fit and rows to test, `count` times; each class is spread evenly over the folds."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % count
    for number in range(count):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
