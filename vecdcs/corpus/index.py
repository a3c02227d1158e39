"""What a forest knows as a whole: its words and fields with their weights, and the edges table that DuckDB queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray
from vecdcs.corpus.forest import EDGES, FIELDS, INSTANCES, SHARED, WORDS, flat_trees, read_table, shard_file
from vecdcs.corpus.instances import (
    BARE,
    CHILD_IN_PARENT,
    DRESSED,
    MOSTLY,
    PARENT_IF_NAME,
    PARENT_IN_CHILD,
    resolved,
)
from vecdcs.corpus.weights import field_totals, path_weights, word_totals
from vecdcs.dcs.tree import ARG

MEMORY = "256MB"
UNIT = 1 << 20  # weights are added up as whole numbers of 1/UNIT, so that no order of adding changes a bit
SHARDS_AT_ONCE = 4
ROW_GROUP = 1 << 16

COUNTS_SCHEMA = pa.schema(
    [
        ("kind", pa.int8()),
        ("item", pa.string()),
        ("count", pa.int64()),
        ("weight", pa.int64()),
        ("bare", pa.int64()),
        ("dressed", pa.int64()),
    ]
)
EDGES_SCHEMA = pa.schema(
    [
        ("word", pa.int32()),
        ("label", pa.int16()),
        ("other_label", pa.int16()),
        ("other", pa.int32()),
        ("sentence", pa.int32()),
        ("node", pa.int32()),
        ("other_node", pa.int32()),
    ]
)
INSTANCES_SCHEMA = pa.schema(
    [
        ("word", pa.int32()),
        ("member", pa.int32()),
        ("sentence", pa.int32()),
        ("node", pa.int32()),
        ("member_node", pa.int32()),
    ]
)
WORD, FIELD = 0, 1


def write_index(folder: Path, sentences: Sequence[int], aside: Path) -> list[str]:
    """Write the lists and the tables into `aside`, from the shards in `folder` with so many sentences each."""
    with _database(aside) as database:
        _write_lists(database, folder, len(sentences), aside)
        words, fields = read_table(aside / WORDS), read_table(aside / FIELDS)
        lists = words["word"].combine_chunks(), fields["field"].combine_chunks()
        numbers = ListNumbers(*lists, words["name"].to_numpy())
        for file, schema, rows in TABLES:
            tables = (rows(group, numbers) for group in _groups(folder, sentences, numbers))
            batches = (batch for table in tables for batch in table.to_batches(ROW_GROUP))
            _write_sorted(database, pa.RecordBatchReader.from_batches(schema, batches), aside / file)
    return [WORDS, FIELDS, *(file for file, _, _ in TABLES)]


@contextmanager
def _database(aside: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB in memory, spilling to disk beyond its share."""
    spill = aside / "spill"
    settings: dict[str, Any] = {"memory_limit": MEMORY, "temp_directory": str(spill), "threads": 1}
    with duckdb.connect(":memory:", config=settings) as database:
        yield database


def _write_lists(database: duckdb.DuckDBPyConnection, folder: Path, shards: int, aside: Path) -> None:
    """words.parquet and fields.parquet: every item with its number of nodes (edge ends) and its weight, by name."""
    counts = pa.RecordBatchReader.from_batches(COUNTS_SCHEMA, _counts(folder, shards))
    database.register("counts", counts)
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in ("count", "weight", "bare", "dressed"))
    database.execute(f"CREATE TABLE totals AS SELECT kind, item, {sums} FROM counts GROUP BY kind, item")
    database.unregister("counts")
    for kind, name, file in ((WORD, "word", WORDS), (FIELD, "field", FIELDS)):
        columns = f"item AS {name}, count, weight / {UNIT}::DOUBLE AS weight"
        if kind == WORD:
            columns += f", bare > 0 AND bare >= {MOSTLY} * (bare + dressed) AS name"
        table = database.sql(f"SELECT {columns} FROM totals WHERE kind = {kind} ORDER BY item").to_arrow_table()
        pq.write_table(table, aside / file, compression="zstd", row_group_size=ROW_GROUP)
    database.execute("DROP TABLE totals")


def _counts(folder: Path, shards: int) -> Iterator[pa.RecordBatch]:
    """Of every shard, its words and fields with their counts and weights."""
    for shard in range(shards):
        names = OwnNumbers()
        nodes = read_table(folder / shard_file(shard, "nodes"))
        trees, instance = flat_trees(nodes, names), nodes["instance"].to_numpy()
        weights = path_weights(trees)
        uses = [trees.word, trees.word[instance & BARE > 0], trees.word[instance & DRESSED > 0]]
        yield _count_batch(WORD, names.words, word_totals(trees, weights, len(names.words)), uses)
        ends = np.concatenate([trees.label, trees.parent_label])
        uses = [ends[ends >= 0], ends[:0], ends[:0]]
        yield _count_batch(FIELD, list(names.fields), field_totals(trees, weights, len(names.fields)), uses)


def _count_batch(kind: int, items: list[str], weight: NDArray[np.float64], uses: Sequence[IntArray]) -> pa.RecordBatch:
    """One row an item: its weight, and how often it is among the uses, among the bare and among the dressed ones."""
    kinds = np.full(len(items), kind, np.int8)
    count, bare, dressed = (np.bincount(used, minlength=len(items)) for used in uses)
    units = np.rint(weight * UNIT).astype(np.int64)
    columns = [kinds, pa.array(items, pa.string()), count, units, bare, dressed]
    return pa.record_batch([pa.array(column) for column in columns], COUNTS_SCHEMA)


@dataclass
class OwnNumbers:
    """Numbers words and fields as they come."""

    words: list[str] = field(default_factory=list)
    fields: dict[str, int] = field(default_factory=dict)

    def word_ids(self, words: Iterable[str]) -> IntArray:
        self.words = list(words)
        return np.arange(len(self.words), dtype=np.int32)

    def field_ids(self, fields: Iterable[str]) -> IntArray:
        numbers = [self.fields.setdefault(name, len(self.fields)) if name else -1 for name in fields]
        return np.array(numbers, np.int32)


@dataclass(frozen=True)
class ListNumbers:
    """Numbers words and fields by their place in the forest's lists."""

    words: pa.Array
    fields: pa.Array
    name: NDArray[np.bool_]  # which words are mostly used bare, as names are

    def word_ids(self, words: Iterable[str]) -> IntArray:
        return _places(words, self.words)

    def field_ids(self, fields: Iterable[str]) -> IntArray:
        return _places(fields, self.fields)


def _places(items: Iterable[str], all_items: pa.Array) -> IntArray:
    """The place of each item, -1 for the empty label."""
    places = pc.index_in(pa.array(items, pa.string()), value_set=all_items)
    numbers: IntArray = pc.fill_null(places, -1).to_numpy(zero_copy_only=False)
    return numbers


def _write_sorted(database: duckdb.DuckDBPyConnection, rows: pa.RecordBatchReader, path: Path) -> None:
    """All rows by their columns in turn, so that a query reads only the row groups of its words."""
    database.register("unsorted", rows)
    schema = rows.schema
    columns = ", ".join(schema.names)
    reader = database.sql(f"SELECT {columns} FROM unsorted ORDER BY {columns}").to_arrow_reader(ROW_GROUP)
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=6) as writer:
        for table in _regrouped(reader, schema):
            writer.write_table(table, row_group_size=ROW_GROUP)
    database.unregister("unsorted")


def _regrouped(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """The same rows in groups of exactly ROW_GROUP, whatever sizes they came in."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(len(part) for part in held) >= ROW_GROUP:
            table = pa.Table.from_batches(held).cast(schema)
            full = len(table) - len(table) % ROW_GROUP
            yield table.slice(0, full)
            held = table.slice(full).to_batches()
    if held:
        yield pa.Table.from_batches(held).cast(schema)


@dataclass(frozen=True)
class Group:
    """The trees of some shards: for each node the number of its sentence, its place there, its instance flag."""

    trees: FlatTrees
    sentence: IntArray
    place: IntArray
    instance: NDArray[np.int8]


def _groups(folder: Path, sentences: Sequence[int], numbers: ListNumbers) -> Iterator[Group]:
    """All shards, a few at a time (finding the place of a word costs by the call)."""
    first = list(accumulate(sentences, initial=0))
    shards = iter(range(len(sentences)))
    while some := list(islice(shards, SHARDS_AT_ONCE)):
        tables = [read_table(folder / shard_file(shard, "nodes")) for shard in some]
        offset = np.repeat([first[shard] for shard in some], [len(table) for table in tables])
        nodes = pa.concat_tables(tables)
        sentence = (nodes["sentence"].to_numpy() + offset).astype(np.int32)
        starts = np.flatnonzero(np.diff(sentence, prepend=-1))
        place = np.arange(len(sentence)) - np.repeat(starts, np.diff(starts, append=len(sentence)))
        yield Group(flat_trees(nodes, numbers), sentence, place.astype(np.int32), nodes["instance"].to_numpy())


class Ends(NamedTuple):
    """Every edge seen from both of its ends: positions of the near and the far node, labels there."""

    near: IntArray
    far: IntArray
    label: IntArray
    other_label: IntArray

    def take(self, rows: NDArray[Any]) -> Ends:
        return Ends(*(column[rows] for column in self))


def _ends(trees: FlatTrees) -> Ends:
    child = np.flatnonzero(trees.parent >= 0).astype(np.int32)
    parent, lower, upper = trees.parent[child], trees.label[child], trees.parent_label[child]
    pairs = ((child, parent), (parent, child), (lower, upper), (upper, lower))
    return Ends(*(np.concatenate(pair) for pair in pairs))


def _edge_table(group: Group, ends: Ends) -> pa.Table:
    word, place = group.trees.word, group.place
    columns = [word[ends.near], ends.label, ends.other_label, word[ends.far], group.sentence[ends.near]]
    return _table(EDGES_SCHEMA, [*columns, place[ends.near], place[ends.far]])


def _both_ends(group: Group, numbers: ListNumbers) -> pa.Table:
    """Every edge as two rows: from the child and from the parent."""
    return _edge_table(group, _ends(group.trees))


def _shared(group: Group, numbers: ListNumbers) -> pa.Table:
    """Who fills a slot that two words share, as if by an edge: John of `come` in "John came and saw"."""
    (arg,) = numbers.field_ids([ARG])
    ends = _ends(group.trees)
    sharing = ends.take((ends.label != arg) & (ends.other_label != arg) & (ends.other_label >= 0))
    filled = ends.take((ends.label != arg) & (ends.other_label == arg))
    size = len(numbers.fields) + 1
    asked = sharing.far.astype(np.int64) * size + sharing.other_label
    known = filled.near.astype(np.int64) * size + filled.label
    order = np.argsort(known, kind="stable")
    first, last = (np.searchsorted(known[order], asked, side) for side in ("left", "right"))
    count = last - first
    row = np.repeat(np.arange(len(asked)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    filler = order[first[row] + nth]
    found = Ends(sharing.near[row], filled.far[filler], sharing.label[row], filled.other_label[filler])
    return _edge_table(group, found)


def _members(group: Group, numbers: ListNumbers) -> pa.Table:
    """Every node that names a class, with the node that names a member of it."""
    trees, place, flags = group.trees, group.place, group.instance
    titles = np.flatnonzero(flags & PARENT_IF_NAME)
    titles = titles[numbers.name[trees.word[trees.parent[titles]]]]
    child = np.concatenate([np.flatnonzero(flags & (CHILD_IN_PARENT | PARENT_IN_CHILD)), titles])
    parent = trees.parent[child]
    named = flags[child] & CHILD_IN_PARENT > 0
    pairs = resolved(zip(np.where(named, parent, child).tolist(), np.where(named, child, parent).tolist(), strict=True))
    one, member = np.array(pairs, np.int64).reshape(-1, 2).T
    columns = [trees.word[one], trees.word[member], group.sentence[one], place[one], place[member]]
    return _table(INSTANCES_SCHEMA, columns)


def _table(schema: pa.Schema, columns: Iterable[NDArray[Any]]) -> pa.Table:
    arrays = [pa.array(column).cast(type) for column, type in zip(columns, schema.types, strict=True)]
    return pa.table(arrays, schema)


TABLES = ((EDGES, EDGES_SCHEMA, _both_ends), (SHARED, EDGES_SCHEMA, _shared), (INSTANCES, INSTANCES_SCHEMA, _members))
