"""Rank correlation in the three ways that published figures use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]


class Spearman(NamedTuple):
    """`paper`: single ratings, no correction for ties; `tie_corrected`: single ratings; `pair_means`: their means."""

    paper: float
    tie_corrected: float
    pair_means: float


def three_ways(scores: Floats, pair: NDArray[np.int64], ratings: Floats) -> Spearman:
    """`scores` of pairs against `ratings` of single judges, the i-th of pair[i]."""
    single = scores[pair]
    counts = np.bincount(pair, minlength=len(scores))
    means = np.bincount(pair, ratings, len(scores))[counts > 0] / counts[counts > 0]
    return Spearman(uncorrected(single, ratings), corrected(single, ratings), corrected(scores[counts > 0], means))


def corrected(left: Floats, right: Floats) -> float:
    """Spearman's ρ: Pearson's correlation of average ranks; 0 where one side has a single value."""
    a, b = (rankdata(side) - (len(side) + 1) / 2 for side in (left, right))
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else 0.0


def uncorrected(left: Floats, right: Floats) -> float:
    """The formula without correction for ties, 1 - 6 sum of d² / (n(n² - 1)), as the authors computed it."""
    n = len(left)
    gap = rankdata(left) - rankdata(right)
    return float(1.0 - 6.0 * (gap @ gap) / (n * (n * n - 1.0)))


def distinct(items: Sequence[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
    """The different items in order of appearance, and for each item its place among them."""
    place: dict[tuple[str, ...], int] = {}
    numbers = [place.setdefault(item, len(place)) for item in items]
    return list(place), np.array(numbers, np.int64)
