"""Vectors of words, and vectors taken through fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vecdcs.model.model import Model, unit

Vectors = NDArray[np.float32]
WITH_ALL = 0.5  # the share that is taken out of what a word scores with all words


def project(model: Model, vectors: Vectors, fields: Sequence[str]) -> Vectors:
    """Vectors through fields in pairs, M of the first and the inverse of the second; unchanged without matrices."""
    if model.has_matrices:
        for place, name in enumerate(fields):
            vectors = vectors @ (model.inverse(name) if place % 2 else model.matrix(name))
    return vectors


def through(model: Model, vectors: Vectors, fields: Sequence[str], relations: Sequence[str]) -> Vectors:
    """Vectors through fields; in vecUD models through relations, `-name` downwards."""
    if not (model.has_matrices and model.config.get("forest", {}).get("ud")):
        return project(model, vectors, fields)
    for name in relations:
        vectors = vectors @ (model.inverse(name[1:]) if name.startswith("-") else model.matrix(name))
    return vectors


def word_vectors(model: Model, words: Sequence[str]) -> Vectors:
    """Query vectors of words, of length 1."""
    return unit(model.query[model.vocabulary.word_ids(words)])


def answer_vectors(model: Model, words: Iterable[str]) -> Vectors:
    """Answer vectors of words, of length 1."""
    return unit(np.asarray(model.answer[model.vocabulary.word_ids(words)], np.float32))


def telling_answers(model: Model, words: Sequence[str]) -> Vectors:
    """Answer vectors of words for plausibility, where only what is particular to a pair should tell.

    Some words ask for more than others, whoever answers: they score high with the mean answer of a part of speech. A
    share of that is taken out.
    """
    common = model.mean_answers[model.vocabulary.parts[model.vocabulary.word_ids(words)]]
    return np.asarray(answer_vectors(model, words) - WITH_ALL * common, np.float32)
