"""The four vectors of two marked words, against vectors worked out word by word."""

from __future__ import annotations

import numpy as np
import pytest
from made_models import random_model

from vecdcs.dcs.convert import Node
from vecdcs.dcs.tree import Tree
from vecdcs.model.model import Model, unit
from vecdcs.model.relation import Relation, relation_features, relation_of

# "old men sell drugs on canada": 1 old, 2 men, 3 sell, 4 drugs, 6 canada
SENTENCE = [
    Node(3, "sell/V", -1, "", "", 0),
    Node(2, "man/N", 0, "ARG", "SUBJ", 0),
    Node(1, "old/J", 1, "SUBJ", "ARG", 0),
    Node(4, "drug/N", 0, "ARG", "COMP", 0),
    Node(6, "canada/N", 3, "on", "ARG", 0),
]


def step(model: Model, vector: np.ndarray, label: str, parent_label: str) -> np.ndarray:
    return vector @ model.matrix(label) @ model.inverse(parent_label)


def test_trees_of_two_words_side_by_side() -> None:
    found = relation_of([SENTENCE], {2}, {4, 5, 6})
    assert found == Relation(
        Tree.parse("man/N & old/J.SUBJ"),
        Tree.parse("drug/N & canada/N.on"),
        *[Tree.parse("sell/V & SUBJ:**_1 & COMP:**_2")] * 2,
    )


def test_side_branches_stay_between_words_side_by_side() -> None:
    found = relation_of([SENTENCE], {1}, {6})
    assert found is not None
    assert found.between1 == Tree.parse("sell/V & SUBJ:(man/N & **_1.SUBJ) & COMP:(drug/N & **_2.on)")


def test_only_the_chain_between_a_word_and_one_below_it() -> None:
    found = relation_of([SENTENCE], {3}, {6})
    assert found is not None
    assert found.first == Tree.from_nodes(SENTENCE)
    assert found.between1 == found.between2 == Tree.parse("**_1 & COMP:(drug/N & **_2.on)")
    turned = relation_of([SENTENCE], {6}, {3})
    assert turned is not None and turned.between1 == Tree.parse("**_2 & COMP:(drug/N & **_1.on)")


def test_words_in_different_trees() -> None:
    other = [Node(8, "learn/V", -1, "", "", 0), Node(9, "book/N", 0, "ARG", "COMP", 0)]
    found = relation_of([SENTENCE, other], {4}, {9})
    assert found is not None
    assert found.between1 == Tree.parse("sell/V & SUBJ:(man/N & old/J.SUBJ) & COMP:**_1")
    assert found.between2 == Tree.parse("learn/V & COMP:**_2")


def test_a_span_without_a_node() -> None:
    assert relation_of([SENTENCE], {5}, {3}) is None


def test_a_span_stands_for_its_first_node() -> None:
    assert relation_of([SENTENCE], {1, 2}, {4}) == relation_of([SENTENCE], {1}, {4})


@pytest.mark.parametrize("tied", [True, False])
def test_features_word_by_word(tied: bool) -> None:
    model = random_model(tied=tied)
    found = relation_of([SENTENCE], {2}, {4})
    assert found is not None
    v = model.query_vector
    first = unit(v("man/N") + step(model, v("old/J"), "SUBJ", "ARG"))
    second = unit(v("drug/N") + step(model, v("canada/N"), "on", "ARG"))
    around1 = unit(step(model, v("sell/V") + step(model, second, "ARG", "COMP"), "SUBJ", "ARG"))
    around2 = unit(step(model, v("sell/V") + step(model, first, "ARG", "SUBJ"), "COMP", "ARG"))
    expected = np.concatenate([first, second, around1, around2])
    np.testing.assert_allclose(relation_features(model, [found])[0], expected, atol=1e-5)


def test_groups_are_respected() -> None:
    """Of two conjuncts in one slot, one is not seen from the other."""
    model = random_model()
    nodes = [
        Node(1, "sell/V", -1, "", "", 0),
        Node(2, "book/N", 0, "ARG", "COMP", 1),
        Node(3, "drug/N", 0, "ARG", "COMP", 1),
    ]
    found = relation_of([nodes], {2}, {3})
    assert found is not None
    features = relation_features(model, [found])[0].reshape(4, -1)
    np.testing.assert_allclose(features[2], unit(step(model, model.query_vector("sell/V"), "COMP", "ARG")), atol=1e-5)


def test_many_at_once_and_none() -> None:
    model = random_model()
    found = [relation_of([SENTENCE], {a}, {b}) for a, b in ((2, 4), (1, 6), (3, 6), (6, 3))]
    items = [item for item in found if item is not None]
    together = relation_features(model, items)
    assert together.shape == (4, 4 * model.dim)
    for item, row in zip(items, together, strict=True):
        np.testing.assert_allclose(relation_features(model, [item])[0], row, atol=1e-5)
    assert relation_features(model, []).shape == (0, 4 * model.dim)


def test_exchanged_words_exchange_features() -> None:
    model = random_model()
    one, two = relation_of([SENTENCE], {1}, {6}), relation_of([SENTENCE], {6}, {1})
    assert one is not None and two is not None
    a, b, c, d = relation_features(model, [one])[0].reshape(4, -1)
    np.testing.assert_allclose(relation_features(model, [two])[0].reshape(4, -1), [b, a, d, c], atol=1e-5)


def test_a_lone_word_has_no_surroundings() -> None:
    model = random_model()
    alone = [Node(8, "book/N", -1, "", "", 0)]
    found = relation_of([SENTENCE, alone], {4}, {8})
    assert found is not None
    assert not relation_features(model, [found])[0].reshape(4, -1)[3].any()
