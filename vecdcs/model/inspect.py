"""What a model learned about its space: how orthogonal its matrices are, how its words cluster by part of speech."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import UNKNOWN
from vecdcs.errors import InputError
from vecdcs.model.model import METRICS, Model, unit

# The fields section 5.1 of the paper names: "exactly" orthogonal, and remarkably close; and those of vecUD.
PAPER_FIELDS = ("ARG", "SUBJ", "COMP", "of", "in", "to", "for", "with", "on", "as", "at", "from")
PAPER_RELATIONS = ("conj", "dep", "appos")
PROBED_WORDS, NEIGHBOURS = 2000, 10


def inspection(model: Model, every: bool = False) -> dict[str, Any]:
    """Everything `vecdcs inspect` tells."""
    plan = model.config.get("plan", {})
    return {
        "variant": plan.get("variant"),
        "recipe": plan.get("recipe", {}).get("name"),
        "dim": model.dim,
        "words": len(model.vocabulary.words),
        "fields": len(model.vocabulary.fields),
        "paths": model.config.get("paths"),
        "finished": model.config.get("finished"),
        "same_pos_share": same_pos_share(model),
        "matrices": [matrix_errors(model, name) for name in _names(model, every)],
    }


def _names(model: Model, every: bool) -> list[str]:
    if not model.has_matrices:
        return []
    if every:
        return list(model.vocabulary.fields)
    wanted = PAPER_RELATIONS if model.config.get("forest", {}).get("ud") else PAPER_FIELDS
    return [name for name in wanted if name in model.vocabulary.field_index]


def matrix_errors(model: Model, name: str) -> dict[str, Any]:
    """|M^T M - cI| and |M^-1 M - cI| over |cI|, c by the trace; both 0 by construction where M is kept orthogonal.

    `weight`: of the field in the text, as under the paper's recipe both fall with the times a field is used.
    """
    matrix, inverse = model.matrix(name).astype(np.float64), model.inverse(name).astype(np.float64)
    plan = model.config.get("plan", {})
    return {
        "field": name,
        "weight": float(model.vocabulary.field_weights[model.vocabulary.field_index[name]]),
        "orthogonality_error": off_identity(matrix.T @ matrix),
        "inverse_error": off_identity(inverse @ matrix),
        "orthogonal_by_construction": bool(plan.get("recipe", {}).get("orthogonal")),
        "inverse_by_construction": model.inverses is None,
    }


def off_identity(matrix: NDArray[np.float64]) -> float:
    """|X - cI| / |cI| with c = tr(X)/d."""
    scale = np.trace(matrix) / len(matrix)
    return float(np.linalg.norm(matrix - scale * np.eye(len(matrix))) / (abs(scale) * np.sqrt(len(matrix)) + 1e-30))


def same_pos_share(model: Model, words: int = PROBED_WORDS, neighbours: int = NEIGHBOURS) -> float:
    """The share of words of the same part of speech among the nearest of the most frequent words, by query vectors."""
    known = [i for i, word in enumerate(model.vocabulary.words) if not word.startswith(UNKNOWN)]
    pos = np.array([model.vocabulary.words[i].rpartition("/")[2] for i in known])
    vectors = unit(model.query[known])
    same = []
    for start in range(0, min(words, len(known)), 256):
        some = np.arange(start, min(start + 256, words, len(known)))
        near = vectors[some] @ vectors.T
        near[np.arange(len(some)), some] = -np.inf
        count = min(neighbours, len(known) - 1)
        nearest = np.argpartition(-near, count - 1, axis=1)[:, :count]
        same.append((pos[nearest] == pos[some, None]).mean(1))
    return float(np.concatenate(same).mean())


def as_text(found: dict[str, Any]) -> str:
    """The inspection as lines to read."""
    lines = [
        f"variant {found['variant']}, recipe {found['recipe']}, {found['dim']} dimensions",
        f"{found['words']:,} words, {found['fields']:,} fields, {found['paths']:,} paths"
        + ("" if found["finished"] else " (training was stopped by a time limit)"),
        f"same part of speech among the {NEIGHBOURS} nearest: {found['same_pos_share']:.3f}",
    ]
    if found["matrices"]:
        lines += ["", f"{'field':<16}{'weight':>12}{'|MtM - cI|/|cI|':>18}{'|M-1M - cI|/|cI|':>18}"]
    for row in found["matrices"]:
        marks = [" *" if row[f"{what}_by_construction"] else "  " for what in ("orthogonal", "inverse")]
        errors = [row["orthogonality_error"], row["inverse_error"]]
        columns = "".join(f"{error:>16.6f}{mark}" for error, mark in zip(errors, marks, strict=True))
        lines.append(f"{row['field']:<16}{row['weight']:>12,.0f}{columns}")
    if any(row["orthogonal_by_construction"] or row["inverse_by_construction"] for row in found["matrices"]):
        lines.append("* by construction")
    return "\n".join(lines)


def draw_curves(model: Model, target: Path) -> None:
    """Loss and learning rate against the paths seen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("drawing needs matplotlib: pip install 'vecdcs[plot]'") from error
    if model.path is None:
        raise InputError("only a saved model has curves")
    rows = [json.loads(line) for line in (model.path / METRICS).read_text("utf-8").splitlines()]
    figure = Figure(figsize=(7, 5), layout="constrained")
    for axes, what in zip(figure.subplots(2, 1, sharex=True), ("loss", "rate"), strict=True):
        axes.plot([row["paths"] for row in rows], [row[what] for row in rows])
        axes.set_ylabel(what)
    figure.axes[-1].set_xlabel("paths")
    figure.savefig(target)
