"""Two models side by side: one whose matrices tell roles apart, and one without matrices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError
from vecdcs.model.model import Model, load, save


def join(path: Path, plain: Path, output: Path, share: float) -> Model:
    """Write the model that `joined` makes of two folders."""
    if output.exists():
        raise InputError("there is something here already: choose another output, or remove it", str(output))
    model, other = load(path), load(plain)
    if not model.has_matrices:
        raise InputError("expected a model with matrices first", str(path))
    if other.has_matrices:
        raise InputError("expected a model without matrices second: `vecdcs train --variant no-matrix`", str(plain))
    if _learned_from(model) != _learned_from(other):
        raise InputError(f"its words, fields or text are not those of {path}: train both on one forest", str(plain))
    if model.steps is not None or other.steps is not None:
        raise InputError("expected models as they were learned: join first, then pack", str(path))
    save(joined(model, other, share), output, [])
    return load(output)


def joined(model: Model, plain: Model, share: float) -> Model:
    """The vectors of both end to end, those without matrices `share` times as long; fields turn the others alone.

    So a score is the sum of both models' scores, the second one times the square of `share`.
    """
    config = {**model.config, "joined": {"plan": plain.config.get("plan"), "share": share}}
    query, answer = _side_by_side(model.query, plain.query, share), _side_by_side(model.answer, plain.answer, share)
    return replace(model, query=query, answer=answer, config=config, path=None)


def _learned_from(model: Model) -> tuple[object, ...]:
    """What guards against leaks look at must be true of both parts."""
    return model.vocabulary.words, model.vocabulary.fields, model.config.get("forest"), model.config.get("sources")


def _side_by_side(vectors: NDArray[np.float32], others: NDArray[np.float32], share: float) -> NDArray[np.float32]:
    return np.concatenate([vectors, np.float32(share) * others], 1)
