"""Exact answers across sentences: facts about the same name are joined, as in the paper's denotations.

The things are names and events. A mention of a noun stands for the names that its sentence gives it ("thalidomide is a
drug", "drugs such as thalidomide"), else for its own word; what stands for the same name in any sentence is the same
thing. Every other word is an event of its own wherever it occurs. A field of a mention has as values what is at the
other end of its edges. In SQL a value is a number: that of a word for a name, a negative one for an event.
A coordination group stands for its members one by one, each of which must hold, as in dcs/denotation.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from vecdcs.corpus.evidence import MOST_BRANCHES, NOUN, Answer, Evidence, Found, Parameters, Query, QueryError, plain
from vecdcs.dcs.tree import ARG, BLANK, Child, Tree

SHIFT = 20  # bits for the place of a node in its sentence
ALL = "list_distinct(flatten(list(used)))"
SHORTEST = "arg_min(proof, (len(proof), proof))"


def find_across(evidence: Evidence, tree: Tree, k: int = 10) -> Found:
    """What a tree denotes (its blank, or its root), the best supported first.

    Each has every sentence used; first come those that are enough for it, as few as there are.
    """
    evidence.name_things()
    query = explain_across(evidence, tree)
    rows = evidence.database.execute(query.sql, {**query.values, "k": k}).fetchall()
    names = evidence.names([value for value, *_ in rows if value >= 0]) | _events(evidence, [row[0] for row in rows])
    answers = tuple(
        Answer((names[value],), count, tuple(dict.fromkeys([*proof, *used])), len(proof))
        for value, count, used, proof, *_ in rows
    )
    return Found(answers, rows[0][-2] if rows else 0, int(rows[0][-1]) if rows else 0)


def explain_across(evidence: Evidence, tree: Tree) -> Query:
    """The SQL of a tree."""
    if evidence.forest.ud:
        raise QueryError("a vecUD forest has relations, not the fields that name things: build a DCS forest")
    tables = Tables(Parameters(evidence))
    results, conditions = _results(tables, _at_blank(tree))
    if None in results:
        raise QueryError(f"there is nothing to search for in {tree}: expected a word, or an edge to one")
    union = "\nUNION ALL\n".join(f"SELECT value, used, proof FROM {result}" for result in results)
    where = "\nWHERE " + " AND ".join(conditions) if conditions else ""
    tables.add(
        f"SELECT value, list_sort({ALL}) AS used, list_sort({SHORTEST}) AS proof\nFROM ({union}){where} GROUP BY value"
    )
    sql = (
        "WITH " + ",\n".join(f"{name} AS (\n{text}\n)" for name, text in tables.texts.items()) + "\n"
        "SELECT value, len(used) AS count, used, proof,\n"
        "  count(*) OVER () AS different, sum(len(used)) OVER () AS matches\n"
        f"FROM {list(tables.texts)[-1]} ORDER BY count DESC, value LIMIT $k"
    )
    return Query(sql, tables.parameters.values, tables.parameters.meaning)


def _results(tables: Tables, tree: Tree) -> tuple[list[str | None], list[str]]:
    """The tables of what a tree denotes, none for anything, and what must be so lest it denote nothing."""
    results: dict[str | None, None] = {}
    conditions: dict[str, None] = {}
    choices = list(_choices(tree))
    for parts, asked in choices:
        for at, part in enumerate(parts):
            wanted = asked and at == 0
            branches = [branch if wanted or not _any_but(branch) else Tree(BLANK) for branch in plain(part)]
            found = [tables.values(branch, ARG) for branch in branches]
            if wanted:
                results |= dict.fromkeys(found)
            if len(choices) > 1 and None not in found:
                conditions[f"({' OR '.join(f'EXISTS (SELECT 1 FROM {name})' for name in found)})"] = None
    return list(results), list(conditions)


def _any_but(tree: Tree) -> bool:
    """Whether a tree says only what a thing is not: there always is such a thing."""
    return tree.word == BLANK and not tree.alternatives and all(child.negated for child in tree.children)


def _choices(tree: Tree) -> Iterator[tuple[list[Tree], bool]]:
    """Every way to keep one member of each coordination group: the trees that are left, each of which must hold.

    The first is the one with the root; it is asked for if every node has kept its edge towards the root.
    """
    groups: dict[tuple[int, int], list[int]] = {}  # by node and number, the lower ends of the edges
    for at, (_, parent, edge, _) in enumerate(tree.places):
        for node, number in ((parent, edge.group), (at, edge.own_group)) if edge else ():
            if number:
                groups.setdefault((node, number), []).append(at)
    if prod(map(len, groups.values())) > MOST_BRANCHES:
        raise QueryError(f"the coordinations multiply to more than {MOST_BRANCHES} trees: {tree}")
    for kept in product(*groups.values()):
        chosen = list(zip(groups.items(), kept, strict=True))
        lost = {at for (_, members), one in chosen for at in members if at != one}
        yield _cut(tree, lost), all(one == node for ((node, _), members), one in chosen if node in members)


def _cut(tree: Tree, lost: Collection[int]) -> list[Tree]:
    """A tree without the edges to some of its nodes, and what hung on them."""
    loose: list[Tree] = []

    def rest(tree: Tree, at: int) -> Tree:
        below, children = at + 1 + sum(map(len, tree.alternatives)), list[Child]()
        for child in tree.children:
            part = rest(child.tree, below)
            if below in lost:
                loose.append(part)
            else:
                children.append(replace(child, tree=part, group=0, own_group=0))
            below += len(child.tree)
        return replace(tree, children=tuple(children))

    return [rest(tree, 0), *loose]


def _grouped(tree: Tree) -> bool:
    return any(child.group or child.own_group for _, _, child in tree.edges())


def _at_blank(tree: Tree) -> Tree:
    """The tree hung up at its blank."""
    for node in tree.nodes():
        parts = (*node.alternatives, *(child.tree for child in node.children if child.negated))
        if any(map(_grouped, parts)):
            raise QueryError(f"coordination within | or ~ is not joined across sentences: {tree}")
    blanks = tree.blanks()
    if len(blanks) > 1:
        raise QueryError(f"expected at most one blank to join across sentences, found {len(blanks)}: {tree}")
    return tree.reroot(blanks[0]) if blanks and blanks[0] else tree  # which refuses trees with | and ~


def _events(evidence: Evidence, values: Sequence[int]) -> dict[int, str]:
    """The words of events."""
    places = {value: divmod(-value - 1, 1 << SHIFT) for value in values if value < 0}
    if not places:
        return {}
    rows = evidence.database.execute(
        "SELECT DISTINCT e.sentence, e.node, words.word FROM edges e JOIN words ON words.id = e.word "
        "WHERE e.sentence IN (SELECT unnest($sentences))",
        {"sentences": [sentence for sentence, _ in places.values()]},
    )
    words = {(sentence, node): word for sentence, node, word in rows.fetchall()}
    return {value: words[place] for value, place in places.items()}


def _event(alias: str, node: str) -> str:
    return f"-(({alias}.sentence::BIGINT << {SHIFT}) + {alias}.{node} + 1)"


def _mention(alias: str, word: str, node: str) -> tuple[str, str]:
    """The value of what is mentioned at a node, and the joins it takes."""
    value = f"CASE WHEN n.noun THEN coalesce(i.member, {alias}.{word}) ELSE {_event(alias, node)} END"
    joins = (
        f"JOIN names n ON n.id = {alias}.{word}\n"
        f"  LEFT JOIN instances i ON i.sentence = {alias}.sentence AND i.node = {alias}.{node}"
    )
    return value, joins


@dataclass
class Tables:
    """The named tables of a statement, each for a set of things or values with the sentences used to find them."""

    parameters: Parameters
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, text: str) -> str:
        """A table of this text; the same text is the same table."""
        for name, known in self.texts.items():
            if known == text:
                return name
        name = f"t{len(self.texts) + 1}"
        self.texts[name] = text
        return name

    def values(self, tree: Tree, label: str) -> str | None:
        """π_label(⟦tree⟧): a table (value, used); none where that is anything."""
        nameable = tree.word == BLANK or tree.word.endswith(NOUN)
        if nameable and label == ARG and all(child.parent_label == ARG for child in tree.children):
            return self.by_name(tree)
        return self.by_mention(tree, label)

    def by_name(self, tree: Tree) -> str | None:
        """Names that are in the word's denotation and in every child's projection."""
        found = [self.values(child.tree, child.label) for child in tree.children if not child.negated]
        tables = [*([] if tree.word == BLANK else [self.members(tree.word)]), *filter(None, found)]
        absent = [self.excluded(child) for child in tree.children if child.negated]
        if not tables and not absent:
            return None
        if not tables:
            raise QueryError(f"~ needs a word or another child beside it to exclude things from: {tree}")
        joins = [f"{tables[0]} v1"]
        joins += [f"JOIN {name} v{at} ON v{at}.value = v1.value" for at, name in enumerate(tables[1:], 2)]
        where = [f"v1.value NOT IN (SELECT value FROM {name})" for name in absent]
        return self.add(_select("v1.value", [f"v{at}" for at in range(1, len(tables) + 1)], joins, where))

    def by_mention(self, tree: Tree, label: str) -> str:
        """Mentions whose fields have values in the children's projections; then what their own field has."""
        fields = [child.parent_label for child in tree.children if child.parent_label != ARG and not child.negated]
        asked = next((name for name in (*fields, label) if name != ARG), ARG)
        rows = Mentions(self, tree.word, self.mentions(tree.word, asked))
        for child in tree.children:
            if not child.negated:
                rows.keep(child.parent_label, self.values(child.tree, child.label))
        value = rows.value(label)
        for child in tree.children:
            if child.negated:
                rows.drop(child.parent_label, self.excluded(child))
        text = _select(f"{value} AS value", rows.used, rows.joins, rows.where)
        return self.add(f"SELECT value, {ALL} AS used, {SHORTEST} AS proof\nFROM ({text}) GROUP BY value")

    def excluded(self, child: Child) -> str:
        """What a negated child excludes."""
        name = self.values(child.tree, child.label)
        assert name is not None  # there is no second blank beside the one at the root
        return name

    def members(self, word: str) -> str:
        """The names in a noun's denotation, with the sentences that say so; a name is in its own without saying."""
        number = self.parameters.word(word)
        return self.add(
            f"SELECT coalesce(i.member, {number}) AS value,\n"
            "  coalesce(list(DISTINCT i.sentence) FILTER (i.sentence IS NOT NULL), []::INTEGER[]) AS used,\n"
            "  list_sort(used)[:1] AS proof\n"
            f"FROM (SELECT DISTINCT sentence, node FROM edges WHERE word = {number}) e\n"
            f"  LEFT JOIN instances i ON i.word = {number} AND i.sentence = e.sentence AND i.node = e.node\n"
            "GROUP BY 1"
        )

    def mentions(self, word: str, label: str) -> str:
        """Where a word's things are mentioned: (sentence, node, value, used); nouns by any of their names."""
        if word != BLANK and not word.endswith(NOUN):
            columns = f"sentence, node, {_event('edges', 'node')} AS value, [sentence] AS used, used AS proof"
            return self.add(f"SELECT DISTINCT {columns}\nFROM edges WHERE word = {self.parameters.word(word)}")
        value, joins = _mention("e", "word", "node")
        columns = f"e.sentence, e.node, {value} AS value, [e.sentence] AS used, used AS proof"
        where = f"WHERE e.label = {self.parameters.label(label)}"
        everywhere = self.add(f"SELECT DISTINCT {columns}\nFROM edges e {joins}\n{where}")
        if word == BLANK:
            return everywhere
        keys = [f"e.{name}" for name in ("sentence", "node", "value")]
        tables = [f"{everywhere} e", f"JOIN {self.members(word)} m ON m.value = e.value"]
        return self.add(_select(", ".join(keys), ["e", "m"], tables, []))

    def slot(self, word: str, label: str) -> str:
        """Who fills a field: (sentence, node, value), also where the slot is shared with another word's."""
        only = f" AND word = {self.parameters.word(word)}" if word != BLANK and not word.endswith(NOUN) else ""
        columns = "SELECT sentence, node, other, other_node"
        where = f"WHERE label = {self.parameters.label(label)} AND other_label = {self.parameters.label(ARG)}{only}"
        filled = self.add(f"{columns}\nFROM edges {where}\nUNION ALL\n{columns}\nFROM shared {where}")
        value, joins = _mention("e", "other", "other_node")
        return self.add(f"SELECT DISTINCT e.sentence, e.node, {value} AS value\nFROM {filled} e {joins}")


class Mentions:
    """Rows of mentions `m`, joined with the values of their fields: one value of a field a row."""

    def __init__(self, tables: Tables, word: str, name: str) -> None:
        self.tables, self.word = tables, word
        self.joins, self.where, self.used = [f"{name} m"], list[str](), ["m"]
        self.slots: dict[str, str] = {}

    def value(self, label: str, kind: str = "JOIN") -> str:
        """The value of a field; one asked for twice is the same value."""
        if label == ARG:
            return "m.value"
        if label not in self.slots:
            slot = self.slots[label] = f"s{len(self.joins)}"
            same = f"{slot}.sentence = m.sentence AND {slot}.node = m.node"
            self.joins.append(f"{kind} {self.tables.slot(self.word, label)} {slot} ON {same}")
        return f"{self.slots[label]}.value"

    def keep(self, label: str, name: str | None) -> None:
        """Only with a value among those of a table; with any value, if there is no table."""
        value = self.value(label)
        if name:
            table = f"v{len(self.joins)}"
            self.joins.append(f"JOIN {name} {table} ON {table}.value = {value}")
            self.used.append(table)

    def drop(self, label: str, name: str) -> None:
        """Not with a value among those of a table."""
        value = self.value(label, "LEFT JOIN")
        self.where.append(f"({value} IS NULL OR {value} NOT IN (SELECT value FROM {name}))")


def _select(value: str, used: Sequence[str], joins: Sequence[str], where: Sequence[str]) -> str:
    """Rows of a join, with the sentences that the tables `used` have of them."""
    lists = ", ".join(
        f"list_distinct(flatten([{', '.join(f'{name}.{what}' for name in used)}])) AS {what}"
        for what in ("used", "proof")
    )
    condition = "\nWHERE " + " AND ".join(where) if where else ""
    return f"SELECT {value}, {lists}\nFROM " + "\n  ".join(joins) + condition
