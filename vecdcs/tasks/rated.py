"""Benchmarks against human ratings in the common shape: phrase similarity and selectional preference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.model.likeness import by_likeness, plain
from vecdcs.model.model import Model
from vecdcs.tasks import phrase_similarity, preference
from vecdcs.tasks.lemmas import as_known
from vecdcs.tasks.phrase_similarity import LAYOUTS
from vecdcs.tasks.preference import ROLES
from vecdcs.tasks.result import Clock, Result, Sample, interval95
from vecdcs.tasks.spearman import corrected, three_ways

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = np.zeros(0)


class Rated(NamedTuple):
    """A set: its items with their scores, single ratings (the i-th of item[i]), and the share of what is unknown.

    `plain`: scores in the paper's way, where the model has one of its own.
    """

    items: Sequence[tuple[str, ...]]
    scores: Floats
    item: Ints
    rating: Floats
    oov: float
    plain: Floats = NONE


def phrases(model: Model, data: Path, seed: int = 1, plain_sum: bool = False) -> Result:
    """Phrase similarity on every set whose file is there, by the model's own likeness and by plain query vectors."""
    alike, as_they_are = by_likeness(model), plain(model)

    def rated(name: str) -> Rated | None:
        layout = LAYOUTS[name]
        path = data / phrase_similarity.FOLDER / layout.file
        ratings = phrase_similarity.read(path, layout) if path.is_file() else None
        if ratings is None or not ratings.pairs:
            return None
        scores, plainly = (
            phrase_similarity.similarities(one, layout, ratings.pairs, plain_sum and name == "SVO")
            for one in (alike, as_they_are)
        )
        known = [model.knows(word) for word in as_known(model, sorted(phrase_similarity.words(layout, ratings.pairs)))]
        return Rated(ratings.pairs, scores, ratings.pair, ratings.rating, 1 - float(np.mean(known)), plainly)

    def figures(found: Rated) -> dict[str, Any]:
        return {
            "pairs": len(found.items),
            **{
                f"{prefix}_{way}": value
                for prefix, scores in (("spearman", found.scores), ("plain", found.plain))
                for way, value in three_ways(scores, found.item, found.rating)._asdict().items()
            },
        }

    composed = "equation (4), the plain sum for SVO" if plain_sum else "equation (4)"
    protocol = (
        f"cosines of the vectors that the model compares words by (plain: of query vectors as they are, as in the "
        f"paper), composed by {composed}; Spearman over single ratings by the paper's formula, over single ratings "
        "with ties corrected (interval: bootstrap over pairs), and over the mean ratings of pairs"
    )
    return _evaluate("phrase-similarity", model, protocol, LAYOUTS, rated, figures, seed)


def preferences(model: Model, data: Path, seed: int = 1) -> Result:
    """Selectional preference on every set whose file is there."""

    def rated(name: str) -> Rated | None:
        role, path = ROLES[name], data / preference.FOLDER / f"{name}_annotation.txt"
        if not path.is_file():
            return None
        items, ratings = preference.read(path)
        sides = [as_known(model, [f"{item[at]}/{pos}" for item in items]) for at, pos in enumerate(role[:2])]
        known = [all(map(model.knows, pair)) for pair in zip(*sides, strict=True)]
        scores = preference.plausibilities(model, role, items)
        return Rated(items, scores, np.arange(len(items)), ratings, 1 - float(np.mean(known)))

    def figures(found: Rated) -> dict[str, Any]:
        return {"items": len(found.items), "spearman": corrected(found.scores, found.rating)}

    protocol = (
        "plausibility of a word in a role, less half of what the asking word scores with all of a part of speech;"
        " Spearman with ties corrected (interval: bootstrap over items)"
    )
    return _evaluate("preference", model, protocol, ROLES, rated, figures, seed)


def _evaluate(
    task: str,
    model: Model,
    protocol: str,
    names: Collection[str],
    rated: Callable[[str], Rated | None],
    figures: Callable[[Rated], dict[str, Any]],
    seed: int,
) -> Result:
    clock = Clock()
    with clock("score"):
        found = {name: one for name in names if (one := rated(name)) is not None}
    samples = tuple(sample(name, one) for name, one in found.items())
    with clock("bootstrap"):
        sets = [
            {"set": whole.name, **figures(one), "interval95": interval95(whole, seed), "oov": one.oov}
            for whole, one in zip(samples, found.values(), strict=True)
        ]
    missing = tuple(name for name in names if name not in found)
    details = [row for name, one in found.items() for row in _rows(name, one)]
    return Result(task, str(model.path), protocol, {"sets": sets}, missing, clock.seconds, samples, details)


def sample(name: str, found: Rated) -> Sample:
    """The tie-corrected figure as a function of the items."""
    rows = np.split(np.argsort(found.item, kind="stable"), np.cumsum(np.bincount(found.item))[:-1])

    def figure(items: Ints) -> float:
        drawn = np.concatenate([rows[item] for item in items])
        return corrected(found.scores[found.item[drawn]], found.rating[drawn])

    return Sample(name, len(found.items), figure)


def _rows(name: str, found: Rated) -> list[dict[str, object]]:
    means = np.bincount(found.item, found.rating) / np.bincount(found.item)
    return [
        {"set": name, "item": " ".join(item), "score": f"{score:.5f}", "rating": f"{mean:.3f}"}
        for item, score, mean in zip(found.items, found.scores, means, strict=True)
    ]
