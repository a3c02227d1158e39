"""Selectional preference: how plausible a word is in a role, against human judgement (SP-10K)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError
from vecdcs.model.compose import telling_answers, through, word_vectors
from vecdcs.model.model import Model
from vecdcs.tasks.lemmas import as_known, ways

FOLDER = "preference"


class Role(NamedTuple):
    """A set: parts of speech of predicate and argument, and the fields (of vecUD: relations) from the latter."""

    predicate: str
    argument: str
    fields: tuple[str, ...]
    relations: tuple[str, ...]


ROLES = {
    "amod": Role("N", "J", ("SUBJ", "ARG"), ("amod",)),
    "dobj": Role("V", "N", ("ARG", "COMP"), ("obj",)),
    "nsubj": Role("V", "N", ("ARG", "SUBJ"), ("nsubj",)),
    "dobj_amod": Role("V", "J", ("SUBJ", "ARG", "ARG", "COMP"), ("amod", "obj")),
    "nsubj_amod": Role("V", "J", ("SUBJ", "ARG", "ARG", "SUBJ"), ("amod", "nsubj")),
}


def read(path: Path) -> tuple[list[tuple[str, str]], NDArray[np.float64]]:
    """Predicates with arguments, and their mean plausibility."""
    rows = list(_rows(path))
    if not rows:
        raise InputError("expected `predicate TAB argument TAB plausibility`", str(path), 1)
    return [(predicate, argument) for predicate, argument, _ in rows], np.array([rating for *_, rating in rows])


def _rows(path: Path) -> Iterator[tuple[str, str, float]]:
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            cells = line.rstrip("\r\n").split("\t")
            try:
                predicate, argument, rating = cells
                yield predicate.lower(), argument.lower(), float(rating)
            except ValueError as error:
                raise InputError("expected `predicate TAB argument TAB plausibility`", str(path), number) from error


def plausibilities(model: Model, role: Role, items: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """The mean of both questions: is the argument an answer to what the predicate asks for, and the other way round."""
    scores = np.zeros(len(items))
    for places, argument, fields in ways(model, [item[1] for item in items], role.argument, role.fields):
        predicate = as_known(model, [f"{items[place][0]}/{role.predicate}" for place in places])
        asked = through(model, word_vectors(model, argument), fields, role.relations)
        back = tuple(f"-{name}" for name in reversed(role.relations))
        answered = through(model, word_vectors(model, predicate), tuple(reversed(fields)), back)
        for query, answers in ((asked, predicate), (answered, argument)):
            scores[places] += np.einsum("ij,ij->i", query, telling_answers(model, answers)) / 2
    return scores
