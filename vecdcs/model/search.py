"""Executing query vectors: products with all answer vectors, exact best answers, and what their scores are worth."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary
from vecdcs.errors import InputError, VecdcsError
from vecdcs.model.model import Model

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

CALIBRATION = "calibration.json"
RANKINGS = ("balanced", "probability", "score")
ROOM = 1 << 24  # products held at a time: many queries for full speed, few enough for memory
THREADS = min(os.cpu_count() or 1, 8)
STRIDE = 256  # scores of which only the best is looked at first
NOISE_POWER = 0.75
LEAST_SUM = 1e-30
FREQUENT = 10_000  # words that have nearly all the weight


@dataclass(frozen=True)
class Calibration:
    """p(word | query) is in proportion to P(word)^prior * exp(sharpness * score), over all words of the vocabulary."""

    sharpness: float
    prior: float


class Hits(NamedTuple):
    """The best words of a query, best first."""

    words: Numbers
    scores: Vectors
    probabilities: Vectors


@dataclass(frozen=True)
class Space:
    """Vectors of words, ready to be searched: `scale` makes them unit vectors, `bias` is log P(word).

    The vectors stay where they are, on disk; the bias of an unknown word is -inf, as it is no answer.
    """

    vectors: Vectors
    scale: Vectors
    bias: Vectors
    parts: NDArray[np.str_]

    @classmethod
    def of(cls, vectors: NDArray[np.floating], vocabulary: Vocabulary) -> Space:
        """All words of a vocabulary; vectors of half precision are widened."""
        wide = np.asarray(vectors, np.float32)
        length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        weights = np.maximum(vocabulary.word_weights, 1e-9)
        bias = np.log(weights / weights.sum()).astype(np.float32)
        bias[[word.startswith(UNKNOWN) for word in vocabulary.words]] = -np.inf
        parts = np.array([word.rpartition("/")[2] for word in vocabulary.words])
        return cls(wide, (1 / np.where(length > 0, length, 1)).astype(np.float32), bias, parts)

    def scores(self, queries: Vectors) -> Vectors:
        """The products of unit query vectors with the unit vectors of all words."""
        return self.products(queries) * self.scale

    def products(self, queries: Vectors) -> Vectors:
        """The products of query vectors with the vectors of all words as they are."""
        found: Vectors = (self.vectors @ queries[0])[None] if len(queries) == 1 else queries @ self.vectors.T
        return found


def search(
    space: Space,
    queries: Vectors,
    k: int,
    calibration: Calibration,
    by: str = "probability",
    pos: Collection[str] = (),
    exclude: Sequence[Collection[int]] = (),
) -> list[Hits]:
    """The k best words of each unit query vector, among the parts of speech given and without what is excluded."""
    ranking = Ranking.of(space, calibration, by, pos)
    without = [[*some] for some in exclude] or [[] for _ in queries]
    if len(queries) == 1:
        return [ranking.best(space.products(queries)[0], k, without[0])]
    rows = max(min(ROOM // len(space.bias), len(queries)), 1)
    room = np.empty((rows, len(space.bias)), np.float32)
    found: list[Hits] = []
    with ThreadPoolExecutor(THREADS) as pool:
        for start in range(0, len(queries), rows):
            products = np.matmul(queries[start : start + rows], space.vectors.T, out=room[: len(queries) - start])
            shares = [range(at, len(products), THREADS) for at in range(THREADS)]
            work = partial(_ranked_rows, ranking, products, k, without[start:])
            found += [hits for _, hits in sorted(chain.from_iterable(pool.map(work, shares)), key=itemgetter(0))]
    return found


def _ranked_rows(
    ranking: Ranking, products: Vectors, k: int, exclude: Sequence[list[int]], rows: range
) -> list[tuple[int, Hits]]:
    """The best words of some rows; each thread has room of its own."""
    own = ranking._replace(logits=np.empty_like(ranking.logits), spare=np.empty_like(ranking.spare))
    return [(row, own.best(products[row], k, exclude[row])) for row in rows]


class Ranking(NamedTuple):
    """What is the same for all queries of a search, and room for one: its numbers stay in a processor's cache.

    A word's logit is its product with the query times `pull`, plus `tilt`; these are chosen so that none is above 0.
    `lift` takes back half of the prior.
    """

    scale: Vectors
    pull: Vectors
    tilt: Vectors
    lift: Vectors
    by: str
    barred: Numbers
    logits: Vectors
    spare: Vectors

    @classmethod
    def of(cls, space: Space, calibration: Calibration, by: str, pos: Collection[str]) -> Ranking:
        """How the words of a space are ranked."""
        known = np.isfinite(space.bias)
        barred = np.flatnonzero(~(known & np.isin(space.parts, list(pos)) if pos else known))
        pull = np.float32(calibration.sharpness) * space.scale
        tilt = _tilt(space, calibration)
        lift = np.where(known, tilt / -2, 0)
        tilt -= np.float32(calibration.sharpness) + tilt.max()
        return cls(space.scale, pull, tilt, lift, by, barred, np.empty_like(tilt), np.empty_like(tilt))

    def best(self, product: Vectors, k: int, exclude: list[int]) -> Hits:
        """The best words of a query, from its products with all vectors."""
        logits = np.multiply(product, self.pull, out=self.logits)
        logits += self.tilt
        total = self._log_sum(logits)
        ranked = self._ranked(product, logits)
        ranked[self.barred] = -np.inf
        ranked[exclude] = -np.inf
        best = top(ranked, k)
        scores = product[best] * self.scale[best]
        return Hits(best, scores, np.exp(product[best] * self.pull[best] + self.tilt[best] - total))

    def _ranked(self, product: Vectors, logits: Vectors) -> Vectors:
        match self.by:
            case "probability":
                return logits
            case "balanced":
                return np.add(logits, self.lift, out=self.spare)
            case _:
                return np.multiply(product, self.scale, out=self.spare)

    def _log_sum(self, logits: Vectors) -> np.float32:
        """log of the sum of exp; where even the largest vanishes, the slower way around."""
        total = np.exp(logits, out=self.spare).sum()
        found: np.float32 = np.log(total) if total > LEAST_SUM else log_sum(logits[None])[0]
        return found


def log_odds(space: Space, scores: Vectors, calibration: Calibration) -> Vectors:
    """The logarithms of the probabilities of words, up to a constant of each row."""
    odds: Vectors = np.float32(calibration.sharpness) * scores + _tilt(space, calibration)
    return odds


def _tilt(space: Space, calibration: Calibration) -> Vectors:
    """What a word's frequency adds; -inf where it is unknown, though the prior be 0."""
    return np.where(np.isfinite(space.bias), np.float32(calibration.prior) * _finite(space.bias), -np.inf).astype(
        np.float32
    )


def _finite(values: Vectors) -> Vectors:
    return np.where(np.isfinite(values), values, 0)


def log_sum(logits: Vectors) -> Vectors:
    """log of the sum of exp, by rows."""
    peak = logits.max(axis=1, keepdims=True)
    rest = logits - peak
    np.exp(rest, out=rest)
    total: Vectors = peak[:, 0] + np.log(rest.sum(axis=1))
    return total


def top(values: Vectors, k: int) -> Numbers:
    """The places of the k largest finite values, largest first, equal ones in order.

    The k-th largest of the maxima of short stretches is a lower bound for the k-th largest value, and quickly found.
    """
    stretches = len(values) // STRIDE
    if k < stretches:
        peaks = values[: stretches * STRIDE].reshape(stretches, STRIDE).max(axis=1)
        near = np.flatnonzero(values >= np.partition(peaks, stretches - k)[stretches - k])
    else:
        near = np.arange(len(values))
    near = near[np.isfinite(values[near])]
    return near[np.argsort(-values[near], kind="stable")[:k]]


def calibration_of(model: Model) -> Calibration:
    """What `vecdcs calibrate` found for a model; without it, what the objective of training implies.

    Training sets a path against noise words drawn in proportion to P(word)^power, so its best score is
    log p(word | path) - power * log P(word) up to a constant, in vectors as they were learned, not of length 1.
    """
    if model.path is not None and (model.path / CALIBRATION).is_file():
        return read_calibration(model.path / CALIBRATION)
    power = model.config.get("plan", {}).get("recipe", {}).get("word_power", NOISE_POWER)
    weights = model.vocabulary.word_weights[:FREQUENT] + 1e-9
    vectors = (np.asarray(part[:FREQUENT], np.float32) for part in (model.query, model.answer))
    lengths = [np.average(np.linalg.norm(part, axis=1), weights=weights) for part in vectors]
    return Calibration(float(np.prod(lengths)), float(power))


def read_calibration(path: Path) -> Calibration:
    """The calibration that a model folder holds."""
    try:
        found = json.loads(path.read_text("utf-8"))
        return Calibration(float(found["sharpness"]), float(found["prior"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError('expected {"sharpness": number, "prior": number}', str(path)) from error


def write_calibration(calibration: Calibration, folder: Path) -> None:
    """Keep a calibration in the model's folder."""
    aside = folder / (CALIBRATION + ".part")
    aside.write_text(json.dumps(asdict(calibration)) + "\n", "utf-8")
    aside.replace(folder / CALIBRATION)


def calibrate(space: Space, queries: Vectors, answers: Numbers, start: Calibration) -> Calibration:
    """The calibration under which the true answers of some queries are most probable."""
    from scipy.optimize import minimize

    known = np.flatnonzero(np.isfinite(space.bias))
    usable = np.isin(answers, known)
    if not usable.any():
        raise VecdcsError("there is nothing to calibrate on: no node of these trees has a known word")
    scores, bias = space.scores(queries[usable])[:, known], space.bias[known]
    truth = np.arange(usable.sum()), np.searchsorted(known, answers[usable])

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sharpness, prior = np.exp(point[0]), point[1]
        logits = np.float32(sharpness) * scores + np.float32(prior) * bias
        logits -= log_sum(logits)[:, None]
        chance = np.exp(logits)
        slope = np.einsum("ij,ij->i", chance, scores) - scores[truth]
        tilt = chance @ bias - bias[truth[1]]
        return -float(logits[truth].mean()), np.array([sharpness * slope.mean(), tilt.mean()], np.float64)

    begin = np.array([np.log(max(start.sharpness, 1e-3)), start.prior])
    best = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=[(-3, 7), (0, 2)])
    return Calibration(float(np.exp(best.x[0])), float(best.x[1]))
