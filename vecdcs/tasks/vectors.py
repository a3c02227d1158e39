"""Anyone's word vectors as a model without matrices: a word2vec or GloVe text file, composed by addition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary
from vecdcs.errors import InputError
from vecdcs.model.model import Model
from vecdcs.text.source import open_bytes

Vector = NDArray[np.float32]


class PlainVocabulary(Vocabulary):
    """Words with or without a part of speech; what the file does not have is the zero vector."""

    def knows(self, word: str) -> bool:
        return self.word_id(word) > 0

    def word_id(self, word: str) -> int:
        """The number of `book/N`, else that of `book`, else of its first part (`burn` of `burn down/V`)."""
        bare = word.rpartition("/")[0] or word
        joined = word.replace(" ", "_")
        ways = (word, joined, bare, bare.lower(), bare.replace(" ", "_").lower(), bare.partition(" ")[0].lower())
        return next((self.word_index[way] for way in ways if way in self.word_index), 0)


def read_vectors(path: Path) -> Model:
    """The vectors of a text file, `word number number …` a line, with or without a line of sizes first."""
    words, rows = [UNKNOWN], list[Vector]()
    for word, vector in _rows(path):
        words.append(word)
        rows.append(vector)
    if not rows:
        raise InputError("expected lines of a word and its numbers", str(path), 1)
    vectors = np.vstack([np.zeros_like(rows[0]), *rows])
    nothing = np.zeros(len(words))
    vocabulary = PlainVocabulary(tuple(words), nothing, (UNKNOWN,), nothing[:1])
    matrices = np.zeros((0, vectors.shape[1], vectors.shape[1]), np.float32)
    return Model(vocabulary, vectors, vectors, matrices, None, {"plan": {"variant": "vectors"}}, path)


def _rows(path: Path) -> Iterator[tuple[str, Vector]]:
    with open_bytes(path) as stream:
        size = 0
        for number, line in enumerate(stream, 1):
            cells = line.decode("utf-8", "replace").rstrip().split(" ")
            if number == 1 and len(cells) == 2:
                continue
            size = size or len(cells)
            word = " ".join(cells[: len(cells) - size + 1])  # GloVe has words with spaces
            try:
                vector = np.array(cells[-size + 1 :], np.float32)
            except ValueError:
                vector = np.zeros(0, np.float32)
            if len(vector) != size - 1 or size < 3:
                raise InputError(f"expected a word and {max(size - 1, 2)} numbers", str(path), number)
            yield word, vector
