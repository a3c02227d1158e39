"""Words in the blank of a tree: how well each answers what is around it, and how well it explains that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.tree import Tree
from vecdcs.model.compose import answer_vectors
from vecdcs.model.model import Model, unit
from vecdcs.model.query import Laid, asked, compose, hung, lay_flat, node_vectors
from vecdcs.model.steps import Steps

Floats = NDArray[np.float64]


class Filled(NamedTuple):
    """A candidate's word and the tree it stands in, with a blank in its place: at `position`, or the first one."""

    tree: Tree
    word: str
    position: int | None = None

    @property
    def hung(self) -> Tree:
        """The tree hung up at the candidate's blank."""
        return hung(self.tree, self.tree.blanks()[0] if self.position is None else self.position)


Score = Callable[[Sequence[Filled]], Floats]


def from_blank(model: Model, trees: Iterable[Tree]) -> Laid:
    """Trees hung up at their first blanks, laid flat."""
    return lay_flat(model.vocabulary, [hung(tree, tree.blanks()[0]) for tree in trees])


def blank_vectors(
    model: Model, trees: Sequence[Tree], steps: Steps | None = None, back: bool = False
) -> NDArray[np.float32]:
    """What surrounds the first blank of each tree, of length 1, of query vectors, or, to ask back, of answer vectors.

    With `steps`, executed step by step.
    """
    laid = from_blank(model, trees)
    every = [True] * len(trees)
    vectors = steps.vectors(model, laid, every)[back] if steps else node_vectors(model, laid.trees, answers=back)
    return unit(compose(model, laid.trees, vectors))


def model_scores(model: Model, filled: Sequence[Filled]) -> Floats:
    """The paper's way: surrounding vector . answer vector."""
    answers = answer_vectors(model, (one.word for one in filled))
    around = blank_vectors(model, [one.hung for one in filled])
    return np.asarray(np.einsum("ij,ij->i", around, answers, dtype=np.float64))


def candidate_scores(model: Model, filled: Sequence[Filled]) -> Floats:
    """The other way round: the candidate asks for the words around it; vectors have the lengths they were learned with.

    A product is about log P(word there | candidate)/P(word), so that rare words around tell more.
    """
    trees = from_blank(model, [one.hung for one in filled]).trees
    candidates = model.as_learned("query", model.vocabulary.word_ids(one.word for one in filled))
    answers = model.as_learned("answer", np.maximum(trees.word, 0))
    products = np.einsum("ij,ij->i", asked(model, trees, candidates), answers, dtype=np.float64)
    return np.add.reduceat(np.where(trees.word < 0, 0, products), trees.start[:-1])


def in_all_trees(
    score: Score, filled: Sequence[Filled | None], size: int, weigh: Callable[[Floats], Floats] = np.asarray
) -> Floats:
    """Scores by question (`size` candidates each): the mean of each candidate's in the trees of all of them.

    The parser may take the sentences differently, and scores in different trees cannot be compared. `weigh` is done to
    the scores in one tree; 0 for a candidate without a node.
    """
    tried: list[Filled] = []
    trees: list[tuple[int, int, list[int]]] = []
    for at in range(0, len(filled), size):
        here = {letter: one for letter, one in enumerate(filled[at : at + size]) if one is not None}
        for (tree, position), votes in Counter((one.tree, one.position) for one in here.values()).items():
            trees.append((at // size, votes, list(here)))
            tried += [Filled(tree, one.word, position) for one in here.values()]
    table, scores = np.zeros((len(filled) // size, size)), iter(score(tried)) if tried else iter(())
    for question, votes, letters in trees:
        table[question, letters] += votes / len(letters) * weigh(np.array([next(scores) for _ in letters]))
    return table
