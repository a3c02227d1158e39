"""Roles: which words stand where, counted in a forest, and what that is worth in an answer."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_models import random_model, world_folder

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.roles import MASS, STEP, Roles, in_steps, roles_of
from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH
from vecdcs.errors import InputError
from vecdcs.model.ask import Asker, asker, load
from vecdcs.model.leanings import by_edges
from vecdcs.model.model import save, unit
from vecdcs.model.pack import cut, rounded
from vecdcs.model.query import lay_flat
from vecdcs.model.search import (
    CALIBRATION,
    RANKINGS,
    Calibration,
    Space,
    calibrate,
    implied_calibration,
    log_odds,
    read_calibration,
    search,
)

NOUN, VERB = PARTS_OF_SPEECH.index("N"), PARTS_OF_SPEECH.index("V")
ARG, SUBJ, COMP = range(3)


def leaning_model(seed: int = 0, **options: object) -> Asker:
    """A random model that knows how two kinds of edges lean."""
    model = random_model(**options)  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    table = rng.integers(-60, 60, (2, len(model.query))).astype(np.int8)
    return replace(model, roles=Roles(np.array([[VERB, COMP, ARG], [NOUN, ARG, SUBJ]], np.int32), table))


def test_roles_are_counted_in_all_trees() -> None:
    forest = Forest.open(world_folder() / "forest")
    model = load(world_folder() / "model")
    counted: Counter[tuple[int, int, int]] = Counter()
    stands: Counter[tuple[int, int, int, int]] = Counter()
    part = model.vocabulary.parts
    for shard in forest.shards:
        trees = forest.flat(shard, model.vocabulary)
        for node in np.flatnonzero(trees.parent >= 0).tolist():
            parent, ends = int(trees.parent[node]), (int(trees.label[node]), int(trees.parent_label[node]))
            for asks, answers, (near, far) in ((node, parent, ends), (parent, node, ends[::-1])):
                kind = int(part[trees.word[asks]]), near, far
                counted[kind] += 1
                stands[*kind, int(trees.word[answers])] += 1
    roles = roles_of(forest, model.vocabulary)
    found = [(a, b, c) for a, b, c in roles.kinds.tolist()]
    assert len(found) == len(counted) > 10
    assert [counted[kind] for kind in found] == sorted(counted.values(), reverse=True)
    share = model.vocabulary.word_weights / model.vocabulary.word_weights.sum()
    for row, kind in zip(roles.leanings, found, strict=True):
        counts = np.array([stands[*kind, word] for word in range(len(share))], np.int32)
        np.testing.assert_array_equal(row, in_steps(counts, share))
    assert roles.rows[found[3]] == 3
    fewer = roles_of(forest, model.vocabulary, 4)
    np.testing.assert_array_equal(fewer.kinds, roles.kinds[:4])
    assert model.roles is not None
    np.testing.assert_array_equal(model.roles.leanings, roles.leanings)


def test_a_leaning_is_a_logarithm_in_steps() -> None:
    share = np.array([0.5, 0.25, 0.25])
    counts = np.array([0, 300, 100], np.int32)
    expected = np.log((counts + MASS * share) / (400 + MASS) / share)
    np.testing.assert_allclose(in_steps(counts, share) * STEP, expected, atol=STEP / 2)


def test_the_edges_into_the_blank_lean() -> None:
    model = leaning_model()
    assert model.roles is not None
    banned, who, both, word = (
        "_ & ban/V.COMP",
        "_ & (sell/V & COMP:drug/N).SUBJ",
        "_ & ban/V.COMP & SUBJ:man/N",
        "book/N",
    )
    found = model.leanings(model.ask_many([banned, who, both, word]))
    sums = found.edges(0, 4)
    table = model.roles.leanings.astype(np.float32) * np.float32(STEP)
    np.testing.assert_allclose(sums, [table[0], 0 * table[0], table[0] + table[1], 0 * table[0]], atol=1e-5)
    np.testing.assert_array_equal(found.edges(2, 3), sums[2:3])
    assert not random_model().leanings(model.ask_many([banned])).edges(0, 1).any()


def test_a_kind_that_is_named_leans_to_what_is_like_it() -> None:
    model = leaning_model()
    alike = model.likeness.words @ model.likeness.words[model.vocabulary.word_index["drug/N"]]
    found = model.leanings(model.ask_many(["drug/N & ban/V.COMP", "_ & ban/V.COMP"]))
    edges = found.edges(0, 2)
    np.testing.assert_allclose(found.logits(0.5, 3.0, 0, 2), 0.5 * edges + [3.0 * alike, 0 * alike], atol=1e-5)
    np.testing.assert_allclose(found.logits(0.5, 3.0, 1, 2), 0.5 * edges[1:], atol=1e-5)
    model.__dict__["calibration"] = replace(model.calibration, kind=3.0)
    question = model.ask("drug/N & ban/V.COMP")
    scores = model.answer_space.scores(question.vector[None])
    logits = log_odds(model.answer_space, scores, model.calibration, model.leanings([question]))[0]
    chances = np.exp(logits - np.log(np.exp(logits).sum()))
    for answer in question.answers(k=5, own_words=True):
        number = model.vocabulary.word_index[answer.word]
        assert answer.probability == pytest.approx(float(chances[number]), rel=1e-3)


@pytest.mark.parametrize("by", RANKINGS)
@pytest.mark.parametrize("count", [1, 40])
def test_leanings_count_in_ranks_and_probabilities(by: str, count: int) -> None:
    names = [f"w{n}/{'NV'[n % 2]}" for n in range(5000)]
    model = leaning_model(words=names)
    space, calibration = Space.of(model.answer, model.vocabulary), Calibration(5.0, 0.5, 0.7)
    queries = unit(np.random.default_rng(1).normal(size=(count, 8)).astype(np.float32))
    kinds = [[(VERB, COMP, ARG)], [], [(NOUN, ARG, SUBJ), (VERB, COMP, ARG)], [(NOUN, COMP, COMP)]] * count
    lean = by_edges(model, kinds[:count])
    hits = search(space, queries, 7, calibration, by, leanings=lean)
    scores = space.scores(queries)
    logits = log_odds(space, scores, calibration, lean)
    chances = np.exp(logits - np.log(np.exp(logits).sum(1))[:, None])
    prior = np.where(np.isfinite(logits), logits - 5.0 * scores, -np.inf)
    ranks = 5.0 * scores + RANKINGS[by] * np.where(np.isfinite(prior), prior, 0)
    ranks[:, ~np.isfinite(space.bias)] = -np.inf
    for row, found in enumerate(hits):
        assert found.words.tolist() == np.argsort(-ranks[row], kind="stable")[:7].tolist()
        np.testing.assert_allclose(found.probabilities, chances[row, found.words], rtol=1e-3)
        np.testing.assert_allclose(found.scores, scores[row, found.words], atol=1e-5)
    without = search(space, queries, 7, Calibration(5.0, 0.5, 0.0), by, leanings=lean)
    expected = search(space, queries, 7, Calibration(5.0, 0.5), by)
    assert [one.words.tolist() for one in without] == [one.words.tolist() for one in expected]


def test_calibration_finds_what_roles_are_worth() -> None:
    words = [f"w{n}/N" for n in range(200)]
    model = leaning_model(words=words, dim=12)
    space, truth = Space.of(model.answer, model.vocabulary), Calibration(9.0, 0.6, 0.4)
    rng = np.random.default_rng(5)
    queries = unit(rng.normal(size=(4000, 12)).astype(np.float32))
    lean = by_edges(model, [[(VERB, COMP, ARG)], [(NOUN, ARG, SUBJ)], []] * 1333 + [[]])
    logits = log_odds(space, space.scores(queries), truth, lean)
    answers = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    found = calibrate(space, queries, answers, Calibration(3.0, 1.0, 0.0, 2.0), lean)
    assert found.kind == 2
    assert found.sharpness == pytest.approx(truth.sharpness, rel=0.1)
    assert found.prior == pytest.approx(truth.prior, abs=0.1)
    assert found.role == pytest.approx(truth.role, abs=0.05)


def test_roles_are_kept_on_disk_and_cut_with_words_and_fields(tmp_path: Path) -> None:
    model = leaning_model(dim=40, tied=True)
    assert model.roles is not None
    save(model, tmp_path / "model", [])
    again = load(tmp_path / "model")
    assert again.roles is not None
    np.testing.assert_array_equal(again.roles.kinds, model.roles.kinds)
    np.testing.assert_array_equal(again.roles.leanings, model.roles.leanings)
    assert implied_calibration(again).role == implied_calibration(again).prior
    dense = replace(again, config={"plan": {"recipe": {"name": "dense"}}})
    assert implied_calibration(dense).role == implied_calibration(dense).kind == 0
    small = cut(model, [0, 1, 4], [2, 0])
    assert small.roles is not None
    assert small.roles.kinds.tolist() == [[VERB, 0, 1]]
    np.testing.assert_array_equal(small.roles.leanings, model.roles.leanings[:1, [0, 1, 4]])
    packed = rounded(model)
    assert packed.roles is model.roles
    save(replace(model, roles=model.roles._replace(leanings=model.roles.leanings[:, 1:])), tmp_path / "bad", [])
    with pytest.raises(InputError, match="role_leanings has shape"):
        load(tmp_path / "bad")


def test_a_calibration_of_before_says_nothing_of_roles(tmp_path: Path) -> None:
    (tmp_path / CALIBRATION).write_text(json.dumps({"sharpness": 2, "prior": 0.5}), "utf-8")
    assert read_calibration(tmp_path / CALIBRATION) == Calibration(2.0, 0.5, 0.0)


def test_an_answer_that_stands_there_is_more_probable() -> None:
    model = random_model()
    number = model.vocabulary.word_index["book/N"]
    table = np.zeros((1, len(model.query)), np.int8)
    table[0, number] = 60
    leaning = asker(replace(model, roles=Roles(np.array([[VERB, COMP, ARG]], np.int32), table)))
    chance = {answer.word: answer.probability for answer in leaning.answers("_ & ban/V.COMP", k=20, pos="N")}
    before = {answer.word: answer.probability for answer in model.answers("_ & ban/V.COMP", k=20, pos="N")}
    assert chance["book/N"] > before["book/N"] and chance["man/N"] < before["man/N"]
    laid = lay_flat(model.vocabulary, [leaning.ask("_ & ban/V.COMP").hung])
    assert laid.trees.label[1] == COMP and laid.trees.parent_label[1] == ARG
