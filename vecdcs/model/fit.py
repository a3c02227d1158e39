"""From a forest to a model folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.roles import roles_of
from vecdcs.errors import InputError, VecdcsError
from vecdcs.learn import blas
from vecdcs.learn.averaging import Averaging
from vecdcs.learn.recipes import Plan
from vecdcs.learn.session import AS_USUAL, Options, Outcome, Watch, train, vocabulary_of
from vecdcs.model.model import MANIFEST, Model, load, save


def fit(
    forest: Forest,
    output: Path,
    plan: Plan,
    options: Options = AS_USUAL,
    min_word: float | None = None,
    min_field: float | None = None,
    watch: Watch = lambda report, total: None,
    averaging: Averaging | None = None,
) -> Model:
    """Train a model into a folder; interrupted, the same call goes on from its last checkpoint beside that folder."""
    work = output.with_name(output.name + ".training")
    if output.exists() and not work.exists():
        what = "there is a model here already" if (output / MANIFEST).is_file() else "the folder is in the way"
        raise InputError(f"{what}: choose another output, or remove it", str(output))
    blas.pin()
    outcome = train(forest, plan, vocabulary_of(forest, min_word, min_field), work, options, watch, averaging)
    try:
        save(as_model(outcome, plan, forest), output, outcome.metrics)
    except OSError as error:
        raise VecdcsError(f"{output}: the model could not be written ({error.strerror})") from error
    if outcome.finished:
        shutil.rmtree(work)
    return load(output)


def as_model(outcome: Outcome, plan: Plan, forest: Forest) -> Model:
    """What was learned, with an account of how."""
    learned = outcome.state.parameters
    matrices, inverses = learned.matrix, None
    if not plan.tied:
        matrices, inverses = learned.matrix[0::2], learned.matrix[1::2]
    config = {
        "plan": plan.as_dict(),
        "paths": outcome.position.paths,
        "finished": outcome.finished,
        "forest": {"digest": forest.digest, "ud": forest.ud, **forest.totals},
        "sources": sorted({Path(name).name for name in forest.manifest["sources"]}),
    }
    if outcome.averaging:
        config["averaging"] = {**outcome.averaging, "rounds": outcome.position.step}
    roles = None if forest.ud else roles_of(forest, outcome.vocabulary)
    return Model(outcome.vocabulary, learned.query, learned.answer, matrices, inverses, config, roles=roles)
