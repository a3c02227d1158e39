"""Query execution: answers to questions that only hidden sentences support, ranked among all words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.split import Split
from vecdcs.corpus.vocabulary import Vocabulary, cut
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.model.model import Model
from vecdcs.model.steps import STEPWISE, Steps, goes_stepwise
from vecdcs.tasks.candidates import Candidates
from vecdcs.tasks.counts import PathCounts, contexts, count_paths
from vecdcs.tasks.questions import COUNT, KINDS, UNSAID, Question, is_askable, questions, unsaid
from vecdcs.tasks.ranking import expected_hits, expected_reciprocal
from vecdcs.tasks.result import Clock, Result, Sample, difference, interval95
from vecdcs.tasks.vectors import PlainVocabulary

RANKERS = ("frequency", "lookup", "pmi", "counts", "model", "calibrated", "hybrid")
LEADERS, RIVALS = ("model", "calibrated", "hybrid"), ("pmi", "counts")  # whose lead is measured, and over whom
AT_ONCE = 64
HITS = 10
HALF = 0.5  # of the model's log-odds beside those of counting, which know much of the same

Floats = NDArray[np.float64]
Ranker = Callable[[Sequence[Question]], Floats]


def evaluate(model: Model, split: Split, count: int = COUNT, seed: int = 1, stepwise: bool | None = None) -> Result:
    """Mean reciprocal rank and hits@10 of the hidden answers, by the model and by what does without one."""
    _check_trained(model, split)
    clock, stepwise = Clock(), goes_stepwise(model, stepwise)
    with clock("ask"):
        vocabulary = cut(split.train.word_weights(), split.train.field_weights())
        asked = questions(split, vocabulary, count, seed)
        asked += unsaid(asked, split)
    with clock("count"):
        wanted = [context for question in asked for context in contexts(question.tree)]
        counts = count_paths(split.train, wanted, vocabulary)
    with clock("rank"):
        ways = rankers(model, counts, Steps.of(model) if stepwise else None)
        ranks = {name: rank(asked, ranker, vocabulary) for name, ranker in ways.items()}
    figures = {**_figures(asked, ranks, seed), "oov": _unknown(model, asked)}
    samples = tuple(_sample(asked, ranks["model"], kind) for kind in _kinds(asked))
    details = [
        _detail(question, {name: found[at] for name, found in ranks.items()}) for at, question in enumerate(asked)
    ]
    protocol = (
        f"{split.manifest['share']:.0%} of the sentences hidden (seed {split.manifest['seed']}); answers that only "
        "these support, ranked among all words of the vocabulary, other answers left out, ties at their expectation"
        f"{STEPWISE if stepwise else ''}"
    )
    return Result("execution", str(model.path), protocol, figures, (), clock.seconds, samples, details)


def _unknown(model: Model, asked: Sequence[Question]) -> float:
    """The share of the gold answers that the model does not know."""
    known = [model.knows(word) for question in asked for word in question.gold]
    return 1 - sum(known) / len(known)


def _check_trained(model: Model, split: Split) -> None:
    """The model must have learned from the open part, and from nothing else."""
    if isinstance(model.vocabulary, PlainVocabulary):
        return
    forest = model.config.get("forest", {})
    if forest.get("ud"):
        raise InputError("a vecUD model has no fields to ask by: expected a model of DCS trees", str(model.path))
    if forest.get("digest") != split.train.digest:
        raise InputError(
            f"learned from another forest than {split.train.path}, perhaps from hidden sentences: train on that",
            str(model.path),
        )


def rankers(model: Model, counts: PathCounts, steps: Steps | None = None) -> dict[str, Ranker]:
    """Ways to score all words of the vocabulary as answers."""
    words = counts.vocabulary
    candidates = Candidates.of(model, words.words, words.word_weights / words.total, steps)

    def of_trees(way: Callable[[Sequence[Tree]], Floats]) -> Ranker:
        return lambda asked: way([question.tree for question in asked])

    def by_frequency(asked: Sequence[Question]) -> Floats:
        return np.tile(words.word_weights, (len(asked), 1))

    def by_lookup(asked: Sequence[Question]) -> Floats:
        scores = np.zeros((len(asked), len(words.words)))
        for row, question in zip(scores, asked, strict=True):
            row[[words.word_id(word) for word in question.counts]] = list(question.counts.values())
        return scores

    def by_pmi(asked: Sequence[Question]) -> Floats:
        return np.array([counts.pmi(contexts(question.tree)) for question in asked])

    def by_counts(asked: Sequence[Question]) -> Floats:
        return np.array([counts.likely(contexts(question.tree)) for question in asked])

    def by_both(asked: Sequence[Question]) -> Floats:
        return HALF * of_trees(candidates.both_ways)(asked) + by_counts(asked)

    by_model, by_probability = of_trees(candidates.scores), of_trees(candidates.log_odds)
    named = (by_frequency, by_lookup, by_pmi, by_counts, by_model, by_probability, by_both)
    return dict(zip(RANKERS, named, strict=True))


def rank(asked: Sequence[Question], ranker: Ranker, vocabulary: Vocabulary) -> list[tuple[float, float]]:
    """Of each question the mean over its gold answers: expected reciprocal rank, expected hits@10."""
    possible = np.array([is_askable(word) for word in vocabulary.words])
    found = []
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        for question, scores in zip(some, ranker(some), strict=True):
            others = possible.copy()
            others[[vocabulary.word_id(word) for word in question.known]] = False
            gold = scores[[vocabulary.word_id(word) for word in sorted(question.gold)]]
            better = (scores[others][None] > gold[:, None]).sum(1)
            equal = (scores[others][None] == gold[:, None]).sum(1)
            pairs = list(zip(better.tolist(), equal.tolist(), strict=True))
            mean = [float(np.mean([one(*pair) for pair in pairs])) for one in (expected_reciprocal, _hits)]
            found.append((mean[0], mean[1]))
    return found


def _hits(better: int, equal: int) -> float:
    return expected_hits(better, equal, HITS)


def _kinds(asked: Sequence[Question]) -> list[str]:
    return [kind for kind in KINDS if any(question.kind == kind for question in asked)]


def _sample(asked: Sequence[Question], ranks: Sequence[tuple[float, float]], kind: str) -> Sample:
    of_kind = [found[0] for question, found in zip(asked, ranks, strict=True) if question.kind == kind]
    return Sample.mean(kind, np.array(of_kind))


def _figures(asked: Sequence[Question], ranks: Mapping[str, list[tuple[float, float]]], seed: int) -> dict[str, Any]:
    sets = []
    for kind in _kinds(asked):
        rows = [row for row, question in enumerate(asked) if question.kind == kind]
        by = {name: np.mean([found[row] for row in rows], axis=0) for name, found in ranks.items()}
        figures = {name: {"mrr": float(both[0]), "hits10": float(both[1])} for name, both in by.items()}
        answers = sum(len(asked[row].gold) for row in rows)
        samples = {name: _sample(asked, found, kind) for name, found in ranks.items()}
        leads = [
            {"of": one, "over": other, **difference(samples[one], samples[other], seed)}
            for one in LEADERS
            for other in RIVALS
        ]
        interval = interval95(samples["model"], seed)
        row = {"set": kind, "questions": len(rows), "answers": answers, "interval95": interval}
        sets.append({**row, "by": figures, "leads": leads})
    main = [found[0] for question, found in zip(asked, ranks["model"], strict=True) if UNSAID not in question.kind]
    return {"mrr": float(np.mean(main)), "sets": sets}


def _detail(question: Question, found: Mapping[str, tuple[float, float]]) -> dict[str, object]:
    ranks = {f"{name}_reciprocal_rank": f"{both[0]:.5f}" for name, both in found.items()}
    return {"kind": question.kind, "tree": str(question.tree), "answers": len(question.gold), **ranks}
