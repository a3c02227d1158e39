"""Random trees and databases for every test that wants them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from vecdcs.dcs.denotation import Database, Thing
from vecdcs.dcs.tree import ARG, BLANK, COMP, SUBJ, Child, Tree

WORDS = ("man/N", "drug/N", "old/J", "sell/V", "ban/V", BLANK)
FIELDS = (ARG, SUBJ, COMP, "on")
NAMES = ("John", "Japan", "Aspirin")
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=6) | st.text("ab _^~&|(){},.:\"\\'\n/", max_size=5)


@st.composite
def trees(
    draw: st.DrawFn,
    words: Sequence[str] | st.SearchStrategy[str] = WORDS,
    fields: Sequence[str] | st.SearchStrategy[str] = FIELDS,
    max_nodes: int = 7,
    groups: bool = True,
    rerooted: bool = True,
) -> Tree:
    """Trees without | and ~; with `rerooted`, upward edges may be in groups too."""
    some_words, some_fields = (st.sampled_from(x) if isinstance(x, Sequence) else x for x in (words, fields))
    numbers = st.integers(0, 2) if groups else st.just(0)
    rows = [(1, draw(some_words), -1, "", "", 0)]
    for at in range(1, draw(st.integers(1, max_nodes))):
        parent = draw(st.integers(0, at - 1))
        group = 3 * parent + number if (number := draw(numbers)) else 0
        rows.append((at + 1, draw(some_words), parent, draw(some_fields), draw(some_fields), group))
    tree = Tree.from_nodes(rows)
    return tree.reroot(draw(st.integers(0, len(tree) - 1))) if rerooted else tree


def logic_trees(
    words: Sequence[str] | st.SearchStrategy[str] = WORDS, fields: Sequence[str] | st.SearchStrategy[str] = FIELDS
) -> st.SearchStrategy[Tree]:
    """Trees with | and ~ as well."""
    some_fields = st.sampled_from(fields) if isinstance(fields, Sequence) else fields

    def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        negated = st.builds(Child, inner, some_fields, some_fields, negated=st.just(True))
        positive = st.builds(Child, inner, some_fields, some_fields, group=st.integers(0, 2))
        more = st.lists(negated | positive, max_size=2).map(tuple)
        union = st.builds(Tree, st.just(""), more, st.lists(inner, min_size=2, max_size=3).map(tuple))
        return union | st.builds(_with_children, inner, more)

    return st.recursive(trees(words, fields, max_nodes=4), grown, max_leaves=4)


def _with_children(tree: Tree, more: tuple[Child, ...]) -> Tree:
    return Tree(tree.word, tree.children + more, tree.alternatives)


def things(names: Sequence[str] = NAMES, fields: Sequence[str] = FIELDS) -> st.SearchStrategy[Thing]:
    """Named things, events, named events, and events that tell of events."""
    values = st.sampled_from(names)
    others = st.sampled_from([field for field in fields if field != ARG])
    event = st.dictionaries(others, values, min_size=1).map(Thing.of)
    told = st.builds(lambda field, about: Thing.of({field: about.name}), others, event)
    return values.map(Thing.of) | event | told | full_things(names, fields)


def full_things(names: Sequence[str] = NAMES, fields: Sequence[str] = FIELDS) -> st.SearchStrategy[Thing]:
    """Things that have every field."""
    return st.fixed_dictionaries({field: st.sampled_from(names) for field in fields}).map(Thing.of)


@st.composite
def databases(draw: st.DrawFn, words: Sequence[str] = WORDS, some: st.SearchStrategy[Thing] | None = None) -> Database:
    """Databases in which words overlap."""
    pool = st.sampled_from(draw(st.lists(some or things(), min_size=1, max_size=8)))
    return Database.of({word: draw(st.lists(pool, max_size=6)) for word in words if word != BLANK})


def dense_databases(words: Sequence[str] = WORDS) -> st.SearchStrategy[Database]:
    """Databases in which most small trees denote something: few names, every field filled, all words used."""
    known = [word for word in words if word != BLANK]
    rich = st.lists(full_things(NAMES[:2]), min_size=1, max_size=6)
    return st.fixed_dictionaries(dict.fromkeys(known, rich)).map(Database.of)
