"""What a forest has to say about a question: exact answers, and for inferred ones the nearest real statements."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from threading import BoundedSemaphore, Timer
from typing import TYPE_CHECKING, NamedTuple

from vecdcs.dcs.tree import BLANK, Child, Tree
from vecdcs.errors import InputError, VecdcsError

if TYPE_CHECKING:
    from vecdcs.corpus.evidence import Answer, Evidence, Found

MOST_EXACT, MOST_RELAXED, MOST_STATEMENTS = 1000, 8, 5000
IN_MEMORY = 64 << 20  # bytes of the edges of a forest on disk, up to which a server keeps them in memory


class Quote(NamedTuple):
    """A sentence, where it stands, and the tree that it states."""

    text: str
    source: str
    line: int
    states: str


@dataclass
class Exact:
    """How many matches say that a word is an answer, and in which sentences, of which the first `enough` suffice."""

    enough: int
    count: int = 0
    sentences: list[int] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """What is found in a sentence and across sentences may be the same."""
        self.count = max(self.count, answer.count)
        self.sentences += [number for number in answer.sentences if number not in self.sentences]

    def best(self, most: int) -> list[int]:
        """What together suffices; where one sentence does, some more."""
        return self.sentences[: self.enough if self.enough > 1 else most]


class Corpus:
    """A forest that questions are asked of, as many at a time as there are cores, each for at most so many seconds.

    `serving`: many questions will come, so what is not too large is read into memory, and each is left one core.
    """

    def __init__(self, path: str | Path, seconds: float = 120, serving: bool = False) -> None:
        from vecdcs.corpus.evidence import Evidence
        from vecdcs.corpus.forest import EDGES, Forest

        self.forest = Forest.open(path)
        if self.forest.ud:
            raise InputError("a vecUD forest has no fields to ask about: expected a DCS forest", str(path))
        small = serving and (self.forest.path / EDGES).stat().st_size <= IN_MEMORY
        self.evidence: Evidence = Evidence(self.forest, threads=1 if serving else None, in_memory=small)
        self.seconds = seconds
        self._free = BoundedSemaphore(os.cpu_count() or 1)

    @contextmanager
    def _searching(self) -> Iterator[None]:
        """Wait for a core; a search that takes too long or too much memory is given up."""
        from duckdb import Error, InterruptException

        with self._free:
            alarm = Timer(self.seconds, self.evidence.database.interrupt)
            alarm.start()
            try:
                yield
            except InterruptException as error:
                message = f"the search was given up after {self.seconds:g} seconds: ask for something more definite"
                raise VecdcsError(message) from error
            except Error as error:
                raise VecdcsError(f"the search failed: {str(error).splitlines()[0]}") from error
            finally:
                alarm.cancel()

    def exact(self, tree: Tree, position: int) -> dict[str, Exact]:
        """The words found for a node, in a sentence or joined across sentences."""
        found: dict[str, Exact] = {}
        with self._searching():
            for answers, place in self._searches(tree, position):
                for answer in answers.answers:
                    found.setdefault(answer.words[place], Exact(answer.enough)).add(answer)
        return found

    def _searches(self, tree: Tree, position: int) -> Iterator[tuple[Found, int]]:
        """Within sentences, where a blank is asked for; across them, where the tree allows it."""
        from vecdcs.corpus.across import find_across
        from vecdcs.corpus.evidence import QueryError

        blanks = tree.blanks()
        if position in blanks:
            yield self.evidence.find(tree, MOST_EXACT), blanks.index(position)
        try:
            across = find_across(self.evidence, tree, MOST_EXACT) if len(blanks) < 2 else None
        except QueryError:
            return
        if across:
            yield across, 0

    def nearest(
        self, tree: Tree, words: Collection[str], nearness: Callable[[Sequence[Tree]], Sequence[float]]
    ) -> dict[str, tuple[Tree, Sequence[int]]]:
        """For each word the nearest part of a tree (hung up at what is asked) that is stated of it, and where."""
        parts = parts_of(tree)
        order = sorted(range(len(parts)), key=[-near for near in nearness(parts)].__getitem__) if parts else []
        found: dict[str, tuple[Tree, Sequence[int]]] = {}
        with self._searching():
            for part in [parts[at] for at in order[:MOST_RELAXED]]:
                left = [word for word in words if word not in found]
                for answer in self.evidence.find(part, MOST_STATEMENTS, among=left).answers if left else ():
                    found.setdefault(answer.words[0], (part, answer.sentences))
        return found

    def quotes(self, sentences: Iterable[int], states: Tree) -> tuple[Quote, ...]:
        """Sentences as they stand in the text."""
        found = [self.forest.sentence(number) for number in sentences]
        return tuple(Quote(sentence.text, sentence.source, sentence.line, str(states)) for sentence in found)


def parts_of(tree: Tree) -> list[Tree]:
    """Smaller questions: the tree with a blank at its root, and with leaves taken away until one edge is left."""
    start = _asking(_ungrouped(tree))
    seen, layer = {start}, [start]
    while layer and len(seen) <= 4 * MOST_RELAXED:
        layer = [smaller for bigger in layer for smaller in _without_a_leaf(bigger) if len(smaller) > 1]
        layer = [part for part in dict.fromkeys(layer) if part not in seen]
        seen.update(layer)
    worded = [part for part in seen if any(node.word != BLANK for node in part.nodes())]
    return [part for part in worded if part != start or tree.word != BLANK]


def _asking(tree: Tree) -> Tree:
    """A word at the root becomes a class of what is asked for."""
    return tree if tree.word == BLANK else Tree(BLANK, (Child(Tree(tree.word)), *tree.children))


def _ungrouped(tree: Tree) -> Tree:
    children = (replace(child, tree=_ungrouped(child.tree), group=0, own_group=0) for child in tree.children)
    return Tree(tree.word, tuple(children))


def _without_a_leaf(tree: Tree) -> Iterator[Tree]:
    for at, child in enumerate(tree.children):
        others = tree.children[:at], tree.children[at + 1 :]
        if not child.tree.children:
            yield Tree(tree.word, others[0] + others[1])
        for smaller in _without_a_leaf(child.tree):
            yield Tree(tree.word, (*others[0], replace(child, tree=smaller), *others[1]))


@lru_cache(maxsize=8)
def _opened(path: Path, _changed: int) -> Corpus:
    return Corpus(path)


atexit.register(_opened.cache_clear)  # a database must be closed while the interpreter still stands


def open_corpus(corpus: str | Path | Corpus) -> Corpus:
    """A forest ready to be asked; opened once."""
    if isinstance(corpus, Corpus):
        return corpus
    manifest = Path(corpus) / "manifest.json"
    return _opened(Path(corpus).resolve(), manifest.stat().st_mtime_ns if manifest.is_file() else 0)
