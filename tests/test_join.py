"""Two models side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_models import random_model
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.errors import InputError
from vecdcs.model.ask import Asker, asker
from vecdcs.model.join import join, joined
from vecdcs.model.model import load, save
from vecdcs.model.pack import pack

PLAN = {"variant": "no-matrix", "dim": 6, "epochs": 2, "seed": 1, "recipe": {"vector_rate": 0.03}}
TREES = ("drug/N & ban/V.COMP", "_ & (sell/V & COMP:(book/N & old/J.SUBJ)).SUBJ", "learn/V & man/N.in")


def pair(tied: bool = True) -> tuple[Asker, Asker]:
    plain = random_model(1, dim=6, matrices=False)
    return random_model(0, dim=8, tied=tied), replace(plain, config={"plan": PLAN})


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("share", [0.5, 2.0])
def test_scores_add_up(tied: bool, share: float) -> None:
    model, plain = pair(tied)
    both = joined(model, plain, share)
    steps = ("ARG", "COMP"), ("SUBJ", "ARG"), ("about", "in")
    for first, last in (("drug/N", "ban/V"), ("learn/V", "old/J")):
        at, to = model.vocabulary.word_id(first), model.vocabulary.word_id(last)
        plainly = float(plain.query[at] @ plain.answer[to])
        for out, into in steps:
            numbers = model.vocabulary.field_id(out), model.vocabulary.field_id(into)
            turn, whole = (
                one.learned(numbers[0]).astype(float) @ one.learned(numbers[1], inverse=True) for one in (model, both)
            )
            apart = float(model.query[at] @ turn @ model.answer[to]) + share**2 * plainly
            assert float(both.query[at] @ whole @ both.answer[to]) == pytest.approx(apart, rel=1e-4)


def test_a_joined_model_is_saved_packed_and_asked(tmp_path: Path) -> None:
    model, plain = pair()
    save(model, tmp_path / "full", [])
    save(plain, tmp_path / "plain", [])
    arguments = ["join", str(tmp_path / "full"), str(tmp_path / "plain"), "-o", str(tmp_path / "both")]
    result = CliRunner().invoke(app, [*arguments, "--share", "2"], catch_exceptions=False)
    assert result.exit_code == 0 and "14 dimensions" in result.output
    both = asker(load(tmp_path / "both"))
    assert both.matrices.shape[1:] == (8, 8) and both.dim == 14
    assert "6 of a model without matrices" in (tmp_path / "both" / "README.md").read_text("utf-8")
    small = asker(pack(tmp_path / "both", tmp_path / "small"))
    assert small.matrices.shape == both.matrices.shape
    for one, other in zip(both.ask_many(TREES), small.ask_many(TREES), strict=True):
        assert one.vector @ other.vector > 0.999
    assert CliRunner().invoke(app, arguments).exit_code != 0, "there is a model already"


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    model, plain = pair()
    save(model, tmp_path / "full", [])
    save(plain, tmp_path / "plain", [])
    save(random_model(2, dim=6, words=("cow/N",), matrices=False), tmp_path / "other", [])
    save(replace(plain, config={"forest": {"digest": "another"}}), tmp_path / "elsewhere", [])
    for first, second, message in (
        ("plain", "plain", "with matrices first"),
        ("full", "full", "without matrices second"),
        ("full", "other", "not those of"),
        ("full", "elsewhere", "not those of"),
    ):
        with pytest.raises(InputError, match=message):
            join(tmp_path / first, tmp_path / second, tmp_path / "both", 1.0)
    pack(tmp_path / "full", tmp_path / "small")
    with pytest.raises(InputError, match="join first, then pack"):
        join(tmp_path / "small", tmp_path / "plain", tmp_path / "both", 1.0)
    assert not (tmp_path / "both").exists()
