"""Sentence completion: which of five words the rest of a sentence asks for (MSR; paper, section 5.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import Vocabulary, cut
from vecdcs.dcs.convert import Node, convert, convert_ud
from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.errors import InputError
from vecdcs.model.blank import Filled, Score, candidate_scores, in_all_trees, model_scores
from vecdcs.model.model import MANIFEST, Model
from vecdcs.tasks.counts import contexts, count_paths
from vecdcs.tasks.parses import parsed, within
from vecdcs.tasks.result import Clock, Result, Sample, interval95
from vecdcs.text.conllu import Sentence

QUESTIONS = "completion/Holmes.machine_format.questions.txt"
ANSWERS = "completion/Holmes.machine_format.answers.txt"
LETTERS = "abcde"
DEVELOPMENT = 520  # questions 1-520 are for development, 521-1040 for testing
PROTOCOL = "MSR sentence completion; each candidate parsed in place; "
UNLIKELY = -1e6  # below any score
DECIMALS = 5  # candidates that are all unknown, or in the same place of one tree, are equal but for rounding
LEAST_SPREAD = 10**-DECIMALS / len(LETTERS)  # of rounded scores that are not all the same
BY_VECTORS = "surrounding vector . answer vector"
CANDIDATE_ASKS = ", candidate asks"
UNKNOWN_LAST = "; unknown words last"
BY_COUNTS = "sum of the smoothed PMI with the words at most two edges away"

# The questions are from Sherlock Holmes books: text with these in its name gives the answers away.
HOLMES = (
    "sherlockholmes",
    "baskerville",
    "signoffour",
    "signofthefour",
    "studyinscarlet",
    "valleyoffear",
    "hislastbow",
)
# The same by their numbers at Project Gutenberg, where files are called pg1661.txt or 1661-0.txt.
HOLMES_NUMBERS = ("108", "244", "834", "1661", "2097", "2350", "2852", "3289", "48320")

_GUTENBERG = re.compile(r"pg(\d+)\b|(\d+)-\w")
_LINE = re.compile(r"(\d+)([a-e])\) (.*?)\[(.+?)\](.*)")


class Candidate(NamedTuple):
    """A sentence with one of the five words put in, and where that word stands."""

    question: int
    letter: int
    text: str
    start: int
    end: int


class Chooser(NamedTuple):
    """What chooses: its name, how it scores (and for comparison), whether of vecUD trees, and which words it knows.

    A `wary` one prefers words that it knows: the unknown word's vector stands for too many of them.
    """

    name: str
    how: str
    ud: bool
    score: Score
    knows: Callable[[str], bool]
    back: Score | None = None
    wary: bool = False


def read(path: Path) -> list[Candidate]:
    """The lines of a file in machine format: `12c) text with [candidate] in it .`"""
    found = []
    with path.open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, 1):
            match = _LINE.fullmatch(line.strip())
            if match is None and line.strip():
                raise InputError("expected a line such as `12c) text with [candidate] in it .`", str(path), number)
            if match:
                question, letter, before, word, after = match.groups()
                place = len(before), len(before) + len(word)
                found.append(Candidate(int(question), LETTERS.index(letter), f"{before}{word}{after}", *place))
    return found


def read_questions(data: Path) -> tuple[list[Candidate], dict[int, int]]:
    """All candidates, five a question, and the right letter of each question."""
    candidates, keys = read(data / QUESTIONS), read(data / ANSWERS)
    right = {key.question: key.letter for key in keys}
    for at, candidate in enumerate(candidates):
        if candidate.letter != at % len(LETTERS) or candidate.question != candidates[at - at % 5].question:
            raise InputError(f"expected five lines a question, a) to {LETTERS[-1]})", str(data / QUESTIONS), at + 1)
        if candidate.question not in right:
            raise InputError(f"expected an answer to question {candidate.question}", str(data / ANSWERS))
    if not candidates or len(candidates) % len(LETTERS):
        raise InputError("expected five lines a question", str(data / QUESTIONS), len(candidates))
    return candidates, right


def evaluate(
    model: Model, data: Path, cache: Path, parser: str = "english", seed: int = 1, unknown_last: bool = False
) -> Result:
    """The share of questions whose right answer scores highest; `unknown_last` never prefers a word not known."""
    _refuse_holmes(_sources(model), str(model.path))
    ud = bool(model.config.get("forest", {}).get("ud"))
    score, back = partial(model_scores, model), partial(candidate_scores, model)
    how = BY_VECTORS + (UNKNOWN_LAST if unknown_last else "")
    chooser = Chooser(str(model.path), how, ud, score, model.knows, back, unknown_last)
    return _evaluate(chooser, data, cache, parser, seed)


def evaluate_counts(forest: Forest, data: Path, cache: Path, parser: str = "english", seed: int = 1) -> Result:
    """The same by smoothed PMI over the paths of a forest."""
    _refuse_holmes(forest.manifest["sources"], str(forest.path))
    vocabulary = cut(forest.word_weights(), forest.field_weights())
    score = partial(count_scores, forest, vocabulary)
    chooser = Chooser(f"PMI over {forest.path}", BY_COUNTS, forest.ud, score, vocabulary.knows)
    return _evaluate(chooser, data, cache, parser, seed)


def _evaluate(chooser: Chooser, data: Path, cache: Path, parser: str, seed: int) -> Result:
    absent = tuple(file for file in (QUESTIONS, ANSWERS) if not (data / file).is_file())
    if absent:
        return Result("completion", chooser.name, PROTOCOL + chooser.how, {}, absent)
    clock = Clock()
    candidates, right = read_questions(data)
    with clock("parse"):
        sentences = parsed([candidate.text for candidate in candidates], cache, parser)
        filled = [fill(one, group, chooser.ud) for one, group in zip(candidates, sentences, strict=True)]
    with clock("score"):
        table = _table(chooser.score, filled)
        back = in_all_trees(chooser.back, filled, len(LETTERS), standardised) if chooser.back else None
    if chooser.wary:
        strange = [one is not None and not chooser.knows(one.word) for one in filled]
        for scores in [table] if back is None else [table, back]:
            scores[np.reshape(strange, scores.shape)] = UNLIKELY
    gold = {one.question: right[one.question] for one in candidates}
    oov = np.mean([one is None or not chooser.knows(one.word) for one in filled])
    figures = {"no_node": filled.count(None), "oov": float(oov)}
    return _result(chooser, gold, table, back, figures, clock, seed)


def _table(score: Score, filled: Sequence[Filled | None]) -> NDArray[np.float64]:
    """Scores by question and letter; 0 for a candidate without a node."""
    scores = np.zeros(len(filled))
    scores[[one is not None for one in filled]] = score([one for one in filled if one is not None])
    return scores.reshape(-1, len(LETTERS))


def standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores in one tree, off their mean and over their deviation, so that every tree has the same say."""
    found = np.round(scores, DECIMALS)
    return np.asarray((found - found.mean()) / max(found.std(), LEAST_SPREAD))


def _result(
    chooser: Chooser,
    right: dict[int, int],
    table: NDArray[np.float64],
    back: NDArray[np.float64] | None,
    figures: dict[str, Any],
    clock: Clock,
    seed: int,
) -> Result:
    """The figures of tables of scores, a row for each question of `right`."""
    numbers, gold, given = np.array(list(right)), np.array(list(right.values())), first_best(table)
    parts = {"development": numbers <= DEVELOPMENT, "test": numbers > DEVELOPMENT, "all": numbers > 0}
    missing = tuple(f"questions of the {part} part" for part, rows in parts.items() if not rows.any())

    def sampled(given: NDArray[np.int64], suffix: str = "") -> tuple[Sample, ...]:
        correct = (gold == given).astype(np.float64)
        return tuple(Sample.mean(part + suffix, correct[rows]) for part, rows in parts.items() if rows.any())

    samples = sampled(given)
    backs = () if back is None else sampled(first_best(back), CANDIDATE_ASKS)
    details = [
        {"question": number, "gold": LETTERS[key], "given": LETTERS[best], "scores": " ".join(f"{s:.4f}" for s in row)}
        for (number, key), best, row in zip(right.items(), given, table, strict=True)
    ]
    whole = {"accuracy": samples[-1].value, "questions": len(gold), "sets": _sets(samples, seed), **figures}
    if backs:
        whole["candidate_asks"] = _sets(backs, seed)
    how = PROTOCOL + chooser.how
    return Result("completion", chooser.name, how, whole, missing, clock.seconds, (*samples, *backs), details)


def _sets(samples: Sequence[Sample], seed: int) -> list[dict[str, Any]]:
    return [
        {
            "set": one.name.removesuffix(CANDIDATE_ASKS),
            "questions": one.size,
            "accuracy": one.value,
            "interval95": interval95(one, seed),
        }
        for one in samples
    ]


def first_best(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Where each row has its highest score, the first place where several have."""
    return np.asarray(np.round(table, DECIMALS).argmax(1), np.int64)


def fill(candidate: Candidate, sentences: Sequence[Sentence], ud: bool = False) -> Filled | None:
    """The tree that the candidate's word stands in, with a blank in its place; none where it has no node."""
    for span in within(candidate.text, sentences, candidate.start, candidate.end):
        sentence = sentences[span.sentence]
        for tree in convert_ud(sentence) if ud else convert(sentence):
            for at, node in enumerate(tree):
                if node.token == span.token:
                    return Filled(_blanked(tree, at), node.word)
    return None


def _blanked(tree: Sequence[Node], at: int) -> Tree:
    return Tree.from_nodes([*tree[:at], tree[at]._replace(word=BLANK), *tree[at + 1 :]])


def count_scores(forest: Forest, vocabulary: Vocabulary, filled: Sequence[Filled]) -> NDArray[np.float64]:
    """The sum of the PMI of each candidate with the words at most two edges away."""
    around = [contexts(one.tree) for one in filled]
    counts = count_paths(forest, [context for some in around for context in some], vocabulary)
    words = vocabulary.word_ids(one.word for one in filled).astype(np.int64)
    return np.concatenate([counts.pmi(some, word[None]) for some, word in zip(around, words, strict=True)])


def _sources(model: Model) -> list[str]:
    """The files of text that a model, or its manifest, names."""
    manifest = model.path / MANIFEST if model.path else None
    named = json.loads(manifest.read_text("utf-8")).get("sources", []) if manifest and manifest.is_file() else []
    return [*model.config.get("sources", []), *named]


def _refuse_holmes(sources: Sequence[str], where: str) -> None:
    """No figure for who has read the books the questions are from."""
    for source in sources:
        name = Path(source).name.lower()
        bare = re.sub(r"[^a-z]", "", name)
        number = _GUTENBERG.match(name)
        if any(title in bare for title in HOLMES) or (number and (number[1] or number[2]) in HOLMES_NUMBERS):
            message = f"learned from {Path(source).name}, but the questions are from the Sherlock Holmes books"
            raise InputError(f"{message}: train without them", where)
