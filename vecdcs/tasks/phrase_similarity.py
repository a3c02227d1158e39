"""Phrase similarity: cosines of composed query vectors against human ratings (paper, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError
from vecdcs.model.compose import through, word_vectors
from vecdcs.model.likeness import Likeness
from vecdcs.model.model import Model
from vecdcs.tasks.lemmas import ways
from vecdcs.tasks.spearman import distinct

FOLDER = "phrase_similarity"


class Term(NamedTuple):
    """A word of a phrase: its column, part of speech, the fields (of vecUD: relations) to the head, and its share."""

    column: int
    pos: str
    fields: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    share: float = 1.0


class Layout(NamedTuple):
    """A file of ratings: its columns, those of either phrase, that of the rating; and how phrases are composed."""

    file: str
    header: str
    phrases: tuple[tuple[str, ...], tuple[str, ...]]
    rating: str
    terms: tuple[Term, ...]
    only: tuple[str, str] | None = None


MITCHELL = "participant type ver s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating"
CLAUSE = (Term(0, "N", ("ARG", "SUBJ"), ("nsubj",), 0.5), Term(1, "V"), Term(2, "N", ("ARG", "COMP"), ("obj",), 0.5))
TWO = (("s1lemma1", "s1lemma2"), ("s2lemma1", "s2lemma2"))

# Shares are those of equation (4).
LAYOUTS = {
    "AN": Layout(
        "mitchell_data.txt",
        MITCHELL,
        TWO,
        "rating",
        (Term(0, "J", ("SUBJ", "ARG"), ("amod",)), Term(1, "N")),
        ("type", "adjectivenouns"),
    ),
    "NN": Layout(
        "mitchell_data.txt",
        MITCHELL,
        TWO,
        "rating",
        (Term(0, "N", ("ARG", "ARG"), ("compound",)), Term(1, "N")),
        ("type", "compoundnouns"),
    ),
    "VO": Layout(
        "mitchell_data.txt",
        MITCHELL,
        TWO,
        "rating",
        (Term(0, "N", ("ARG", "COMP"), ("obj",)), Term(1, "V")),
        ("type", "verbobjects"),
    ),
    "SVO": Layout(
        "svo_diff_emnlp2013_turk.txt",
        "annotator subject1 verb1 object1 subject2 verb2 object2 score",
        (("subject1", "verb1", "object1"), ("subject2", "verb2", "object2")),
        "score",
        CLAUSE,
    ),
    "GS11": Layout(
        "GS2011data.txt",
        "participant verb subject object landmark input hilo",
        (("subject", "verb", "object"), ("subject", "landmark", "object")),
        "input",
        CLAUSE,
    ),
    "GS12": Layout(
        "GS2012data.txt",
        "sentence_id annotator_id adj_subj subj landmark verb adj_obj obj annotator_score",
        (("adj_subj", "subj", "verb", "adj_obj", "obj"), ("adj_subj", "subj", "landmark", "adj_obj", "obj")),
        "annotator_score",
        (
            Term(0, "J", ("SUBJ", "ARG", "ARG", "SUBJ"), ("amod", "nsubj"), 0.5),
            Term(1, "N", ("ARG", "SUBJ"), ("nsubj",), 0.5),
            Term(2, "V"),
            Term(3, "J", ("SUBJ", "ARG", "ARG", "COMP"), ("amod", "obj"), 0.5),
            Term(4, "N", ("ARG", "COMP"), ("obj",), 0.5),
        ),
    ),
}


class Ratings(NamedTuple):
    """The different phrase pairs (words of the first phrase, then of the second), and single ratings of them."""

    pairs: list[tuple[str, ...]]
    pair: NDArray[np.int64]
    rating: NDArray[np.float64]


def read(path: Path, layout: Layout) -> Ratings:
    """The ratings of one set."""
    rows = list(_rows(path, layout))
    pairs, pair = distinct([words for words, _ in rows])
    return Ratings(pairs, pair, np.array([rating for _, rating in rows]))


def _rows(path: Path, layout: Layout) -> Iterator[tuple[tuple[str, ...], float]]:
    columns = layout.header.split()
    wanted = [columns.index(name) for name in (*layout.phrases[0], *layout.phrases[1])]
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            cells = line.split()
            if number == 1 or not cells:
                if number == 1 and cells != columns:
                    raise InputError(f"expected the header `{layout.header}`", str(path), 1)
                continue
            try:
                rating = float(cells[columns.index(layout.rating)])
                if len(cells) != len(columns):
                    raise ValueError(f"{len(cells)} columns")
            except (ValueError, IndexError) as error:
                raise InputError(
                    f"expected {len(columns)} columns with a number as `{layout.rating}`", str(path), number
                ) from error
            if layout.only is None or cells[columns.index(layout.only[0])] == layout.only[1]:
                yield tuple(cells[column].lower() for column in wanted), rating


def compose(
    model: Model, phrases: Sequence[Sequence[str]], terms: Sequence[Term], plain_sum: bool = False
) -> NDArray[np.float32]:
    """The query vectors of phrases of one shape; `plain_sum` gives all terms the same share."""
    total = np.zeros((len(phrases), model.dim), np.float32)
    for term in terms:
        share = 1.0 if plain_sum else term.share
        for places, found, fields in ways(model, [phrase[term.column] for phrase in phrases], term.pos, term.fields):
            total[places] += share * through(model, word_vectors(model, found), fields, term.relations)
    return total


def similarities(
    likeness: Likeness[Model], layout: Layout, pairs: Sequence[Sequence[str]], plain_sum: bool = False
) -> NDArray[np.float64]:
    """The cosines of pairs of phrases."""
    width = len(layout.phrases[0])
    phrases = [pair[:width] for pair in pairs] + [pair[width:] for pair in pairs]
    vectors = likeness.vectors(lambda model: compose(model, phrases, layout.terms, plain_sum))
    return np.asarray(np.einsum("ij,ij->i", vectors[: len(pairs)], vectors[len(pairs) :]), np.float64)


def words(layout: Layout, pairs: Sequence[Sequence[str]]) -> set[str]:
    """The words of pairs of phrases, with the part of speech that their place implies."""
    width = len(layout.phrases[0])
    return {f"{pair[term.column + side]}/{term.pos}" for pair in pairs for term in layout.terms for side in (0, width)}
