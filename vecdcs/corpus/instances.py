"""Which edges say that a noun names a member of the class another noun names: what joins sentences by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from vecdcs.dcs.convert import Node
from vecdcs.dcs.tree import ARG
from vecdcs.text.conllu import Token

# What is noted of a node. Whether it is a member of the class its parent names, or the other way round; or whether its
# parent is a member if that is a name ("the drug thalidomide", but not "the drug company"); and whether it is a noun
# used bare, as names are, or dressed, as names are not.
CHILD_IN_PARENT, PARENT_IN_CHILD, PARENT_IF_NAME, BARE, DRESSED = 1, 2, 4, 8, 16

# By the relation of the child, where the edge is (ARG, ARG): who is the member if nothing in the words tells.
RELATIONS = {
    "nsubj": CHILD_IN_PARENT,  # thalidomide is a drug
    "appos": PARENT_IN_CHILD,  # thalidomide, a drug
    "compound": PARENT_IF_NAME,  # the drug thalidomide
    "nmod:desc": PARENT_IN_CHILD,  # the actor Hanks
}
# By the label of the child, where the parent's is ARG: drugs such as thalidomide.
FIELDS = {"such as": CHILD_IN_PARENT, "including": CHILD_IN_PARENT}

DETERMINERS = frozenset(["det", "nmod:poss"])
DRESS = DETERMINERS | {"amod", "nummod", "compound", "nmod", "acl", "acl:relcl"}
PLURAL = frozenset(["NNS", "NNPS"])
MOSTLY = 0.7  # the share of bare uses that makes a noun a name


def instances(tree: Sequence[Node], tokens: Sequence[Token], dressed: AbstractSet[int]) -> list[int]:
    """For each node what is noted of it; `dressed` are the tokens that have a dependent of DRESS."""
    found: list[int] = []
    for node in tree:
        flag = 0
        if node.word.endswith("/N"):
            token = tokens[node.token - 1]
            if token.deprel != "compound":
                flag = DRESSED if node.token in dressed or token.xpos in PLURAL else BARE
            if node.parent_label == ARG and (node.label == ARG or node.label in FIELDS):
                flag |= _instance(node, tree[node.parent], tokens)
                if flag & PARENT_IF_NAME:
                    found[node.parent] &= ~DRESSED  # which is what is to be found out, from other uses
        found.append(flag)
    return found


def dressed_tokens(tokens: Sequence[Token]) -> set[int]:
    """The tokens that a determiner, adjective, number or the like hangs on."""
    return {token.head for token in tokens if token.deprel in DRESS}


def _instance(node: Node, parent: Node, tokens: Sequence[Token]) -> int:
    if not parent.word.endswith("/N"):
        return 0
    if node.label in FIELDS:
        return FIELDS[node.label]
    child = tokens[node.token - 1]
    relation = child.deprel
    while relation == "conj":
        child = tokens[child.head - 1]
        relation = child.deprel
    return _member(relation, tokens[node.token - 1], tokens[parent.token - 1], tokens) if relation in RELATIONS else 0


def _member(relation: str, child: Token, parent: Token, tokens: Sequence[Token]) -> int:
    """A proper name is the member and not the class; of two common nouns, the one with a determiner is the class."""
    if child.upos == "PROPN" and parent.upos == "PROPN":
        return 0
    if relation in ("compound", "nmod:desc"):
        return _title(relation, child, parent)
    if child.upos == "PROPN" or parent.upos == "PROPN":
        return CHILD_IN_PARENT if child.upos == "PROPN" else PARENT_IN_CHILD
    if _determined(child, tokens) != _determined(parent, tokens):
        return PARENT_IN_CHILD if _determined(child, tokens) else CHILD_IN_PARENT
    return RELATIONS[relation]


def _title(relation: str, child: Token, parent: Token) -> int:
    """A class just before its member."""
    if child.upos == "PROPN" or child.id + 1 != parent.id or child.xpos in PLURAL or parent.xpos in PLURAL:
        return 0
    return PARENT_IN_CHILD if parent.upos == "PROPN" else RELATIONS[relation]


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
