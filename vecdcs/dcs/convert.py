"""UD sentences to DCS trees, by the table in rules.py."""

from __future__ import annotations

from typing import NamedTuple

from vecdcs.text.conllu import Sentence


class Node(NamedTuple):
    """A node of a converted tree: its token, its word, and the edge to its parent.

    `parent` is the position of the parent in the same list, -1 at the root; parents precede children. `label` is L at the
    child's (this node's) end, `parent_label` is P at the parent's end, both "" at the root. In a vecUD tree the one relation is in `label` and
    `parent_label` is "". `group` is the coordination group among siblings, 0 for none.
    """

    token: int
    word: str
    parent: int
    label: str
    parent_label: str
    group: int


def convert(sentence: Sentence, blanks: bool = False, single: bool = False) -> list[list[Node]]:
    """The DCS trees of a sentence. `blanks`: `_` and the wh-word of a question are blanks. `single`: keep one-node trees."""
    raise NotImplementedError


def convert_ud(sentence: Sentence) -> list[list[Node]]:
    """The sentence as a vecUD tree: content words, one relation an edge."""
    raise NotImplementedError
