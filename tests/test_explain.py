"""Explanations: parts add up to scores; as text and SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from made_models import WORDS, random_model
from strategies import trees

from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.errors import VecdcsError
from vecdcs.model.explain import explain

MODEL = random_model()


@given(trees(words=("man/N", "drug/N", "old/J", "sell/V")))
@settings(max_examples=30)
def test_parts_sum_to_the_score_of_search(tree: Tree) -> None:
    question = MODEL.ask(tree.blank(len(tree) - 1) if len(tree) > 1 else tree)
    if not any(word.word != BLANK for word in question.hung.nodes()):
        return
    answers = question.answers(5, own_words=True)
    found = explain(question, [answer.word for answer in answers])
    for answer, score, row in zip(answers, found.scores, found.contributions, strict=True):
        assert sum(row) == pytest.approx(score, abs=1e-9)
        assert score == pytest.approx(answer.score, abs=1e-4)


def test_a_blank_adds_nothing_and_every_word_is_a_part() -> None:
    found = MODEL.explain("_ & (sell/V & SUBJ:(man/N & old/J.SUBJ)).COMP", k=2)
    assert [str(part) for part in found.parts] == ["ARG ─ COMP ─ sell/V", "SUBJ ─ ARG ─ man/N", "ARG ─ SUBJ ─ old/J"]
    assert len(found.answers) == 2 and all(len(row) == 3 for row in found.contributions)


def test_a_phrase_has_its_own_word_as_a_part() -> None:
    assert [str(part) for part in MODEL.explain("drug/N & ban/V.COMP", k=1).parts] == ["drug/N", "ARG ─ COMP ─ ban/V"]


def test_a_conjunct_of_what_is_asked_has_no_part() -> None:
    words = {part.word for part in MODEL.explain("sell/V & COMP:{drug/N, _}", k=1).parts}
    assert words == {"sell/V"}


def test_as_text() -> None:
    found = MODEL.explain("drug/N & ban/V.COMP", k=2)
    text = found.to_text()
    assert text.startswith("drug/N\n└─ ARG ─ COMP ─ ban/V\n")
    assert text.count("ARG ─ COMP ─ ban/V") == 3
    assert ("█" in text) == any(value > 0 for row in found.contributions for value in row)
    assert ("░" in text) == any(value < 0 for row in found.contributions for value in row)


def test_as_svg_and_json() -> None:
    found = MODEL.explain('"<b>&/N" & ban/V.COMP', k=3)
    root = ElementTree.fromstring(found.to_svg())
    assert root.tag.endswith("svg")
    assert found._repr_svg_() == found.to_svg()
    assert len([rect for rect in root.iter() if rect.tag.endswith("rect")]) == 3 * 2
    as_dict = found.as_dict()
    assert [row["word"] for row in as_dict["answers"]] == list(found.answers)
    assert as_dict["parts"][1]["text"] == "ARG ─ COMP ─ ban/V"


def test_words_the_model_does_not_know() -> None:
    with pytest.raises(VecdcsError, match="zzz/N"):
        explain(MODEL.ask("drug/N"), ["zzz/N"])
    assert "zzz/N" not in WORDS


def test_nothing_to_ask_with() -> None:
    with pytest.raises(VecdcsError, match="nothing to ask"):
        explain(MODEL.ask("_ & ARG:_"), ["drug/N"])
