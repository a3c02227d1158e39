"""What makes words and phrases alike: what they ask for and what they answer, rid of what is mere frequency.

Query vectors of frequent verbs are near each other because they are frequent, whatever they mean. Words of one part of
speech and of about the same frequency have that in common, so it shows in their mean, a share of which is taken out.
Then directions in which all words differ most are made shorter, as a few of them drown the others. Answer vectors,
which tell where a word stands rather than what is around it, have a smaller say beside query vectors.

How much of this is good depends on how well vectors are known: after little text the shorter directions are mostly
noise (dev/LOG.md). Asking is another matter, as there frequency counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.model.model import Model, unit

NEIGHBOURS = 100  # places in the list of frequencies
SHARES = 0.5, 0.8  # of their mean that is taken out, after little and after much text
POWERS = 0.0, -0.2  # of the words' covariance by which directions are scaled
LITTLE, MUCH = 512, 4096  # paths from a word in one pass, on average
ANSWERS = 0.3  # what answer vectors count beside query vectors

Vectors = NDArray[np.float32]
Some = TypeVar("Some", bound=Model)


class Side(NamedTuple, Generic[Some]):
    """A model with the vectors of one kind as its query vectors, what they are multiplied by, and how much they count.

    Without a metric they are compared as they are.
    """

    model: Some
    metric: Vectors | None
    share: float


@dataclass(frozen=True)
class Likeness(Generic[Some]):
    """The vectors by which words and phrases are compared: those of all sides, end to end, of length 1."""

    sides: tuple[Side[Some], ...]

    def vectors(self, composed: Callable[[Some], Vectors]) -> Vectors:
        """The vectors of what a function composes of a model's query vectors."""
        total = sum(side.share for side in self.sides)
        return np.hstack([np.float32(np.sqrt(side.share / total)) * _in(side, composed) for side in self.sides])

    @cached_property
    def words(self) -> Vectors:
        """The vectors of all words."""
        return self.vectors(lambda model: unit(model.query))


def _in(side: Side[Some], composed: Callable[[Some], Vectors]) -> Vectors:
    vectors = composed(side.model)
    return unit(vectors if side.metric is None else vectors @ side.metric)


def plain(model: Some) -> Likeness[Some]:
    """Query vectors as they are, as in the paper."""
    return Likeness((Side(model, None, 1.0),))


def by_likeness(model: Some) -> Likeness[Some]:
    """How a model compares words and phrases; someone's vectors, which tell no frequencies, as they are."""
    if not model.vocabulary.word_weights.any():
        return plain(model)
    return Likeness((_side(model, model.query, 1.0), _side(model, model.answer, ANSWERS)))


def _side(model: Some, vectors: Vectors, share: float) -> Side[Some]:
    known = how_well_known(model.vocabulary)
    out, power = (float(np.interp(known, (0, 1), ends)) for ends in (SHARES, POWERS))
    kept = unit(vectors)
    for part in np.unique(model.vocabulary.parts):
        alike = np.flatnonzero(model.vocabulary.parts == part)  # by falling weight, as all words are
        kept[alike] -= out * neighbour_means(kept[alike], NEIGHBOURS)
    kept = unit(kept)
    return Side(replace(model, query=kept), metric(kept, power) if power else None, share)


def how_well_known(vocabulary: Vocabulary) -> float:
    """From 0 after little text to 1 after much."""
    paths = vocabulary.word_weights.sum() / len(vocabulary.words)
    return float(np.interp(np.log(max(paths, LITTLE)), (np.log(LITTLE), np.log(MUCH)), (0, 1)))


def metric(rows: Vectors, power: float) -> Vectors:
    """The power of the rows' covariance (about 0): below 0 it shortens the directions in which they differ most."""
    spread, directions = np.linalg.eigh((rows.T @ rows).astype(np.float64) / len(rows))
    scales = np.maximum(spread, spread[-1] * 1e-6) ** power
    return np.asarray((directions * scales) @ directions.T, np.float32)


def neighbour_means(rows: Vectors, reach: int) -> NDArray[np.float64]:
    """For each row the mean of those at most `reach` places away, and of itself."""
    sums = np.zeros((len(rows) + 1, rows.shape[1]))
    np.cumsum(rows, axis=0, out=sums[1:])
    place = np.arange(len(rows))
    first, last = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(rows))
    means: NDArray[np.float64] = (sums[last] - sums[first]) / (last - first)[:, None]
    return means
