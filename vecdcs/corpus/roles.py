"""How places in trees lean: which words stand at the far end of an edge more often than elsewhere, and which less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vecdcs.corpus.evidence import Evidence
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import Vocabulary

MOST = 128  # roles that are kept, the most frequent ones
MASS = 100.0  # by how many words, drawn from all, a role's are smoothed
LEAST = 1e-12  # share of a word that never occurs, as an unknown one may
STEP = 0.1  # leanings are kept as whole numbers of it

_KINDS = """
    SELECT asks.part, label, other_label, count(*) AS uses FROM edges
    JOIN numbers asks ON asks.id = edges.word GROUP BY ALL
"""
_COUNTS = """
    SELECT kinds.role, stands.number, count(*) FROM edges
    JOIN numbers asks ON asks.id = edges.word JOIN numbers stands ON stands.id = edges.other
    JOIN kinds ON kinds.part = asks.part AND kinds.label = edges.label AND kinds.other_label = edges.other_label
    GROUP BY ALL
"""

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
    """The most frequent kinds of edges of a forest."""
    database = Evidence(forest, 1).database
    words, fields = vocabulary.word_ids(forest.word_weights()), vocabulary.field_ids(forest.field_weights())
    numbers = {"id": np.arange(len(words), dtype=np.int32), "number": words, "part": vocabulary.parts[words]}
    database.register("numbers", pa.table(numbers))
    part, label, other_label, uses = database.execute(_KINDS).fetchnumpy().values()
    found, role = np.unique(np.stack([part, fields[label], fields[other_label]], 1), axis=0, return_inverse=True)
    best = np.argsort(-np.bincount(role.ravel(), uses), kind="stable")[:most]
    place = np.full(len(found), -1)
    place[best] = np.arange(len(best))
    role = place[role.ravel()]
    kept = {"part": part, "label": label, "other_label": other_label, "role": role}
    database.register("kinds", pa.table({name: column[role >= 0] for name, column in kept.items()}))
    counts = np.zeros((len(best), len(vocabulary.words)), np.float32)
    at_role, at_word, times = database.execute(_COUNTS).fetchnumpy().values()
    counts[at_role, at_word] = times
    share = vocabulary.word_weights / vocabulary.word_weights.sum()
    leanings = np.zeros(counts.shape, np.int8)
    for row, count in zip(leanings, counts, strict=True):
        row[:] = in_steps(count, share)
    return Roles(found[best].astype(np.int32), leanings)


def in_steps(counts: NDArray[np.float32], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """log P(word | role)/P(word) in steps, from how often words stand in a role and their share of all."""
    share = np.maximum(share, LEAST)
    there = (counts + MASS * share) / (counts.sum() + MASS)
    return np.asarray(np.clip(np.rint(np.log(there / share) / STEP), -127, 127))
