"""Which words and fields a model knows: counted by path weight, the rare ones merged into `*UNKNOWN*`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray
from vecdcs.errors import InputError

UNKNOWN = "*UNKNOWN*"
PARTS_OF_SPEECH = ("N", "V", "J", "R", "P")

# The paper cuts words at 1,000 and fields at 10,000 samples out of some 5.7 billion; between its corpus and the smaller
# ones of its README (50 and 1,000) the cut grows about as the 2/3 power of the number of samples.
WORD_CUT, FIELD_CUT, CUT_POWER = 3e-4, 3e-3, 2 / 3


def default_cuts(total: float) -> tuple[float, float]:
    """The least weight of a word and of a field to be kept, for a corpus of this many path samples an epoch."""
    return WORD_CUT * total**CUT_POWER, FIELD_CUT * total**CUT_POWER


def unknown_word(word: str) -> str:
    """The entry that stands for a word that was cut: `*UNKNOWN*` with its part of speech."""
    return f"{UNKNOWN}/{word.rpartition('/')[2]}"


@dataclass(frozen=True)
class Vocabulary:
    """Words and fields with their weights, by falling weight; an item's place is its number."""

    words: tuple[str, ...]
    word_weights: NDArray[np.float64]
    fields: tuple[str, ...]
    field_weights: NDArray[np.float64]

    @cached_property
    def word_index(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def field_index(self) -> dict[str, int]:
        return {field: number for number, field in enumerate(self.fields)}

    @cached_property
    def parts(self) -> IntArray:
        """The place of each word's part of speech in PARTS_OF_SPEECH; -1 for any other."""
        place = {part: at for at, part in enumerate(PARTS_OF_SPEECH)}
        return np.array([place.get(word.rpartition("/")[2], -1) for word in self.words], np.int32)

    def knows(self, word: str) -> bool:
        """Whether the word has vectors of its own."""
        return word in self.word_index

    def word_id(self, word: str) -> int:
        """The word's number, or that of the unknown word of its part of speech (nouns where even that is unknown)."""
        index = self.word_index
        number = index.get(word)
        return index.get(unknown_word(word), index[f"{UNKNOWN}/N"]) if number is None else number

    def field_id(self, field: str) -> int:
        """The field's number, or that of `*UNKNOWN*`; -1 for the empty label of a root."""
        if not field:
            return -1
        number = self.field_index.get(field)
        return self.field_index[UNKNOWN] if number is None else number

    def word_ids(self, words: Iterable[str]) -> IntArray:
        return np.fromiter(map(self.word_id, words), np.int32)

    def field_ids(self, fields: Iterable[str]) -> IntArray:
        return np.fromiter(map(self.field_id, fields), np.int32)

    @property
    def total(self) -> float:
        """The expected number of path samples in one epoch."""
        return float(self.word_weights.sum())

    def save(self, folder: Path) -> None:
        """Write words.tsv and fields.tsv: `weight TAB item`."""
        _write(folder / "words.tsv", self.words, self.word_weights)
        _write(folder / "fields.tsv", self.fields, self.field_weights)

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Read words.tsv and fields.tsv."""
        return cls(*_read(folder / "words.tsv"), *_read(folder / "fields.tsv"))


def cut(
    words: Mapping[str, float],
    fields: Mapping[str, float],
    min_word: float | None = None,
    min_field: float | None = None,
) -> Vocabulary:
    """The vocabulary of a corpus; items lighter than the cut are summed into the unknown ones."""
    word_cut, field_cut = default_cuts(sum(words.values()))
    unknowns = dict.fromkeys((f"{UNKNOWN}/{pos}" for pos in PARTS_OF_SPEECH), 0.0)
    kept_words = _merge(words, word_cut if min_word is None else min_word, unknown_word, unknowns)
    kept_fields = _merge(fields, field_cut if min_field is None else min_field, lambda _: UNKNOWN, {UNKNOWN: 0.0})
    return Vocabulary(*_ranked(kept_words), *_ranked(kept_fields))


def _merge(
    weights: Mapping[str, float], least: float, unknown: Callable[[str], str], kept: dict[str, float]
) -> dict[str, float]:
    """The items of at least this weight; the others are added to the unknown item of their kind."""
    for item in sorted(weights):
        name = item if weights[item] >= least else unknown(item)
        kept[name] = kept.get(name, 0.0) + weights[item]
    return kept


def _ranked(weights: Mapping[str, float]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    items = sorted(weights, key=lambda item: (-weights[item], item))
    return tuple(items), np.array([weights[item] for item in items], np.float64)


def _write(path: Path, items: tuple[str, ...], weights: NDArray[np.float64]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{weight!r}\t{item}\n" for weight, item in zip(weights.tolist(), items, strict=True))


def _read(path: Path) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    rows = list(_rows(path))
    return tuple(item for _, item in rows), np.array([weight for weight, _ in rows], np.float64)


def _rows(path: Path) -> Iterator[tuple[float, str]]:
    with path.open(encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(stream, 1):
            weight, tab, item = line.rstrip("\n").partition("\t")
            try:
                row = float(weight), item
            except ValueError:
                tab = ""
            if not tab:
                raise InputError("expected `weight TAB item`", str(path), number)
            yield row
