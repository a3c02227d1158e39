"""Likeness: what words are compared by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_models import random_model

from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.model.ask import Asker
from vecdcs.model.likeness import (
    ANSWERS,
    LITTLE,
    MUCH,
    NEIGHBOURS,
    POWERS,
    SHARES,
    by_likeness,
    how_well_known,
    metric,
    neighbour_means,
    plain,
)
from vecdcs.model.model import unit


def test_neighbour_means_are_those_of_the_rows_around() -> None:
    rows = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    for reach in (0, 2, 20):
        expected = [rows[max(i - reach, 0) : i + reach + 1].mean(0) for i in range(len(rows))]
        np.testing.assert_allclose(neighbour_means(rows, reach), expected, atol=1e-6)


def test_a_share_of_the_mean_is_taken_out_of_each_part_of_speech() -> None:
    model = random_model()
    nouns = [i for i, word in enumerate(model.vocabulary.words) if word.endswith("/N")]
    assert len(nouns) < NEIGHBOURS
    assert how_well_known(model.vocabulary) == 0
    asking, answering = by_likeness(model).sides
    for side, vectors in ((asking, model.query), (answering, model.answer)):
        expected = unit(unit(vectors[nouns]) - SHARES[0] * unit(vectors[nouns]).mean(0))
        np.testing.assert_allclose(side.model.query[nouns], expected, atol=1e-6)
        assert side.metric is None


def test_after_much_text_more_is_taken_out_and_directions_are_scaled() -> None:
    model = random_model()
    weights = np.full(len(model.query), 2.0 * MUCH)
    much = replace(model, vocabulary=replace(model.vocabulary, word_weights=weights))
    assert how_well_known(much.vocabulary) == 1
    nouns = [i for i, word in enumerate(model.vocabulary.words) if word.endswith("/N")]
    side = by_likeness(much).sides[0]
    vectors = unit(model.query[nouns])
    np.testing.assert_allclose(side.model.query[nouns], unit(vectors - SHARES[1] * vectors.mean(0)), atol=1e-6)
    np.testing.assert_allclose(side.metric, metric(side.model.query, POWERS[1]), atol=1e-5)


def test_between_little_and_much_the_logarithm_of_text_counts() -> None:
    vocabulary = random_model().vocabulary
    middle = replace(vocabulary, word_weights=np.full(len(vocabulary.words), np.sqrt(LITTLE * MUCH)))
    assert how_well_known(middle) == pytest.approx(0.5)


def test_a_metric_is_a_power_of_the_covariance() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32) * [1, 2, 3, 4, 5]
    rows = rows.astype(np.float32)
    covariance = rows.T @ rows / len(rows)
    np.testing.assert_allclose(metric(rows, 1), covariance, rtol=1e-4, atol=1e-4)
    whitened = rows @ metric(rows, -0.5)
    np.testing.assert_allclose(whitened.T @ whitened / len(rows), np.eye(5), atol=1e-4)


def test_similarity_is_the_mean_cosine_of_both_sides_by_their_shares() -> None:
    model = random_model()
    sides = by_likeness(model).sides
    cosines = [side.model.query_vector("drug/N") @ side.model.query_vector("book/N") for side in sides]
    expected = (cosines[0] + ANSWERS * cosines[1]) / (1 + ANSWERS)
    assert model.similarity("drug/N", "book/N") == pytest.approx(float(expected), abs=1e-5)


def test_vectors_without_frequencies_are_compared_as_they_are() -> None:
    model = random_model()
    vocabulary = Vocabulary(model.vocabulary.words, np.zeros(len(model.query)), model.vocabulary.fields, np.zeros(7))
    bare = replace(model, vocabulary=vocabulary)
    assert by_likeness(bare) == plain(bare)
    np.testing.assert_allclose(plain(bare).words, unit(model.query), atol=1e-6)


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
