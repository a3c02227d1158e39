"""The four vectors of section 5.3: what two marked words of a sentence are, and how the sentence joins them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.convert import Node
from vecdcs.dcs.tree import Tree
from vecdcs.model.model import Model, unit
from vecdcs.model.query import Laid, compose, hung, lay_flat, node_vectors

E1, E2 = "**_1", "**_2"
NO_NAMES: Mapping[int, str] = MappingProxyType({})


class Relation(NamedTuple):
    """Two marked words: their sub-trees, and the tree between them as seen by the first and by the second.

    In `between1` and `between2` the sub-trees of the two words are leaves named E1 and E2; they are the same tree,
    unless the words stand in different trees: then each is the tree of one word, without the other.
    """

    first: Tree
    second: Tree
    between1: Tree
    between2: Tree


def relation_features(model: Model, items: Sequence[Relation]) -> NDArray[np.float32]:
    """[A B C D] of each item, 4d numbers: A, B the unit vectors of the two sub-trees; C that of what surrounds the
    first word, B standing in for the second; D that of what surrounds the second, A standing in for the first.

    With the words exchanged an item has the features [B A D C].
    """
    if not items:
        return np.zeros((0, 4 * model.dim), np.float32)
    first, second = (_subtree_vectors(model, trees) for trees in ([x.first for x in items], [x.second for x in items]))
    around1 = _surroundings(model, [item.between1 for item in items], E1, E2, second)
    around2 = _surroundings(model, [item.between2 for item in items], E2, E1, first)
    return np.concatenate([first, second, around1, around2], axis=1)


def _subtree_vectors(model: Model, trees: Sequence[Tree]) -> NDArray[np.float32]:
    laid = lay_flat(model.vocabulary, trees)
    return unit(compose(model, laid.trees, node_vectors(model, laid.trees)))


def _surroundings(
    model: Model, trees: Sequence[Tree], asked: str, other: str, others: NDArray[np.float32]
) -> NDArray[np.float32]:
    """What surrounds the node `asked` in each tree, with a vector given for the node `other`; zero if nothing does."""
    laid = lay_flat(model.vocabulary, [hung(tree, tree.find(asked)) for tree in trees], nameless=(E1, E2))
    vectors = node_vectors(model, laid.trees)
    for node, tree in _places(laid, other):
        vectors[node] = others[tree]
    return unit(compose(model, laid.trees, vectors))


def _places(laid: Laid, word: str) -> Iterable[tuple[int, int]]:
    """The nodes with a word, and the numbers of their trees."""
    tree = np.repeat(np.arange(len(laid.trees)), np.diff(laid.trees.start))
    return ((node, int(tree[node])) for node, found in enumerate(laid.words) if found == word)


def relation_of(trees: Sequence[Sequence[Node]], first: Collection[int], second: Collection[int]) -> Relation | None:
    """The relation of two spans of tokens in a converted sentence; none where a span has no node.

    A span stands for the node of its first token that has one.
    """
    one, two = _find(trees, first), _find(trees, second)
    if one is None or two is None:
        return None
    if one[0] != two[0]:
        betweens = [_cut(trees[tree], 0, {node: name}) for (tree, node), name in ((one, E1), (two, E2))]
    else:
        betweens = [_between(trees[one[0]], one[1], two[1])] * 2
    return Relation(_cut(trees[one[0]], one[1]), _cut(trees[two[0]], two[1]), *betweens)


def _find(trees: Sequence[Sequence[Node]], span: Collection[int]) -> tuple[int, int] | None:
    """Tree and number of the first token of the span that has a node."""
    found = [(node.token, at, n) for at, tree in enumerate(trees) for n, node in enumerate(tree) if node.token in span]
    return min(found)[1:] if found else None


def _between(nodes: Sequence[Node], one: int, two: int) -> Tree:
    """The sub-tree of the lowest common ancestor, cut at both; the bare chain where one is above the other."""
    up, down = _upward(nodes, one), _upward(nodes, two)
    shared = next(node for node in up if node in down)
    names = {one: E1, two: E2}
    return _cut(nodes, shared, names, {*up, *down} if shared in names else ())


def _upward(nodes: Sequence[Node], node: int) -> list[int]:
    way = [node]
    while nodes[way[-1]].parent >= 0:
        way.append(nodes[way[-1]].parent)
    return way


def _cut(nodes: Sequence[Node], root: int, names: Mapping[int, str] = NO_NAMES, chain: Collection[int] = ()) -> Tree:
    """The sub-tree of a node, the `names` given to some nodes; cut below these, or to the nodes of a chain."""
    number = {root: 0}
    rows = [nodes[root]._replace(parent=-1, label="", parent_label="", group=0)]
    for at, node in enumerate(nodes):
        inside = at in chain if chain else node.parent not in names
        if at != root and node.parent in number and inside:
            number[at] = len(rows)
            rows.append(node._replace(parent=number[node.parent]))
    for at, name in names.items():
        rows[number[at]] = rows[number[at]]._replace(word=name)
    return Tree.from_nodes(rows)
