"""What a tree denotes, exactly: a set of things of a database, by equation (1) of the paper.

A coordination group says that each of its members fills the slot, in different things: "a man sells drugs and books"
says that a man sells drugs and that a man sells books, not that he sells what is both. So a tree with groups stands for
the trees that keep one member of every group: it denotes the union of what these denote, and nothing where one of
them denotes nothing. Thus Theorem 1 holds on every allowed path, and re-rooting does not turn true into false.
Within a re-rooted tree, the members of a group that the upward edge is in say nothing about what lies above.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from vecdcs.dcs.database import NOTHING, Database, Denotation, Thing
from vecdcs.dcs.tree import BLANK, Child, Tree
from vecdcs.errors import VecdcsError

__all__ = ["Database", "Denotation", "Thing", "UnsafeNegation", "denotation", "intersect", "inverse_image", "project"]


class UnsafeNegation(VecdcsError):
    """A negation with nothing positive beside it."""


def project(things: Iterable[Thing], field: str) -> frozenset[str]:
    """π_field: the values of a field; a thing without the field has none to give."""
    return frozenset(value for thing in things if (value := thing.get(field)) is not None)


def inverse_image(values: Iterable[str], field: str, database: Database) -> Denotation:
    """π⁻¹_field: the things of the database whose value of the field is among these."""
    index = database.by_value.get(field, {})
    return NOTHING.union(*(index.get(value, ()) for value in values))


def intersect(first: Iterable[Thing], *others: Iterable[Thing]) -> Denotation:
    """The things that are in every one of these."""
    return frozenset(first).intersection(*others)


def denotation(tree: Tree, database: Database) -> Denotation:
    """⟦x⟧ of equation (1), with unions, safe negation and coordination groups.

    Without groups, the work is linear in the things that the words denote; each group may multiply it by its size.
    """
    _check_negations(tree)
    waiting: dict[int, list[Meaning]] = {}  # by position, the meanings of what hangs there, last one first
    for at in range(len(tree) - 1, -1, -1):
        node, parent, edge, _ = tree.places[at]
        below = waiting.pop(at, [])[::-1]
        meaning = _meaning(node, edge.own_group if edge else 0, below, database)
        waiting.setdefault(parent, []).append(meaning)
    return waiting[-1][0].whole


def _check_negations(tree: Tree) -> None:
    """Every negated child needs something beside it to be excluded from."""
    loose = set()  # the unions of which an alternative is anything at all
    for at in range(len(tree) - 1, -1, -1):
        node, parent, edge, _ = tree.places[at]
        head = at not in loose if node.alternatives else node.word != BLANK
        if head or any(not child.negated for child in node.children):
            continue
        if node.children:
            raise UnsafeNegation(
                f"~ needs a word or another child beside it to exclude things from, as in drug/N & ~ban/V.COMP: {node}"
            )
        if edge is None:
            loose.add(parent)


class Meaning(NamedTuple):
    """What a subtree denotes as a whole, and the least that it denotes under some choice of a member of each group."""

    whole: Denotation
    parts: tuple[Denotation, ...]

    @property
    def plain(self) -> bool:
        """There is no choice to be made."""
        return len(self.parts) == 1 and self.parts[0] is self.whole


EMPTY = Meaning(NOTHING, (NOTHING,))
Operand = tuple[Child, Meaning]


def _meaning(node: Tree, own_group: int, below: list[Meaning], database: Database) -> Meaning:
    count = len(node.alternatives)
    things = NOTHING.union(*(part.whole for part in below[:count])) if count else database[node.word]
    operands = list(zip(node.children, below[count:], strict=True))
    for child, meaning in operands:
        if child.negated:
            things = things - _restrict(things, child, meaning.whole, database)
    meaning = Meaning(things, (things,))
    slots, beside = _slots(operands, own_group)
    for slot in slots:
        meaning = _fill(meaning, slot, database)
    fulfilled = all(meaning.parts) and (not beside or all(_fill(meaning, beside, database).parts))
    return meaning if fulfilled else EMPTY


def _slots(operands: list[Operand], own_group: int) -> tuple[list[list[Operand]], list[Operand]]:
    """The positive children by slot, members of a group together; apart, those in a group with the upward edge."""
    slots: list[list[Operand]] = []
    groups: dict[int, list[Operand]] = {}
    for child, meaning in operands:
        if child.group:
            groups.setdefault(child.group, []).append((child, meaning))
        elif not child.negated:
            slots.append([(child, meaning)])
    beside = groups.pop(own_group, [])
    return slots + list(groups.values()), beside


def _fill(meaning: Meaning, slot: list[Operand], database: Database) -> Meaning:
    """x ∩ π⁻¹_P(π_L(y)) for each y of a slot: all together, and each under every choice within x and within y."""
    parts = {
        _restrict(part, child, other, database)
        for part, (child, filler) in product(meaning.parts, slot)
        for other in filler.parts
    }
    if meaning.plain and len(slot) == 1 and slot[0][1].plain:
        (whole,) = parts
    else:
        whole = NOTHING.union(*(_restrict(meaning.whole, child, filler.whole, database) for child, filler in slot))
    return Meaning(whole, _least(parts))


def _least(parts: Iterable[Denotation]) -> tuple[Denotation, ...]:
    """The sets that contain no other: where these are not empty, none is."""
    least: list[Denotation] = []
    for part in sorted(parts, key=len):
        if not any(other <= part for other in least):
            least.append(part)
    return tuple(least)


def _restrict(things: Denotation, child: Child, filler: Denotation, database: Database) -> Denotation:
    """things ∩ π⁻¹_P(π_L(filler))."""
    values = project(filler, child.label)
    if things is database.things:
        return inverse_image(values, child.parent_label, database)
    return frozenset(thing for thing in things if thing.get(child.parent_label) in values)
