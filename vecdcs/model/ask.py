"""A model that answers: phrases, questions and trees are composed, executed, and compared."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.tree import ARG, BLANK, Child, Tree
from vecdcs.errors import InputError, VecdcsError
from vecdcs.model import model as models
from vecdcs.model.blank import candidate_scores, in_all_trees
from vecdcs.model.compose import telling_answers
from vecdcs.model.leanings import Leanings, at_roots
from vecdcs.model.likeness import Likeness, by_likeness
from vecdcs.model.model import Model, unit
from vecdcs.model.query import Laid, compose, hung, lay_flat, node_vectors
from vecdcs.model.question import Understood, fill, understand
from vecdcs.model.search import (
    BY_DEFAULT,
    RANKINGS,
    Calibration,
    Hits,
    Space,
    calibration_of,
    log_odds,
    log_sum,
    search,
)
from vecdcs.model.steps import Steps, goes_stepwise

if TYPE_CHECKING:
    from vecdcs.model.explain import Explanation
    from vecdcs.model.support import Corpus, Exact, Quote

SHIPPED, MODEL_VARIABLE = Path(__file__).parent / "english", "VECDCS_MODEL"
EXACT, INFERRED = "exact", "inferred"
NAMING, NUMERAL = "NVJR", "*NUMERAL*/N"  # parts of speech of what answers by default; pronouns name nothing
TRUST = 2.0  # so many exact matches weigh as much as all that the vectors say
EXAMPLES, CONSIDERED = 3, 30  # sentences shown with an answer, and looked at to choose them

Vectors = NDArray[np.float32]


class Near(NamedTuple):
    """A word and the cosine of its query vector."""

    word: str
    score: float


class Choice(NamedTuple):
    """A candidate for a blank, the word it was parsed as, and its score.

    The score is about the log of how much likelier the candidate makes the words around it.
    """

    candidate: str
    word: str | None
    score: float


@dataclass(frozen=True)
class Answer:
    """A word that answers: found in the corpus (`exact`, with the number of matches) or only by vectors (`inferred`).

    `score` is the product of the unit vectors, none for a word that the model does not know.
    """

    word: str
    score: float | None
    probability: float
    kind: str = INFERRED
    count: int = 0
    evidence: tuple[Quote, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        quotes = [quote._asdict() for quote in self.evidence]
        return {**vars(self), "evidence": quotes}


@dataclass(frozen=True)
class Question:
    """A tree asked at one of its nodes: its blank, or else its root."""

    asker: Asker = field(repr=False)
    text: str
    tree: Tree
    position: int
    unused: tuple[str, ...] = ()
    corpus: Corpus | None = field(default=None, repr=False)
    stepwise: bool = False

    @cached_property
    def hung(self) -> Tree:
        """The tree hung up at what is asked."""
        return hung(self.tree, self.position)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The words, and fields with a colon, that the model does not know: it takes the unknown ones instead."""
        words = (node.word for node in self.tree.nodes() if node.word != BLANK and not node.alternatives)
        fields = (name for *_, edge in self.tree.edges() for name in (edge.parent_label, edge.label))
        strange = (f"{name}:" for name in fields if name not in self.asker.vocabulary.field_index)
        return tuple(dict.fromkeys([*(word for word in words if not self.asker.knows(word)), *strange]))

    @property
    def vector(self) -> Vectors:
        """The query vector, of length 1."""
        vector: Vectors = self.asker.vectors([self])[0]
        return vector

    @cached_property
    def logic(self) -> bool:
        """Whether the tree has unions or negations, which vectors do not understand."""
        return any(place.tree.alternatives or (place.edge and place.edge.negated) for place in self.tree.places)

    def each(self) -> tuple[Question, ...]:
        """The same question for each of its blanks."""
        blanks = self.tree.blanks() or [self.position]
        return tuple(replace(self, position=at) for at in blanks)

    def answers(
        self, k: int = 10, pos: str | Collection[str] = (), by: str = BY_DEFAULT, own_words: bool = False
    ) -> list[Answer]:
        """The k best answers, ranked by `probability`, by `score`, or `balanced`: by probability with half its prior.

        `pos` keeps some parts of speech, of N, V, J, R, P; by default all but pronouns, and no numerals. With a
        corpus, `by` chooses the inferred ones; all are then ranked by probability.
        """
        return self.asker.answer_many([self], k, pos, by, own_words)[0]

    def explain(self, k: int = 5, **options: Any) -> Explanation:
        """What each part of the tree adds to the scores of the k best answers."""
        from vecdcs.model.explain import explain

        return explain(self, [answer.word for answer in self.answers(k, **options)])

    def as_dict(self, answers: Iterable[Answer]) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "query": self.text,
            "tree": str(self.tree),
            "asked": self.position,
            "unknown": list(self.unknown),
            "unused": list(self.unused),
            "answers": [answer.as_dict() for answer in answers],
        }


@dataclass(frozen=True)
class Asker(Model):
    """A model with a parser beside it, which can be asked."""

    parser: str = "english"

    @cached_property
    def answer_space(self) -> Space:
        """Answer vectors, ready to be searched."""
        return Space.of(self.answer, self.vocabulary)

    @cached_property
    def query_space(self) -> Space:
        """Query vectors, ready to be searched."""
        return Space.of(self.query, self.vocabulary)

    @cached_property
    def likeness(self) -> Likeness[Asker]:
        """How words and phrases are compared."""
        return by_likeness(self)

    @cached_property
    def likeness_space(self) -> Space:
        """The vectors that words are compared by, ready to be searched."""
        return Space.of(self.likeness.words, self.vocabulary)

    @cached_property
    def calibration(self) -> Calibration:
        """What scores are worth as probabilities."""
        return calibration_of(self)

    @cached_property
    def stepping(self) -> Steps:
        """What it takes to answer within a question."""
        return Steps(self.answer_space, self.query_space, self.calibration)

    def ask(
        self, text: str | Tree, corpus: str | Path | Corpus | None = None, blank: int = 0, stepwise: bool | None = None
    ) -> Question:
        """A question in words or notation; with a forest its answers are exact or inferred. `blank`: which of many.

        `stepwise`: what inner nouns name is answered first, and their answers ask on; None: as suits the model.
        """
        return self.ask_many([text], corpus, blank, stepwise)[0]

    def ask_many(
        self,
        texts: Sequence[str | Tree],
        corpus: str | Path | Corpus | None = None,
        blank: int = 0,
        stepwise: bool | None = None,
    ) -> list[Question]:
        """Many questions, parsed together."""
        if self.config.get("forest", {}).get("ud"):
            raise InputError("a vecUD model knows relations, not the fields of a question: train on a DCS forest")
        opened = None
        if corpus is not None:
            from vecdcs.model.support import open_corpus

            opened = open_corpus(corpus)
        parsed = iter(understand([text for text in texts if isinstance(text, str)], self.parser))
        found = (Understood(str(text), text) if isinstance(text, Tree) else next(parsed) for text in texts)
        way = goes_stepwise(self, stepwise)
        return [Question(self, x.text, x.tree, _asked(x.tree, blank), x.unused, opened, way) for x in found]

    def answers(
        self, text: str | Tree, k: int = 10, corpus: str | Path | Corpus | None = None, **options: Any
    ) -> list[Answer]:
        """The best answers to a question."""
        return self.ask(text, corpus).answers(k, **options)

    def answer_many(
        self,
        questions: Sequence[Question],
        k: int = 10,
        pos: str | Collection[str] = (),
        by: str = BY_DEFAULT,
        own_words: bool = False,
    ) -> list[list[Answer]]:
        """The best answers to many questions, in few matrix products."""
        if by not in RANKINGS:
            raise InputError(f"answers can be ranked by {', '.join(RANKINGS)}, not by {by!r}")
        if k < 1:
            raise InputError(f"k is {k}, but must be at least 1")
        wanted = list(pos) or list(NAMING)
        plain = [question for question in questions if not question.logic]
        numerals = {self.vocabulary.word_index[NUMERAL]} if NUMERAL in self.vocabulary.word_index and not pos else set()
        own = [numerals if own_words else numerals | own_numbers(question) for question in plain]
        more = k if all(question.corpus is None for question in plain) else k + 50
        hits: Iterator[Hits] = iter(())
        if plain:
            laid = self.laid(plain)
            vectors, lean = self._vectors(plain, laid), self._leanings(plain, laid)
            hits = iter(search(self.answer_space, vectors, more, self.calibration, by, wanted, own, lean))
        return [self._merged(q, None if q.logic else next(hits), k, wanted, own_words) for q in questions]

    def _merged(
        self, question: Question, hits: Hits | None, k: int, pos: Collection[str], own_words: bool
    ) -> list[Answer]:
        """What the vectors say, and what the corpus says."""
        inferred = [] if hits is None else [
            Answer(self.vocabulary.words[word], score, probability)
            for word, score, probability in zip(*(part.tolist() for part in hits), strict=True)
        ]  # fmt: skip
        if question.corpus is None:
            if hits is None:
                raise VecdcsError(
                    f"a tree with | or ~ has exact answers only: give a corpus to find them in: {question.tree}"
                )
            return inferred
        return merge(question, question.corpus, inferred, k, pos, own_words)

    def vectors(self, questions: Sequence[Question]) -> Vectors:
        """The query vectors of many questions, of length 1."""
        return self._vectors(questions, self.laid(questions))

    def _vectors(self, questions: Sequence[Question], laid: Laid) -> Vectors:
        found = unit(compose(self, laid.trees, self.node_vectors(questions, laid)))
        for question, vector in zip(questions, found, strict=True):
            if not vector.any():
                raise VecdcsError(f"there is nothing to ask with in {question.tree}: expected a word beside the blank")
        return found

    def node_vectors(self, questions: Sequence[Question], laid: Laid, back: bool = False) -> Vectors:
        """The vectors that are added up for questions laid flat: to ask with, or to ask back."""
        stepwise = [question.stepwise for question in questions]
        if any(stepwise):
            return self.stepping.vectors(self, laid, stepwise)[back]
        return node_vectors(self, laid.trees, answers=back)

    def leanings(self, questions: Sequence[Question]) -> Leanings:
        """What questions say of their answers beside their vectors."""
        return self._leanings(questions, self.laid(questions))

    def _leanings(self, questions: Sequence[Question], laid: Laid) -> Leanings:
        named = laid.trees.word[laid.trees.start[:-1]].tolist()
        lean = replace(at_roots(self, laid.trees), named=named, alike=self._alike)
        if not self.calibration.back:
            return lean
        return self.asking_back(lean, unit(compose(self, laid.trees, self.node_vectors(questions, laid, True))))

    def asking_back(self, lean: Leanings, backs: Vectors) -> Leanings:
        """Leanings with queries composed of answer vectors, if a path back has the transposes of the matrices there."""
        return lean if self.inverses is not None else replace(lean, backs=backs, asking=self.query_space.put_scores)

    def _alike(self, words: Sequence[int]) -> Vectors:
        """The likeness of some words to all words."""
        found: Vectors = self.likeness.words[words] @ self.likeness.words.T
        return found

    def laid(self, questions: Sequence[Question]) -> Laid:
        """The trees of questions, hung up at what is asked and laid flat."""
        for question in questions:
            if question.logic:
                raise VecdcsError(f"a tree with | or ~ has no vector, only exact answers: {question.tree}")
        return lay_flat(self.vocabulary, [question.hung for question in questions])

    def similarity(self, one: str | Tree, other: str | Tree) -> float:
        """How alike two words or phrases are: a cosine, mostly rid of what is mere frequency."""
        return self.similarities([(one, other)])[0]

    def similarities(self, pairs: Sequence[tuple[str | Tree, str | Tree]]) -> list[float]:
        """The likeness of many pairs."""
        questions = self.ask_many([text for pair in pairs for text in pair], stepwise=False)
        vectors = self.likeness.vectors(lambda side: side.vectors(questions))
        found: list[float] = np.einsum("ij,ij->i", vectors[0::2], vectors[1::2], dtype=np.float64).tolist()
        return found

    def nearest(self, text: str | Tree, k: int = 10, pos: str | Collection[str] = ()) -> list[Near]:
        """The words most like a word or phrase."""
        question = self.ask(text, stepwise=False)
        vectors = self.likeness.vectors(lambda side: side.vectors([question]))
        own = [own_numbers(question)]
        hits = search(self.likeness_space, vectors, k, self.calibration, "score", list(pos), own)[0]
        return [Near(self.vocabulary.words[word], float(score)) for word, score in zip(*hits[:2], strict=True)]

    def complete(self, text: str, candidates: Sequence[str]) -> list[Choice]:
        """Candidates for the blank of a sentence, best first: how well each explains the words around it."""
        filled = fill(text, candidates, self.parser)
        scores = in_all_trees(partial(candidate_scores, self), filled, len(filled))[0] if filled else ()
        words = (None if each is None else each.word for each in filled)
        found = [Choice(*each) for each in zip(candidates, words, map(float, scores), strict=True)]
        return sorted(found, key=lambda choice: (choice.word is None, -choice.score))

    def explain(self, text: str | Tree, k: int = 5, **options: Any) -> Explanation:
        """The tree of a question, and what each part of it adds to the scores of the best answers."""
        return self.ask(text).explain(k, **options)

    def plausibility(self, predicate: str, field: str, argument: str) -> float:
        """Selectional preference: how much better than others the argument fits the field of the predicate.

        The mean score of the argument as answer to the predicate's field and of the reverse, each less a share of what
        the asking word scores with all words of the answer's part of speech.
        """
        asked = Tree(BLANK, (Child(Tree(predicate), ARG, field),)), Tree(BLANK, (Child(Tree(argument), field, ARG),))
        vectors = self.vectors(self.ask_many(asked))
        answers = telling_answers(self, [argument, predicate])
        return float(np.einsum("ij,ij->", vectors, answers, dtype=np.float64) / 2)

    def probabilities(self, questions: Sequence[Question]) -> Vectors:
        """The probabilities of all words of the vocabulary, by questions."""
        scores = self.answer_space.scores(self.vectors(questions))
        logits = log_odds(self.answer_space, scores, self.calibration, self.leanings(questions))
        found: Vectors = np.exp(logits - log_sum(logits)[:, None])
        return found


def load(path: str | Path | None = None, parser: str = "english") -> Asker:
    """A model that answers, in a folder; by default the shipped English one, or that which VECDCS_MODEL names."""
    return asker(models.load(default_model() if path is None else path), parser)


def default_model() -> Path:
    """The folder of the model that is meant where none is named."""
    named = os.environ.get(MODEL_VARIABLE)
    if not named and not (SHIPPED / models.MANIFEST).is_file():
        raise InputError(
            "no shipped model in this source tree: name the folder of one, as `vecdcs train` makes it, by an argument "
            f"(-m on the command line) or in {MODEL_VARIABLE}"
        )
    return Path(named) if named else SHIPPED


def asker(model: Model, parser: str = "english") -> Asker:
    """A model, made able to answer."""
    parts = {part.name: getattr(model, part.name) for part in fields(Model)}
    return Asker(**parts, parser=parser)


def own_numbers(question: Question) -> set[int]:
    """The numbers of the question's own words."""
    index = question.asker.vocabulary.word_index
    return {index[node.word] for node in question.tree.nodes() if node.word in index}


def _asked(tree: Tree, blank: int) -> int:
    """The position of a blank; the root, where there is none."""
    blanks = tree.blanks() or [0]
    if not 0 <= blank < len(blanks):
        raise InputError(f"there is no blank {blank} in {tree}: it has {len(tree.blanks())}, counted from 0")
    return blanks[blank]


def merge(
    question: Question, corpus: Corpus, inferred: Sequence[Answer], k: int, pos: Collection[str], own_words: bool
) -> list[Answer]:
    """Exact and inferred answers in one ranking.

    The probability of a word is (matches + TRUST * p) / (all matches + TRUST), where p is what the vectors say: they
    are the prior of what the corpus is then counted for.
    """
    own = {NUMERAL} if own_words else {NUMERAL, *(node.word for node in question.tree.nodes())}
    exact = {
        word: found
        for word, found in corpus.exact(question.tree, question.position).items()
        if word not in own and (not pos or word.rpartition("/")[2] in pos)
    }
    total = sum(found.count for found in exact.values()) + TRUST
    known = {answer.word: answer for answer in [*inferred, *_scored(question, exact, inferred)]}
    answers = []
    for word in dict.fromkeys([*exact, *known]):
        vector, found = known.get(word), exact.get(word)
        chance = ((found.count if found else 0) + TRUST * (vector.probability if vector else 0)) / total
        kind, count = (EXACT, found.count) if found else (INFERRED, 0)
        answers.append(Answer(word, vector.score if vector else None, chance, kind, count))
    best = sorted(answers, key=lambda answer: -answer.probability)[:k]
    return _quoted(question, corpus, exact, best)


def _scored(question: Question, exact: Collection[str], inferred: Sequence[Answer]) -> list[Answer]:
    """Exact answers that are not among the best inferred ones, with what the vectors say of them."""
    words = {*exact} - {answer.word for answer in inferred}
    index = question.asker.vocabulary.word_index
    numbers = [index[word] for word in words if word in index]
    if not numbers or question.logic:
        return []
    scores = question.asker.answer_space.scores(question.vector[None])[0]
    chances = question.asker.probabilities([question])[0]
    return [Answer(question.asker.vocabulary.words[n], float(scores[n]), float(chances[n])) for n in numbers]


def _quoted(question: Question, corpus: Corpus, exact: dict[str, Exact], answers: Sequence[Answer]) -> list[Answer]:
    """Answers with their sentences; inferred ones with those of the nearest statements."""
    guessed = [answer.word for answer in answers if answer.kind == INFERRED]
    near = corpus.nearest(question.hung, guessed, lambda parts: _nearness(question, parts)) if guessed else {}
    found = []
    for answer in answers:
        if answer.kind == EXACT:  # sentences that name it begin
            name = answer.word.rpartition("/")[0].lower()
            enough = corpus.quotes(exact[answer.word].best(EXAMPLES), question.tree)
            quotes = tuple(sorted(enough, key=lambda quote: name not in quote.text.lower()))
        else:
            part, some = near.get(answer.word) or _likest(question, exact, answer.word)
            considered = corpus.quotes(some[:CONSIDERED], _naming(part, answer.word))
            quotes = _telling(considered, answer.word, question.tree)
        found.append(replace(answer, evidence=quotes))
    return found


def _telling(quotes: Sequence[Quote], answer: str, tree: Tree) -> tuple[Quote, ...]:
    """A few sentences that together tell most: first one that names the answer, then what others add."""
    wanted = {node.word.rpartition("/")[0].lower() for node in tree.nodes() if node.word != BLANK}
    name = answer.rpartition("/")[0].lower()
    left = list(quotes)
    chosen: list[Quote] = []
    while left and len(chosen) < EXAMPLES:
        best = max(
            left, key=lambda quote: _new(quote, wanted) + len(wanted) * (not chosen and name in quote.text.lower())
        )
        left.remove(best)
        chosen.append(best)
        wanted -= {form for form in wanted if form in best.text.lower()}
    return tuple(chosen)


def _new(quote: Quote, wanted: Collection[str]) -> int:
    text = quote.text.lower()
    return sum(form in text for form in wanted)


def _naming(part: Tree, word: str) -> Tree:
    """A part of a question with a word as its answer."""
    return part.replace(0, word) if part.word == BLANK else part


def _nearness(question: Question, parts: Sequence[Tree]) -> list[float]:
    """How near smaller questions are to a question: cosines."""
    vectors = question.asker.vectors(question.asker.ask_many(list(parts)))
    cosines: list[float] = (vectors @ question.vector).tolist()
    return cosines


def _likest(question: Question, exact: dict[str, Exact], word: str) -> tuple[Tree, Sequence[int]]:
    """What is stated of the exact answer that is most like a word."""
    known = [other for other in exact if question.asker.knows(other)]
    if not known:
        return question.tree, ()
    vectors = np.stack([question.asker.answer_vector(other) for other in known])
    likest = known[int(np.argmax(vectors @ question.asker.answer_vector(word)))]
    return _naming(question.hung, likest), exact[likest].sentences
