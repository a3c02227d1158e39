"""Exact answers from a forest: a tree runs as SQL joins over the edges table, in place, by DuckDB."""

from __future__ import annotations

import glob
import threading
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from vecdcs.corpus.forest import EDGES, FIELDS, INSTANCES, SHARED, WORDS, Forest, read_table
from vecdcs.dcs.tree import ARG, BLANK, Child, Tree
from vecdcs.errors import InputError, VecdcsError

NO_WORD, NO_FIELD, NO_LABEL = -1, -2, -1
MOST_BRANCHES, MOST_NODES = 64, 32
NOUN = "/N"


class QueryError(VecdcsError):
    """A tree that cannot be searched for."""


@dataclass(frozen=True)
class Answer:
    """What fills the blanks (without a blank: the root), how many matches say so, and in which sentences.

    Of the sentences the first `enough` suffice.
    """

    words: tuple[str, ...]
    count: int
    sentences: tuple[int, ...]
    enough: int = 1


class Found(NamedTuple):
    """The best answers, and how many answers and matches there are in all."""

    answers: tuple[Answer, ...]
    different: int
    matches: int


class Query(NamedTuple):
    """SQL with its parameters: their values, and what each stands for."""

    sql: str
    values: dict[str, int]
    meaning: dict[str, str]

    def __str__(self) -> str:
        """The SQL as a user reads it."""
        notes = [f"-- ${name} = {self.values[name]} ({meaning})" for name, meaning in self.meaning.items()]
        return "\n".join([*notes, self.sql])


@dataclass
class Parameters:
    """Numbers bound to a statement: what the user wrote never becomes part of its text."""

    evidence: Evidence
    values: dict[str, int] = field(default_factory=dict)
    meaning: dict[str, str] = field(default_factory=dict)

    def bind(self, prefix: str, value: int, meaning: str) -> str:
        """The name of a parameter; what stands for the same gets the same name."""
        for name, known in self.meaning.items():
            if known == meaning and name.startswith(prefix):
                return f"${name}"
        name = f"{prefix}{len(self.values) + 1}"
        self.values[name], self.meaning[name] = value, meaning
        return f"${name}"

    def word(self, word: str) -> str:
        return self.bind("word", self.evidence.word(word)[0], word)

    def label(self, name: str) -> str:
        return self.bind("field", self.evidence.label(name), name)


class Evidence:
    """A forest, ready to be searched, by many threads at once.

    `in_memory`: its tables are read into memory first, about four times their size on disk; searches then take less
    than half the time.
    """

    def __init__(self, forest: Forest, threads: int | None = None, in_memory: bool = False) -> None:
        self.forest = forest
        self._database = duckdb.connect(":memory:", config={"threads": threads} if threads else {})
        self._of_thread = threading.local()
        self._making_names = threading.Lock()
        self._database.execute("SET GLOBAL parquet_metadata_cache = true")
        kind = "TABLE" if in_memory else "VIEW"
        for name, file in (("edges", EDGES), ("shared", SHARED), ("instances", INSTANCES)):
            self._database.execute(f"CREATE {kind} {name} AS SELECT * FROM read_parquet({self._quoted(file)})")
        for name, file in (("words", WORDS), ("fields", FIELDS)):
            table = f"read_parquet({self._quoted(file)}, file_row_number=true)"
            columns = "file_row_number::INTEGER AS id, * EXCLUDE (file_row_number)"
            self._database.execute(f"CREATE {kind} {name} AS SELECT {columns} FROM {table}")

    @property
    def database(self) -> duckdb.DuckDBPyConnection:
        """A connection for this thread alone: queries on different ones run at the same time."""
        if not hasattr(self._of_thread, "connection"):
            self._of_thread.connection = self._database.cursor()
        connection: duckdb.DuckDBPyConnection = self._of_thread.connection
        return connection

    def _quoted(self, file: str) -> str:
        """A file of the forest as SQL: no character of its name means anything but itself."""
        path = str(self.forest.path / file)
        if not Path(path).is_file():
            raise InputError("the file is missing: build the forest anew", path)
        return "'" + glob.escape(path).replace("'", "''") + "'"

    @cached_property
    def field_numbers(self) -> dict[str, int]:
        return dict(self.database.execute("SELECT field, id FROM fields").fetchall())

    @cached_property
    def _words(self) -> tuple[pa.Array, pa.Array]:
        """All words, sorted, and how many nodes have each."""
        table = read_table(self.forest.path / WORDS)
        return table["word"].combine_chunks(), table["count"].combine_chunks()

    def word(self, word: str) -> tuple[int, int]:
        """The number of a word in the forest, and how many nodes have it."""
        words, counts = self._words
        at = bisect_left(range(len(words)), word, key=lambda number: words[number].as_py())
        return (at, counts[at].as_py()) if at < len(words) and words[at].as_py() == word else (NO_WORD, 0)

    def missing(self, tree: Tree) -> dict[str, list[str]]:
        """The words and fields of a tree that the forest does not have, with words that start alike."""
        words = dict.fromkeys(node.word for node in tree.nodes() if node.word not in ("", BLANK))
        fields = dict.fromkeys(label for _, _, edge in tree.edges() for label in (edge.parent_label, edge.label))
        like = "SELECT word FROM words WHERE starts_with(word, ?) ORDER BY count DESC LIMIT 5"
        found = {
            word: [name for (name,) in self.database.execute(like, [word.rpartition("/")[0] or word]).fetchall()]
            for word in words
            if self.word(word)[0] == NO_WORD
        }
        return found | {name: [] for name in fields if self.label(name) == NO_FIELD}

    def label(self, name: str) -> int:
        """The number of a field; in a vecUD forest ARG is the end of an edge that has no label."""
        return NO_LABEL if self.forest.ud and name == ARG else self.field_numbers.get(name, NO_FIELD)

    def names(self, numbers: Sequence[int]) -> dict[int, str]:
        """The words that have these numbers."""
        return dict(zip(numbers, self._words[0].take(pa.array(numbers, pa.int32())).to_pylist(), strict=True))

    def name_things(self) -> None:
        """See that there is the table `names`: which words are nouns, and so name things."""
        with self._making_names:
            self.database.execute(
                f"CREATE TABLE IF NOT EXISTS names AS SELECT id, ends_with(word, '{NOUN}') AS noun FROM words"
            )

    def find(self, tree: Tree, k: int = 10, examples: int = 3, among: Collection[str] = ()) -> Found:
        """What fills the blanks of a tree (without a blank: its root) within sentences, most frequent first.

        `among`: the first blank is to be one of these words.
        """
        query = self.explain(tree, among)
        rows = self.database.execute(query.sql, {**query.values, "k": k, "examples": examples}).fetchall()
        names = self.names([number for row in rows for number in row[:-4]])
        answers = tuple(Answer(tuple(names[number] for number in row[:-4]), row[-4], tuple(row[-3])) for row in rows)
        return Found(answers, rows[0][-2] if rows else 0, int(rows[0][-1]) if rows else 0)

    def explain(self, tree: Tree, among: Collection[str] = ()) -> Query:
        """The SQL of a tree."""
        parameters = Parameters(self)
        branches = plain(tree)
        parts = [Joins(parameters) for _ in branches]
        selects = [part.select(branch) for part, branch in zip(parts, branches, strict=True)]
        width = len(parts[0].blanks) or 1
        if any((len(part.blanks) or 1) != width for part in parts):
            raise QueryError(f"every alternative of | must have the same number of blanks: {tree}")
        words = ", ".join(f"word{at}" for at in range(1, width + 1))
        wanted = ", ".join(map(parameters.word, among))
        where = f"\nWHERE word1 IN ({wanted})" if wanted else ""
        sql = (
            "WITH matches AS (\n" + "\nUNION\n".join(selects) + "\n),\n"
            f"answers AS (\nSELECT {words}, count(*) AS count, "
            "list(DISTINCT sentence ORDER BY sentence)[:$examples] AS sentences\n"
            f"FROM matches{where} GROUP BY {words}\n)\n"
            f"SELECT {words}, count, sentences, count(*) OVER () AS different, sum(count) OVER () AS matches\n"
            f"FROM answers ORDER BY count DESC, {words} LIMIT $k"
        )
        return Query(sql, parameters.values, parameters.meaning)


def plain(tree: Tree) -> list[Tree]:
    """The trees without unions of which this one is the union; below a negation, all of them are negated."""
    if len(tree) > MOST_NODES:
        raise QueryError(f"a tree of {len(tree)} nodes: expected at most {MOST_NODES}")
    found = _plain(tree)
    if len(found) > MOST_BRANCHES:
        raise QueryError(f"the unions multiply to {len(found)} trees: expected at most {MOST_BRANCHES}")
    return found


def _plain(tree: Tree) -> list[Tree]:
    heads = [branch for part in tree.alternatives for branch in _plain(part)] or [Tree(tree.word)]
    choices = [[replace(c, tree=t) for t in _plain(c.tree)] for c in tree.children if not c.negated]
    absent = tuple(replace(c, tree=t) for c in tree.children if c.negated for t in _plain(c.tree))
    return [Tree(head.word, (*head.children, *chosen, *absent)) for head in heads for chosen in product(*choices)]


class Site(NamedTuple):
    """Where a node of the tree appears in the joined rows: at the near or the far end of an edge."""

    alias: str
    near: bool

    @property
    def node(self) -> str:
        return f"{self.alias}.{'node' if self.near else 'other_node'}"

    @property
    def word(self) -> str:
        return f"{self.alias}.{'word' if self.near else 'other'}"


@dataclass
class Joins:
    """One tree without unions, as one row of `edges` for each of its edges."""

    parameters: Parameters
    blanks: list[Site | None] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    first: int = 0  # number of the first row, so that rows of inner statements have names of their own

    def select(self, tree: Tree) -> str:
        """The distinct matches: the sentence, and node and word of each blank (without a blank: of the root)."""
        root = self.node(tree, None)
        asked = [site for site in self.blanks if site] or [root]
        columns = [f"{site.node} AS node{at}, {site.word} AS word{at}" for at, site in enumerate(asked, 1)]
        return f"SELECT DISTINCT {root.alias}.sentence, {', '.join(columns)}\n{self.body()}"

    def body(self) -> str:
        where = "\nWHERE " + " AND ".join(self.conditions) if self.conditions else ""
        return "FROM " + "\n  JOIN ".join(self.tables) + where

    def node(self, tree: Tree, site: Site | None) -> Site:
        """Join what hangs below a node; its own place is known from the edge it hangs on, or from its first child."""
        below = [child for child in tree.children if not child.negated]
        blank = len(self.blanks)
        if tree.word == BLANK:
            self.blanks.append(None)  # in the order of the notation, though its place may come with its children
        if site is None and not below:
            site = self.alone(tree)
        for child in below:
            site = self.edge(tree.word, child, site)
        assert site is not None
        for child in tree.children:
            if child.negated:
                self.conditions.append(self.absent(tree.word, child, site))
        if tree.word == BLANK:
            self.blanks[blank] = site
        return site

    def alone(self, tree: Tree) -> Site:
        """A node without edges: any row of its word (every node of a forest has an edge)."""
        if tree.word == BLANK:
            raise QueryError(f"there is nothing to search for in {tree}: expected a word, or an edge to one")
        alias = self.row(None)
        self.conditions.append(f"{alias}.word = {self.parameters.word(tree.word)}")
        return Site(alias, near=True)

    def edge(self, word: str, child: Child, site: Site | None) -> Site:
        """Join an edge and what hangs below it; the place of its upper end."""
        down = self.from_above(word, child.tree.word)
        name = f"e{self.first + len(self.tables) + 1}"
        upper, lower = Site(name, near=down), Site(name, near=not down)
        self.row(None if site is None else (site, upper))
        ends = [(word, child.parent_label), (child.tree.word, child.label)]
        (near, near_label), (far, far_label) = ends if down else reversed(ends)
        words = {"word": near, "other": far}
        labels = {"label": near_label, "other_label": far_label}
        bind = self.parameters
        self.conditions += [f"{name}.{column} = {bind.word(w)}" for column, w in words.items() if w != BLANK]
        self.conditions += [f"{name}.{column} = {bind.label(label)}" for column, label in labels.items()]
        self.node(child.tree, lower)
        return site or upper

    def row(self, joined: tuple[Site, Site] | None) -> str:
        """One more row of `edges`, joined to another by the node they share."""
        alias = f"e{self.first + len(self.tables) + 1}"
        if joined is None:
            self.tables.append(f"edges {alias}")
        else:
            one, other = joined
            same = f"{alias}.sentence = {one.alias}.sentence AND {other.node} = {one.node}"
            self.tables.append(f"edges {alias} ON {same}")
        return alias

    def absent(self, word: str, child: Child, site: Site) -> str:
        """No edge like this at the site."""
        inner = Joins(self.parameters, first=self.first + len(self.tables) + 100)
        upper = inner.edge(word, replace(child, negated=False), None)
        inner.conditions = [
            f"{upper.alias}.sentence = {site.alias}.sentence AND {upper.node} = {site.node}",
            *inner.conditions,
        ]
        return f"NOT EXISTS (SELECT 1 {inner.body()})"

    def from_above(self, word: str, below: str) -> bool:
        """Whether to look an edge up from its upper end: the end with the rarer word, as rows are sorted by it."""
        if BLANK in (word, below):
            return below == BLANK
        evidence = self.parameters.evidence
        return evidence.word(word)[1] <= evidence.word(below)[1]
