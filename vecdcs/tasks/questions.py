"""Questions whose answers only hidden sentences support: one step, two steps, and intersections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vecdcs.corpus.evidence import Evidence
from vecdcs.corpus.split import Split
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.dcs.tree import BLANK, Child, Tree
from vecdcs.errors import InputError

COUNT = 300  # questions of each kind
DRAWN = 8  # sentences and questions looked at for each question kept
ONE, TWO, BOTH = "1-step", "2-step", "intersection"
UNSAID = ", unsaid"  # no open sentence says even one step of it about the answer
KINDS = (ONE, TWO, BOTH, TWO + UNSAID, BOTH + UNSAID)


class Edge(NamedTuple):
    """A row of the edges table."""

    sentence: int
    node: int
    other_node: int
    word: int
    label: int
    other_label: int
    other: int


class Step(NamedTuple):
    """An edge as it is asked for: a word, the label at its end, and the label at the other end."""

    word: str
    near: str
    far: str


@dataclass(frozen=True)
class Question:
    """A tree with a blank; `steps[0]` leads to the blank, `steps[1]` to its word (2-step) or to the blank as well.

    `known` are the words that any sentence supports as answers, `gold` those that only hidden sentences do;
    `counts` are what exact look-up in the other sentences finds.
    """

    kind: str
    steps: tuple[Step, ...]
    gold: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def tree(self) -> Tree:
        """`_ & near:word.far …`, the blank at the root."""
        first, *rest = self.steps
        more = tuple(Child(Tree(step.word), step.far, step.near) for step in rest)
        below, beside = (more, ()) if self.kind.startswith(TWO) else ((), more)
        return Tree(BLANK, (Child(Tree(first.word, below), first.far, first.near), *beside))


Around = dict[tuple[int, int], list[Edge]]
Asked = tuple[str, tuple[Step, ...]]


def is_askable(word: str) -> bool:
    """Content words; numerals and pronouns make no question and no answer worth ranking."""
    return not word.startswith("*") and not word.endswith("/P")


def questions(split: Split, vocabulary: Vocabulary, count: int, seed: int) -> list[Question]:
    """Up to `count` questions of each kind, drawn from the edges of the hidden part."""
    hidden, train = Evidence(split.hidden, 1), Evidence(split.train, 1)
    drawn = _drawn(hidden, vocabulary, count * DRAWN, np.random.default_rng(seed))
    found = []
    for kind in (ONE, TWO, BOTH):
        some = list(dict.fromkeys(steps for made, steps in drawn if made == kind))[: count * DRAWN]
        found += _answered(kind, some, hidden, train, vocabulary)[:count]
    if not found:
        raise InputError("no question has an answer that only the hidden part supports: a larger forest is needed")
    return found


def unsaid(asked: Sequence[Question], split: Split) -> list[Question]:
    """Harder ones: questions of two steps and intersections, of which not even one step is said of the answer."""
    train = Evidence(split.train, 1)
    return [*_unsaid(TWO, asked, train), *_unsaid(BOTH, asked, train)]


def _unsaid(kind: str, asked: Sequence[Question], train: Evidence) -> list[Question]:
    """Questions of a kind with those answers of which no step into the blank is in the open part either."""
    some = [question for question in asked if question.kind == kind]
    stated = [set[str]() for _ in some]
    for into in range(1 if kind == TWO else 2):
        for words, found in zip(stated, answers(train, ONE, [(one.steps[into],) for one in some]), strict=True):
            words.update(found)
    left = [one.gold - words for one, words in zip(some, stated, strict=True)]
    return [replace(one, kind=kind + UNSAID, gold=gold) for one, gold in zip(some, left, strict=True) if gold]


def _answered(
    kind: str, asked: Sequence[tuple[Step, ...]], hidden: Evidence, train: Evidence, vocabulary: Vocabulary
) -> list[Question]:
    """The questions that have answers only hidden sentences support."""
    there, here = answers(hidden, kind, asked), answers(train, kind, asked)
    found = []
    for steps, only, open_ in zip(asked, there, here, strict=True):
        own = {step.word for step in steps}
        gold = {
            word
            for word in only
            if word not in own and word not in open_ and is_askable(word) and vocabulary.knows(word)
        }
        if gold:
            known = frozenset(word for word in (*only, *open_) if vocabulary.knows(word))
            counts = {word: times for word, times in open_.items() if vocabulary.knows(word)}
            found.append(Question(kind, steps, frozenset(gold), known, counts))
    return found


def _drawn(evidence: Evidence, vocabulary: Vocabulary, count: int, rng: np.random.Generator) -> list[Asked]:
    """Questions of every kind around the edges of sentences drawn at random, in random order."""
    total = evidence.forest.totals["sentences"]
    around = _around(evidence, np.sort(rng.permutation(total)[:count]))
    names = _Names(evidence)
    edges = [edge for some in around.values() for edge in some]
    return [made for at in rng.permutation(len(edges)) for made in _made(edges[at], around, names, vocabulary, rng)]


def _around(evidence: Evidence, sentences: NDArray[np.int64]) -> Around:
    """The edges out of every node of some sentences."""
    evidence.database.register("drawn", pa.table({"number": pa.array(sentences, pa.int32())}))
    rows = evidence.database.execute(
        "SELECT e.sentence, e.node, e.other_node, e.word, e.label, e.other_label, e.other "
        "FROM edges e JOIN drawn ON e.sentence = drawn.number "
        "ORDER BY e.sentence, e.node, e.other_node"
    ).fetchall()
    found: Around = {}
    for edge in map(Edge._make, rows):
        found.setdefault((edge.sentence, edge.node), []).append(edge)
    return found


class _Names:
    """The words and fields of a forest by number."""

    def __init__(self, evidence: Evidence) -> None:
        self.words = [row[0] for row in evidence.database.execute("SELECT word FROM words ORDER BY id").fetchall()]
        self.fields = [row[0] for row in evidence.database.execute("SELECT field FROM fields ORDER BY id").fetchall()]

    def step(self, word: int, near: int, far: int) -> Step:
        return Step(self.words[word], self.fields[near], self.fields[far])


def _made(
    edge: Edge, around: Around, names: _Names, vocabulary: Vocabulary, rng: np.random.Generator
) -> Iterator[Asked]:
    """The question of an edge, and those with one more edge at its word, or at its blank."""
    first = names.step(edge.word, edge.label, edge.other_label)
    if not _usable(first, vocabulary):
        return
    yield ONE, (first,)
    for kind, at, but in ((TWO, edge.node, edge.other_node), (BOTH, edge.other_node, edge.node)):
        more = [other for other in around[edge.sentence, at] if other.other_node != but]
        if more:
            other = more[int(rng.integers(len(more)))]
            second = names.step(other.other, other.other_label, other.label)
            if second != first and _usable(second, vocabulary):
                yield kind, (first, second)


def _usable(step: Step, vocabulary: Vocabulary) -> bool:
    fields = vocabulary.field_index
    return is_askable(step.word) and vocabulary.knows(step.word) and step.near in fields and step.far in fields


# e1 leads from the first word to the blank; e2 from the second word to the first one, or to the blank.
JOINS = {
    ONE: "",
    TWO: "JOIN edges e2 ON e2.word = q.word2 AND e2.label = q.near2 AND e2.other_label = q.far2 "
    "AND e2.sentence = e1.sentence AND e2.other_node = e1.node",
    BOTH: "JOIN edges e2 ON e2.word = q.word2 AND e2.label = q.near2 AND e2.other_label = q.far2 "
    "AND e2.sentence = e1.sentence AND e2.other_node = e1.other_node",
}


def answers(evidence: Evidence, kind: str, asked: Sequence[tuple[Step, ...]]) -> list[dict[str, int]]:
    """What fills the blank of each question in a forest, with the number of places that say so."""
    columns: dict[str, list[int]] = {"id": list(range(len(asked)))}
    words = {step.word for steps in asked for step in steps}
    evidence.database.register("named", pa.table({"name": pa.array(sorted(words), pa.string())}))
    number = dict(
        evidence.database.execute(
            "SELECT words.word, words.id FROM words JOIN named ON words.word = named.name"
        ).fetchall()
    )
    for place in range(1, (1 if kind == ONE else 2) + 1):
        steps = [some[place - 1] for some in asked]
        columns[f"word{place}"] = [number.get(step.word, -1) for step in steps]
        columns[f"near{place}"] = [evidence.label(step.near) for step in steps]
        columns[f"far{place}"] = [evidence.label(step.far) for step in steps]
    evidence.database.register("asked", pa.table(columns))
    rows = evidence.database.execute(
        "SELECT found.id, words.word, found.count FROM ("
        "SELECT q.id, e1.other, count(*) AS count FROM asked q "
        "JOIN edges e1 ON e1.word = q.word1 AND e1.label = q.near1 AND e1.other_label = q.far1 "
        f"{JOINS[kind]} GROUP BY q.id, e1.other) found JOIN words ON words.id = found.other"
    ).fetchall()
    return _by_question(rows, len(asked))


def _by_question(rows: Sequence[tuple[int, str, int]], count: int) -> list[dict[str, int]]:
    found: list[dict[str, int]] = [{} for _ in range(count)]
    for question, word, times in sorted(rows):
        found[question][word] = times
    return found
