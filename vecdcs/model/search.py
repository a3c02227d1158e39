"""Executing query vectors: products with all answer vectors, exact best answers, and what their scores are worth."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary
from vecdcs.errors import InputError, VecdcsError
from vecdcs.learn.recipes import DENSE
from vecdcs.model.leanings import Leanings
from vecdcs.model.model import SIDES, Model, put

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

CALIBRATION = "calibration.json"
BY_DEFAULT = "probability"
RANKINGS = {"balanced": 0.5, "probability": 1.0, "score": 0.0}  # how much of the prior counts
THREADS = min(os.cpu_count() or 1, 8)
ROOM = 1 << 24  # products held at a time: many queries for full speed, few enough for memory
BLOCK, STRETCHES, ROWS = 2048, 128, 16  # words and queries whose products stay in a processor's cache
STRIDE = BLOCK // STRETCHES  # scores of which only the best is looked at first
NOISE_POWER = 0.75
KIND = 4.0  # what likeness to a kind that is named is worth in real text
LEAST_SUM = 1e-30
MOST_WORTH = {"sharpness": 1000.0, "back": 1000.0, "prior": 2.0, "role": 2.0}
FREQUENT = 10_000  # words that have nearly all the weight


@dataclass(frozen=True)
class Calibration:
    """What makes probabilities of scores, over all words of the vocabulary.

    p(word | query) is in proportion to P(word)^prior * exp(sharpness * score + back * the score of asking back + role *
    what the edges into the blank say of the word + kind * its likeness to the word in place of the blank).
    """

    sharpness: float
    prior: float
    role: float = 0.0
    kind: float = 0.0
    back: float = 0.0

    @property
    def one_way(self) -> Calibration:
        """The same where answers cannot be asked back: both scores tell the same, so one stands for the other."""
        return replace(self, sharpness=self.sharpness + self.back, back=0.0)


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
        found = np.empty((len(queries), len(self.bias)), np.float32)
        self.put_scores(queries, found)
        return found

    def put_scores(self, queries: Vectors, out: Vectors) -> None:
        """The same, put somewhere."""
        if len(queries) == 1:
            np.matmul(self.vectors, queries[0], out=out[0])
        else:
            np.matmul(queries, self.vectors.T, out=out)
        out *= self.scale


def search(
    space: Space,
    queries: Vectors,
    k: int,
    calibration: Calibration,
    by: str = BY_DEFAULT,
    pos: Collection[str] = (),
    exclude: Sequence[Collection[int]] = (),
    leanings: Leanings | None = None,
) -> list[Hits]:
    """The k best words of each unit query vector, among the parts of speech given and without what is excluded."""
    ranking = Ranking.of(space, calibration, by, pos)
    lean = Lean(leanings, calibration, RANKINGS[by])
    without = [[*some] for some in exclude] or [[] for _ in queries]
    more = k + max(map(len, without), default=0)
    if len(queries) == 1 or more * STRIDE >= len(space.bias):
        return [_best(space, ranking, one, k, without[at], lean.of(at, at + 1)) for at, one in enumerate(queries)]
    return list(_best_of_all(space, ranking, queries, k, without, more, lean))


class Lean(NamedTuple):
    """What queries say of words beside their vectors, what that is worth, and how much of it in a ranking."""

    leanings: Leanings | None
    worth: Calibration
    share: float = 1.0

    def back(self, first: int, last: int, width: int = 0) -> Vectors | None:
        """What is asked back, for some queries, in rows of at least so many words; none if nothing."""
        return self.leanings.asked_back(self.worth.back, first, last, width) if self.leanings else None

    def of(self, first: int, last: int, width: int = 0, back: Vectors | None = None) -> Leans | None:
        """All of it for some queries, in rows of at least so many words; none if nothing. `back`: if known already."""
        if self.leanings is None or not (self.worth.role or self.worth.kind or self.worth.back):
            return None
        found = self.leanings.logits(self.worth.role, self.worth.kind, first, last, width)
        back = self.back(first, last, width) if back is None else back
        ranks = found if self.share == 1 else np.float32(self.share) * found
        if back is not None:
            found += back
            if self.share and ranks is not found:
                ranks += back
        return Leans(found, ranks)


class Leans(NamedTuple):
    """What is added to the logits of some queries, and to their ranks: all that is asked back, a share of the rest."""

    logits: Vectors
    ranks: Vectors

    def part(self, rows: slice, words: slice) -> Leans:
        return Leans(self.logits[rows, words], self.ranks[rows, words])


def _best_of_all(
    space: Space, ranking: Ranking, queries: Vectors, k: int, exclude: Sequence[list[int]], more: int, lean: Lean
) -> Iterator[Hits]:
    """The best words of many queries: as many products as there is room for at a time, then looked at by threads."""
    words = len(space.bias)
    width = -(-words // BLOCK) * BLOCK
    padded = Ranking(*(np.pad(part, (0, width - words), constant_values=-np.inf) for part in ranking))
    room = np.empty((min(max(ROOM // width, 1), len(queries)), width), np.float32)
    with ThreadPoolExecutor(THREADS) as pool:
        for start in range(0, len(queries), len(room)):
            some, without = queries[start : start + len(room)], exclude[start : start + len(room)]
            np.matmul(some, space.vectors.T, out=room[: len(some), :words])
            room[:, words:] = 1
            back = lean.back(start, start + len(some), width)
            cuts = [len(some) * at // THREADS for at in range(THREADS + 1)]
            work = [
                pool.submit(
                    _best_of_many,
                    space,
                    padded,
                    some[a:b],
                    room[a:b],
                    k,
                    without[a:b],
                    more,
                    partial(lean.of, start + a, start + b, width, None if back is None else back[a:b]),
                )
                for a, b in pairwise(cuts)
            ]
            yield from (hits for done in work for hits in done.result())


def _best_of_many(
    space: Space,
    ranking: Ranking,
    queries: Vectors,
    products: Vectors,
    k: int,
    exclude: Sequence[list[int]],
    more: int,
    leaning: Callable[[], Leans | None],
) -> list[Hits]:
    """The best words of some queries: they are in the `more` stretches of words with the highest peaks."""
    leans = leaning()
    peaks, sums = scan(ranking, products, leans)
    floors = np.partition(peaks, peaks.shape[1] - more, axis=1)[:, peaks.shape[1] - more, None]
    found = []
    for at, (query, ranks, high, total) in enumerate(zip(queries, products, peaks >= floors, sums, strict=True)):
        lean = leans and leans.part(slice(at, at + 1), slice(None))
        ranks[exclude[at]] = -np.inf
        near = members(high)
        best = near[top(ranks[near], k)]
        if total > LEAST_SUM:
            found.append(_hits(ranking, best, space.vectors[best] @ query, np.log(total), lean))
        else:
            found.append(
                _best(space, Ranking(*(part[: len(space.bias)] for part in ranking)), query, k, exclude[at], lean)
            )
    return found


def _best(space: Space, ranking: Ranking, query: Vectors, k: int, exclude: list[int], lean: Leans | None) -> Hits:
    """The best words of one query."""
    product = space.vectors @ query
    logits, ranks = product * ranking.pull + ranking.tilt, product * ranking.pull + ranking.shift
    if lean is not None:
        logits += lean.logits[0, : len(logits)]
        ranks += lean.ranks[0, : len(ranks)]
    ranks[exclude] = -np.inf
    best = top(ranks, k)
    return _hits(ranking, best, product[best], log_sum(logits[None])[0], lean)


def _hits(ranking: Ranking, words: Numbers, product: Vectors, log_total: np.float32, lean: Leans | None) -> Hits:
    """Words, with their products with a query made scores and probabilities."""
    logits = product * ranking.pull[words] + ranking.tilt[words] - log_total
    if lean is not None:
        logits += lean.logits[0, words]
    return Hits(words, product * ranking.scale[words], np.exp(logits))


class Ranking(NamedTuple):
    """What is the same for all queries of a search, by words.

    A word's logit is its product with the query times `pull`, plus `tilt`, chosen so that none is above 0 (but for what
    the edges into the blank add); it is ranked by its product times `pull`, plus `shift`, which is -inf where it is no
    answer.
    """

    scale: Vectors
    pull: Vectors
    tilt: Vectors
    shift: Vectors

    @classmethod
    def of(cls, space: Space, calibration: Calibration, by: str, pos: Collection[str]) -> Ranking:
        """How the words of a space are ranked."""
        known = np.isfinite(space.bias)
        listed = known & np.isin(space.parts, list(pos)) if pos else known
        sharpness, prior = np.float32(calibration.sharpness), _tilt(space, calibration)
        shift = np.where(listed, np.float32(RANKINGS[by]) * _finite(prior), -np.inf).astype(np.float32)
        return cls(space.scale, sharpness * space.scale, prior - (sharpness + prior.max()), shift)


def scan(ranking: Ranking, products: Vectors, leans: Leans | None = None) -> tuple[Vectors, Vectors]:
    """Turn products into ranks in place; the best in every stretch of words, and the sums of exp of all logits.

    A few queries and a block of words at a time, so that all is done while they are in the cache. A stretch is STRIDE
    words of a block, STRETCHES apart: so their largest is found by whole registers.
    """
    rows, width = products.shape
    peaks = np.empty((rows, width // BLOCK, STRETCHES), np.float32)
    sums, spare = np.zeros(rows, np.float32), np.empty((ROWS, BLOCK), np.float32)
    for start in range(0, rows, ROWS):
        some = slice(start, start + ROWS)
        for block in range(width // BLOCK):
            part = slice(block * BLOCK, (block + 1) * BLOCK)
            values = products[some, part]
            here = Ranking(*(each[part] for each in ranking))
            sums[some] += _ranks_and_sums(values, here, leans and leans.part(some, part), spare)
            np.max(values.reshape(-1, STRIDE, STRETCHES), axis=1, out=peaks[some, block])
    return peaks.reshape(rows, -1), sums


def _ranks_and_sums(values: Vectors, ranking: Ranking, lean: Leans | None, spare: Vectors) -> Vectors:
    """Turn products into ranks in place; the sums of exp of their logits."""
    values *= ranking.pull
    logits = np.add(values, ranking.tilt, out=spare[: len(values)])
    values += ranking.shift
    if lean is not None:
        logits += lean.logits
        values += lean.ranks
    np.exp(logits, out=logits)
    found: Vectors = logits.sum(axis=1)
    return found


def members(stretches: NDArray[np.bool_]) -> Numbers:
    """The words of some stretches, in order."""
    block, first = np.divmod(np.flatnonzero(stretches), STRETCHES)
    found: Numbers = np.sort((block * BLOCK + first + STRETCHES * np.arange(STRIDE)[:, None]).ravel())
    return found


def log_odds(space: Space, scores: Vectors, calibration: Calibration, leanings: Leanings | None = None) -> Vectors:
    """The logarithms of the probabilities of words, up to a constant of each row."""
    odds: Vectors = np.float32(calibration.sharpness) * scores + _tilt(space, calibration)
    lean = Lean(leanings, calibration).of(0, len(odds))
    return odds if lean is None else odds + lean.logits


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
    wide = len(values) // STRIDE
    near = np.arange(len(values))
    if k < wide:
        peaks = values[: wide * STRIDE].reshape(STRIDE, wide).max(axis=0)
        near = np.flatnonzero(values >= np.partition(peaks, wide - k)[wide - k])
    near = near[np.isfinite(values[near])]
    return near[np.argsort(-values[near], kind="stable")[:k]]


def calibration_of(model: Model) -> Calibration:
    """What `vecdcs calibrate` found for a model; without it, what the objective of training implies."""
    if model.path is not None and (model.path / CALIBRATION).is_file():
        return read_calibration(model.path / CALIBRATION)
    return implied_calibration(model)


def implied_calibration(model: Model) -> Calibration:
    """What the objective of training says scores are worth.

    Training sets a path against noise words drawn in proportion to P(word)^power, so its best score is
    log p(word | path) - power * log P(word) up to a constant, in vectors as they were learned, not of length 1. Asked
    back, the word's own paths tell the same, so that both count by half. By that alone edges would be worth nothing
    more; in real text they are, where much is said of each word they are not (dev/LOG.md).
    """
    recipe = model.config.get("plan", {}).get("recipe", {})
    power = float(recipe.get("word_power", NOISE_POWER))
    weights = model.vocabulary.word_weights[:FREQUENT] + 1e-9
    vectors = (model.as_learned(side, slice(FREQUENT)) for side in SIDES)
    lengths = [np.average(np.linalg.norm(part, axis=1), weights=weights) for part in vectors]
    role = power if model.roles and recipe.get("name") != DENSE.name else 0.0
    sharpness = float(np.prod(lengths))
    if model.inverses is not None:
        return Calibration(sharpness, power, role)
    return Calibration(sharpness / 2, power, role, back=sharpness / 2)


def read_calibration(path: Path) -> Calibration:
    """The calibration that a model folder holds."""
    try:
        found = json.loads(path.read_text("utf-8"))
        more = (float(found.get(name, 0)) for name in ("role", "kind", "back"))
        return Calibration(float(found["sharpness"]), float(found["prior"]), *more)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError('expected {"sharpness": number, "prior": number}', str(path)) from error


def write_calibration(calibration: Calibration, folder: Path) -> None:
    """Keep a calibration in the model's folder."""
    put(folder, CALIBRATION, json.dumps(asdict(calibration)) + "\n")


def calibrate(
    space: Space, queries: Vectors, answers: Numbers, start: Calibration, leanings: Leanings | None = None
) -> Calibration:
    """The calibration under which the true answers of some queries are most probable; `kind` stays as it is."""
    known = np.flatnonzero(np.isfinite(space.bias))
    usable = np.flatnonzero(np.isin(answers, known))
    if not len(usable):
        raise VecdcsError("there is nothing to calibrate on: no node of these trees has a known word")
    truth = np.arange(len(usable)), np.searchsorted(known, answers[usable])
    bias = np.broadcast_to(space.bias[known], (len(usable), len(known)))
    parts = {"sharpness": space.scores(queries[usable])[:, known], "prior": bias}
    if leanings is not None and leanings.roles is not None:
        parts["role"] = leanings.edges(0, len(queries))[np.ix_(usable, known)]
    back = leanings.asked_back(1.0, 0, len(queries)) if leanings is not None else None
    if back is not None:
        parts["back"] = back[np.ix_(usable, known)]
    begin = start if back is not None else start.one_way
    return replace(begin, **_most_probable(parts, truth, asdict(begin)))


def _most_probable(
    parts: Mapping[str, Vectors], truth: tuple[Numbers, Numbers], begin: Mapping[str, float]
) -> dict[str, float]:
    """What parts of logits are worth, each by its name, where the words that are true are most probable."""
    from scipy.optimize import minimize

    unit = np.maximum([begin[name] for name in parts], 0.1)

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = np.zeros(parts["prior"].shape, np.float32)
        for worth, part in zip((point * unit).astype(np.float32), parts.values(), strict=True):
            logits += worth * part
        logits -= log_sum(logits)[:, None]
        chance = np.exp(logits)
        slopes = [float((np.einsum("ij,ij->i", chance, part) - part[truth]).mean()) for part in parts.values()]
        return -float(logits[truth].mean()), np.array(slopes) * unit

    bounds = [(0, MOST_WORTH[name] / one) for name, one in zip(parts, unit, strict=True)]
    first = [begin[name] / one for name, one in zip(parts, unit, strict=True)]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds).x * unit
    return dict(zip(parts, found.tolist(), strict=True))
