"""A training run that may be killed at any point: checkpoints by time, and the same bytes in the end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import Vocabulary, cut
from vecdcs.errors import InputError, VecdcsError
from vecdcs.learn import tensors
from vecdcs.learn.averaging import Averager, Averaging
from vecdcs.learn.recipes import Plan
from vecdcs.learn.trainer import Position, Report, State, Trainer, orthogonal

POSITION, METRICS = "position.json", "metrics.jsonl"
METRIC_LINES = 500


class Options(NamedTuple):
    """How a run is run; none of this changes its result."""

    workers: int = 1
    every: float = 300.0
    time_limit: float | None = None


AS_USUAL = Options()


@dataclass
class Metrics:
    """Loss and rate at even distances, the same for every run of a plan; `pending` sums what has no line yet."""

    apart: float
    lines: list[dict[str, float]] = field(default_factory=list)
    pending: tuple[float, int] = (0.0, 0)

    def add(self, report: Report) -> None:
        loss, paths = self.pending[0] + report.loss * report.paths, self.pending[1] + report.paths
        self.pending = loss, paths
        if paths >= self.apart:
            where = {"paths": report.position.paths, "epoch": report.position.epoch}
            self.lines.append({**where, "loss": round(loss / paths, 6), "rate": report.rate})
            self.pending = 0.0, 0


@dataclass(frozen=True)
class Outcome:
    """What training gave: the learned state, the vocabulary, the curve, whether it came to its end, and its actors."""

    state: State
    vocabulary: Vocabulary
    metrics: list[dict[str, float]]
    position: Position
    finished: bool
    averaging: dict[str, Any] | None = None


Watch = Callable[[Report, float], None]


def train(
    forest: Forest,
    plan: Plan,
    vocabulary: Vocabulary,
    work: Path,
    options: Options = AS_USUAL,
    watch: Watch = lambda report, total: None,
    averaging: Averaging | None = None,
) -> Outcome:
    """Train, or go on from the last checkpoint in the folder `work`; `watch` sees every step, or round of actors."""
    check_forest(forest, plan)
    trainer: Trainer | Averager = Trainer(plan, vocabulary, forest, options.workers)
    if averaging:
        trainer = Averager(plan, vocabulary, replace(forest, path=forest.path.resolve()), averaging)
    account = trainer.as_dict() if isinstance(trainer, Averager) else None
    metrics = Metrics(trainer.total / METRIC_LINES)
    sizes = {"words": len(vocabulary.words), "fields": len(vocabulary.fields)}
    identity = {"plan": plan.as_dict(), "forest": forest.digest, "vocabulary": sizes, "averaging": account}
    work.mkdir(parents=True, exist_ok=True)
    position = _resume(work, identity, trainer.state, metrics)
    saved = started = monotonic()
    for report in _guarded(trainer.run(position), work):
        position = report.position
        metrics.add(report)
        watch(report, trainer.total)
        now = monotonic()
        late = options.time_limit is not None and now - started >= options.time_limit
        if late or now - saved >= options.every:
            _save(work, identity, trainer.state, metrics, position)
            saved = monotonic()
        if late:
            return Outcome(finished(trainer.state, plan), vocabulary, metrics.lines, position, False, account)
    return Outcome(finished(trainer.state, plan), vocabulary, metrics.lines, position, True, account)


def check_forest(forest: Forest, plan: Plan) -> None:
    """A vecUD model needs a vecUD forest, the others a DCS forest; without matrices either will do."""
    if plan.variant != "no-matrix" and forest.ud != (plan.variant == "ud"):
        kind, flag = ("vecUD", "") if forest.ud else ("DCS", " --ud")
        advice = f"build one with `vecdcs build{flag}`"
        raise InputError(f"variant {plan.variant} cannot learn from a {kind} forest: {advice}", str(forest.path))


def vocabulary_of(forest: Forest, min_word: float | None = None, min_field: float | None = None) -> Vocabulary:
    """The vocabulary of a forest, cut at these weights."""
    return cut(forest.word_weights(), forest.field_weights(), min_word, min_field)


def finished(state: State, plan: Plan) -> State:
    """The state as it is published: what drifted a little is made orthogonal to the last bit."""
    model = state.parameters
    if not plan.recipe.orthogonal:
        return state
    return State(model._replace(matrix=orthogonal(model.matrix)), state.uses)


def _guarded(reports: Iterator[Report], work: Path) -> Iterator[Report]:
    """An error in training says that the last checkpoint is whole."""
    try:
        yield from reports
    except VecdcsError as error:
        kept = f"; the checkpoint in {work} is from before" if (work / POSITION).exists() else ""
        raise VecdcsError(f"{error}{kept}") from error


def _save(work: Path, identity: dict[str, Any], state: State, metrics: Metrics, position: Position) -> None:
    """Write the state beside the old one, then name it in the position file, then drop the old one."""
    arrays = state.arrays()
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(np.sum(array, dtype=np.float64)):
            raise VecdcsError(f"{name} is not finite after {position.paths:,} paths: training has diverged")
    name = f"state-{position.paths:015d}.safetensors"
    where = {
        "identity": identity,
        "position": position._asdict(),
        "state": name,
        "metrics": {"lines": metrics.lines, "pending": metrics.pending},
    }
    try:
        tensors.write(work / name, arrays)
        replace_text(work / POSITION, json.dumps(where))
    except OSError as error:
        if (work / POSITION).exists() and _read(work)["state"] != name:
            (work / name).unlink(missing_ok=True)
        kept = f"no checkpoint could be written ({error.strerror}); the one before is whole"
        raise VecdcsError(f"{work}: {kept}") from error
    for old in work.glob("state-*.safetensors"):
        if old.name != name:
            old.unlink()


def _resume(work: Path, identity: dict[str, Any], state: State, metrics: Metrics) -> Position:
    """Fill the state from the last checkpoint, if there is one, after making sure that it is of the same run."""
    if not (work / POSITION).exists():
        return Position()
    where = _read(work)
    for what, was, now in _differences(where["identity"], json.loads(json.dumps(identity))):
        raise InputError(
            f"training here began with {what} = {was}, now it is {now}: "
            "give the same command to go on, or remove the folder to begin anew",
            str(work),
        )
    stored = tensors.mapped(work / where["state"])
    for name, array in state.arrays().items():
        array[...] = stored[name]
    metrics.lines, metrics.pending = where["metrics"]["lines"], tuple(where["metrics"]["pending"])
    return Position(**where["position"])


def _read(work: Path) -> dict[str, Any]:
    try:
        where: dict[str, Any] = json.loads((work / POSITION).read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", str(work / POSITION)) from error
    return where


def _differences(old: dict[str, Any], new: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name in new:
        if isinstance(new[name], dict) and isinstance(old.get(name), dict):
            yield from _differences(old[name], new[name], f"{within}{name}.")
        elif old.get(name) != new[name]:
            yield within + name, old.get(name), new[name]


def replace_text(path: Path, text: str) -> None:
    """Write a file aside and put it in place."""
    aside = path.with_name(path.name + ".new")
    with aside.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    aside.replace(path)
