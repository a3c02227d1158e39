"""UD sentences to DCS trees, by the table in rules.py."""

from __future__ import annotations

from typing import NamedTuple

from vecdcs.dcs.rules import AS_ACL, RULES, SLOT, Rule, compile_rules
from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.dcs.words import MERGED, Word, read_words
from vecdcs.text.conllu import Sentence


class Node(NamedTuple):
    """A node of a converted tree: its token, its word, and the edge to its parent.

    `parent` is the position of the parent in the same list, -1 at the root; parents precede children. `label` is L
    at the child's (this node's) end, `parent_label` is P at the parent's end, both "" at the root. In a vecUD tree the
    one relation is in `label` and `parent_label` is "". `group` is the coordination group among siblings, 0 for none.
    """

    token: int
    word: str
    parent: int
    label: str
    parent_label: str
    group: int


Labels = tuple[str, str]

FUNCTION = MERGED | frozenset(["aux", "aux:pass", "cop", "det", "case", "mark", "cc", "punct", "expl", "goeswith"])
_ROWS = compile_rules(RULES)
_NO_EDGE = _ROWS["punct"]


def convert(sentence: Sentence, blanks: bool = False, single: bool = False) -> list[list[Node]]:
    """The DCS trees of a sentence.

    `blanks`: `_` and the wh-word of a question are blanks. `single`: keep trees of one node.
    """
    words = read_words(sentence, blanks)
    _connect(words)
    return _trees(words, single)


def applied_rules(sentence: Sentence, blanks: bool = False) -> list[tuple[int, Rule]]:
    """Which row of the table decided about each word that has a node, as its parent has."""
    words = read_words(sentence, blanks)
    _connect(words)
    return [(word.id, word.rule) for word in words if word.rule is not None]


def convert_ud(sentence: Sentence) -> list[list[Node]]:
    """The sentence as vecUD trees: content words, the relation of each on the edge to its head."""
    words = read_words(sentence)
    for word in words:
        if word.pos and word.rel not in FUNCTION and word.head is not None and word.head.pos:
            word.parent, word.edge = word.head, (word.rel, "")
    return _trees(words, single=False)


def to_tree(nodes: list[Node]) -> Tree:
    """A converted tree as a value."""
    return Tree.from_nodes(nodes)


def sentence_trees(sentence: Sentence, blanks: bool = True) -> list[Tree]:
    """The trees of a sentence as values; a question's tree has its wh-word as blank at the root."""
    return [_ask(nodes, sentence) for nodes in convert(sentence, blanks, single=True)]


def _ask(nodes: list[Node], sentence: Sentence) -> Tree:
    """The tree, re-rooted at a blank that stands for a wh-word."""
    tree = to_tree(nodes)
    for node in nodes:
        if node.word == BLANK and sentence.tokens[node.token - 1].form != BLANK:
            return tree.reroot(tree.find(BLANK))
    return tree


def _connect(words: list[Word]) -> None:
    """Give every word its edge: first by the rows of the table, then the conjuncts that share a slot."""
    conjuncts = []
    for x in words:
        p = x.head
        if x.pos and p is not None and p.pos:
            labels = _labels(x, p, x.rel)
            if labels is None:
                continue
            if labels[0] == SLOT:
                conjuncts.append(x)
            else:
                x.parent, x.edge = p, labels
    for number, x in enumerate(conjuncts, 1):
        _share_slot(x, number)


def _labels(x: Word, p: Word, relation: str) -> Labels | None:
    """The two labels that the first row with a true condition gives, or None."""
    _, label, parent_label, rule = next(row for row in _ROWS.get(relation, _NO_EDGE) if row[0](x, p))
    x.rule = rule
    if label == AS_ACL:
        return _labels(x, p, "acl")
    if rule.passive:
        x.passive = True
    first = label if isinstance(label, str) else label(x, p)
    second = parent_label if isinstance(parent_label, str) else parent_label(x, p)
    return (first, second) if first and second else None


def _share_slot(x: Word, number: int) -> None:
    """Hang a conjunct beside its head, in the same slot and group; a conjunct of the root hangs below it."""
    p = x.head
    assert p is not None
    if p.parent is None or p.edge is None:
        x.parent, x.edge = p, (x.case or "ARG", "ARG")
    else:
        p.group = p.group or number
        x.parent, x.edge, x.group = p.parent, (x.case or p.edge[0], p.edge[1]), p.group


def _trees(words: list[Word], single: bool) -> list[list[Node]]:
    """The trees that the edges make, in the order of their first words; parents precede children."""
    trees: list[list[Node]] = []
    placed: dict[int, tuple[list[Node], int]] = {}
    for word in words:
        if word.pos:
            _place(word, trees, placed)
    return [tree for tree in trees if len(tree) > 1 or (single and words[tree[0].token - 1].rel not in FUNCTION)]


def _place(word: Word, trees: list[list[Node]], placed: dict[int, tuple[list[Node], int]]) -> None:
    """Put a word into its tree, after those of its ancestors that are not there yet."""
    waiting = []
    at: Word | None = word
    while at is not None and at.id not in placed:
        waiting.append(at)
        at = at.parent
    for each in reversed(waiting):
        if each.parent is None or each.edge is None:
            tree: list[Node] = []
            trees.append(tree)
            tree.append(Node(each.id, _spell(each), -1, "", "", 0))
        else:
            tree, parent = placed[each.parent.id]
            tree.append(Node(each.id, _spell(each), parent, *each.edge, each.group))
        placed[each.id] = tree, len(tree) - 1


def _spell(word: Word) -> str:
    return BLANK if word.name == BLANK else f"{word.name}/{word.pos}"
