"""Benchmarks against human ratings in the common shape: phrase similarity and selectional preference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.model.model import Model
from vecdcs.tasks import phrase_similarity, preference
from vecdcs.tasks.phrase_similarity import LAYOUTS, Ratings
from vecdcs.tasks.preference import ROLES, Role
from vecdcs.tasks.result import Clock, Result, Sample, interval95
from vecdcs.tasks.spearman import corrected

Floats = NDArray[np.float64]
Rows = list[dict[str, object]]


def phrases(model: Model, data: Path, seed: int = 1, plain_sum: bool = False) -> Result:
    """Phrase similarity on every set whose file is there."""
    clock, samples, sets, missing, details = Clock(), list[Sample](), list[dict[str, Any]](), list[str](), Rows()
    for name, layout in LAYOUTS.items():
        path = data / phrase_similarity.FOLDER / layout.file
        ratings = phrase_similarity.read(path, layout) if path.is_file() else None
        if ratings is None or not ratings.pairs:
            missing.append(name)
            continue
        with clock("score"):
            plain = plain_sum and name == "SVO"
            scores = phrase_similarity.similarities(model, layout, ratings.pairs, plain)
            figures = phrase_similarity.evaluate_set(model, layout, ratings, np.random.default_rng(seed), plain)
        samples.append(_over_pairs(name, scores, ratings))
        sets.append({"set": name, **figures})
        details += _phrase_rows(name, ratings, scores)
    composed = "equation (4), the plain sum for SVO" if plain_sum else "equation (4)"
    protocol = (
        f"cosines of query vectors composed by {composed}; Spearman over single ratings by the paper's formula, over "
        "single ratings with ties corrected (interval: bootstrap over pairs), and over the mean ratings of pairs"
    )
    whole = (tuple(missing), clock.seconds, tuple(samples), details)
    return Result("phrase-similarity", str(model.path), protocol, {"sets": sets}, *whole)


def _over_pairs(name: str, scores: Floats, ratings: Ratings) -> Sample:
    """The tie-corrected figure as a function of the pairs."""
    rows = [np.flatnonzero(ratings.pair == pair) for pair in range(len(scores))]

    def figure(pairs: NDArray[np.int64]) -> float:
        drawn = np.concatenate([rows[pair] for pair in pairs])
        return corrected(scores[ratings.pair[drawn]], ratings.rating[drawn])

    return Sample(name, len(scores), figure)


def _phrase_rows(name: str, ratings: Ratings, scores: Floats) -> Rows:
    means = np.bincount(ratings.pair, ratings.rating) / np.bincount(ratings.pair)
    return [
        {"set": name, "item": " ".join(pair), "score": f"{score:.5f}", "rating": f"{mean:.3f}"}
        for pair, score, mean in zip(ratings.pairs, scores, means, strict=True)
    ]


def preferences(model: Model, data: Path, seed: int = 1) -> Result:
    """Selectional preference on every set whose file is there."""
    clock, samples, sets, missing, details = Clock(), list[Sample](), list[dict[str, Any]](), list[str](), Rows()
    for name, role in ROLES.items():
        path = data / preference.FOLDER / f"{name}_annotation.txt"
        if not path.is_file():
            missing.append(name)
            continue
        items, ratings = preference.read(path)
        with clock("score"):
            scores = preference.plausibilities(model, role, items)
            samples.append(_over_items(name, scores, ratings))
            sets.append(_preference_set(model, role, items, samples[-1], seed))
        details += [
            {"set": name, "item": " ".join(item), "score": f"{score:.5f}", "rating": f"{rating:.3f}"}
            for item, score, rating in zip(items, scores, ratings, strict=True)
        ]
    protocol = "plausibility of a word in a role; Spearman with ties corrected (interval: bootstrap over items)"
    whole = (tuple(missing), clock.seconds, tuple(samples), details)
    return Result("preference", str(model.path), protocol, {"sets": sets}, *whole)


def _over_items(name: str, scores: Floats, ratings: Floats) -> Sample:
    return Sample(name, len(scores), lambda rows: corrected(scores[rows], ratings[rows]))


def _preference_set(
    model: Model, role: Role, items: list[tuple[str, str]], sample: Sample, seed: int
) -> dict[str, Any]:
    known = [model.knows(f"{p}/{role.predicate}") and model.knows(f"{a}/{role.argument}") for p, a in items]
    figures = {"items": sample.size, "spearman": sample.value, "interval95": interval95(sample, seed)}
    return {"set": sample.name, **figures, "oov": 1 - float(np.mean(known))}
