"""Sentence completion: reading, trees with a blank, the product of vectors, counts against plain enumeration."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from corpora import write_conllu
from eval_data import write_completion
from made_models import random_model

from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options
from vecdcs.corpus.vocabulary import cut
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.model.model import load, save, unit
from vecdcs.tasks import completion
from vecdcs.tasks.counts import CONTEXT_MASS, PATH_MASS, Context, contexts, count_paths
from vecdcs.tasks.parses import parsed


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Forest:
    folder = tmp_path_factory.mktemp("corpus")
    write_conllu(folder / "text.conllu", 120, seed=3)
    return build([folder / "text.conllu"], folder / "forest", Options(shard_bytes=2000))


def test_questions_are_read(tmp_path: Path) -> None:
    write_completion(tmp_path / "completion", first=520)
    candidates, right = completion.read_questions(tmp_path)
    assert len(candidates) == 10 and right == {520: 1, 521: 3}
    one = candidates[1]
    assert one.text == "The farmer sold the cow at the market ." and one.text[one.start : one.end] == "cow"


def test_malformed_files_name_the_line(tmp_path: Path) -> None:
    write_completion(tmp_path / "completion")
    path = tmp_path / completion.QUESTIONS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:3], "4) no letter\n", *lines[4:]]), encoding="utf-8")
    with pytest.raises(InputError, match=r"questions\.txt:4"):
        completion.read_questions(tmp_path)
    path.write_text("".join([lines[0], *lines[2:]]), encoding="utf-8")
    with pytest.raises(InputError, match="five lines a question"):
        completion.read_questions(tmp_path)


def test_the_word_in_brackets_becomes_the_blank(tmp_path: Path) -> None:
    text = "The old man saw a river."
    candidate = completion.Candidate(1, 0, text, 18, 23)
    filled = completion.fill(candidate, parsed([text], tmp_path)[0])
    assert filled is not None and filled.word == "river/N"
    assert filled.tree == parse("see/V & SUBJ:(man/N & old/J.SUBJ) & COMP:_")
    assert completion.fill(candidate._replace(start=0, end=3), parsed([text], tmp_path)[0]) is None


def test_score_is_surrounding_times_answer() -> None:
    """see & COMP:_ & SUBJ:man: the blank is asked for by see, which has the man as its other child."""
    model = random_model()
    filled = completion.Filled(parse("sell/V & SUBJ:man/N & COMP:_"), "drug/N")
    man = model.query_vector("man/N") @ model.matrix("ARG") @ model.inverse("SUBJ")
    around = (model.query_vector("sell/V") + man) @ model.matrix("COMP") @ model.inverse("ARG")
    wanted = float(unit(around) @ model.answer_vector("drug/N"))
    assert completion.model_scores(model, [filled])[0] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("tied", [False, True])
def test_the_candidate_asks_for_what_is_around_it(tied: bool) -> None:
    """From the blank to sell, and on to man, one way each; lengths are kept; a word alone asks nothing."""
    model = random_model(tied=tied)
    filled = completion.Filled(parse("sell/V & SUBJ:man/N & COMP:_"), "drug/N")
    ids = [model.vocabulary.word_id(word) for word in ("drug/N", "sell/V", "man/N")]
    drug, (sell, man) = model.query[ids[0]], model.answer[ids[1:]]
    there = drug @ model.matrix("ARG") @ model.inverse("COMP")
    wanted = float(there @ sell + there @ model.matrix("SUBJ") @ model.inverse("ARG") @ man)
    alone = completion.Filled(parse("_"), "drug/N")
    assert completion.candidate_scores(model, [filled, alone]).tolist() == pytest.approx([wanted, 0], abs=1e-5)


def test_all_candidates_are_compared_in_the_trees_of_all() -> None:
    """Four candidates in one tree and one in another: scores in each tree are standardised, then averaged by votes."""
    one, other = parse("sell/V & COMP:_"), parse("sell/V & SUBJ:_")
    words = ["a/N", "b/N", "c/N", "d/N", "e/N"]
    worth = {"a/N": 1.0, "b/N": 2.0, "c/N": 3.0, "d/N": 4.0, "e/N": 5.0}
    high = 100.0  # what a candidate gains by being parsed alone in the other way

    def score(filled: Sequence[completion.Filled]) -> np.ndarray:
        return np.array([worth[x.word] if x.tree == one else high - worth[x.word] for x in filled])

    filled = [completion.Filled(other if word == "b/N" else one, word) for word in words]
    standard = (np.arange(1, 6) - 3) / np.std(np.arange(1, 6))
    how = 5, completion.standardised
    table = completion.in_all_trees(score, filled, *how)
    np.testing.assert_allclose(table, [(4 * standard - standard) / 5], atol=1e-9)
    assert completion.first_best(table).tolist() == [4]
    # without a node: in the middle; equals stay equal, though rounding tells them apart
    alike = completion.in_all_trees(lambda some: 0.1 + 1e-9 * np.arange(len(some)), [None, *filled[1:]], *how)
    assert alike.tolist() == [[0.0] * 5]
    lone = completion.in_all_trees(score, [None, filled[1], None, None, None], *how)
    assert lone.tolist() == [[0.0] * 5]


def test_parts_of_the_data(tmp_path: Path) -> None:
    write_completion(tmp_path / "completion", first=520)
    result = completion.evaluate(random_model(), tmp_path, tmp_path / "cache")
    assert [(row["set"], row["questions"]) for row in result.figures["sets"]] == [
        ("development", 1),
        ("test", 1),
        ("all", 2),
    ]
    assert result.figures["accuracy"] in (0.0, 0.5, 1.0) and len(result.details) == 2
    assert [row["set"] for row in result.figures["candidate_asks"]] == ["development", "test", "all"]
    write_completion(tmp_path / "completion")
    result = completion.evaluate(random_model(), tmp_path, tmp_path / "cache")
    assert result.missing == ("questions of the test part",)
    assert completion.evaluate(random_model(), tmp_path / "none", tmp_path).missing == (
        completion.QUESTIONS,
        completion.ANSWERS,
    )


def test_the_highest_score_wins_and_the_first_of_equals(tmp_path: Path) -> None:
    write_completion(tmp_path / "completion")
    words = ("cow/N", "book/N", "song/N", "moon/N", "idea/N", "law/N", "sell/V", "read/V")
    model = random_model(words=words, matrices=False)
    # every answer vector is zero but those of the right answers, which are all that surrounds them
    model.answer[:] = 0
    model.answer[[model.vocabulary.word_id("cow/N"), model.vocabulary.word_id("book/N")]] = 1
    model.query[:] = 1
    result = completion.evaluate(model, tmp_path, tmp_path / "cache")
    assert result.figures["accuracy"] == 1.0
    model.answer[:] = 0
    tied = completion.evaluate(model, tmp_path, tmp_path / "cache")
    assert [row["given"] for row in tied.details] == ["a", "a"]


def test_scores_that_differ_by_rounding_alone_are_equal() -> None:
    table = np.array([[0.1, 0.3, 0.3 + 1e-9], [0.2, 0.2001, 0.1]])
    assert completion.first_best(table).tolist() == [1, 1]


def test_unknown_words_may_come_last(tmp_path: Path) -> None:
    write_completion(tmp_path / "completion")
    model = random_model(words=("cow/N", "book/N", "sell/V", "read/V"), matrices=False)
    model.query[:], model.answer[:] = 1, 1
    model.answer[[model.vocabulary.word_id("cow/N"), model.vocabulary.word_id("book/N")]] = -1
    told = [completion.evaluate(model, tmp_path, tmp_path / "cache", unknown_last=last) for last in (False, True)]
    assert [one.figures["accuracy"] for one in told] == [0.0, 1.0]
    assert "unknown words last" not in told[0].protocol and "unknown words last" in told[1].protocol


@pytest.mark.parametrize(
    "name",
    ["Adventures of Sherlock Holmes.txt", "the_sign_of_the_four.txt.xz", "baskervilles.txt", "pg1661.txt", "244-0.txt"],
)
def test_who_has_read_the_books_is_refused(tmp_path: Path, name: str) -> None:
    model = random_model()
    object.__setattr__(model, "config", {"sources": ["other.txt", name]})
    with pytest.raises(InputError, match="Sherlock Holmes"):
        completion.evaluate(model, tmp_path, tmp_path)


def test_a_manifest_that_names_the_books_is_refused_and_others_are_not(tmp_path: Path) -> None:
    model = random_model()
    object.__setattr__(model, "config", {"sources": ["pg16610.txt", "108.txt", "novels_244.txt"]})
    save(model, tmp_path / "model", [])
    assert completion.evaluate(load(tmp_path / "model"), tmp_path, tmp_path).missing
    manifest = tmp_path / "model/manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8")) | {"sources": ["His Last Bow.txt"]}
    manifest.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(InputError, match="His Last Bow"):
        completion.evaluate(load(tmp_path / "model"), tmp_path, tmp_path)


def all_paths(forest: Forest) -> Counter[tuple[str, tuple[str, ...], str]]:
    """Every path of one or two edges, by walking every tree."""
    counted: Counter[tuple[str, tuple[str, ...], str]] = Counter()
    for shard in forest.shards:
        rows = forest.nodes(shard).to_pylist()
        starts = [at for at, row in enumerate(rows) if row["parent"] < 0] + [len(rows)]
        for begin, end in pairwise(starts):
            nodes = [(0, r["word"], r["parent"], r["label"], r["parent_label"], r["group"]) for r in rows[begin:end]]
            tree = Tree.from_nodes(nodes)
            words = [place.tree.word for place in tree.places]
            counted.update((words[a], path, words[b]) for a, b, path in tree.paths() if len(path) <= 4)
    return counted


def test_counts_equal_plain_enumeration(forest: Forest) -> None:
    counted = all_paths(forest)
    vocabulary = cut(forest.word_weights(), forest.field_weights(), 0, 0)
    wanted = [Context(word, path) for word, path, _ in counted]
    counts = count_paths(forest, wanted, vocabulary)
    for (word, path, other), times in counted.items():
        row = counts.context[Context(word, path)]
        assert counts.by_context[row, vocabulary.word_id(other)] == times
    assert counts.by_context.sum() == sum(counted.values()) == counts.by_path.sum()


def test_smoothed_pmi_by_hand(forest: Forest) -> None:
    counted = all_paths(forest)
    vocabulary = cut(forest.word_weights(), forest.field_weights(), 0, 0)
    (word, path, other), times = counted.most_common(1)[0]
    counts = count_paths(forest, [Context(word, path)], vocabulary)
    there = sum(n for (_, p, y), n in counted.items() if p == path and y == other)
    on_path = sum(n for (_, p, _), n in counted.items() if p == path)
    from_word = sum(n for (x, p, _), n in counted.items() if p == path and x == word)
    share = vocabulary.word_weights[vocabulary.word_id(other)] / vocabulary.total
    by_path = (there + PATH_MASS * share) / (on_path + PATH_MASS)
    by_context = (times + CONTEXT_MASS * by_path) / (from_word + CONTEXT_MASS)
    around = [Context(word, path)]
    at = np.array([vocabulary.word_id(other)])
    assert counts.pmi(around, at)[0] == pytest.approx(math.log(by_context / by_path))
    assert counts.likely(around, at)[0] == pytest.approx(math.log(by_context))
    assert np.exp(counts.likely(around)).sum() == pytest.approx(1)
    assert counts.pmi([Context("nothing/N", path)], at)[0] == pytest.approx(0)


def test_contexts_are_at_most_two_edges_away() -> None:
    tree = parse("see/V & SUBJ:(man/N & old/J.SUBJ) & COMP:_")
    assert set(contexts(tree)) == {
        Context("see/V", ("COMP", "ARG")),
        Context("man/N", ("ARG", "SUBJ", "COMP", "ARG")),
    }


def test_completion_by_counts(tmp_path: Path, forest: Forest) -> None:
    write_completion(tmp_path / "completion")
    result = completion.evaluate_counts(forest, tmp_path, tmp_path / "cache")
    assert result.figures["questions"] == 2 and "PMI" in result.model and "PMI" in result.protocol
