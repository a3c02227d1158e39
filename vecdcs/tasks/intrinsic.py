"""What the space itself shows: neighbours, matrices, and words sent through them (paper, section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import UNKNOWN
from vecdcs.errors import InputError
from vecdcs.model.compose import project, word_vectors
from vecdcs.model.inspect import PAPER_FIELDS, PAPER_RELATIONS, matrix_errors, same_pos_share
from vecdcs.model.model import Model, unit
from vecdcs.tasks.result import Clock, Result
from vecdcs.tasks.vectors import PlainVocabulary

WORDS = ("book/N", "house/N", "learn/V")
TOP = 10
DRAWN_WORDS = 400

# Table 2 for any word of a part of speech: fields in pairs, M of the first and the inverse of the second.
FIELDS = {
    "N": (("ARG", "SUBJ"), ("ARG", "COMP"), ("in", "ARG")),
    "V": (("SUBJ", "ARG"), ("COMP", "ARG"), ("ARG", "about")),
    "J": (("SUBJ", "ARG"),),
}
# The same for vecUD: up through M of a relation, or down through its inverse.
RELATIONS = {
    "N": (("nsubj", True), ("obj", True), ("amod", False)),
    "V": (("nsubj", False), ("obj", False), ("obl", False)),
    "J": (("amod", True),),
}

Vectors = NDArray[np.float32]


def evaluate(model: Model, words: Sequence[str] = WORDS) -> Result:
    """Same part of speech among neighbours, how orthogonal the matrices are, tables 1 and 2 for some words."""
    clock = Clock()
    plain = isinstance(model.vocabulary, PlainVocabulary)
    known = [word for word in words if model.knows(word)]
    with clock("inspect"):
        figures: dict[str, Any] = {
            "same_pos_share": None if plain else same_pos_share(model),
            "matrices": [matrix_errors(model, name) for name in _named(model)],
            "neighbours": {word: neighbours(model, word) for word in known},
            "transformed": [row for word in known for row in transformed(model, word)],
        }
    protocol = f"cosines of query vectors, {TOP} nearest; query vectors through matrices . answer vectors"
    missing = tuple(word for word in words if word not in known)
    details = [
        *(_details(word, "neighbours", found) for word, found in figures["neighbours"].items()),
        *(_details(row["word"], row["fields"], row["answers"]) for row in figures["transformed"]),
    ]
    rows = [row for some in details for row in some]
    return Result("intrinsic", str(model.path), protocol, figures, missing, clock.seconds, details=rows)


def _details(word: str, way: str, found: Sequence[str]) -> list[dict[str, object]]:
    return [{"word": word, "by": way, "rank": at, "found": one} for at, one in enumerate(found, 1)]


def _named(model: Model) -> list[str]:
    """The fields that the paper tells about, as far as the model has matrices for them."""
    fields = model.vocabulary.field_index if model.has_matrices else {}
    return [name for name in (PAPER_RELATIONS if _ud(model) else PAPER_FIELDS) if name in fields]


def _ud(model: Model) -> bool:
    return bool(model.config.get("forest", {}).get("ud"))


def neighbours(model: Model, word: str, top: int = TOP) -> list[str]:
    """The words of the nearest query vectors (table 1)."""
    return _best(model, model.query, word_vectors(model, [word])[0], top, without=model.vocabulary.word_id(word))


def transformed(model: Model, word: str, top: int = TOP) -> list[dict[str, Any]]:
    """The best answers to a word sent through the fields of table 2."""
    if not model.has_matrices:
        return []
    pos = word.rpartition("/")[2]
    vector = word_vectors(model, [word])
    ways: list[tuple[str, Vectors]] = []
    if _ud(model):
        for name, up in RELATIONS.get(pos, ()):
            ways.append(
                (f"{name} {'up' if up else 'down'}", vector @ (model.matrix(name) if up else model.inverse(name)))
            )
    else:
        ways = [(" ".join(fields), project(model, vector, fields)) for fields in FIELDS.get(pos, ())]
    return [{"word": word, "fields": name, "answers": _best(model, model.answer, way[0], top)} for name, way in ways]


def _best(model: Model, table: Vectors, vector: Vectors, top: int, without: int = -1) -> list[str]:
    scores = unit(np.asarray(table, np.float32)) @ vector
    order = np.argsort(-scores, kind="stable")[: top + len(UNKNOWN)]
    words = (model.vocabulary.words[at] for at in order if at != without)
    return [word for word in words if not word.startswith(UNKNOWN)][:top]


def draw(model: Model, target: Path) -> None:
    """How far each matrix is from orthogonal and from its inverse, and the words in the plane, by part of speech."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("drawing needs matplotlib: pip install 'vecdcs[plot]'") from error
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = [matrix_errors(model, name) for name in _named(model)]
    places = np.arange(len(rows))
    for shift, what in ((-0.2, "orthogonality_error"), (0.2, "inverse_error")):
        left.bar(places + shift, [row[what] for row in rows], 0.4, label=what.replace("_", " "))
    left.set_xticks(places, [row["field"] for row in rows], rotation=45)
    left.legend()
    for pos, points in _plane(model).items():
        right.scatter(*points.T, s=8, label=pos)
    right.set_title("frequent words by part of speech")
    right.legend()
    figure.savefig(target)


def _plane(model: Model) -> dict[str, Vectors]:
    """The most frequent words on the two main axes of their query vectors, by part of speech."""
    words = [at for at, word in enumerate(model.vocabulary.words) if not word.startswith(UNKNOWN)][:DRAWN_WORDS]
    vectors = unit(np.asarray(model.query[words], np.float32))
    centred = vectors - vectors.mean(0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    pos = np.array([model.vocabulary.words[at].rpartition("/")[2] for at in words])
    return {str(one): np.asarray(centred[pos == one] @ axes.T, np.float32) for one in np.unique(pos)}
