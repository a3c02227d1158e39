"""Composition: equation (4) by hand, linearity, re-rooting, groups, and many trees at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from made_models import random_model
from strategies import trees

from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.model.ask import Asker
from vecdcs.model.model import Model
from vecdcs.model.query import compose, contributions, hung, lay_flat, node_vectors

MODEL = random_model()


def vector(model: Model, tree: Tree) -> np.ndarray:
    laid = lay_flat(model.vocabulary, [tree])
    return compose(model, laid.trees, node_vectors(model, laid.trees))[0]


def by_paths(model: Model, tree: Tree, target: int) -> np.ndarray:
    """What equation (4) says once unrolled: every word through the fields of its path."""
    total = np.zeros(model.dim)
    for at, node in enumerate(tree.nodes()):
        if node.word != BLANK and tree.allowed(at, target):
            labels = tree.path(at, target)
            mapped = model.query_vector(node.word).astype(np.float64)
            for place, name in enumerate(labels):
                mapped = mapped @ (model.inverse(name) if place % 2 else model.matrix(name)).astype(np.float64)
            total += mapped * weight(tree, at, target)
    return total


def weight(tree: Tree, start: int, target: int) -> float:
    """1 over the number of ways that lead on to `target`, at every node of the path but `start`."""
    rooted = tree.reroot(target)
    found = 1.0
    at = matching(tree, target, start)
    while rooted.places[at].parent >= 0:
        above = rooted.places[at].parent
        up = rooted.places[above].edge
        ways = [c for c in rooted.places[above].tree.children if not (up and 0 < up.own_group == c.group)]
        found /= len(ways)
        at = above
    return found


def matching(tree: Tree, target: int, start: int) -> int:
    """The node of the re-rooted tree that `start` has become: words are made unique first."""
    named = tree
    for at in range(len(tree)):
        named = named.replace(at, f"{at}/N")
    return named.reroot(target).find(f"{start}/N")


def test_equation_4_by_hand() -> None:
    """A plane of two dimensions, M_ARG the identity, M_COMP a quarter turn: banned drugs, sold by no one."""
    vocabulary = Vocabulary(
        ("drug/N", "ban/V", "sell/V", "*UNKNOWN*/N"), np.ones(4), ("ARG", "COMP", "*UNKNOWN*"), np.ones(3)
    )
    query = np.array([[3, 0], [0, 2], [1, 0], [1, 1]], np.float32)
    turn = np.array([[0, 1], [-1, 0]], np.float32)
    model = Asker(vocabulary, query, query, np.array([np.eye(2), turn, np.eye(2)], np.float32), None, {})
    # ban = (0, 1) M_COMP = (-1, 0); sell = (1, 0) M_COMP = (0, 1); drug + their mean = (1, 0) + (-1/2, 1/2)
    found = vector(model, Tree.parse("drug/N & ban/V.COMP & sell/V.COMP"))
    np.testing.assert_allclose(found, [0.5, 0.5], atol=1e-6)


@given(trees(words=("man/N", "drug/N", "old/J", "sell/V", "ban/V", BLANK)), st.data())
@settings(max_examples=60)
def test_composition_is_the_sum_over_allowed_paths(tree: Tree, data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(tree) - 1))
    np.testing.assert_allclose(vector(MODEL, hung(tree, target)), by_paths(MODEL, tree, target), rtol=1e-3, atol=1e-3)


@given(trees(), st.data())
@settings(max_examples=40)
def test_rerooting_there_and_back_changes_nothing(tree: Tree, data: st.DataObject) -> None:
    there = data.draw(st.integers(0, len(tree) - 1))
    named = tree
    for at in range(len(tree)):
        named = named.replace(at, f"{at}/N")
    back = named.reroot(there).find("0/N")
    np.testing.assert_allclose(
        vector(MODEL, tree.reroot(there).reroot(back)), vector(MODEL, tree), rtol=1e-3, atol=1e-3
    )


@given(st.lists(trees(), min_size=1, max_size=6))
@settings(max_examples=30)
def test_many_trees_are_composed_as_one_by_one(some: list[Tree]) -> None:
    laid = lay_flat(MODEL.vocabulary, some)
    together = compose(MODEL, laid.trees, node_vectors(MODEL, laid.trees))
    np.testing.assert_allclose(together, [vector(MODEL, tree) for tree in some], rtol=1e-3, atol=1e-4)


def test_composition_is_linear() -> None:
    laid = lay_flat(MODEL.vocabulary, [Tree.parse("sell/V & SUBJ:(man/N & old/J.SUBJ) & COMP:drug/N")])
    rng = np.random.default_rng(1)
    one, two = (rng.normal(size=(4, MODEL.dim)).astype(np.float32) for _ in range(2))
    sum_of = compose(MODEL, laid.trees, one) * 2 + compose(MODEL, laid.trees, two)
    np.testing.assert_allclose(compose(MODEL, laid.trees, 2 * one + two), sum_of, rtol=1e-3, atol=1e-3)


@given(trees(), st.integers(1, 4))
@settings(max_examples=30)
def test_contributions_add_up(tree: Tree, answers: int) -> None:
    laid = lay_flat(MODEL.vocabulary, [tree])
    vectors = node_vectors(MODEL, laid.trees)
    weights = np.random.default_rng(answers).normal(size=(1, answers, MODEL.dim))
    added = contributions(MODEL, laid.trees, vectors, weights)
    expected = weights[0] @ compose(MODEL, laid.trees, vectors)[0].astype(np.float64)
    np.testing.assert_allclose(added.sum(0), expected, rtol=1e-3, atol=1e-3)


def test_without_matrices_composition_is_a_mean() -> None:
    model = random_model(matrices=False)
    v = model.query_vector
    expected = v("drug/N") + (v("ban/V") + v("sell/V")) / 2
    np.testing.assert_allclose(vector(model, Tree.parse("drug/N & ban/V.COMP & sell/V.COMP")), expected, atol=1e-6)


def test_conjuncts_are_not_seen_from_each_other() -> None:
    tree = Tree.parse("sell/V & SUBJ:man/N & COMP:{drug/N, _}")
    assert hung(tree, tree.find(BLANK)) != hung(tree, 0)
    without = Tree.parse("sell/V & SUBJ:man/N & COMP:_")
    np.testing.assert_allclose(
        vector(MODEL, hung(tree, tree.find(BLANK))), vector(MODEL, hung(without, without.find(BLANK))), atol=1e-6
    )
