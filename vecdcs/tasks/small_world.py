"""The small world as a benchmark: do vectors rank the true denotation of a question first?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.model.model import Model, unit
from vecdcs.tasks.completion import blank_vectors
from vecdcs.tasks.ranking import average_precision
from vecdcs.tasks.result import Clock, Result, Sample, interval95
from vecdcs.world.world import World

Floats = NDArray[np.float64]


class WorldQuestion(NamedTuple):
    """A question about the small world: all its answers, and those that the sentences state."""

    kind: str
    tree: Tree
    answers: frozenset[str]
    stated: frozenset[str]


def evaluate(model: Model, folder: Path, seed: int = 1) -> Result:
    """Mean average precision of the true denotations of the small world, all of them and those no sentence states."""
    clock = Clock()
    asked, names = read_world(folder)
    with clock("rank"):
        answers = unit(np.asarray(model.answer[model.vocabulary.word_ids(names)], np.float32))
        scores = blank_vectors(model, [question.tree for question in asked]) @ answers.T
        rows = [
            (question.kind, *_precisions(question, dict(zip(names, row.tolist(), strict=True))))
            for question, row in zip(asked, scores, strict=True)
        ]
    samples, sets = [], []
    for kind in dict.fromkeys(question.kind for question in asked):
        chosen = np.array([row[1:] for row in rows if row[0] == kind])
        samples.append(_sample(kind, chosen[:, 0]))
        unsaid = chosen[:, 1][~np.isnan(chosen[:, 1])]
        figures = {"map": samples[-1].value, "map_unsaid": float(unsaid.mean()) if len(unsaid) else None}
        sets.append({"set": kind, "questions": len(chosen), **figures, "interval95": interval95(samples[-1], seed)})
    whole = _sample("all", np.array([row[1] for row in rows]))
    protocol = "small world: all names ranked; average precision of all true answers, and of those no sentence states"
    oov = 1 - sum(map(model.knows, names)) / len(names)
    overall: dict[str, Any] = {"map": whole.value, "interval95": interval95(whole, seed), "oov": oov, "sets": sets}
    details = [
        {"kind": question.kind, "tree": str(question.tree), "average_precision": f"{row[1]:.5f}"}
        for question, row in zip(asked, rows, strict=True)
    ]
    return Result("execution", str(model.path), protocol, overall, (), clock.seconds, (*samples, whole), details)


def _sample(name: str, values: Floats) -> Sample:
    return Sample(name, len(values), lambda rows: float(values[rows].mean()))


def _precisions(question: WorldQuestion, scores: dict[str, float]) -> tuple[float, float]:
    """Average precision of all answers, and of the unsaid ones when the stated ones are left out."""
    unsaid = question.answers - question.stated
    left = {name: score for name, score in scores.items() if name not in question.stated}
    return average_precision(scores, question.answers), average_precision(left, unsaid) if unsaid else np.nan


def read_world(folder: Path) -> tuple[list[WorldQuestion], list[str]]:
    """The questions of a small world on disk, and all names there are in it."""
    path = folder / "queries.jsonl"
    if not path.is_file():
        raise InputError("no small world here: `vecdcs world` makes one", str(folder))
    seed = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["seed"]
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            words = [frozenset(f"{name}/N" for name in row[key]) for key in ("answers", "stated")]
            found.append(WorldQuestion(row["kind"], parse(row["tree"]), words[0], words[1]))
        except (ValueError, KeyError) as error:
            raise InputError("expected a question with kind, tree, answers and stated", str(path), number) from error
    return found, [f"{entity.name}/N" for entity in World.make(seed).entities]
