"""Search: exact best words against sorting all of them, filters, and probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_models import random_model

from vecdcs.errors import InputError, VecdcsError
from vecdcs.model.model import unit
from vecdcs.model.search import (
    CALIBRATION,
    Calibration,
    Space,
    calibrate,
    calibration_of,
    read_calibration,
    search,
    top,
    write_calibration,
)

PLAIN = Calibration(5.0, 0.5)


def queries(count: int, dim: int = 8, seed: int = 3) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32))


@given(st.integers(1, 2000), st.integers(1, 30), st.integers(0, 3))
def test_top_is_what_sorting_gives(size: int, k: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 50, size).astype(np.float32)
    values[:: 1 + seed] = -np.inf
    expected = [at for at in np.argsort(-values, kind="stable") if np.isfinite(values[at])][:k]
    assert top(values, k).tolist() == expected


def test_many_queries_are_answered_as_one_by_one() -> None:
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    some = queries(150)
    together = search(space, some, 4, PLAIN)
    assert len(together) == 150
    for query, hits in zip(some, together, strict=True):
        alone = search(space, query[None], 4, PLAIN)[0]
        assert alone.words.tolist() == hits.words.tolist()
        np.testing.assert_allclose(alone.scores, hits.scores, atol=1e-5)
        np.testing.assert_allclose(alone.probabilities, hits.probabilities, atol=1e-5)


def test_scores_are_cosines_and_probabilities_sum_to_one() -> None:
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    query = queries(1)
    hits = search(space, query, 1000, PLAIN, by="score")[0]
    expected = unit(model.answer) @ query[0]
    np.testing.assert_allclose(hits.scores, expected[hits.words], atol=1e-5)
    assert sorted(hits.scores, reverse=True) == hits.scores.tolist()
    assert hits.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_probabilities_follow_the_formula() -> None:
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    query = queries(1)
    known = [at for at, word in enumerate(model.vocabulary.words) if not word.startswith("*UNKNOWN*")]
    weights = model.vocabulary.word_weights[known] / model.vocabulary.total
    expected = weights**PLAIN.prior * np.exp(PLAIN.sharpness * (unit(model.answer)[known] @ query[0]))
    hits = search(space, query, 1000, PLAIN)[0]
    found = dict(zip(hits.words.tolist(), hits.probabilities.tolist(), strict=True))
    assert sorted(found) == known
    np.testing.assert_allclose([found[at] for at in known], expected / expected.sum(), rtol=1e-3)


def test_probabilities_of_very_sharp_scores() -> None:
    """Where exp of every logit vanishes in single precision, probabilities are still right."""
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    hits = search(space, -unit(space.vectors[:1]), 1000, Calibration(500.0, 0.5))[0]
    assert hits.probabilities.sum() == pytest.approx(1, abs=1e-4)


def test_balanced_is_by_probability_with_half_the_prior() -> None:
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    found = search(space, queries(20), 100, PLAIN, by="balanced")
    expected = search(space, queries(20), 100, Calibration(PLAIN.sharpness, PLAIN.prior / 2))
    for one, other in zip(found, expected, strict=True):
        assert one.words.tolist() == other.words.tolist()
    probable = search(space, queries(20), 100, PLAIN)
    assert sorted(found[0].probabilities) == pytest.approx(sorted(probable[0].probabilities))


def test_a_prior_of_nothing() -> None:
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    flat = search(space, queries(1), 100, Calibration(5.0, 0.0))[0]
    assert flat.words.tolist() == search(space, queries(1), 100, PLAIN, by="score")[0].words.tolist()
    assert flat.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_filters() -> None:
    model = random_model()
    space = Space.of(model.answer, model.vocabulary)
    names = np.array(model.vocabulary.words)
    verbs = search(space, queries(1), 100, PLAIN, pos=["V"])[0]
    assert sorted(names[verbs.words]) == ["ban/V", "burn down/V", "learn/V", "sell/V"]
    without = search(space, queries(1), 100, PLAIN, pos=["V"], exclude=[{model.vocabulary.word_index["ban/V"]}])[0]
    assert "ban/V" not in names[without.words] and len(without.words) == 3
    # filters change what is listed, not what it is worth
    assert set(without.probabilities) < set(verbs.probabilities)


def test_half_precision_is_widened() -> None:
    model = random_model()
    space = Space.of(model.answer.astype(np.float16), model.vocabulary)
    assert space.vectors.dtype == np.float32
    exact = Space.of(model.answer, model.vocabulary).scores(queries(2))
    np.testing.assert_allclose(space.scores(queries(2)), exact, atol=2e-3)


def test_single_precision_is_not_copied() -> None:
    model = random_model()
    assert np.shares_memory(Space.of(model.answer, model.vocabulary).vectors, model.answer)


def test_calibration_finds_the_numbers_that_made_the_data() -> None:
    words = [f"w{n}/N" for n in range(200)]
    model = random_model(words=words, dim=12)
    space = Space.of(model.answer, model.vocabulary)
    truth = Calibration(9.0, 0.6)
    rng = np.random.default_rng(5)
    some = queries(4000, 12)
    known = len(words)
    logits = truth.sharpness * space.scores(some)[:, :known] + truth.prior * space.bias[:known]
    answers = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    found = calibrate(space, some, answers, Calibration(3.0, 1.0))
    assert found.sharpness == pytest.approx(truth.sharpness, rel=0.1)
    assert found.prior == pytest.approx(truth.prior, abs=0.1)


def test_calibration_needs_known_words() -> None:
    model = random_model()
    unknown = np.array([model.vocabulary.word_index["*UNKNOWN*/N"]])
    with pytest.raises(VecdcsError, match="nothing to calibrate"):
        calibrate(Space.of(model.answer, model.vocabulary), queries(1), unknown, PLAIN)


def test_calibration_in_the_folder_of_a_model(tmp_path: Path) -> None:
    write_calibration(Calibration(2.5, 0.25), tmp_path)
    assert read_calibration(tmp_path / CALIBRATION) == Calibration(2.5, 0.25)
    (tmp_path / CALIBRATION).write_text("[]")
    with pytest.raises(InputError, match="sharpness"):
        read_calibration(tmp_path / CALIBRATION)


def test_calibration_that_training_implies() -> None:
    model = random_model()
    lengths = [
        np.average(np.linalg.norm(v, axis=1), weights=model.vocabulary.word_weights)
        for v in (model.query, model.answer)
    ]
    found = calibration_of(model)
    assert found.sharpness == pytest.approx(lengths[0] * lengths[1], rel=1e-4)
    assert found.prior == 0.75
