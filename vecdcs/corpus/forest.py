"""What a forest is on disk: a folder of columnar shards, lists of words and fields, an edges table, and a manifest."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray
from vecdcs.errors import InputError

FORMAT, VERSION = "vecdcs-forest", 1
MANIFEST, PLAN, SHARDS, PARSES = "manifest.json", "plan.json", "shards", "parses"
ASIDE = "aside"  # where files are written before they are renamed
WORDS, FIELDS = "words.parquet", "fields.parquet"
EDGES, SHARED, INSTANCES = "edges.parquet", "shared.parquet", "instances.parquet"

Digest = dict[str, str | int]

_TEXT = pa.dictionary(pa.int32(), pa.string())

SENTENCES_SCHEMA = pa.schema([("text", pa.string()), ("source", _TEXT), ("line", pa.int64())])
NODES_SCHEMA = pa.schema(
    [
        ("sentence", pa.int32()),
        ("token", pa.int32()),
        ("word", _TEXT),
        ("parent", pa.int32()),
        ("label", _TEXT),
        ("parent_label", _TEXT),
        ("group", pa.int32()),
        ("instance", pa.int8()),
    ]
)


class Mapped(Protocol):
    """What turns words and fields into numbers: a vocabulary."""

    def word_ids(self, words: Iterable[str]) -> IntArray: ...

    def field_ids(self, fields: Iterable[str]) -> IntArray: ...


class SourceSentence(NamedTuple):
    """A sentence as it was read: its text, the file it comes from, and its line there."""

    id: int
    text: str
    source: str
    line: int


@dataclass(frozen=True)
class Forest:
    """A finished forest; `shards` are its numbers, sentences are numbered through all shards."""

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)

    @classmethod
    def open(cls, path: str | Path) -> Forest:
        """The forest in a folder; the manifest, written last, says that it is whole."""
        folder = Path(path)
        manifest = folder / MANIFEST
        if not manifest.is_file():
            begun = "the build is not finished: run the same `vecdcs build` again"
            hint = begun if (folder / PLAN).is_file() else "`vecdcs build` makes one"
            raise InputError(f"no forest here ({hint})", str(folder))
        return cls(folder, _read_manifest(manifest))

    @property
    def shards(self) -> range:
        return range(len(self.manifest["shards"]))

    @property
    def ud(self) -> bool:
        """Whether these are vecUD trees: one relation an edge."""
        return bool(self.manifest["options"]["ud"])

    @property
    def digest(self) -> str:
        """Equal for equal forests."""
        return hashlib.sha256(json.dumps(self.manifest["files"], sort_keys=True).encode()).hexdigest()

    @property
    def totals(self) -> Mapping[str, int]:
        """Numbers of sentences, words of text, trees, nodes and whatever was skipped."""
        totals: Mapping[str, int] = self.manifest["totals"]
        return totals

    @cached_property
    def first_sentences(self) -> list[int]:
        """The number of each shard's first sentence, and the number of all."""
        return list(accumulate((shard["sentences"] for shard in self.manifest["shards"]), initial=0))

    def nodes(self, shard: int) -> pa.Table:
        """The nodes of a shard as written: a tree starts at each parent of -1."""
        return read_table(self.path / shard_file(shard, "nodes"))

    def flat(self, shard: int, vocabulary: Mapped) -> FlatTrees:
        """The trees of a shard, their words and fields numbered by a vocabulary."""
        return flat_trees(self.nodes(shard), vocabulary)

    def word_weights(self) -> dict[str, float]:
        """Every word with its weight: how often paths start at it in one epoch."""
        return _weights(self.path / WORDS, "word")

    def field_weights(self) -> dict[str, float]:
        """Every field with its weight: how often its label is crossed."""
        return _weights(self.path / FIELDS, "field")

    def sentence(self, number: int) -> SourceSentence:
        """The text of a sentence and where it stands."""
        if not 0 <= number < self.first_sentences[-1]:
            raise InputError(f"no sentence {number}: the forest has {self.first_sentences[-1]}", str(self.path))
        shard = bisect_right(self.first_sentences, number) - 1
        table = self._sentences(shard)
        row = table.slice(number - self.first_sentences[shard], 1).to_pylist()[0]
        return SourceSentence(number, row["text"], row["source"], row["line"])

    def sentences(self) -> Iterator[SourceSentence]:
        """All sentences in order."""
        number = 0
        for shard in self.shards:
            for row in self._sentences(shard).to_pylist():
                yield SourceSentence(number, row["text"], row["source"], row["line"])
                number += 1

    def _sentences(self, shard: int) -> pa.Table:
        path = self.path / shard_file(shard, "sentences")
        return _cached_table(path, path.stat().st_mtime_ns)

    def check(self) -> None:
        """Compare every file with its digest in the manifest."""
        for name, expected in self.manifest["files"].items():
            path = self.path / name
            if not path.is_file():
                raise InputError("the file is missing from the forest", str(path))
            if file_digest(path) != expected:
                raise InputError("the file is not what the manifest says: it was changed or damaged", str(path))


def shard_file(shard: int, what: str) -> str:
    """The name of a file of a shard, within the forest's folder."""
    return f"{SHARDS}/{shard:06d}.{what}.{'json' if what == 'report' else 'parquet'}"


def parses_file(shard: int) -> str:
    """The name of the file of a shard's UD parses, where they are kept."""
    return f"{PARSES}/{shard:06d}.conllu.zst"


def digest(data: bytes) -> Digest:
    """What the manifest says of a file."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def file_digest(path: Path) -> Digest:
    """The same of a file on disk."""
    with path.open("rb") as stream:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def flat_trees(nodes: pa.Table, vocabulary: Mapped) -> FlatTrees:
    """A table of nodes as flat arrays, numbered by a vocabulary."""
    parent = nodes["parent"].to_numpy()
    roots = np.flatnonzero(parent < 0)
    start = np.append(roots, len(parent)).astype(np.int64)
    offset = np.repeat(roots, np.diff(start))
    return FlatTrees(
        word=_mapped(nodes["word"], vocabulary.word_ids),
        parent=np.where(parent < 0, -1, parent + offset).astype(np.int32),
        label=_mapped(nodes["label"], vocabulary.field_ids),
        parent_label=_mapped(nodes["parent_label"], vocabulary.field_ids),
        group=nodes["group"].to_numpy(),
        start=start,
    )


def strings_and_codes(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int32]]:
    """A text column as its different strings and the place of each row's string among them."""
    array = column.unify_dictionaries().combine_chunks()
    return array.dictionary.to_pylist(), array.indices.to_numpy()


def _mapped(column: pa.ChunkedArray, ids: Any) -> IntArray:
    strings, codes = strings_and_codes(column)
    mapped: IntArray = ids(strings)[codes].astype(np.int32, copy=False)
    return mapped


def read_table(path: Path) -> pa.Table:
    """A Parquet file of a forest; a damaged one is named."""
    try:
        return pq.read_table(path, use_threads=False, partitioning=None)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"not a file of a forest: {error}", str(path)) from error


@lru_cache(maxsize=128)  # of about a megabyte each
def _cached_table(path: Path, _changed: int) -> pa.Table:
    return read_table(path)


def _weights(path: Path, name: str) -> dict[str, float]:
    table = read_table(path)
    return dict(zip(table[name].to_pylist(), table["weight"].to_pylist(), strict=True))


def _read_manifest(path: Path) -> Mapping[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", str(path)) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f'expected the manifest of a forest ("format": "{FORMAT}")', str(path))
    if manifest.get("version") != VERSION:
        found = manifest.get("version")
        raise InputError(f"this forest has version {found}, expected {VERSION}: build it anew", str(path))
    return manifest
