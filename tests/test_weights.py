"""Weights by two passes over the tree equal the sums over all paths; the cut to a vocabulary."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from random_forest import all_paths, random_trees

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary, cut, default_cuts
from vecdcs.corpus.weights import field_totals, path_weights, word_totals
from vecdcs.errors import InputError


@pytest.mark.parametrize("seed", range(20))
def test_weights_equal_sums_over_all_paths(seed: int) -> None:
    trees = random_trees(np.random.default_rng(seed), 6)
    weights = path_weights(trees)
    word, up, down = (np.zeros(len(trees.word)) for _ in range(3))
    for path, weight in all_paths(trees).items():
        word[path[0]] += weight
        if trees.parent[path[0]] == path[1]:
            up[path[0]] += weight
        else:
            down[path[1]] += weight
    np.testing.assert_allclose(weights.word, word, rtol=1e-12)
    np.testing.assert_allclose(weights.edge, up * down, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_without_groups_an_edge_weighs_what_crosses_it(seed: int) -> None:
    trees = random_trees(np.random.default_rng(seed), 6)
    trees = replace(trees, group=np.zeros_like(trees.group))
    up, down = np.zeros(len(trees.word)), np.zeros(len(trees.word))
    for path, weight in all_paths(trees).items():
        for here, there in pairwise(path):
            if trees.parent[here] == there:
                up[here] += weight
            else:
                down[there] += weight
    np.testing.assert_allclose(path_weights(trees).edge, up, rtol=1e-12)
    np.testing.assert_allclose(up, down, rtol=1e-12)


def test_weights_worked_by_hand() -> None:
    """A root with two conjuncts in one slot and a third child; the first conjunct has a child."""
    trees = FlatTrees(
        word=np.arange(5, dtype=np.int32),
        parent=np.array([-1, 0, 0, 0, 1], np.int32),
        label=np.array([-1, 0, 0, 1, 1], np.int32),
        parent_label=np.array([-1, 2, 2, 2, 2], np.int32),
        group=np.array([0, 1, 1, 0, 0], np.int32),
        start=np.array([0, 5]),
    )
    weights = path_weights(trees)
    assert weights.down.tolist() == [1 + 4 / 3, 2, 1, 1, 1]
    # From a conjunct up: only the third child is a way on; from the third child: both conjuncts.
    assert weights.up.tolist() == [0, 2, 2, 1 + (2 + 1) / 2, 1 + 2]
    assert weights.word.tolist() == [4, 3, 2, 2.5, 3]
    assert weights.edge.tolist() == [0, 4, 2, 2.5, 3]
    assert word_totals(trees, weights, 6).tolist() == [4, 3, 2, 2.5, 3, 0]
    assert field_totals(trees, weights, 3).tolist() == [6, 5.5, 11.5]


def test_ud_edges_count_for_their_one_relation() -> None:
    trees = random_trees(np.random.default_rng(3), 5, ud=True)
    weights = path_weights(trees)
    assert field_totals(trees, weights, 5).sum() == pytest.approx(weights.edge.sum())


def test_rare_items_are_summed_into_the_unknown_ones() -> None:
    vocabulary = cut({"a/N": 5, "b/N": 1, "c/N": 1.5, "d/V": 5, "e/X": 0.5}, {"ARG": 9, "of": 2, "via": 1}, 2, 2)
    assert vocabulary.words[:3] == ("a/N", "d/V", f"{UNKNOWN}/N")
    assert vocabulary.word_weights[:4].tolist() == [5, 5, 2.5, 0.5]
    assert {f"{UNKNOWN}/{pos}" for pos in "NVJRPX"} <= set(vocabulary.words)
    assert vocabulary.fields == ("ARG", "of", UNKNOWN)
    assert vocabulary.total == 13
    assert vocabulary.word_ids(["d/V", "b/N", "new/N", "e/X", "odd/Q"]).tolist() == [1, 2, 2, 3, 2]
    assert vocabulary.field_ids(["of", "via", ""]).tolist() == [1, 2, -1]


def test_default_cuts_grow_with_the_corpus() -> None:
    assert default_cuts(5.7e9)[0] == pytest.approx(1000, rel=0.1)
    assert default_cuts(5.7e9)[1] == pytest.approx(10_000, rel=0.1)
    assert default_cuts(1e4)[0] < 1


def test_vocabulary_files_come_back_exactly(tmp_path: Path) -> None:
    vocabulary = cut({"burn down/V": 1 / 3, "I/P": 2.0}, {"ARG": 0.1, "because of": 0.2}, 0, 0)
    vocabulary.save(tmp_path)
    again = Vocabulary.load(tmp_path)
    assert again.words == vocabulary.words and again.fields == vocabulary.fields
    assert again.word_weights.tolist() == vocabulary.word_weights.tolist()


def test_a_broken_vocabulary_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "fields.tsv").write_text("1\tARG\n", "utf-8")
    (tmp_path / "words.tsv").write_text("2.0\ta/N\nmany\tb/N\n", "utf-8")
    with pytest.raises(InputError, match=r"words\.tsv:2: expected `weight TAB item`"):
        Vocabulary.load(tmp_path)
