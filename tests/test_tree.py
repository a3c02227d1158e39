"""Trees are values: equality, re-rooting, paths, groups, blanks."""

from __future__ import annotations

from ast import literal_eval
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ANY_TEXT, logic_trees, trees

from vecdcs.dcs.tree import ARG, COMP, SUBJ, Child, Tree
from vecdcs.errors import VecdcsError

D3 = Tree.parse("sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)")
PAIR = Tree.parse("sell/V & SUBJ:man/N & COMP:{drug/N, book/N}")
LOGICAL = Tree.parse("(a | b & ~c) & SUBJ:d")
DEEP = 5000


def unique(tree: Tree) -> Tree:
    """The same tree with its positions as words, so that nodes are known again after re-rooting."""
    for at in range(len(tree)):
        tree = tree.replace(at, f"w{at}")
    return tree


def chain(length: int, label: str = COMP) -> Tree:
    return Tree.from_nodes((at + 1, f"w{at}", at - 1, ARG, label, 0) for at in range(length))


def test_nodes_stand_in_preorder() -> None:
    assert [node.word for node in D3.nodes()] == ["sell/V", "man/N", "drug/N", "ban/V"]
    assert len(D3) == 4
    assert D3.subtree(2) == Tree("drug/N", (Child(Tree("ban/V"), ARG, COMP),))
    assert [(parent, at, edge.parent_label, edge.label) for parent, at, edge in D3.edges()] == [
        (0, 1, SUBJ, ARG),
        (0, 2, COMP, ARG),
        (2, 3, ARG, COMP),
    ]


def test_alternatives_come_before_children() -> None:
    assert [node.word for node in LOGICAL.nodes()] == ["", "a", "b", "c", "d"]


def test_reroot() -> None:
    assert str(D3.reroot(0)) == "sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)"
    assert str(D3.reroot(1)) == "man/N & (sell/V & COMP:(drug/N & ban/V.COMP)).SUBJ"
    assert str(D3.reroot(3)) == "ban/V & COMP:(drug/N & (sell/V & SUBJ:man/N).COMP)"


def test_reroot_keeps_groups() -> None:
    assert str(PAIR.reroot(2)) == "drug/N & (sell/V & SUBJ:man/N & COMP:{^, book/N}).COMP"
    assert PAIR.reroot(2).reroot(1) == PAIR
    assert PAIR.reroot(1) == Tree.parse("man/N & (sell/V & COMP:{drug/N, book/N}).SUBJ")
    assert PAIR.reroot(2) != Tree.parse("drug/N & (sell/V & SUBJ:man/N & COMP:book/N).COMP")


def test_path_is_that_of_theorem_1() -> None:
    assert D3.path(1, 3) == (ARG, SUBJ, COMP, ARG, ARG, COMP)
    assert D3.path(3, 1) == (COMP, ARG, ARG, COMP, SUBJ, ARG)
    assert D3.path(0, 2) == (COMP, ARG)
    assert D3.path(2, 2) == ()


def test_no_path_between_conjuncts_of_one_slot() -> None:
    assert not PAIR.allowed(2, 3)
    assert not PAIR.allowed(3, 2)
    assert PAIR.allowed(1, 3)
    assert PAIR.allowed(0, 3)
    assert PAIR.path(2, 3) == (ARG, COMP, COMP, ARG)
    assert {(start, end) for start, end, _ in PAIR.paths()} == {
        pair for pair in permutations(range(4), 2) if set(pair) != {2, 3}
    }


def test_groups_forbid_longer_paths_too() -> None:
    tree = Tree.parse("a & {(b & c), (d & e)} & f")
    assert not tree.allowed(2, 4)
    assert tree.allowed(2, 5)
    other = Tree.parse("a & {b, c} & {d, e}")
    assert other.allowed(1, 3)
    assert not other.allowed(3, 4)


def test_from_nodes() -> None:
    rows = [(2, "sell/V", -1, "", "", 0), (4, "ban/V", 0, "X", "Y", 0), (1, "man/N", 0, ARG, SUBJ, 7)]
    assert str(Tree.from_nodes(rows)) == "sell/V & Y:ban/V.X & SUBJ:man/N"
    assert Tree.from_nodes(PAIR.to_nodes()) == PAIR
    assert PAIR.to_nodes()[2:] == [(3, "drug/N", 0, ARG, COMP, 1), (4, "book/N", 0, ARG, COMP, 1)]


@pytest.mark.parametrize(
    "parents", [[], [0], [-1, -1], [-1, 1], [-1, 2, 0], [-2]], ids=lambda parents: ",".join(map(str, parents))
)
def test_from_nodes_wants_a_tree(parents: list[int]) -> None:
    with pytest.raises(VecdcsError, match="every parent before its children"):
        Tree.from_nodes((1, "a", parent, "", "", 0) for parent in parents)


def test_to_nodes_cannot_write_upward_groups() -> None:
    with pytest.raises(VecdcsError, match="upward edge"):
        PAIR.reroot(2).to_nodes()
    alone = Tree("a", (Child(Tree("b", (Child(Tree("c"), group=1),)), own_group=2),))
    assert Tree.from_nodes(alone.to_nodes()) == alone == Tree.parse("a & (b & c)")


def test_replace_and_blank() -> None:
    assert str(D3.blank(2)) == "sell/V & SUBJ:man/N & COMP:(_ & ban/V.COMP)"
    assert str(D3.replace(0, "buy/V").replace(3, "_")) == "buy/V & SUBJ:man/N & COMP:(drug/N & _.COMP)"
    assert D3.blank(1).blank(3).blanks() == [1, 3]
    assert str(LOGICAL.replace(3, "x").replace(1, "y").replace(4, "z")) == "(y | b & ~x) & SUBJ:z"
    with pytest.raises(VecdcsError, match="node 0 is a union"):
        LOGICAL.blank(0)


def test_find() -> None:
    assert D3.find("drug/N") == 2
    assert Tree.parse('a | ""').find("") == 2
    with pytest.raises(VecdcsError, match=r"no node 'x/N' in the tree sell/V"):
        D3.find("x/N")


@pytest.mark.parametrize("position", [-1, 4])
def test_positions_are_checked(position: int) -> None:
    for use in (D3.subtree, D3.blank, D3.reroot, lambda at: D3.path(0, at), lambda at: D3.allowed(at, 0)):
        with pytest.raises(VecdcsError, match=rf"no node {position}: the tree has the nodes 0 to 3"):
            use(position)


@pytest.mark.parametrize("text", ["a | b", "a & ~b", "a & (b | c)", "a & (b & ~c)"])
def test_no_paths_in_trees_with_logic(text: str) -> None:
    tree = Tree.parse(text)
    for use in (lambda: tree.reroot(0), lambda: tree.path(0, 1), lambda: list(tree.paths()), tree.to_nodes):
        with pytest.raises(VecdcsError, match=r"with \| or ~ cannot be"):
            use()


def test_values_are_checked() -> None:
    with pytest.raises(VecdcsError, match="union"):
        Tree("", (), (Tree("a"),))
    with pytest.raises(VecdcsError, match="union"):
        Tree("a", (), (Tree("a"), Tree("b")))
    with pytest.raises(VecdcsError, match="negated"):
        Child(Tree("a"), group=1, negated=True)


def test_equality() -> None:
    assert Tree.parse("a & b & P:c.L") == Tree.parse("a & P:c.L & b")
    assert Tree.parse("a & b & b") != Tree.parse("a & b")
    assert Tree.parse("a & P:b") != Tree.parse("a & b.P")
    assert Tree.parse("a & b") != Tree.parse("a & ~b")
    assert Tree.parse("a | b") == Tree.parse("b | a")
    assert Tree.parse('""') != Tree.parse("_")
    assert str(D3) != D3
    assert len({D3, D3.reroot(0), Tree.parse(str(D3)), PAIR}) == 2


def test_equality_of_groups() -> None:
    assert Tree.parse("a & {b, c} & {d, e}") == Tree.parse("a & {e, d} & {c, b}")
    assert Tree.parse("a & {b, c} & {d, e}") != Tree.parse("a & {b, d} & {c, e}")
    assert Tree.parse("a & {b, c}") != Tree.parse("a & b & c")
    assert Tree.parse("a & {b}") == Tree.parse("a & b")
    assert Tree("a", (Child(Tree("b"), group=7), Child(Tree("c"), group=7))) == Tree.parse("a & {b, c}")
    assert Tree.parse("x & (a & {^, b} & c)") != Tree.parse("x & (a & {^, c} & b)")
    assert Tree.parse("x & (a & {^, b} & {c, d})") != Tree.parse("x & (a & {^, c} & {b, d})")


def test_repr_is_python() -> None:
    assert repr(Tree.parse("drug/N & ban/V.COMP")) == "Tree.parse('drug/N & ban/V.COMP')"
    assert repr(D3.children[0]) == (
        "Child(tree=Tree.parse('man/N'), parent_label='SUBJ', label='ARG', group=0, own_group=0, negated=False)"
    )


@given(logic_trees(words=ANY_TEXT, fields=ANY_TEXT))
def test_repr_reads_back(tree: Tree) -> None:
    written = repr(tree).removeprefix("Tree.parse(").removesuffix(")")
    assert Tree.parse(literal_eval(written)) == tree


def test_deep_trees() -> None:
    tree = chain(DEEP)
    assert len(tree) == DEEP
    assert len(tree.path(0, DEEP - 1)) == 2 * (DEEP - 1)
    turned = tree.reroot(DEEP - 1)
    assert turned.nodes()[-1].word == "w0"
    assert turned.reroot(DEEP - 1) == tree
    assert hash(turned) == hash(chain(DEEP).reroot(DEEP - 1)) != hash(tree)
    assert tree.replace(DEEP - 1, "x").find("x") == DEEP - 1
    assert Tree.from_nodes(tree.to_nodes()) == tree


def test_deep_unions_and_upward_groups() -> None:
    union = Tree("a")
    grouped = Tree("a")
    for _ in range(DEEP):
        union = Tree("", (), (union, Tree("b")))
        grouped = Tree("a", (Child(grouped, group=1, own_group=1), Child(Tree("b"), group=1)))
    assert hash(union) == hash(Tree.parse(str(union)))
    assert grouped == Tree.parse(str(grouped))
    assert not grouped.allowed(DEEP, DEEP + 1)


@given(trees(), st.data())
def test_rerooting_there_and_back(tree: Tree, data: st.DataObject) -> None:
    tree = unique(tree)
    at = data.draw(st.integers(0, len(tree) - 1))
    turned = tree.reroot(at)
    assert turned.word == f"w{at}"
    assert turned.reroot(turned.find("w0")) == tree
    assert (turned == tree) == (at == 0)


@given(trees(), st.data())
def test_rerooting_keeps_paths(tree: Tree, data: st.DataObject) -> None:
    tree = unique(tree)
    turned = tree.reroot(data.draw(st.integers(0, len(tree) - 1)))
    for start, end in permutations(range(len(tree)), 2):
        there = turned.find(f"w{start}"), turned.find(f"w{end}")
        assert turned.path(*there) == tree.path(start, end)
        assert turned.allowed(*there) == tree.allowed(start, end)


@given(trees())
def test_paths_are_all_that_are_allowed(tree: Tree) -> None:
    pairs = permutations(range(len(tree)), 2)
    expected = {(start, end): tree.path(start, end) for start, end in pairs if tree.allowed(start, end)}
    found = list(tree.paths())
    assert {(start, end): labels for start, end, labels in found} == expected
    assert len(found) == len(expected)


@given(trees())
def test_paths_back_are_reversed(tree: Tree) -> None:
    for start, end, labels in tree.paths():
        assert tree.path(end, start) == labels[::-1]


@given(logic_trees(), st.randoms(use_true_random=False))
def test_equality_ignores_order(tree: Tree, random: Random) -> None:
    assert shuffled(tree, random) == tree
    assert hash(shuffled(tree, random)) == hash(tree)


def shuffled(tree: Tree, random: Random) -> Tree:
    """The same tree with everything that has no meaning changed: order, and the numbers of groups."""
    children = [
        Child(shuffled(c.tree, random), c.parent_label, c.label, 5 * c.group, 5 * c.own_group, c.negated)
        for c in tree.children
    ]
    parts = [shuffled(part, random) for part in tree.alternatives]
    random.shuffle(children)
    random.shuffle(parts)
    return Tree(tree.word, tuple(children), tuple(parts))


@given(trees(words=["a", "b"], fields=["P"], max_nodes=5), trees(words=["a", "b"], fields=["P"], max_nodes=5))
def test_equal_trees_look_alike(one: Tree, two: Tree) -> None:
    assert (one == two) == (canonical(one) == canonical(two))


def canonical(tree: Tree, own_group: int = 0) -> tuple[object, ...]:
    """What equality means, written as nested sorted tuples."""
    groups: dict[int, list[object]] = {}
    loose = []
    for child in tree.children:
        edge = (child.parent_label, child.label, canonical(child.tree, child.own_group))
        groups.setdefault(child.group, []).append(edge) if child.group else loose.append(edge)
    upward = groups.pop(own_group, [])
    loose += [edge for members in groups.values() if len(members) == 1 for edge in members]
    several = [sorted(members) for members in groups.values() if len(members) > 1]
    return tree.word, sorted(loose), sorted(upward), sorted(several)


@given(trees(words=ANY_TEXT, fields=ANY_TEXT, rerooted=False))
def test_nodes_and_back(tree: Tree) -> None:
    assert Tree.from_nodes(tree.to_nodes()) == tree
