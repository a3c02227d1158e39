"""By what to rank answers: how much of the prior, P(word) and its role, should count beside the score.

Questions are drawn from a forest that a model has not seen, and their gold answers are those that no sentence of its
own forest supports (`vecdcs evaluate execution`, but with two forests). For each share of the calibrated prior: mean
reciprocal rank and hits@10 of the gold answers, and of how many different words the ten best answers of all questions
are made. Share 0 is ranking by score, 1 by probability, 0.5 balanced; answers are asked back with any share but 0.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.split import Split
from vecdcs.model.ask import load
from vecdcs.model.search import log_odds
from vecdcs.tasks.execution import rank
from vecdcs.tasks.questions import Question, is_askable, questions

SHARES = (0.0, 0.5, 1.0, 1.5, 2.0)


def measure(folder: Path, own: Forest, unseen: Forest, count: int, seed: int) -> dict[str, dict[str, list[float]]]:
    """MRR and hits@10 by share and kind of question, and the number of different words among the answers."""
    model = load(folder)
    asked = questions(Split(folder, own, unseen, {}), model.vocabulary, count, seed)
    calibration, space = model.calibration, model.answer_space
    without = replace(calibration, prior=0.0, role=0.0, kind=0.0)
    possible = np.array([is_askable(word) for word in model.vocabulary.words])
    found: dict[str, dict[str, list[float]]] = {}
    for share in SHARES:

        def ranker(some: Sequence[Question], share: float = share) -> np.ndarray:
            questions = model.ask_many([question.tree for question in some], stepwise=False)
            scores, lean = space.scores(model.vectors(questions)), model.leanings(questions)
            if not share:
                return scores.astype(np.float64)
            told, odds = (np.nan_to_num(log_odds(space, scores, one, lean), neginf=0) for one in (without, calibration))
            return np.asarray(told + share * (odds - told), np.float64)

        ranks = rank(asked, ranker, model.vocabulary)
        by_kind: dict[str, list[tuple[float, float]]] = {"all": ranks}
        for question, both in zip(asked, ranks, strict=True):
            by_kind.setdefault(question.kind, []).append(both)
        scores = np.where(possible, ranker(asked), -np.inf)
        best = np.argpartition(-scores, 9, axis=1)[:, :10]
        means = {kind: [round(float(value), 4) for value in np.mean(some, axis=0)] for kind, some in by_kind.items()}
        found[str(share)] = {**means, "different": [len(np.unique(best)), best.size]}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--own", type=Path, required=True, help="The forest that the model learned from.")
    parser.add_argument("--unseen", type=Path, required=True, help="A forest with other sentences.")
    parser.add_argument("--questions", type=int, default=150, help="Of each kind.")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    forests = (Forest.open(options.own), Forest.open(options.unseen))
    print(json.dumps(measure(options.model, *forests, options.questions, options.seed), indent=1))


if __name__ == "__main__":
    main()
