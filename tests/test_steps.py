"""Executing step by step: by hand on any tree, explained, by command and page, and what it is good for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from made_models import random_model, world_folder
from strategies import trees
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.forest import Forest
from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.learn.recipes import plan
from vecdcs.model.ask import Asker, load
from vecdcs.model.fit import fit
from vecdcs.model.model import unit
from vecdcs.tasks import small_world
from vecdcs.tasks.questions import TWO
from vecdcs.web.app import make_app

MODEL = random_model()
WORDS = ("man/N", "drug/N", "old/J", "sell/V", "ban/V", BLANK)
QUESTION = "_ & (sell/V & COMP:(drug/N & (ban/V & SUBJ:canada/N).COMP)).SUBJ"


def by_hand(model: Asker, tree: Tree, root: bool = True) -> np.ndarray:
    """One node after the other: what hangs on a noun is gathered, answered, and its answers go on."""
    own = np.zeros(model.dim) if tree.word == BLANK else model.query_vector(tree.word).astype(np.float64)
    if not tree.children:
        return own
    for child in tree.children:
        way = by_hand(model, child.tree, root=False)
        own = own + way @ model.matrix(child.label) @ model.inverse(child.parent_label) / len(tree.children)
    return own if root or not (tree.word == BLANK or tree.word.endswith("/N")) else named(model, own)


def named(model: Asker, vector: np.ndarray) -> np.ndarray:
    """The mean of the query vectors of all nouns, by their chances as answers to a vector."""
    vocabulary, worth = model.vocabulary, model.calibration
    shares = vocabulary.word_weights / vocabulary.word_weights.sum()
    length = np.linalg.norm(vector)
    total = np.zeros(model.dim)
    for word, share in zip(vocabulary.words, shares, strict=True):
        if word.endswith("/N") and not word.startswith("*"):
            score = model.answer_vector(word) @ vector / (length or 1)
            total += share**worth.prior * np.exp(worth.sharpness * score) * model.query_vector(word)
    return total / np.linalg.norm(total)


@given(st.lists(trees(words=WORDS, groups=False), min_size=1, max_size=6))
@settings(max_examples=40)
def test_many_trees_are_executed_as_by_hand(some: list[Tree]) -> None:
    questions = [MODEL.ask(tree, stepwise=True) for tree in some]
    pairs = [(question, by_hand(MODEL, question.hung)) for question in questions]
    pairs = [(question, vector) for question, vector in pairs if np.linalg.norm(vector) > 1e-3]  # a blank asks nothing
    if pairs:
        found = MODEL.vectors([question for question, _ in pairs])
        np.testing.assert_allclose(found, unit(np.array([vector for _, vector in pairs])), rtol=1e-2, atol=1e-3)


def test_only_what_is_chosen_goes_step_by_step() -> None:
    plain, stepwise = (MODEL.ask(QUESTION, stepwise=way) for way in (False, True))
    together = MODEL.vectors([plain, stepwise, plain])
    np.testing.assert_array_equal(together[0], together[2])
    np.testing.assert_allclose(together[1], stepwise.vector, rtol=1e-5, atol=1e-6)
    assert abs(together[0] - together[1]).max() > 0.01


def test_a_tree_without_inner_nouns_has_one_step() -> None:
    for text in ("_ & (ban/V & SUBJ:canada/N).COMP", "drug/N & ban/V.COMP & old/J.SUBJ"):
        np.testing.assert_array_equal(MODEL.ask(text, stepwise=True).vector, MODEL.ask(text).vector)


def test_every_blank_of_a_question_is_asked_the_same_way() -> None:
    question = MODEL.ask("sell/V & SUBJ:_ & COMP:(drug/N & (ban/V & SUBJ:_).COMP)", stepwise=True)
    assert [each.stepwise for each in question.each()] == [True, True]


def test_the_parts_of_an_explanation_add_up_and_stand_for_what_hangs_on_them() -> None:
    explained = MODEL.ask(QUESTION, stepwise=True).explain(k=3)
    answers = MODEL.ask(QUESTION, stepwise=True).answers(k=3)
    for answer, row in zip(answers, explained.contributions, strict=True):
        assert sum(row) == pytest.approx(answer.score, abs=1e-4)
        parts = dict(zip([part.word for part in explained.parts], row, strict=True))
        assert parts["drug/N"] and not parts["ban/V"] and not parts["canada/N"]


def test_two_steps_are_answered_better(tmp_path: Path) -> None:
    """Of what is said of things elsewhere the sum of a question's words knows nothing."""
    folder = world_folder()
    forest = Forest.open(folder / "forest")
    fit(forest, tmp_path / "model", plan("dense", dim=50, epochs=20))
    model = load(tmp_path / "model")
    plain, steps, chosen = (small_world.evaluate(model, folder / "world", stepwise=way) for way in (False, True, None))
    (before,), (after,) = ([row["map"] for row in one.figures["sets"] if row["set"] == TWO] for one in (plain, steps))
    assert after > before + 0.05
    assert "step by step" in steps.protocol and "step by step" not in plain.protocol
    assert chosen.figures == steps.figures and load(tmp_path / "model").ask(QUESTION).stepwise  # as suits the recipe


def test_the_command_line_and_the_page(tmp_path: Path) -> None:
    model, forest = str(world_folder() / "model"), str(world_folder() / "forest")
    runner, asked = CliRunner(), ["ask", QUESTION, "-m", model, "--json"]
    texts = [runner.invoke(app, [*asked, *more]).stdout for more in ([], ["--at-once"], ["--stepwise"])]
    chosen, plain, steps = ([answer["score"] for answer in json.loads(text)["answers"]] for text in texts)
    assert plain != steps and chosen == plain  # the model is of the paper's recipe
    client = TestClient(make_app(load(model)))
    found = client.post("/api/ask", json={"text": QUESTION, "stepwise": True}).json()
    assert [answer["score"] for answer in found["answers"]] == pytest.approx(steps)
    best = found["answers"][0]
    why = {"text": QUESTION, "words": [best["word"]], "stepwise": True}
    explained = client.post("/api/explain", json=why).json()["answers"][0]
    assert explained["score"] == pytest.approx(best["score"], abs=1e-4)
    world = str(world_folder() / "world")
    told = runner.invoke(app, ["evaluate", "execution", "--world", world, "-m", model, "--pmi", forest, "--stepwise"])
    assert told.exit_code == 0 and "step by step" in told.stdout + told.stderr and "pmi" in told.stdout
