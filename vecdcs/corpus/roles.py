"""How places in trees lean: which words stand at the far end of an edge more often than elsewhere, and which less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH, Vocabulary

MOST = 128  # roles that are kept, the most frequent ones
MASS = 100.0  # by how many words, drawn from all, a role's are smoothed
LEAST = 1e-12  # share of a word that never occurs, as an unknown one may
STEP = 0.1  # leanings are kept as whole numbers of it

Ints = NDArray[np.int32]


class Roles(NamedTuple):
    """Kinds of edges: the part of speech of the word that asks, the field at its end, and the field at the far end.

    `leanings` has a row for each kind: log P(word | that kind of edge leads to it)/P(word) in steps, for all words.
    """

    kinds: Ints
    leanings: NDArray[np.int8]

    @property
    def rows(self) -> dict[tuple[int, int, int], int]:
        """The row of each kind."""
        return {(part, near, far): row for row, (part, near, far) in enumerate(self.kinds.tolist())}


def roles_of(forest: Forest, vocabulary: Vocabulary, most: int = MOST) -> Roles:
    """The most frequent kinds of edges of a forest; its shards are read twice, one at a time."""
    fields = len(vocabulary.fields)
    uses = np.zeros(len(PARTS_OF_SPEECH) * fields * fields, np.int64)
    for shard in forest.shards:
        kind, _ = _ends(forest.flat(shard, vocabulary), vocabulary)
        uses += np.bincount(kind, minlength=len(uses))
    best = np.argsort(-uses, kind="stable")[: min(most, np.count_nonzero(uses))]
    role = np.full(len(uses), len(best))
    role[best] = np.arange(len(best))
    counts = np.zeros((len(best) + 1, len(vocabulary.words)), np.int32)  # the last row is of all other kinds
    for shard in forest.shards:
        kind, word = _ends(forest.flat(shard, vocabulary), vocabulary)
        np.add.at(counts, (role[kind], word), 1)
    share = vocabulary.word_weights / vocabulary.word_weights.sum()
    leanings = np.zeros((len(best), len(share)), np.int8)
    for row, count in zip(leanings, counts, strict=False):
        row[:] = in_steps(count, share)
    part, ends = np.divmod(best, fields * fields)
    return Roles(np.stack([part, *np.divmod(ends, fields)], 1).astype(np.int32), leanings)


def _ends(trees: FlatTrees, vocabulary: Vocabulary) -> tuple[NDArray[np.int64], Ints]:
    """Both ways along every edge: its kind as one number, and the word it leads to."""
    child = np.flatnonzero(trees.parent >= 0)
    parent, fields = trees.parent[child], len(vocabulary.fields)
    asks, leads = np.concatenate([child, parent]), np.concatenate([parent, child])
    lower, upper = trees.label[child].astype(np.int64), trees.parent_label[child].astype(np.int64)
    near, far = np.concatenate([lower, upper]), np.concatenate([upper, lower])
    part = vocabulary.parts[trees.word[asks]].astype(np.int64)
    known = part >= 0
    return ((part * fields + near) * fields + far)[known], trees.word[leads][known]


def in_steps(counts: NDArray[np.int32], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """log P(word | role)/P(word) in steps, from how often words stand in a role and their share of all."""
    share = np.maximum(share, LEAST)
    there = (counts + MASS * share) / (counts.sum() + MASS)
    return np.asarray(np.clip(np.rint(np.log(there / share) / STEP), -127, 127))
