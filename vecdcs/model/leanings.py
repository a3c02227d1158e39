"""What the edges into a blank say of the words that may fill it, whatever stands at their other ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.roles import STEP, Roles
from vecdcs.model.model import Model

Kind = tuple[int, int, int]


@dataclass(frozen=True)
class Leanings:
    """Of some queries the kinds of edges into the blank, as rows of a model's roles."""

    roles: Roles
    rows: Sequence[Sequence[int]]

    def sums(self, some: slice) -> NDArray[np.float32]:
        """For some of the queries and all words, the sum over these edges of log P(word | edge)/P(word)."""
        rows = self.rows[some]
        found = np.zeros((len(rows), self.roles.leanings.shape[1]), np.float32)
        for total, each in zip(found, rows, strict=True):
            for row in each:
                total += self.roles.leanings[row]
        return np.multiply(found, np.float32(STEP), out=found)


def leanings(model: Model, kinds: Iterable[Iterable[Kind]]) -> Leanings | None:
    """Those of queries, by the kinds of edges into the blank of each; those the model has not counted say nothing."""
    if model.roles is None:
        return None
    rows = model.roles.rows
    return Leanings(model.roles, [[rows[kind] for kind in some if kind in rows] for some in kinds])


def at_roots(model: Model, trees: FlatTrees) -> Leanings | None:
    """Those of trees hung up at what is asked."""
    kinds: list[list[Kind]] = [[] for _ in trees.start[:-1]]
    number = {root: at for at, root in enumerate(trees.start[:-1].tolist())}
    for node in np.flatnonzero(np.isin(trees.parent, trees.start[:-1])).tolist():
        if trees.word[node] >= 0:  # a blank asks for nothing
            part = int(model.vocabulary.parts[trees.word[node]])
            kind = part, int(trees.label[node]), int(trees.parent_label[node])
            kinds[number[int(trees.parent[node])]].append(kind)
    return leanings(model, kinds)
