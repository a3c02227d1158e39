"""Trees as queries: hung up at the node asked for, laid flat, composed by equation (4), many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.dcs.tree import BLANK, Place, Tree
from vecdcs.model.model import Model, unit

Vectors = NDArray[np.float32]
Nodes = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]
Apply = Callable[[Floats, Vectors], Floats]
Step = Callable[[Nodes, Vectors], None]

NO_WORD = -1  # a blank: a node without a vector of its own


class Laid(NamedTuple):
    """Trees laid flat, with the word of every node and its position in the tree it comes from."""

    trees: FlatTrees
    words: list[str]
    position: list[int]


def hung(tree: Tree, position: int) -> Tree:
    """The tree hung up at a node."""
    return tree.reroot(position) if position else tree


def lay_flat(vocabulary: Vocabulary, trees: Sequence[Tree], nameless: Sequence[str] = (BLANK,)) -> Laid:
    """Trees end to end, without what no path to the root passes; a `nameless` word has the number -1."""
    places = [found for tree in trees for found in _reached(tree)]
    words = [place.tree.word for _, _, place in places]
    numbers = [NO_WORD if word in nameless else vocabulary.word_id(word) for word in words]
    edges = [place.edge for _, _, place in places]
    parents = [parent for _, parent, _ in places]
    roots = [at for at, parent in enumerate(parents) if parent < 0]
    first = np.repeat(roots, np.diff([*roots, len(parents)])) if roots else np.zeros(0, np.int64)
    parent = np.array(parents, np.int32)
    flat = FlatTrees(
        word=np.array(numbers, np.int32),
        parent=np.where(parent < 0, -1, parent + first).astype(np.int32),
        label=np.array([vocabulary.field_id(edge.label) if edge else -1 for edge in edges], np.int32),
        parent_label=np.array([vocabulary.field_id(edge.parent_label) if edge else -1 for edge in edges], np.int32),
        group=np.zeros(len(parents), np.int32),
        start=np.array([*roots, len(parents)], np.int64),
    )
    return Laid(flat, words, [position for position, _, _ in places])


def _reached(tree: Tree) -> Iterator[tuple[int, int, Place]]:
    """The nodes from which an allowed path leads to the root: position, number of the parent among them, place.

    A path may not pass a node from one edge of a coordination group to another of the same group.
    """
    number = {-1: -1}
    for position, place in enumerate(tree.places):
        if place.parent not in number:
            continue
        above = tree.places[place.parent].edge if position else None
        if above and place.edge and 0 < above.own_group == place.edge.group:
            continue
        number[position] = len(number) - 1
        yield position, number[place.parent], place


def node_vectors(model: Model, trees: FlatTrees, answers: bool = False) -> Vectors:
    """The query vectors of the words, or their answer vectors, of length 1; zero at a blank."""
    table = model.answer if answers else model.query
    vectors = unit(np.asarray(table[np.maximum(trees.word, 0)], np.float32))
    vectors[trees.word < 0] = 0
    return vectors


def compose(model: Model, trees: FlatTrees, vectors: Vectors) -> Vectors:
    """The vector of each tree by equation (4), v_x + 1/n sum of v_y M_L M_P^-1, from the vectors of its nodes."""
    return gathered(model, trees, vectors)[trees.start[:-1]]


def gathered(model: Model, trees: FlatTrees, vectors: Vectors, step: Step | None = None) -> Vectors:
    """The vector of each node with what hangs on it, by equation (4); `step` may change some before they go on."""
    total = vectors.copy()
    ways = _ways(trees)
    for nodes in reversed(levels(trees)[1:]):
        if step:
            step(nodes, total)
        above = trees.parent[nodes]  # in order, as trees are laid in preorder: brothers and sisters are neighbours
        first = np.flatnonzero(np.diff(above, prepend=-1))
        shares = carried(model, trees, nodes, total[nodes]) / ways[above, None]
        total[above[first]] += np.add.reduceat(shares, first)
    return total


def contributions(
    model: Model, trees: FlatTrees, vectors: Vectors, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each node adds to the products of its tree's vector with `weights` (trees x k x d): nodes x k.

    Composition is linear, so they add up exactly to the products.
    """
    ways = _ways(trees)
    pulled = np.zeros((len(trees.word), *weights.shape[1:]))
    pulled[trees.start[:-1]] = weights
    for nodes in levels(trees)[1:]:
        above = trees.parent[nodes]
        pulled[nodes] = returned(model, trees, nodes, pulled[above]) / ways[above, None, None]
    added: NDArray[np.float64] = np.einsum("nkd,nd->nk", pulled, vectors.astype(np.float64))
    return added


def asked(model: Model, trees: FlatTrees, roots: Vectors) -> Vectors:
    """What the root of each tree asks for at every node: its vector there, 1/n of it down each of n ways."""
    ways = _ways(trees)
    total = np.zeros((len(trees.word), roots.shape[1]), np.float32)
    total[trees.start[:-1]] = roots
    for nodes in levels(trees)[1:]:
        above = trees.parent[nodes]
        total[nodes] = lowered(model, trees, nodes, total[above]) / ways[above, None]
    return total


def levels(trees: FlatTrees) -> list[Nodes]:
    """The nodes by depth, the roots first."""
    depth = [0] * len(trees.word)
    for node, parent in enumerate(trees.parent.tolist()):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(np.array(depth)[order])) + 1)


def carried(model: Model, trees: FlatTrees, nodes: Nodes, vectors: Vectors) -> Vectors:
    """Vectors from nodes to their parents, M_L M_P^-1; in a vecUD tree M of the relation."""
    return _through(model, trees.label[nodes], trees.parent_label[nodes], vectors)


def lowered(model: Model, trees: FlatTrees, nodes: Nodes, vectors: Vectors) -> Vectors:
    """Vectors from the parents of nodes to these, M_P M_L^-1; in a vecUD tree the inverse of the relation's M."""
    return _through(model, trees.parent_label[nodes], trees.label[nodes], vectors)


def _through(model: Model, out: NDArray[np.int32], into: NDArray[np.int32], vectors: Vectors) -> Vectors:
    """Vectors through the matrices of some labels and the inverses of others, one product a label."""
    if not model.has_matrices:
        return vectors
    there = _grouped(model, model.matrix, out, vectors, np.matmul)
    return cast(Vectors, _grouped(model, model.inverse, into, there, np.matmul))


def returned(model: Model, trees: FlatTrees, nodes: Nodes, vectors: Floats) -> Floats:
    """The transpose of `carried`, for the answer's side of a product."""
    if not model.has_matrices:
        return vectors
    back = _grouped(model, model.inverse, trees.parent_label[nodes], vectors, _transposed)
    return _grouped(model, model.matrix, trees.label[nodes], back, _transposed)


def _grouped(
    model: Model, matrix: Callable[[str], Vectors], labels: NDArray[np.int32], vectors: Floats, apply: Apply
) -> Floats:
    """Each vector times the matrix of its label (-1 for none), one product a label."""
    result = vectors.copy()
    for label in np.unique(labels[labels >= 0]):
        rows = labels == label
        result[rows] = apply(vectors[rows], matrix(model.vocabulary.fields[label]))
    return result


def _transposed(vectors: Floats, matrix: Vectors) -> Floats:
    return vectors @ matrix.T.astype(vectors.dtype)


def _ways(trees: FlatTrees) -> NDArray[np.int64]:
    return np.maximum(np.bincount(trees.parent[trees.parent >= 0], minlength=len(trees.word)), 1)
