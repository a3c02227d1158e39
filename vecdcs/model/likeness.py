"""What makes words alike: their query vectors, less what they owe to their part of speech and frequency alone.

Query vectors of frequent verbs are near each other because they are frequent, whatever they mean: *begin* is as near to
*become* as *forbid* to *ban*. Words of one part of speech and of about the same frequency have that in common, so it
shows in their mean. Comparing words and phrases is better without half of it (dev/LOG.md); asking is not, as there
frequency counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vecdcs.model.model import Model, unit

SHARE, NEIGHBOURS = 0.5, 50
Some = TypeVar("Some", bound=Model)


def by_likeness(model: Some) -> Some:
    """The model with the query vectors that words and phrases are compared by."""
    if not model.vocabulary.word_weights.any():  # someone's vectors: nothing is known of frequencies
        return model
    vectors = unit(model.query)
    pos = np.array([word.rpartition("/")[2] for word in model.vocabulary.words])
    for one in np.unique(pos):
        alike = np.flatnonzero(pos == one)  # by falling weight, as all words are
        vectors[alike] -= SHARE * neighbour_means(vectors[alike], NEIGHBOURS)
    return replace(model, query=unit(vectors))


def neighbour_means(rows: NDArray[np.float32], reach: int) -> NDArray[np.float64]:
    """For each row the mean of those at most `reach` places away, and of itself."""
    sums = np.cumsum(np.vstack([np.zeros(rows.shape[1]), rows]), axis=0)
    place = np.arange(len(rows))
    first, last = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(rows))
    means: NDArray[np.float64] = (sums[last] - sums[first]) / (last - first)[:, None]
    return means
