"""Executing a tree step by step: what an inner noun names is answered first, and its answers are asked on with.

Equation (4) adds up all words of a tree, near and far. But "who sells drugs banned by Canada" is about any of the
things that "drugs banned by Canada" names, and that they are sold may be said elsewhere. So the vector of an inner noun
with what hangs on it is executed like a question of its own, and in its place goes the mean query vector of all nouns,
each by its probability as an answer. Where answers are asked back, the mean of their answer vectors does the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.learn.recipes import DENSE
from vecdcs.model.model import Model, unit
from vecdcs.model.query import Laid, Nodes, Vectors, gathered, levels, node_vectors
from vecdcs.model.search import ROOM, Calibration, Space, calibration_of, log_odds, log_sum

NOUN = "N"
STEPWISE = "; executed step by step"


@dataclass(frozen=True)
class Steps:
    """What a model needs to answer within a question."""

    answers: Space
    queries: Space
    calibration: Calibration

    @classmethod
    def of(cls, model: Model) -> Steps:
        """Those of a model."""
        answers, queries = (Space.of(vectors, model.vocabulary) for vectors in (model.answer, model.query))
        return cls(answers, queries, calibration_of(model))

    def vectors(self, model: Model, laid: Laid, stepwise: Sequence[bool]) -> tuple[Vectors, Vectors]:
        """The vectors of nodes by which `compose` goes step by step in the trees chosen: to ask with, to ask back.

        That of an inner noun stands for what hangs on it as well: all below it have none.
        """
        vectors, backs = node_vectors(model, laid.trees), node_vectors(model, laid.trees, answers=True)
        steps = naming(laid) & np.repeat(np.asarray(stepwise, bool), np.diff(laid.trees.start))
        if not steps.any() or not (self.answers.parts == NOUN).any():
            return vectors, backs

        def step(nodes: Nodes, total: Vectors) -> None:
            here = nodes[steps[nodes]]
            total[here], backs[here] = self.named(total[here])

        found = np.where(steps[:, None], gathered(model, laid.trees, vectors, step), vectors), backs
        for side in found:
            side[_below(laid.trees, steps)] = 0
        return found

    def named(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        """The mean query vectors, and answer vectors, of length 1, of what vectors name."""
        found = np.empty_like(vectors), np.empty_like(vectors)
        rows = max(ROOM // len(self.answers.bias), 1)
        for start in range(0, len(vectors), rows):
            scores = self.answers.scores(unit(vectors[start : start + rows]))
            logits = log_odds(self.answers, scores, self.calibration.one_way)
            logits[:, self.answers.parts != NOUN] = -np.inf
            chances = np.exp(logits - log_sum(logits)[:, None])
            for side, space in zip(found, (self.queries, self.answers), strict=True):
                side[start : start + rows] = unit((chances * space.scale) @ space.vectors)
        return found


def goes_stepwise(model: Model, wanted: bool | None = None) -> bool:
    """Whether to go step by step: as wanted, or else if the model was learned by the dense recipe.

    Where much is said of each thing, what is asked next is mostly said elsewhere.
    """
    return model.config.get("plan", {}).get("recipe", {}).get("name") == DENSE.name if wanted is None else wanted


def naming(laid: Laid) -> NDArray[np.bool_]:
    """Nodes that name things by more than their own word: nouns and blanks below the root, with nodes below them."""
    parent = laid.trees.parent
    inner = np.zeros(len(parent), bool)
    inner[parent[parent >= 0]] = True
    nouns = [word.endswith(f"/{NOUN}") for word in laid.words]
    return inner & (parent >= 0) & (np.array(nouns, bool) | (laid.trees.word < 0))


def _below(trees: FlatTrees, nodes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """All nodes below some."""
    below = np.zeros(len(nodes), bool)
    for level in levels(trees)[1:]:
        above = trees.parent[level]
        below[level] = nodes[above] | below[above]
    return below
