"""Small changes to a tree: another word or field, a node dropped, another root, the blank elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vecdcs.dcs.tree import Child, Tree
from vecdcs.errors import InputError

Change = Callable[[Child], Child | None]


def set_word(tree: Tree, position: int, word: str) -> Tree:
    """Another word at a node."""
    if not word.strip():
        raise InputError("expected a word with its part of speech, such as ban/V")
    return tree.replace(position, word.strip())


def set_fields(tree: Tree, position: int, parent_label: str, label: str) -> Tree:
    """Other fields at the two ends of the edge above a node."""
    if not parent_label.strip() or not label.strip():
        raise InputError("expected a field at both ends of the edge, such as ARG, SUBJ, COMP or in")
    near, far = parent_label.strip(), label.strip()
    return change_edge(tree, position, lambda edge: replace(edge, parent_label=near, label=far))


def drop(tree: Tree, position: int) -> Tree:
    """The tree without a node and what lies below it."""
    return change_edge(tree, position, lambda _: None)


def move_blank(tree: Tree, position: int) -> Tree:
    """Ask for a node: it becomes the blank and the root; blanks elsewhere that hold nothing are dropped."""
    asked = tree.blank(position).reroot(position)
    while len(asked) > 2 and (empty := [at for at in asked.blanks() if at and not asked.subtree(at).children]):
        asked = drop(asked, empty[0])
    return asked


def change_edge(tree: Tree, position: int, change: Change) -> Tree:
    """The tree with the edge above a node changed, or taken away."""
    subtree = tree.subtree(position)  # says so where there is no such node
    place = tree.places[position]
    if place.edge is None:
        what = "a union's alternative" if position else "the root"
        raise InputError(f"{what} has no edge above it: {subtree}")
    edge = change(place.edge)
    at = place.parent
    changed = _put(tree.places[at].tree, place.order, edge)
    while at:
        place = tree.places[at]
        if place.edge is None:
            raise InputError("what lies inside a union cannot be changed here: edit the notation instead")
        at = place.parent
        changed = _put(tree.places[at].tree, place.order, replace(place.edge, tree=changed))
    return changed


def _put(parent: Tree, order: int, edge: Child | None) -> Tree:
    kept = () if edge is None else (edge,)
    return replace(parent, children=(*parent.children[:order], *kept, *parent.children[order + 1 :]))


def origins(tree: Tree, position: int) -> list[int]:
    """For each node of the tree hung up at a position, its position in the tree as it was."""
    named = tree
    for at in range(len(tree)):
        named = named.replace(at, str(at))
    return [int(node.word) for node in (named.reroot(position) if position else named).nodes()]
