"""Which edges say that a noun names a member of the class another noun names: what joins sentences by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vecdcs.dcs.convert import Node
from vecdcs.dcs.tree import ARG
from vecdcs.text.conllu import Token

CHILD_IN_PARENT, PARENT_IN_CHILD = 1, 2

# By the relation of the child, where the edge is (ARG, ARG): who is the member if nothing in the words tells.
RELATIONS = {
    "nsubj": CHILD_IN_PARENT,  # thalidomide is a drug
    "appos": PARENT_IN_CHILD,  # thalidomide, a drug
    "compound": 0,  # the drug Thalidomide; but drug company: only the words tell
    "nmod:desc": 0,  # the actor Hanks
}
# By the label of the child, where the parent's is ARG: drugs such as thalidomide.
FIELDS = {"such as": CHILD_IN_PARENT, "including": CHILD_IN_PARENT}
DETERMINERS = frozenset(["det", "nmod:poss"])


def instances(tree: Sequence[Node], tokens: Sequence[Token]) -> list[int]:
    """For each node: 0, or CHILD_IN_PARENT if it is a member of its parent's class, or PARENT_IN_CHILD."""
    return [
        _instance(node, tree[node.parent], tokens)
        if node.parent_label == ARG and (node.label == ARG or node.label in FIELDS)
        else 0
        for node in tree
    ]


def _instance(node: Node, parent: Node, tokens: Sequence[Token]) -> int:
    if not (node.word.endswith("/N") and parent.word.endswith("/N")):
        return 0
    if node.label in FIELDS:
        return FIELDS[node.label]
    relation = _relation(tokens[node.token - 1], tokens)
    return _member(relation, tokens[node.token - 1], tokens[parent.token - 1], tokens) if relation in RELATIONS else 0


def _relation(token: Token, tokens: Sequence[Token]) -> str:
    """The token's relation, or that of the one it is coordinated with."""
    while token.deprel == "conj":
        token = tokens[token.head - 1]
    return token.deprel


def _member(relation: str, child: Token, parent: Token, tokens: Sequence[Token]) -> int:
    """A name is the member and not the class; of two common nouns, the one with a determiner is the class."""
    if child.upos == "PROPN" and parent.upos == "PROPN":
        return 0
    if child.upos == "PROPN" or parent.upos == "PROPN":
        named = CHILD_IN_PARENT if child.upos == "PROPN" else PARENT_IN_CHILD
        return 0 if not RELATIONS[relation] and named == CHILD_IN_PARENT else named
    if RELATIONS[relation] and _determined(child, tokens) != _determined(parent, tokens):
        return PARENT_IN_CHILD if _determined(child, tokens) else CHILD_IN_PARENT
    return RELATIONS[relation]


def _determined(token: Token, tokens: Sequence[Token]) -> bool:
    return any(other.head == token.id and other.deprel in DETERMINERS for other in tokens)


def resolved(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Classes with their members at the end of every chain: "the drug Aspirin is a poison" makes Aspirin a poison."""
    members: dict[int, list[int]] = {}
    for one, member in pairs:
        members.setdefault(one, []).append(member)
    found: list[tuple[int, int]] = []
    for one in members:
        waiting = [one]
        while waiting:
            at = waiting.pop()
            below = members.get(at, [])
            waiting += below
            if not below:
                found.append((one, at))
    return found
