"""Likeness: query vectors without what part of speech and frequency account for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from made_models import random_model

from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.model.ask import Asker
from vecdcs.model.likeness import NEIGHBOURS, SHARE, by_likeness, neighbour_means
from vecdcs.model.model import unit


def test_neighbour_means_are_those_of_the_rows_around() -> None:
    rows = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    for reach in (0, 2, 20):
        expected = [rows[max(i - reach, 0) : i + reach + 1].mean(0) for i in range(len(rows))]
        np.testing.assert_allclose(neighbour_means(rows, reach), expected, atol=1e-6)


def test_half_of_the_mean_is_taken_out_of_each_part_of_speech() -> None:
    model = random_model()
    nouns = [i for i, word in enumerate(model.vocabulary.words) if word.endswith("/N")]
    vectors = unit(model.query[nouns])
    assert len(nouns) < NEIGHBOURS
    np.testing.assert_allclose(by_likeness(model).query[nouns], unit(vectors - SHARE * vectors.mean(0)), atol=1e-6)
    np.testing.assert_array_equal(by_likeness(model).answer, model.answer)


def test_vectors_without_frequencies_stay() -> None:
    model = random_model()
    vocabulary = Vocabulary(model.vocabulary.words, np.zeros(len(model.query)), model.vocabulary.fields, np.zeros(7))
    assert by_likeness(replace(model, vocabulary=vocabulary)).query is model.query


def frequent_and_rare(seed: int = 1, words: int = 400, dim: int = 40) -> Asker:
    """Verbs whose vectors go another way the rarer they are; the i-th means the same as the i-th from the end."""
    rng = np.random.default_rng(seed)
    meaning = rng.normal(size=(words, dim)).astype(np.float32)
    meaning[words // 2 :] = meaning[: words // 2][::-1]
    meaning[:, :2] = 0
    angle = np.linspace(0, np.pi / 2, words)
    meaning[:, 0], meaning[:, 1] = 8 * np.cos(angle), 8 * np.sin(angle)
    return replace(random_model(dim=dim, words=[f"verb{i}/V" for i in range(words)]), query=_padded(meaning))


def _padded(vectors: np.ndarray) -> np.ndarray:
    return np.vstack([vectors, np.ones((5, vectors.shape[1]), np.float32)])


def test_words_are_alike_by_meaning_rather_than_frequency() -> None:
    model = frequent_and_rare()
    same, as_frequent = ("verb10/V", "verb389/V"), ("verb10/V", "verb12/V")
    plain = unit(model.query)
    assert plain[10] @ plain[389] < plain[10] @ plain[12]
    assert model.similarity(*same) > model.similarity(*as_frequent)
    plainly = [model.vocabulary.words[at] for at in np.argsort(-plain @ plain[10])]
    nearest = [near.word for near in model.nearest("verb10/V", k=100)]
    assert "verb389/V" in nearest[:20]
    assert "verb389/V" not in plainly[:100]
