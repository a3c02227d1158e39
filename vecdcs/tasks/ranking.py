"""Figures of rankings; where scores are equal, what a random order among them gives on average."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np


def expected_reciprocal(better: int, equal: int) -> float:
    """The mean of 1/rank with so many others better and so many equal: ranks better + 1 to better + equal + 1."""
    return float(np.mean(1.0 / np.arange(better + 1, better + equal + 2)))


def expected_hits(better: int, equal: int, first: int) -> float:
    """The chance to be among the first."""
    return min(max(first - better, 0), equal + 1) / (equal + 1)


def average_precision(scores: Mapping[str, float], right: Collection[str]) -> float:
    """The mean over the right items of the share of right ones down to them; of equals, the wrong ones come first."""
    order = sorted(scores, key=lambda item: (-scores[item], item in right, item))
    hits = np.array([item in right for item in order])
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].sum() / len(right)) if len(right) else 0.0
