"""What a question says of its answers beside what its words ask for: by edges, by a kind named, and by asking back.

An edge says that its words stand where such edges lead, whatever word asks. Where a word stands in place of the blank,
as in "banned drugs", the answers are to be of that kind: alike. And answers can be asked back: what a word asks for at
the other ends of the question's paths should be the words that stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.roles import STEP, Roles
from vecdcs.model.model import Model

Kind = tuple[int, int, int]
Vectors = NDArray[np.float32]
NONE = -1


@dataclass(frozen=True)
class Leanings:
    """Of some queries the kinds of edges into the blank, as rows of a model's roles, and the words in its place.

    `named` are the numbers of these words, -1 for a blank; `alike` gives the likeness of such words to all words.
    `backs` are the queries composed of answer vectors; `asking` puts their products with all query vectors somewhere.
    """

    words: int
    roles: Roles | None
    rows: Sequence[Sequence[int]]
    named: Sequence[int] = ()
    alike: Callable[[Sequence[int]], Vectors] | None = None
    backs: Vectors | None = None
    asking: Callable[[Vectors, Vectors], None] | None = None

    def logits(self, role: float, kind: float, first: int, last: int, width: int = 0) -> Vectors:
        """What is added to the logits of all words, for some of the queries; worth of edges and of likeness.

        Rows are at least so wide.
        """
        found = self.edges(first, last, width, role)
        named = [at for at, word in enumerate(self.named[first:last]) if word != NONE]
        if named and self.alike and kind:
            found[named, : self.words] += np.float32(kind) * self.alike([self.named[first + at] for at in named])
        return found

    def asked_back(self, worth: float, first: int, last: int, width: int = 0) -> Vectors | None:
        """A worth times the products of all query vectors with some of the queries composed of answer vectors."""
        if self.backs is None or self.asking is None or not worth:
            return None
        found = np.zeros((len(self.backs[first:last]), max(self.words, width)), np.float32)
        self.asking(self.backs[first:last], found[:, : self.words])
        found *= np.float32(worth)
        return found

    def edges(self, first: int, last: int, width: int = 0, worth: float = 1.0) -> Vectors:
        """For some of the queries and all words, a worth times the sum over the edges of log P(word | edge)/P(word)."""
        found = np.zeros((len(self.rows[first:last]), max(self.words, width)), np.float32)
        if self.roles and worth:
            for total, rows in zip(found[:, : self.words], self.rows[first:last], strict=True):
                for row in rows:
                    total += self.roles.leanings[row]
                total *= np.float32(STEP * worth)
        return found


def by_edges(model: Model, kinds: Iterable[Iterable[Kind]]) -> Leanings:
    """Those of queries, by the kinds of edges into the blank of each; those the model has not counted say nothing."""
    rows = model.roles.rows if model.roles else {}
    known = [[rows[kind] for kind in some if kind in rows] for some in kinds]
    return Leanings(len(model.vocabulary.words), model.roles, known)


def at_roots(model: Model, trees: FlatTrees) -> Leanings:
    """Those of trees hung up at what is asked, by the edges there."""
    roots = trees.start[:-1]
    kinds: list[list[Kind]] = [[] for _ in roots]
    number = {root: at for at, root in enumerate(roots.tolist())}
    for node in np.flatnonzero(np.isin(trees.parent, roots)).tolist():
        if trees.word[node] >= 0:  # a blank asks for nothing
            part = int(model.vocabulary.parts[trees.word[node]])
            kind = part, int(trees.label[node]), int(trees.parent_label[node])
            kinds[number[int(trees.parent[node])]].append(kind)
    return by_edges(model, kinds)
