"""DCS trees as frozen values: compare them, re-root them, walk their paths, blank a node out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from vecdcs.errors import VecdcsError

ARG, SUBJ, COMP = "ARG", "SUBJ", "COMP"
BLANK = "_"

Row = tuple[int, str, int, str, str, int]  # token, word, parent, label, parent_label, group: the Node of convert.py


@dataclass(frozen=True)
class Child:
    """An edge seen from its parent: the subtree below, P at the parent's end, L at the child's end.

    A coordination group is a set of edges that share a slot of one node. `group` > 0 numbers the edge's group
    among the edges of its parent, `own_group` > 0 its group among the edges of the child's own root (such edges
    arise by re-rooting: the way up is then a conjunct of some of the child's children).
    """

    tree: Tree
    parent_label: str = ARG
    label: str = ARG
    group: int = 0
    own_group: int = 0
    negated: bool = False

    def __post_init__(self) -> None:
        if self.negated and (self.group or self.own_group):
            raise VecdcsError("a negated edge cannot be a member of a coordination group")

    @cached_property
    def _key(self) -> bytes:
        """Equal for equal edges; what lies below must have its keys already."""
        labels = (_bytes(self.parent_label), _bytes(self.label), b"~" if self.negated else b"")
        return _digest(*labels, _node_key(self.tree, self.own_group))


class Place(NamedTuple):
    """Where a node stands: its subtree, its parent's position, the edge to it, its order among its siblings."""

    tree: Tree
    parent: int
    edge: Child | None  # none at the root and at an alternative of a union
    order: int


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A node with its word (`ban/V`, or `_` for a blank) and its children.

    A union (`a | b`) has two or more `alternatives` instead of a word. Nodes are addressed by their position in
    preorder, the root being 0; the alternatives of a union come before its children. Equality ignores the order
    of children and alternatives and the numbering of groups; a group of one edge is no group.
    """

    word: str
    children: tuple[Child, ...] = ()
    alternatives: tuple[Tree, ...] = ()

    def __post_init__(self) -> None:
        if self.alternatives and (self.word or len(self.alternatives) < 2):
            raise VecdcsError('a union has at least two alternatives, and "" as its word')

    @classmethod
    def parse(cls, text: str) -> Tree:
        """The tree that `text` writes in the notation of notation.py."""
        from vecdcs.dcs.notation import parse

        return parse(text)

    @classmethod
    def from_nodes(cls, rows: Iterable[Row]) -> Tree:
        """The tree of a list of nodes (token, word, parent, label, parent_label, group), parents before children."""
        nodes = list(rows)
        if not nodes or nodes[0][2] != -1 or not all(0 <= row[2] < at for at, row in enumerate(nodes[1:], 1)):
            raise VecdcsError("expected one root (parent -1) first, and every parent before its children")
        below: list[list[Child]] = [[] for _ in nodes]
        for at in range(len(nodes) - 1, 0, -1):
            _, word, parent, label, parent_label, group = nodes[at]
            below[parent].append(Child(cls(word, tuple(reversed(below[at]))), parent_label, label, group))
        return cls(nodes[0][1], tuple(reversed(below[0])))

    def to_nodes(self) -> list[Row]:
        """The nodes in preorder, as `from_nodes` takes them; tokens are positions counted from 1."""
        self._require_plain("written as a list of nodes")
        numbers: dict[tuple[int, int], int] = {}
        rows: list[Row] = [(1, self.word, -1, "", "", 0)]
        for parent, at, edge in self.edges():
            if self._grouped_upward(at):
                raise VecdcsError(
                    "a list of nodes cannot say that an upward edge is in a group; re-root the tree first"
                )
            group = numbers.setdefault((parent, edge.group), len(numbers) + 1) if edge.group else 0
            rows.append((at + 1, edge.tree.word, parent, edge.label, edge.parent_label, group))
        return rows

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every node with where it stands, by position."""
        places: list[Place] = []
        waiting: list[Place] = [Place(self, -1, None, 0)]
        while waiting:
            place = waiting.pop()
            at, tree = len(places), place.tree
            places.append(place)
            below = [Place(part, at, None, index) for index, part in enumerate(tree.alternatives)]
            below += [Place(child.tree, at, child, index) for index, child in enumerate(tree.children)]
            waiting += reversed(below)
        return tuple(places)

    def nodes(self) -> tuple[Tree, ...]:
        """The subtree of every node, by position."""
        return tuple(place.tree for place in self.places)

    def edges(self) -> list[tuple[int, int, Child]]:
        """Every edge with the positions of its parent and its child, in the order of the children."""
        return [(place.parent, at, place.edge) for at, place in enumerate(self.places) if place.edge]

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.places)

    def subtree(self, position: int) -> Tree:
        """The node at a position with what lies below it."""
        return self._place(position).tree

    def find(self, word: str) -> int:
        """The first position of a word."""
        for at, place in enumerate(self.places):
            if place.tree.word == word and not place.tree.alternatives:
                return at
        raise VecdcsError(f"no node {word!r} in the tree {self}")

    def blanks(self) -> list[int]:
        """The positions of the blanks."""
        return [at for at, place in enumerate(self.places) if place.tree.word == BLANK]

    def blank(self, position: int) -> Tree:
        """The tree with the node at a position replaced by the blank."""
        return self.replace(position, BLANK)

    def replace(self, position: int, word: str) -> Tree:
        """The tree with another word at a position."""
        place = self._place(position)
        if place.tree.alternatives:
            raise VecdcsError(f"node {position} is a union, it has no word to replace")
        tree = Tree(word, place.tree.children)
        while place.parent >= 0:
            tree = _put(self.places[place.parent].tree, place, tree)
            place = self.places[place.parent]
        return tree

    def reroot(self, position: int) -> Tree:
        """The same tree hung up at another node: labels and groups swap ends on the way there."""
        self._require_plain("re-rooted")
        turned: tuple[Child, ...] = ()
        for upper, lower in pairwise(reversed(self._upward(position))):
            _, _, edge, order = self.places[lower]
            assert edge is not None
            word, siblings = self.places[upper].tree.word, self.places[upper].tree.children
            rest = Tree(word, siblings[:order] + siblings[order + 1 :] + turned)
            turned = (Child(rest, edge.label, edge.parent_label, edge.own_group, edge.group),)
        target = self.places[position].tree
        return Tree(target.word, target.children + turned)

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """The labels from one node to another as in Theorem 1: of each edge the near end's, then the far end's."""
        return tuple(label for step in self._steps(start, end) for label in (step.near, step.far))

    def allowed(self, start: int, end: int) -> bool:
        """No node on the way is passed from one edge of a coordination group to another edge of the same group."""
        return all(one.into != two.out_of or not one.into for one, two in pairwise(self._steps(start, end)))

    def paths(self) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Every allowed path: from, to, and its labels."""
        self._require_plain("walked")
        around = self._around()
        for start in range(len(around)):
            waiting: list[tuple[int, int, int, tuple[str, ...]]] = [(start, -1, 0, ())]
            while waiting:
                here, back, group, labels = waiting.pop()
                if labels:
                    yield start, here, labels
                for there, step in reversed(around[here]):
                    if there != back and (step.out_of != group or not group):
                        waiting.append((there, here, step.into, (*labels, step.near, step.far)))

    def to_text(self) -> str:
        """A drawing for the terminal."""
        from vecdcs.dcs.draw import to_text

        return to_text(self)

    def to_svg(self) -> str:
        """A drawing as SVG."""
        from vecdcs.dcs.draw import to_svg

        return to_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __str__(self) -> str:
        from vecdcs.dcs.notation import format

        return format(self)

    def __repr__(self) -> str:
        return f"Tree.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> bytes:
        """Equal for equal trees, up to a chance of 2^-80 (a digest, so that deep trees need no recursion)."""
        for tree, _, edge, _ in reversed(self.places[1:]):
            if edge is not None:
                _ = edge._key
            else:
                tree.__dict__["_key"] = _node_key(tree)
        return _node_key(self)

    def _place(self, position: int) -> Place:
        if not 0 <= position < len(self.places):
            raise VecdcsError(f"no node {position}: the tree has the nodes 0 to {len(self.places) - 1}")
        return self.places[position]

    def _require_plain(self, done: str) -> None:
        """Paths and re-rooting have no meaning where a node may be absent."""
        if any(place.tree.alternatives or (place.edge and place.edge.negated) for place in self.places):
            raise VecdcsError(f"a tree with | or ~ cannot be {done}: {self}")

    def _grouped_upward(self, position: int) -> bool:
        """The edge to the parent is in a group with edges to children."""
        edge = self.places[position].edge
        return edge is not None and edge.own_group > 0 and any(c.group == edge.own_group for c in edge.tree.children)

    def _upward(self, position: int) -> list[int]:
        """The positions from a node up to the root."""
        way = [position]
        parent = self._place(position).parent
        while parent >= 0:
            way.append(parent)
            parent = self.places[parent].parent
        return way

    def _steps(self, start: int, end: int) -> list[Step]:
        self._require_plain("walked")
        up, down = self._upward(start), self._upward(end)
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        steps = [_upward_step(self.places[at].edge) for at in up]
        return steps + [_step(self.places[at].edge) for at in reversed(down)]

    def _around(self) -> list[list[tuple[int, Step]]]:
        """The neighbours of every node with the step there."""
        around: list[list[tuple[int, Step]]] = [[] for _ in self.places]
        for parent, at, edge in self.edges():
            around[parent].append((at, _step(edge)))
            around[at].append((parent, _upward_step(edge)))
        return around


class Step(NamedTuple):
    """An edge as a path takes it: the labels of its near and far end, and its groups there."""

    near: str
    far: str
    out_of: int
    into: int


def _step(edge: Child | None) -> Step:
    assert edge is not None
    return Step(edge.parent_label, edge.label, edge.group, edge.own_group)


def _upward_step(edge: Child | None) -> Step:
    assert edge is not None
    return Step(edge.label, edge.parent_label, edge.own_group, edge.group)


def _put(parent: Tree, place: Place, tree: Tree) -> Tree:
    """The parent with another tree in this place."""
    if place.edge is None:
        parts = (*parent.alternatives[: place.order], tree, *parent.alternatives[place.order + 1 :])
        return Tree(parent.word, parent.children, parts)
    child = replace(place.edge, tree=tree)
    children = (*parent.children[: place.order], child, *parent.children[place.order + 1 :])
    return Tree(parent.word, children, parent.alternatives)


def _node_key(tree: Tree, own_group: int = 0) -> bytes:
    """The key of a node whose upward edge is in `own_group`, from the keys of what lies below."""
    groups: dict[int, list[bytes]] = {}
    for child in tree.children:
        groups.setdefault(child.group, []).append(child._key)
    loose = groups.pop(0, [])
    upward = groups.pop(own_group, []) if own_group else []
    loose += [key for members in groups.values() if len(members) == 1 for key in members]
    coordinated = [_digest(*sorted(members)) for members in groups.values() if len(members) > 1]
    parts = [[part._key for part in tree.alternatives], loose, upward, coordinated]
    return _digest(_bytes(tree.word), *(b"".join(sorted(part)) for part in parts))


def _digest(*parts: bytes) -> bytes:
    state = blake2b(digest_size=20)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
