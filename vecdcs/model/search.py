"""Executing query vectors: products with all answer vectors, exact best answers, and what their scores are worth."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
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
ROWS = 64  # queries scored together: enough for full speed, few enough for memory
STRIDE = 256  # scores of which only the best is looked at first
NOISE_POWER = 0.75


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
        found: Vectors = self.vectors @ queries[0] if len(queries) == 1 else queries @ self.vectors.T
        return found.reshape(len(queries), -1) * self.scale


def search(
    space: Space,
    queries: Vectors,
    k: int,
    calibration: Calibration,
    by_probability: bool = True,
    pos: Collection[str] = (),
    exclude: Sequence[Collection[int]] = (),
) -> list[Hits]:
    """The k best words of each unit query vector, among the parts of speech given and without what is excluded."""
    allowed = np.isin(space.parts, list(pos)) if pos else np.ones(len(space.parts), bool)
    barred = np.where(allowed & np.isfinite(space.bias), 0, -np.inf).astype(np.float32)
    found: list[Hits] = []
    for start in range(0, len(queries), ROWS):
        scores = space.scores(queries[start : start + ROWS])
        logits = log_odds(space, scores, calibration)
        total = log_sum(logits)
        ranking = (logits if by_probability else scores) + barred
        for row, ranked in enumerate(ranking):
            ranked[list(exclude[start + row]) if exclude else []] = -np.inf
            best = top(ranked, k)
            found.append(Hits(best, scores[row, best], np.exp(logits[row, best] - total[row])))
    return found


def log_odds(space: Space, scores: Vectors, calibration: Calibration) -> Vectors:
    """The logarithms of the probabilities of words, up to a constant of each row."""
    odds: Vectors = scores * np.float32(calibration.sharpness) + np.float32(calibration.prior) * space.bias
    return odds


def log_sum(logits: Vectors) -> Vectors:
    """log of the sum of exp, by rows."""
    peak = logits.max(axis=1, keepdims=True)
    total: Vectors = (peak + np.log(np.exp(logits - peak).sum(axis=1, keepdims=True)))[:, 0]
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
    weights = model.vocabulary.word_weights
    lengths = [np.average(np.linalg.norm(v, axis=1), weights=weights + 1e-9) for v in (model.query, model.answer)]
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
