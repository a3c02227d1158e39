"""Denotations by brute force: try every assignment of things to nodes. Slow, and written apart from denotation.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from vecdcs.dcs.denotation import Database, Thing
from vecdcs.dcs.tree import Tree


class Edge(NamedTuple):
    """An edge between two nodes, the field at each end, and the group at each end (the parent's end first)."""

    nodes: tuple[int, int]
    fields: tuple[str, str]
    groups: tuple[tuple[int, int] | None, tuple[int, int] | None]


class Graph:
    """A tree with no direction but its root, 0: candidates for every node, and edges."""

    def __init__(self, tree: Tree, database: Database) -> None:
        self.database = database
        self.candidates: list[set[Thing]] = []
        self.edges: list[Edge] = []
        self.add(tree)

    def add(self, tree: Tree) -> int:
        at = len(self.candidates)
        self.candidates.append(self.base(tree))
        for child in tree.children:
            if not child.negated:
                below = self.add(child.tree)
                groups = (
                    (at, child.group) if child.group else None,
                    (below, child.own_group) if child.own_group else None,
                )
                self.edges.append(Edge((at, below), (child.parent_label, child.label), groups))
        return at

    def base(self, tree: Tree) -> set[Thing]:
        """What the node's own word (or union) allows, less what its negated children forbid."""
        if tree.alternatives:
            found = set().union(*(brute_force(part, self.database) for part in tree.alternatives))
        else:
            found = everything(self.database) if tree.word == "_" else set(self.database.words.get(tree.word, ()))
        for child in tree.children:
            if child.negated:
                forbidden = {value(thing, child.label) for thing in brute_force(child.tree, self.database)} - {None}
                found = {thing for thing in found if value(thing, child.parent_label) not in forbidden}
        return found


def brute_force(tree: Tree, database: Database) -> frozenset[Thing]:
    """The things that the root may be, if every choice of one member of each group can be fulfilled."""
    graph = Graph(tree, database)
    answers: set[Thing] = set()
    for kept, towards_root in choices(graph.edges):
        for part in components(len(graph.candidates), kept):
            at_first = set(roots(part, kept, graph.candidates))
            if not at_first:
                return frozenset()
            if 0 in part and towards_root:
                answers |= at_first
    return frozenset(answers)


def choices(edges: list[Edge]) -> Iterator[tuple[list[Edge], bool]]:
    """Every way to keep one edge of each group; and whether no node has lost its edge to the root by it."""
    groups = sorted({group for edge in edges for group in edge.groups if group})
    members = [[edge for edge in edges if group in edge.groups] for group in groups]
    for chosen in product(*members):
        picked = dict(zip(groups, chosen, strict=True))
        kept = [edge for edge in edges if all(group is None or picked[group] is edge for group in edge.groups)]
        upward = all(edge.groups[1] is None or picked[edge.groups[1]] is edge for edge in edges)
        yield kept, upward


def components(count: int, edges: list[Edge]) -> list[list[int]]:
    """The nodes that hang together, each component from its topmost node on (parents come before children)."""
    label = list(range(count))
    for edge in edges:
        one, two = (label[node] for node in edge.nodes)
        label = [min(one, two) if other in (one, two) else other for other in label]
    return [[node for node in range(count) if label[node] == name] for name in sorted(set(label))]


def roots(part: list[int], edges: list[Edge], candidates: list[set[Thing]]) -> Iterator[Thing]:
    """The things of the first node from which an assignment to all nodes of the component can be completed."""
    for thing in candidates[part[0]]:
        if complete({part[0]: thing}, part[1:], edges, candidates):
            yield thing


def complete(given: dict[int, Thing], rest: list[int], edges: list[Edge], candidates: list[set[Thing]]) -> bool:
    if not rest:
        return True
    node, *others = rest
    for thing in candidates[node]:
        tried = {**given, node: thing}
        if all(fits(edge, tried) for edge in edges) and complete(tried, others, edges, candidates):
            return True
    return False


def fits(edge: Edge, given: dict[int, Thing]) -> bool:
    if not all(node in given for node in edge.nodes):
        return True
    one, two = (value(given[node], field) for node, field in zip(edge.nodes, edge.fields, strict=True))
    return one is not None and one == two


def value(thing: Thing, field: str) -> str | None:
    return {**dict(thing.fields), "ARG": thing.name}.get(field)


def everything(database: Database) -> set[Thing]:
    listed = {thing for things in database.words.values() for thing in things}
    names = {thing.name for thing in listed}
    return listed | {Thing(text) for thing in listed for _, text in thing.fields if text not in names}
