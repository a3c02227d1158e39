"""Query execution: nothing hidden is learned from, ranks against brute force, average precision by hand."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from corpora import contents, write_conllu
from made_models import WORDS, random_model, world_folder

from vecdcs.corpus.build import build
from vecdcs.corpus.evidence import Evidence
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options
from vecdcs.corpus.split import Split, is_hidden, split
from vecdcs.corpus.vocabulary import cut
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.learn.recipes import plan
from vecdcs.model.fit import fit
from vecdcs.model.model import Model
from vecdcs.tasks import execution, small_world
from vecdcs.tasks.questions import BOTH, KINDS, ONE, TWO, UNSAID, Question, Step, questions, unsaid
from vecdcs.tasks.ranking import average_precision, expected_hits, expected_reciprocal


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Forest:
    folder = tmp_path_factory.mktemp("corpus")
    write_conllu(folder / "text.conllu", 800, seed=5)
    return build([folder / "text.conllu"], folder / "forest", Options(shard_bytes=4000))


@pytest.fixture(scope="module")
def parts(forest: Forest, tmp_path_factory: pytest.TempPathFactory) -> Split:
    return split(forest, tmp_path_factory.mktemp("split") / "parts", 0.2, seed=1)


@pytest.fixture(scope="module")
def model(parts: Split, tmp_path_factory: pytest.TempPathFactory) -> Model:
    made = plan(dim=16, epochs=2)
    return fit(parts.train, tmp_path_factory.mktemp("models") / "model", made, min_word=0, min_field=0)


def triples(forest: Forest) -> set[tuple[str, ...]]:
    """All edges of a forest."""
    found = set()
    for shard in forest.shards:
        rows = forest.nodes(shard).to_pylist()
        start = 0
        for at, row in enumerate(rows):
            start = at if row["parent"] < 0 else start
            if row["parent"] >= 0:
                found.add((row["word"], row["label"], row["parent_label"], rows[start + row["parent"]]["word"]))
    return found


def test_every_sentence_is_in_one_part(forest: Forest, parts: Split) -> None:
    texts = [[s.text for s in part.sentences()] for part in (forest, parts.train, parts.hidden)]
    assert sorted(texts[0]) == sorted(texts[1] + texts[2])
    assert not set(texts[1]) & set(texts[2])
    assert 0.1 < len(texts[2]) / len(texts[0]) < 0.3
    assert all(is_hidden(text, 0.2, 1) for text in texts[2])
    for name in ("sentences", "trees", "nodes", "words"):
        assert parts.train.totals[name] + parts.hidden.totals[name] == forest.totals[name]
    assert triples(parts.train) | triples(parts.hidden) == triples(forest)


def test_parts_are_whole_forests(parts: Split) -> None:
    for part in (parts.train, parts.hidden):
        part.check()
        words = {row["word"] for shard in part.shards for row in part.nodes(shard).to_pylist()}
        assert words == set(part.word_weights())


def test_splitting_is_deterministic_and_refuses_what_is_there(forest: Forest, parts: Split, tmp_path: Path) -> None:
    again = split(forest, tmp_path / "parts", 0.2, seed=1)
    assert contents(again.path) == contents(parts.path)
    other = split(forest, tmp_path / "other", 0.2, seed=2)
    assert other.hidden.digest != parts.hidden.digest
    with pytest.raises(InputError, match="already"):
        split(forest, tmp_path / "parts", 0.2, seed=1)
    with pytest.raises(InputError, match="between 0 and 1"):
        split(forest, tmp_path / "third", 1.5)


def test_copies_of_a_sentence_go_the_same_way() -> None:
    assert {is_hidden(text, 0.5, 3) for text in ("The cat  sees it.", "the cat sees it.")} in ({True}, {False})


def test_hidden_answers_are_not_in_training(parts: Split) -> None:
    """Each question is asked again, one at a time, by the exact search: no gold answer is found in the open part."""
    vocabulary = cut(parts.train.word_weights(), parts.train.field_weights(), 0, 0)
    asked = questions(parts, vocabulary, 40, seed=1)
    assert {question.kind for question in asked} == {ONE, TWO, BOTH}
    train, hidden = Evidence(parts.train), Evidence(parts.hidden)
    for question in asked:
        there, here = (
            {answer.words[0] for answer in evidence.find(question.tree, 1000).answers} for evidence in (hidden, train)
        )
        assert question.gold and question.gold <= there
        assert not question.gold & here
        assert question.known == there | here
        assert set(question.counts) == here


def test_of_the_unsaid_not_even_a_step_is_in_training(forest: Forest, tmp_path: Path) -> None:
    parts = split(forest, tmp_path / "parts", 0.9, seed=1)
    vocabulary = cut(parts.train.word_weights(), parts.train.field_weights(), 0, 0)
    asked = questions(parts, vocabulary, 60, seed=1)
    harder = {(question.kind, question.steps): question for question in unsaid(asked, parts)}
    assert {kind for kind, _ in harder} == {TWO + UNSAID, BOTH + UNSAID}
    edges = triples(parts.train)
    for question in asked:
        into = question.steps if question.kind == BOTH else question.steps[:1]
        said = {
            word
            for s in into
            for word in question.gold
            if {(s.word, s.near, s.far, word), (word, s.far, s.near, s.word)} & edges
        }
        left = harder.get((question.kind + UNSAID, question.steps))
        assert question.kind == ONE or (left.gold if left else frozenset()) == question.gold - said
        assert left is None or left.tree == question.tree


def test_questions_have_the_shape_of_their_kind() -> None:
    steps = (Step("ban/V", "COMP", "ARG"), Step("canada/N", "ARG", "SUBJ"))
    assert Question(ONE, steps[:1]).tree == Tree.parse("_ & ban/V.COMP")
    assert Question(TWO, steps).tree == Tree.parse("_ & (ban/V & SUBJ:canada/N).COMP")
    both = (steps[0], Step("old/J", "SUBJ", "ARG"))
    assert Question(BOTH, both).tree == Tree.parse("_ & ban/V.COMP & old/J.SUBJ")


def test_a_model_that_may_have_seen_the_hidden_part_is_refused(forest: Forest, parts: Split, tmp_path: Path) -> None:
    seen = fit(forest, tmp_path / "model", plan(dim=8), min_word=0, min_field=0)
    with pytest.raises(InputError, match="another forest"):
        execution.evaluate(seen, parts, 5)


def test_figures_of_all_rankers(model: Model, parts: Split) -> None:
    result = execution.evaluate(model, parts, 30)
    found = [row["set"] for row in result.figures["sets"]]
    assert found[:3] == [ONE, TWO, BOTH] and found == [kind for kind in KINDS if kind in found]
    for row in result.figures["sets"]:
        assert set(row["by"]) == set(execution.RANKERS)
        assert all(0 <= way["mrr"] <= 1 and 0 <= way["hits10"] <= 1 for way in row["by"].values())
        low, high = row["interval95"]
        assert low <= row["by"]["model"]["mrr"] <= high
        for lead in row["leads"]:
            gap = row["by"][lead["of"]]["mrr"] - row["by"][lead["over"]]["mrr"]
            assert lead["difference"] == pytest.approx(gap)
        # What look-up knows is left out of the ranking, so it can only guess.
        assert row["by"]["lookup"]["mrr"] < 0.5
    assert execution.evaluate(model, parts, 30).figures == result.figures
    assert len(result.details) == sum(row["questions"] for row in result.figures["sets"])


def test_ranks_equal_brute_force() -> None:
    """Two known answers left out, ties broken in every way there is."""
    vocabulary = cut({f"{name}/N": 1.0 for name in "abcdef"}, {"ARG": 1.0}, 0, 0)
    scores = dict(zip("abcdef", (3.0, 1.0, 2.0, 1.0, 1.0, 0.0), strict=True))
    question = Question(ONE, (Step("a/N", "ARG", "ARG"),), frozenset(["b/N"]), frozenset(["a/N", "b/N"]), {})

    def ranker(asked: object) -> np.ndarray:
        return np.array([[scores.get(word[0], -9.0) for word in vocabulary.words]])

    ranks = []
    for order in permutations([name for name in scores if name != "a"]):
        if sorted(order, key=lambda name: -scores[name]) == list(order):
            ranks.append(order.index("b") + 1)
    found = execution.rank([question], ranker, vocabulary)[0]
    assert found[0] == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert found[1] == 1.0


@pytest.mark.parametrize(("better", "equal", "first"), [(0, 0, 10), (9, 0, 10), (10, 0, 10), (8, 3, 10), (20, 4, 10)])
def test_expected_figures(better: int, equal: int, first: int) -> None:
    ranks = range(better + 1, better + equal + 2)
    assert expected_reciprocal(better, equal) == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert expected_hits(better, equal, first) == pytest.approx(np.mean([rank <= first for rank in ranks]))


def test_average_precision_by_hand() -> None:
    """Right ones at ranks 1 and 3 of four, and one that is not ranked: (1 + 2/3 + 0) / 3."""
    scores = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    assert average_precision(scores, {"a", "c", "x"}) == pytest.approx((1 + 2 / 3) / 3)
    assert average_precision(scores, set()) == 0.0
    assert average_precision({"a": 1.0, "b": 1.0}, {"a"}) == 0.5


def test_the_small_world_is_ranked_better_than_by_chance() -> None:
    from vecdcs.model.model import load

    folder = world_folder()
    result = small_world.evaluate(load(folder / "model"), folder / "world")
    chance = small_world.evaluate(random_model(), folder / "world")
    assert result.figures["map"] > 2 * chance.figures["map"]
    assert {row["set"] for row in result.figures["sets"]} == {ONE, TWO, BOTH}
    assert all(0 <= row["map_unsaid"] <= 1 for row in result.figures["sets"])


def test_counting_ranks_the_small_world_beside_the_model() -> None:
    from vecdcs.corpus.forest import Forest

    folder = world_folder()
    model = random_model()
    result = small_world.evaluate(model, folder / "world", forest=Forest.open(folder / "forest"))
    alone = small_world.evaluate(model, folder / "world")
    for row, same in zip(result.figures["sets"], alone.figures["sets"], strict=True):
        score = row["by"].pop("score")
        assert {**row, "by": {"score": score}} == same
        for rival in row["by"].values():
            assert rival["map"] > row["map"]  # anything is better than random vectors
            assert rival["behind"]["difference"] == pytest.approx(row["map"] - rival["map"])
            assert rival["behind"]["interval95"][1] < 0


@pytest.mark.parametrize("stepwise", [False, True])
def test_candidates_are_ranked_as_answers_are(stepwise: bool) -> None:
    """As `ask` gives probabilities; both ways count by half of what the objective says, where there are two."""
    from vecdcs.model.steps import Steps
    from vecdcs.tasks.candidates import Candidates

    model = random_model(tied=True)
    names = list(WORDS)
    numbers = model.vocabulary.word_ids(names)
    shares = model.vocabulary.word_weights[numbers] / model.vocabulary.total
    tree = Tree.parse("sell/V & SUBJ:_ & COMP:(drug/N & (ban/V & SUBJ:canada/N).COMP)")
    odds = Candidates.of(model, names, shares, Steps.of(model) if stepwise else None).log_odds([tree])[0]
    chances = model.probabilities([model.ask(tree, stepwise=stepwise)])[0][numbers]
    np.testing.assert_allclose(np.exp(odds) / np.exp(odds).sum(), chances / chances.sum(), rtol=1e-3)
    worth = model.calibration
    assert worth.sharpness == worth.back > 0
    one_way = Candidates.of(random_model(), names, shares).calibration
    assert one_way.back == 0 and one_way.sharpness > 0


def test_counting_goes_step_by_step() -> None:
    """Over the names an inner noun may stand for; by hand for one question, and better where there are two steps."""
    from vecdcs.corpus.forest import Forest
    from vecdcs.corpus.vocabulary import cut
    from vecdcs.tasks.counts import Context, count_paths

    tree = Tree.parse("sell/V & SUBJ:_ & COMP:(drug/N & (ban/V & SUBJ:canada/N).COMP)")
    step = small_world.Counted.of(tree)
    assert [context.word for context in step.first] == ["drug/N", "ban/V", "canada/N"]
    assert step.last == [Context("sell/V", ("SUBJ", "ARG"))]
    assert step.asked(["aspirin/N"])[0][1:] == [Context("aspirin/N", ("ARG", "COMP", "SUBJ", "ARG"))]
    assert small_world.Counted.of(Tree.parse("_ & ban/V.COMP")).noun is None

    folder = world_folder()
    forest = Forest.open(folder / "forest")
    names = ["aspirin/N", "norvane/N", "canada/N"]
    vocabulary = cut(forest.word_weights(), forest.field_weights())
    words = vocabulary.word_ids(names).astype(np.int64)
    counts = count_paths(forest, [c for some in (step.first, *step.asked(names)) for c in some], vocabulary)
    chances = np.exp(counts.pmi(step.first, words))
    by_hand = [
        np.log(sum(p * np.exp(counts.pmi(some, words)[at]) for p, some in zip(chances, step.asked(names), strict=True)))
        for at in range(3)
    ]
    np.testing.assert_allclose(step.scores(counts.pmi, names, words), by_hand - np.log(chances.sum()))

    result = small_world.evaluate(random_model(), folder / "world", forest=forest, stepwise=True)
    (two,) = (row["by"] for row in result.figures["sets"] if row["set"] == TWO)
    assert two["pmi, stepwise"]["map"] > two["pmi"]["map"] + 0.05


def test_no_world_and_no_split_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="vecdcs world"):
        small_world.read_world(tmp_path)
    with pytest.raises(InputError, match="vecdcs split"):
        Split.open(tmp_path)
