"""Treebank sentences as plain records, and their numbers for the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vecdcs.text.conllu import NO_SPACE, Sentence, read_conllu
from vecdcs.text.features import affixes, normal, shape

FREE_GUM = {"academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage"}
"""Genres of GUM whose texts are free for any use."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `glued`: no space before it. `head` counts from 1, 0 is the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int
    deprel: str
    glued: bool


Record = tuple[Word, ...]


def read(path: Path, free: bool = False) -> list[Record]:
    """The sentences of a treebank; with `free`, of GUM only the genres free for any use."""
    records, genre = [], ""
    for sentence in read_conllu(path):
        document = sentence.meta("newdoc id")
        if document:
            genre = document.split("_")[1] if document.startswith("GUM_") else ""
        if free and genre and genre not in FREE_GUM:
            continue
        glued = [False, *(inside_or_no_space(sentence))]
        records.append(
            tuple(Word(t.form, t.lemma, t.upos, t.xpos, t.head, t.deprel, glued[t.id - 1]) for t in sentence.tokens)
        )
    return records


def inside_or_no_space(sentence: Sentence) -> list[bool]:
    """For every word: no space follows, by SpaceAfter or because a multiword token goes on."""
    found = [NO_SPACE in token.misc for token in sentence.tokens]
    for _, row in sentence.extras:
        span, *_, misc = row.split("\t")
        if "-" in span:
            first, last = map(int, span.split("-"))
            found[first - 1 : last - 1] = [True] * (last - first)
            found[last - 1] = NO_SPACE in misc
    return found


def treebanks(folder: Path, part: str, names: Iterable[str] = ("ewt", "gum"), free: bool = True) -> list[Record]:
    """The sentences of several treebanks."""
    return [r for name in names for r in read(folder / f"en_{name}-ud-{part}.conllu.xz", free)]


@dataclass(frozen=True)
class Inventory:
    """What has a number of its own: words with vectors, trained words (0 unknown, 1 the blank), labels, tags."""

    vectors: dict[str, int]
    words: dict[str, int]
    labels: list[str]
    upos: list[str]
    xpos: list[str]

    def row(self, form: str) -> list[int]:
        """The features of a form, in the order of COLUMNS."""
        word = normal(form)
        return [self.vectors.get(word, 0), self.words.get(word, 0), shape(form), *affixes(word)]


def inventory(records: list[Record], vector_words: list[str], least: int = 2) -> Inventory:
    """Numbers for the words, labels and tags of the training data."""
    counts = Counter(normal(w.form) for r in records for w in r)
    words = ["", "_", *(w for w, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])) if n >= least and w != "_")]
    names = {key: sorted({getattr(w, key) for r in records for w in r} - {"_"}) for key in ("deprel", "upos", "xpos")}
    return Inventory(
        {w: i for i, w in enumerate(["", "_", *vector_words])},
        {w: i for i, w in enumerate(words)},
        names["deprel"],
        names["upos"],
        names["xpos"],
    )


class Numbers:
    """Records to arrays, each distinct form looked up once."""

    def __init__(self, numbering: Inventory) -> None:
        self.numbering = numbering
        self.cache: dict[str, list[int]] = {}
        self.label = {n: i for i, n in enumerate(numbering.labels)}
        self.upos = {n: i for i, n in enumerate(numbering.upos)}
        self.xpos = {n: i for i, n in enumerate(numbering.xpos)}

    def features(self, record: Record) -> NDArray[np.int64]:
        """words x (features, glue bit)."""
        rows = []
        for word in record:
            row = self.cache.get(word.form)
            if row is None:
                row = self.cache[word.form] = self.numbering.row(word.form)
            rows.append([*row, int(word.glued)])
        return np.array(rows, np.int64)

    def targets(self, record: Record) -> NDArray[np.int64]:
        """words x (head, label, upos, xpos); -1 where the treebank has none."""
        return np.array(
            [
                (w.head, self.label.get(w.deprel, -1), self.upos.get(w.upos, -1), self.xpos.get(w.xpos, -1))
                for w in record
            ],
            np.int64,
        )
