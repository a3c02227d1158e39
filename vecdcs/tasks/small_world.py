"""The small world as a benchmark: do vectors rank the true denotation of a question first?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import cut
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.model.compose import answer_vectors
from vecdcs.model.model import Model
from vecdcs.model.steps import STEPWISE, Steps
from vecdcs.tasks.completion import blank_vectors
from vecdcs.tasks.counts import contexts, count_paths
from vecdcs.tasks.ranking import average_precision
from vecdcs.tasks.result import Clock, Result, Sample, difference, interval95
from vecdcs.world.world import World

Floats = NDArray[np.float64]


class WorldQuestion(NamedTuple):
    """A question about the small world: all its answers, and those that the sentences state."""

    kind: str
    tree: Tree
    answers: frozenset[str]
    stated: frozenset[str]


def evaluate(model: Model, folder: Path, seed: int = 1, forest: Forest | None = None, stepwise: bool = False) -> Result:
    """Mean average precision of the true denotations of the small world, all of them and those no sentence states.

    With a forest of its sentences also what counting gives, and how far the model is ahead of that.
    """
    clock = Clock()
    asked, names = read_world(folder)
    with clock("rank"):
        answers = answer_vectors(model, names)
        steps = Steps.of(model) if stepwise else None
        by_model = blank_vectors(model, [question.tree for question in asked], steps) @ answers.T
        scores = {"model": np.asarray(by_model, np.float64)}
        if forest is not None:
            scores |= _by_counting(forest, asked, names)
        found = {
            name: np.array([_precisions(*pair, names) for pair in zip(asked, rows, strict=True)])
            for name, rows in scores.items()
        }
    kinds = {kind: [row for row, one in enumerate(asked) if one.kind == kind] for kind in (one.kind for one in asked)}
    sets = [_set(kind, {name: rows[chosen] for name, rows in found.items()}, seed) for kind, chosen in kinds.items()]
    samples = [Sample.mean(kind, found["model"][chosen, 0]) for kind, chosen in kinds.items()]
    whole = Sample.mean("all", found["model"][:, 0])
    protocol = "small world: all names ranked; average precision of all true answers, and of those no sentence states"
    protocol += STEPWISE if stepwise else ""
    oov = 1 - sum(map(model.knows, names)) / len(names)
    overall: dict[str, Any] = {"map": whole.value, "interval95": interval95(whole, seed), "oov": oov, "sets": sets}
    details = [
        {"kind": question.kind, "tree": str(question.tree), "average_precision": f"{precision:.5f}"}
        for question, precision in zip(asked, found["model"][:, 0], strict=True)
    ]
    return Result("execution", str(model.path), protocol, overall, (), clock.seconds, (*samples, whole), details)


def _by_counting(forest: Forest, asked: Sequence[WorldQuestion], names: Sequence[str]) -> dict[str, Floats]:
    vocabulary = cut(forest.word_weights(), forest.field_weights())
    around = [contexts(question.tree) for question in asked]
    counts = count_paths(forest, [context for some in around for context in some], vocabulary)
    words = vocabulary.word_ids(names).astype(np.int64)
    ways = {"pmi": counts.pmi, "counts": counts.likely}
    return {name: np.array([way(some, words) for some in around]) for name, way in ways.items()}


def _set(kind: str, found: dict[str, Floats], seed: int) -> dict[str, Any]:
    """The figures of one kind of question: by the model, and by whatever else ranked it."""
    own = Sample.mean(kind, found["model"][:, 0])
    others = {name: Sample.mean(kind, rows[:, 0]) for name, rows in found.items() if name != "model"}
    by = {name: {**_maps(found[name]), "behind": difference(own, other, seed)} for name, other in others.items()}
    row = {"set": kind, "questions": own.size, **_maps(found["model"]), "interval95": interval95(own, seed)}
    return {**row, "by": by} if by else row


def _maps(precisions: Floats) -> dict[str, float | None]:
    unsaid = precisions[:, 1][~np.isnan(precisions[:, 1])]
    return {"map": float(precisions[:, 0].mean()), "map_unsaid": float(unsaid.mean()) if len(unsaid) else None}


def _precisions(question: WorldQuestion, row: Floats, names: Sequence[str]) -> tuple[float, float]:
    """Average precision of all answers, and of the unsaid ones when the stated ones are left out."""
    scores = dict(zip(names, row.tolist(), strict=True))
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
