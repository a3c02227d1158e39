"""Models made for tests: random ones, and one learned from the small world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH, UNKNOWN, Vocabulary
from vecdcs.model.ask import Asker

WORDS = ("man/N", "drug/N", "old/J", "sell/V", "ban/V", "book/N", "learn/V", "canada/N", "he/P", "burn down/V")
FIELDS = ("ARG", "SUBJ", "COMP", "on", "about", "in")


def random_model(
    seed: int = 0,
    dim: int = 8,
    words: Sequence[str] = WORDS,
    fields: Sequence[str] = FIELDS,
    tied: bool = False,
    matrices: bool = True,
) -> Asker:
    """A model of random numbers; `tied` ones have orthogonal matrices."""
    rng = np.random.default_rng(seed)
    names = (*words, *(f"{UNKNOWN}/{pos}" for pos in PARTS_OF_SPEECH))
    fields = (*fields, UNKNOWN)
    weights = np.arange(len(names), 0, -1).astype(np.float64)
    vocabulary = Vocabulary(names, weights, tuple(fields), np.ones(len(fields)))
    count = len(fields) if matrices else 0
    shape = (count, dim, dim)
    some, other = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    if tied:
        some = np.array([np.linalg.qr(matrix)[0] for matrix in some], np.float32).reshape(shape)
    vectors = (rng.normal(size=(len(names), dim)).astype(np.float32) for _ in range(2))
    return Asker(vocabulary, *vectors, some, None if tied or not matrices else other, {})
