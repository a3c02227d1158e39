"""Asking back: what answers ask for at the words of a question, beside what these ask for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from made_models import WORDS, random_model
from strategies import trees

from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.model.ask import Asker
from vecdcs.model.leanings import Leanings
from vecdcs.model.model import MANIFEST, check, save, unit
from vecdcs.model.query import asked, lay_flat, node_vectors
from vecdcs.model.search import (
    CALIBRATION,
    RANKINGS,
    Calibration,
    Space,
    calibrate,
    log_odds,
    search,
    write_calibration,
)

WORTH = Calibration(5.0, 0.5, back=4.0)
QUESTION = "_ & (sell/V & COMP:(drug/N & (ban/V & SUBJ:canada/N).COMP)).SUBJ"


def asking_model(back: float = 4.0, **options: object) -> Asker:
    """A random model of orthogonal matrices that asks back."""
    model = random_model(tied=True, **options)  # type: ignore[arg-type]
    model.__dict__["calibration"] = replace(WORTH, back=back)
    return model


def both_ways(model: Asker, count: int) -> tuple[np.ndarray, Leanings]:
    """Queries, and the same composed of answer vectors."""
    rng = np.random.default_rng(2)
    some, others = (unit(rng.normal(size=(count, model.dim)).astype(np.float32)) for _ in range(2))
    return some, model.asking_back(Leanings(len(model.query), None, [[]] * count), others)


@given(trees(words=(*WORDS[:6], BLANK), groups=False))
@settings(max_examples=40)
def test_an_answer_asks_for_the_words_of_the_question(tree: Tree) -> None:
    """v_y on its way to every word of the tree, times the answer vectors there, as equation (4) weighs them."""
    model = asking_model()
    question = model.ask(tree, stepwise=False)
    laid = lay_flat(model.vocabulary, [question.hung])
    there = node_vectors(model, laid.trees, answers=True)
    sums = [(asked(model, laid.trees, vector[None]) * there).sum() for vector in unit(model.query)]
    backs = model.leanings([question]).backs
    assert backs is not None
    assume(np.linalg.norm(sums) > 1e-3)  # a blank asks nothing
    found = unit(model.query) @ backs[0]
    np.testing.assert_allclose(found / np.linalg.norm(found), sums / np.linalg.norm(sums), atol=1e-4)


@pytest.mark.parametrize("by", RANKINGS)
@pytest.mark.parametrize("count", [1, 40])
def test_what_is_asked_back_counts_in_full(by: str, count: int) -> None:
    model = asking_model(words=[f"w{n}/{'NV'[n % 2]}" for n in range(5000)])
    queries, lean = both_ways(model, count)
    space = model.answer_space
    scores, back = space.scores(queries), model.query_space.scores(lean.backs)
    bias = np.where(np.isfinite(space.bias), space.bias, 0)
    logits = 5.0 * scores + 4.0 * back + 0.5 * bias
    logits[:, ~np.isfinite(space.bias)] = -np.inf
    np.testing.assert_allclose(log_odds(space, scores, WORTH, lean), logits, atol=1e-4)
    chances = np.exp(logits - np.log(np.exp(logits).sum(1))[:, None])
    ranks = 5.0 * scores + RANKINGS[by] * 0.5 * bias + (0 if by == "score" else 4.0 * back)
    ranks[:, ~np.isfinite(space.bias)] = -np.inf
    for row, hits in enumerate(search(space, queries, 7, WORTH, by, leanings=lean)):
        assert hits.words.tolist() == np.argsort(-ranks[row], kind="stable")[:7].tolist()
        np.testing.assert_allclose(hits.scores, scores[row, hits.words], atol=1e-5)
        np.testing.assert_allclose(hits.probabilities, chances[row, hits.words], rtol=1e-3)


def test_calibration_finds_what_asking_back_is_worth() -> None:
    model = asking_model(words=[f"w{n}/N" for n in range(200)], dim=12)
    space, truth = Space.of(model.answer, model.vocabulary), Calibration(6.0, 0.6, back=9.0)
    queries, lean = both_ways(model, 4000)
    logits = log_odds(space, space.scores(queries), truth, lean)
    answers = np.argmax(logits + np.random.default_rng(5).gumbel(size=logits.shape), axis=1)
    found = calibrate(space, queries, answers, Calibration(3.0, 1.0, 0.0, 2.0), lean)
    assert (found.sharpness, found.back) == pytest.approx((6.0, 9.0), rel=0.1)
    assert found.prior == pytest.approx(0.6, abs=0.1)
    assert found.one_way == replace(found, sharpness=found.sharpness + found.back, back=0)
    alone = calibrate(space, queries, answers, Calibration(3.0, 1.0), replace(lean, backs=None))
    assert alone.back == 0


def test_only_models_whose_inverses_are_transposes_are_asked_back() -> None:
    model = random_model()
    model.__dict__["calibration"] = WORTH
    assert model.inverses is not None and model.leanings([model.ask(QUESTION)]).backs is None
    assert asking_model(back=0.0).leanings([asking_model(back=0.0).ask(QUESTION)]).backs is None


def test_step_by_step_answers_are_asked_back_for_what_was_named() -> None:
    """In place of an inner noun stands the mean answer vector of what it names."""
    model = asking_model()
    plain, stepwise = (model.ask(QUESTION, stepwise=way) for way in (False, True))
    together = model.leanings([plain, stepwise]).backs
    assert together is not None
    inner = model.ask("drug/N & (ban/V & SUBJ:canada/N).COMP", stepwise=False)
    scores = model.answer_space.scores(inner.vector[None])
    logits = log_odds(model.answer_space, scores, model.calibration.one_way)[0]
    chances = np.where(model.answer_space.parts == "N", np.exp(logits), 0)
    named = unit(chances @ unit(model.answer))
    sold = model.answer_vector("sell/V") + named @ model.matrix("ARG") @ model.inverse("COMP")
    np.testing.assert_allclose(together[1], unit(sold @ model.matrix("SUBJ") @ model.inverse("ARG")), atol=1e-4)
    assert abs(together[0] - together[1]).max() > 0.01


def test_answers_have_the_probabilities_of_both_ways() -> None:
    model = asking_model()
    question = model.ask(QUESTION)
    chances = model.probabilities([question])[0]
    one_way = replace(model)
    one_way.__dict__["calibration"] = replace(WORTH, back=0.0)
    assert abs(chances - one_way.probabilities([one_way.ask(QUESTION)])[0]).max() > 0.01
    for answer in question.answers(k=5, own_words=True):
        assert answer.probability == pytest.approx(float(chances[model.vocabulary.word_index[answer.word]]), rel=1e-3)


def test_a_calibration_that_a_manifest_lists_is_listed_anew(tmp_path: Path) -> None:
    save(asking_model(), tmp_path / "model", [], texts={CALIBRATION: json.dumps({"sharpness": 1, "prior": 1})})
    write_calibration(WORTH, tmp_path / "model")
    check(tmp_path / "model")
    assert not [path for path in (tmp_path / "model").iterdir() if path.suffix == ".part"]
    listed = json.loads((tmp_path / "model" / MANIFEST).read_text("utf-8"))["files"]
    (tmp_path / "other").mkdir()
    write_calibration(WORTH, tmp_path / "other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == [CALIBRATION]
    assert (tmp_path / "other" / CALIBRATION).stat().st_size == listed[CALIBRATION]["bytes"]
