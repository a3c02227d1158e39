"""The small world as a benchmark: do vectors rank the true denotation of a question first?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import cut
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import ARG, BLANK, Tree
from vecdcs.errors import InputError
from vecdcs.model.model import Model
from vecdcs.model.query import hung
from vecdcs.model.steps import STEPWISE, Steps, goes_stepwise
from vecdcs.tasks.candidates import Candidates
from vecdcs.tasks.counts import Context, Words, contexts, count_paths
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


def evaluate(
    model: Model, folder: Path, seed: int = 1, forest: Forest | None = None, stepwise: bool | None = None
) -> Result:
    """Mean average precision of the true denotations of the small world, all of them and those no sentence states.

    The model ranks by probability, as `vecdcs ask` does. Beside it: its scores alone, as in the paper, and with a
    forest of its sentences what counting gives; and how far the model is ahead of each.
    """
    clock, stepwise = Clock(), goes_stepwise(model, stepwise)
    asked, names = read_world(folder)
    with clock("rank"):
        shares = model.vocabulary.word_weights[model.vocabulary.word_ids(names)] / model.vocabulary.total
        candidates = Candidates.of(model, names, shares, Steps.of(model) if stepwise else None)
        trees = [question.tree for question in asked]
        scores = {"model": candidates.log_odds(trees), "score": candidates.scores(trees)}
        if forest is not None:
            scores |= _by_counting(forest, asked, names)
            scores |= _by_counted_steps(forest, asked, names) if stepwise else {}
        found = {
            name: np.array([_precisions(*pair, names) for pair in zip(asked, rows, strict=True)])
            for name, rows in scores.items()
        }
    kinds = {kind: [row for row, one in enumerate(asked) if one.kind == kind] for kind in (one.kind for one in asked)}
    sets = [_set(kind, {name: rows[chosen] for name, rows in found.items()}, seed) for kind, chosen in kinds.items()]
    samples = [Sample.mean(kind, found["model"][chosen, 0]) for kind, chosen in kinds.items()]
    whole = Sample.mean("all", found["model"][:, 0])
    protocol = (
        "small world: all names ranked by probability; average precision of all true answers, and of those no sentence "
        f"states{STEPWISE if stepwise else ''}"
    )
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


def _by_counted_steps(forest: Forest, asked: Sequence[WorldQuestion], names: Sequence[str]) -> dict[str, Floats]:
    """Counting that goes step by step where a tree has one inner noun: over all names that this may stand for."""
    vocabulary = cut(forest.word_weights(), forest.field_weights())
    steps = [Counted.of(question.tree) for question in asked]
    wanted = [context for step in steps for some in (step.first, *step.asked(names)) for context in some]
    counts = count_paths(forest, wanted, vocabulary)
    words = vocabulary.word_ids(names).astype(np.int64)
    ways = {"pmi, stepwise": counts.pmi, "counts, stepwise": counts.likely}
    return {name: np.array([step.scores(way, names, words) for step in steps]) for name, way in ways.items()}


class Counted(NamedTuple):
    """A question for counting: what asks for the things of its inner noun, and, with one of these, for its blank."""

    first: list[Context]
    last: list[Context]
    noun: Context | None

    @classmethod
    def of(cls, tree: Tree) -> Counted:
        """The steps of a tree; with none or several inner nouns all its words ask at once."""
        tree = hung(tree, tree.blanks()[0])
        inner = [at for at, node in enumerate(tree.nodes()) if at and node.children and node.word.endswith("/N")]
        if len(inner) != 1:
            return cls([], contexts(tree), None)
        (at,) = inner
        below = range(at, at + len(tree.subtree(at)))
        first = [Context(tree.subtree(at).word, (ARG, ARG)), *contexts(tree.subtree(at).blank(0))]
        return cls(first, contexts(tree, below), Context(BLANK, tree.path(at, 0)))

    def asked(self, names: Sequence[str]) -> list[list[Context]]:
        """What asks for the blank, with each name for the inner noun."""
        return [[*self.last, self.noun._replace(word=name)] for name in names] if self.noun else [self.last]

    def scores(self, way: Callable[[Sequence[Context], Words], Floats], names: Sequence[str], words: Words) -> Floats:
        """The logarithm of the mean over all names, by their shares."""
        found = np.array([way(some, words) for some in self.asked(names)])
        shares = way(self.first, words) if self.noun else np.zeros(1)
        scores: Floats = logsumexp(found + (shares - logsumexp(shares))[:, None], axis=0)
        return scores


def _set(kind: str, found: dict[str, Floats], seed: int) -> dict[str, Any]:
    """The figures of one kind of question: by the model, and by whatever else ranked it."""
    own = Sample.mean(kind, found["model"][:, 0])
    others = {name: Sample.mean(kind, rows[:, 0]) for name, rows in found.items() if name != "model"}
    by = {name: {**_maps(found[name]), "behind": difference(own, other, seed)} for name, other in others.items()}
    row = {"set": kind, "questions": own.size, **_maps(found["model"]), "interval95": interval95(own, seed)}
    return {**row, "by": by}


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
