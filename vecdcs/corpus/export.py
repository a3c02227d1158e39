"""A forest in the files of the paper's authors, so that their program can be run on the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import cut
from vecdcs.errors import InputError

PARTS_OF_SPEECH = {"N": "NOUN", "V": "VERB", "J": "ADJ", "R": "ADV", "P": "NOUN"}
PRONOUN = "_Pr"
NO_LABEL = "Null"


def export_reference(
    forest: Forest, folder: Path, min_word: float | None = None, min_field: float | None = None
) -> list[Path]:
    """Write trees/NNNNNN.dcs, words.txt and roles.txt; the cuts are those of `vecdcs train`."""
    if forest.ud:
        raise InputError("a vecUD forest has no form in the authors' files: expected a DCS forest", str(forest.path))
    (folder / "trees").mkdir(parents=True, exist_ok=True)
    written = [_write(folder / "trees" / f"{shard:06d}.dcs", _trees(forest, shard)) for shard in forest.shards]
    words: dict[str, float] = {}
    for word, weight in forest.word_weights().items():
        words[reference_word(word)] = words.get(reference_word(word), 0.0) + weight
    vocabulary = cut(words, forest.field_weights(), min_word, min_field)
    lists = (
        ("words.txt", vocabulary.words, vocabulary.word_weights.tolist()),
        ("roles.txt", vocabulary.fields, vocabulary.field_weights.tolist()),
    )
    for name, items, weights in lists:
        rows = (f"{weight!r}\t{item}\n" for item, weight in zip(items, weights, strict=True) if weight)
        written.append(_write(folder / name, rows))
    return written


def reference_word(word: str) -> str:
    """`he/P` is `he_Pr/NOUN` there, `ban/V` is `ban/VERB`."""
    form, _, part = word.rpartition("/")
    return f"{form}{PRONOUN if part == 'P' else ''}/{PARTS_OF_SPEECH.get(part, part)}"


def _trees(forest: Forest, shard: int) -> Iterator[str]:
    """Each tree: its number of nodes, a line for each node, an empty line."""
    names = ("group", "word", "label", "parent_label", "parent")
    rows = zip(*(forest.nodes(shard)[name].to_pylist() for name in names), strict=True)
    tree = -1
    numbered = []
    for row in rows:
        tree += row[-1] < 0
        numbered.append((tree, row))
    for _, nodes in groupby(numbered, key=lambda pair: pair[0]):
        yield from _tree([row for _, row in nodes])


def _tree(rows: list[tuple[int, str, str, str, int]]) -> Iterator[str]:
    yield f"{len(rows)}\n"
    for at, (code, word, label, parent_label, parent) in enumerate(rows):
        ends = (label, parent_label) if parent >= 0 else (NO_LABEL, NO_LABEL)
        yield "\t".join([str(at), str(code), reference_word(word), *ends, str(parent)]) + "\n"
    yield "\n"


def _write(path: Path, lines: Iterable[str]) -> Path:
    """Aside first, so that a file is whole or not there."""
    aside = path.with_name(path.name + ".part")
    with aside.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(lines)
    return aside.replace(path)
