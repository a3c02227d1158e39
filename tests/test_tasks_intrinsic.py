"""The space itself: neighbours, words sent through matrices, and drawings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_models import random_model

from vecdcs.errors import InputError
from vecdcs.tasks import intrinsic
from vecdcs.tasks.vectors import read_vectors


def test_neighbours_are_the_nearest_query_vectors() -> None:
    model = random_model(words=("book/N", "novel/N", "read/V", "red/J"))
    model.query[:4] = np.eye(8, dtype=np.float32)[:4]
    model.query[1] = model.query[0] + 0.1 * model.query[2]
    model.query[4:] = -1
    assert intrinsic.neighbours(model, "book/N", 3) == ["novel/N", "read/V", "red/J"]


def test_words_are_sent_through_matrices() -> None:
    """Table 2 of the paper: a noun as subject, as complement and in `in`; a verb's subjects, complements and topics."""
    model = random_model()
    found = {(row["word"], row["fields"]): row["answers"] for row in intrinsic.transformed(model, "book/N", 3)}
    assert list(found) == [("book/N", "ARG SUBJ"), ("book/N", "ARG COMP"), ("book/N", "in ARG")]
    vector = model.query_vector("book/N") @ model.matrix("ARG") @ model.inverse("COMP")
    known = [word for word in model.vocabulary.words if not word.startswith("*")]
    wanted = sorted(known, key=lambda word: -float(vector @ model.answer_vector(word)))[:3]
    assert found["book/N", "ARG COMP"] == wanted
    assert [row["fields"] for row in intrinsic.transformed(model, "learn/V")] == ["SUBJ ARG", "COMP ARG", "ARG about"]
    assert intrinsic.transformed(random_model(matrices=False), "book/N") == []


def test_relations_carry_words_in_a_vecud_model() -> None:
    model = random_model(fields=("nsubj", "obj", "amod", "obl"))
    object.__setattr__(model, "config", {"forest": {"ud": True}})
    found = intrinsic.transformed(model, "learn/V", 2)
    assert [row["fields"] for row in found] == ["nsubj down", "obj down", "obl down"]
    vector = model.query_vector("learn/V") @ model.inverse("obj")
    known = [word for word in model.vocabulary.words if not word.startswith("*")]
    assert found[1]["answers"] == sorted(known, key=lambda word: -float(vector @ model.answer_vector(word)))[:2]


def test_figures_and_missing_words() -> None:
    result = intrinsic.evaluate(random_model(tied=True), ("book/N", "zebra/N"))
    assert result.missing == ("zebra/N",) and list(result.figures["neighbours"]) == ["book/N"]
    assert 0 <= result.figures["same_pos_share"] <= 1
    assert [row["field"] for row in result.figures["matrices"]] == ["ARG", "SUBJ", "COMP", "in", "on"]
    assert all(row["orthogonality_error"] < 1e-5 for row in result.figures["matrices"])


def test_the_space_is_drawn(tmp_path: Path) -> None:
    intrinsic.draw(random_model(), tmp_path / "space.svg")
    text = (tmp_path / "space.svg").read_text(encoding="utf-8")
    assert text.startswith("<?xml") and "SUBJ" not in text[:100]


def test_vectors_of_others(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0 0\nbook 0 1 0\nbooks 0 0.9 0.1\nburn 0 0 1\nnew york 1 1 1\n", encoding="utf-8")
    model = read_vectors(path)
    assert model.dim == 3 and not model.has_matrices
    assert model.knows("book/N") and model.knows("burn down/V") and model.knows("new york/N")
    assert not model.knows("zebra/N") and not model.query_vector("zebra/N").any()
    assert intrinsic.evaluate(model).figures["neighbours"]["book/N"][0] == "books"
    assert intrinsic.evaluate(model).figures["same_pos_share"] is None


@pytest.mark.parametrize(("text", "line"), [("2 3\na 1 2 3\nb 1 2\n", 3), ("a 1 2 3\nb 1 x 3\n", 2), ("", 1)])
def test_malformed_vectors_name_the_line(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "vectors.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_vectors(tmp_path / "vectors.txt")
    assert caught.value.line == line
