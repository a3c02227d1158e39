"""Rank correlations by hand and against SciPy; phrase similarity and selectional preference on small files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_models import its_own, random_model
from scipy.stats import spearmanr

from vecdcs.corpus.vocabulary import cut
from vecdcs.errors import InputError
from vecdcs.learn.trainer import orthogonal
from vecdcs.model import compose
from vecdcs.model.model import Model
from vecdcs.tasks import phrase_similarity, preference, rated
from vecdcs.tasks.lemmas import FAR_MORE, as_known, ways
from vecdcs.tasks.result import interval95
from vecdcs.tasks.spearman import corrected, distinct, three_ways, uncorrected

# REFERENCE table: the uncorrected figure is a + b * the corrected one, if distinct pairs get distinct scores.
A_AND_B = {"AN": (0.0326, 0.9668), "VO": (0.0214, 0.9783), "GS11": (0.0150, 0.9849)}


def model(seed: int = 0, dim: int = 12) -> Model:
    rng = np.random.default_rng(seed)
    nouns, verbs, adjectives = "man dog book fish", "eat read see", "big red"
    words = {f"{w}/{pos}": 1.0 for text, pos in ((nouns, "N"), (verbs, "V"), (adjectives, "J")) for w in text.split()}
    vocabulary = cut(words, {"ARG": 1.0, "SUBJ": 1.0, "COMP": 1.0}, 0, 0)
    query, answer = (rng.normal(size=(len(vocabulary.words), dim)).astype(np.float32) for _ in range(2))
    matrices = orthogonal(rng.normal(size=(len(vocabulary.fields), dim, dim)).astype(np.float32))
    return Model(vocabulary, query, answer, matrices, None, {})


def test_corrected_equals_scipy_and_both_agree_without_ties() -> None:
    rng = np.random.default_rng(1)
    left, ties = rng.normal(size=50), rng.integers(0, 4, 50).astype(float)
    assert corrected(left, ties) == pytest.approx(spearmanr(left, ties).statistic)
    free = rng.normal(size=50)
    assert uncorrected(left, free) == pytest.approx(spearmanr(left, free).statistic)
    assert uncorrected(left, ties) != pytest.approx(corrected(left, ties), abs=1e-4)


def test_three_figures_worked_by_hand() -> None:
    """Two pairs, scores 0 and 1, ratings (1, 3) and (3, 5): ranks 1.5 1.5 3.5 3.5 against 1 2.5 2.5 4."""
    found = three_ways(np.array([0.0, 1.0]), np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 3.0, 5.0]))
    assert found.paper == pytest.approx(1 - 6 * (0.25 + 1 + 1 + 0.25) / (4 * 15))
    assert found.tie_corrected == pytest.approx(3 / np.sqrt(4 * 4.5))
    assert found.pair_means == pytest.approx(1.0)
    assert corrected(np.zeros(3), np.arange(3.0)) == 0.0


def test_interval_holds_the_figure_and_narrows() -> None:
    rng = np.random.default_rng(2)
    widths = []
    for count in (20, 200):
        scores = rng.normal(size=count)
        made = rated.Rated([("x",)] * count, scores, np.arange(count), scores + rng.normal(size=count), 0.0)
        sample = rated.sample("x", made)
        low, high = interval95(sample, 0, 300)
        assert low < corrected(scores, made.rating) == sample.value < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_distinct_keeps_the_order() -> None:
    items, places = distinct([("b",), ("a",), ("b",)])
    assert items == [("b",), ("a",)] and places.tolist() == [0, 1, 0]


def test_phrases_are_composed_by_equation_4() -> None:
    made = model()
    terms = phrase_similarity.LAYOUTS["GS11"].terms
    found = phrase_similarity.compose(made, [("man", "eat", "fish")], terms)[0]
    subject = made.query_vector("man/N") @ made.matrix("ARG") @ made.inverse("SUBJ")
    thing = made.query_vector("fish/N") @ made.matrix("ARG") @ made.inverse("COMP")
    np.testing.assert_allclose(found, made.query_vector("eat/V") + (subject + thing) / 2, atol=1e-6)
    plain = phrase_similarity.compose(made, [("man", "eat", "fish")], terms, plain_sum=True)[0]
    np.testing.assert_allclose(plain, made.query_vector("eat/V") + subject + thing, atol=1e-6)


def test_a_word_that_is_not_known_is_taken_by_its_lemma() -> None:
    model = random_model(words=("good/J", "old/J", "older/J", "man/N", "sell/V"))
    given = ["better/J", "oldest/J", "older/J", "men/N", "sold/V", "sells/N", "unheard/J"]
    assert as_known(model, given) == ["good/J", "old/J", "older/J", "man/N", "sell/V", "sells/N", "unheard/J"]


def test_an_adjective_of_which_the_trees_have_a_far_more_frequent_verb_is_that_verb() -> None:
    words = ("growing/J", "grow/V", "broken/J", "break/V", "new/J", "know/V", "rising/V", "rise/V")
    made = random_model(words=words)
    weights = np.array([100.0, 100 * FAR_MORE["J"], 100, 100 * FAR_MORE["J"] - 1, 100, 99, 1, 10_000])
    every = np.concatenate([weights, np.ones(len(made.vocabulary.words) - len(words))])
    counted = replace(made, vocabulary=replace(made.vocabulary, word_weights=every))
    given = ["growing", "broken", "new"]
    found = {tuple(words): fields for _, words, fields in ways(counted, given, "J", ("SUBJ", "ARG"))}
    assert found == {("grow/V", "broken/J", "new/J"): ("SUBJ", "ARG")}
    assert as_known(counted, ["rising/V"]) == ["rising/V"]
    uncounted = replace(made, vocabulary=replace(made.vocabulary, word_weights=np.zeros(len(every))))
    assert as_known(uncounted, ["growing/J"]) == ["growing/J"]


def test_an_adjective_that_is_not_known_goes_the_way_of_the_participle_or_noun_that_it_is() -> None:
    made = random_model(words=("big/J", "ban/V", "flood/V", "level/N", "drug/N", "street/N"))
    given = ["big", "banned", "biggest", "flooding", "level", "unheard"]
    found = {tuple(words): (places, fields) for places, words, fields in ways(made, given, "J", ("SUBJ", "ARG"))}
    assert found == {
        ("big/J", "big/J", "flood/V", "unheard/J"): ([0, 2, 3, 5], ("SUBJ", "ARG")),
        ("ban/V",): ([1], ("COMP", "ARG")),
        ("level/N",): ([4], ("ARG", "ARG")),
    }
    phrases = [("big", "drug"), ("banned", "drug"), ("flooding", "street"), ("level", "street")]
    composed = phrase_similarity.compose(made, phrases, phrase_similarity.LAYOUTS["AN"].terms)
    for vector, (modifier, field, noun) in zip(
        composed,
        (
            ("big/J", "SUBJ", "drug/N"),
            ("ban/V", "COMP", "drug/N"),
            ("flood/V", "SUBJ", "street/N"),
            ("level/N", "ARG", "street/N"),
        ),
        strict=True,
    ):
        went = made.query_vector(modifier) @ made.matrix(field) @ made.inverse("ARG")
        np.testing.assert_allclose(vector, made.query_vector(noun) + went, rtol=1e-5)
    items = [(noun, adjective) for adjective, noun in phrases]
    one_by_one = [preference.plausibilities(made, preference.ROLES["amod"], [item])[0] for item in items]
    together = preference.plausibilities(made, preference.ROLES["amod"], items)
    np.testing.assert_allclose(together, one_by_one, atol=1e-6)
    banned, drug = made.query_vector("ban/V"), made.query_vector("drug/N")
    there = banned @ made.matrix("COMP") @ made.inverse("ARG") @ its_own(made, "drug/N")
    back = drug @ made.matrix("ARG") @ made.inverse("COMP") @ its_own(made, "ban/V")
    assert together[1] == pytest.approx((there + back) / 2, abs=1e-6)


def test_ratings_are_read_and_scored(tmp_path: Path) -> None:
    folder = tmp_path / phrase_similarity.FOLDER
    folder.mkdir()
    rows = [
        "p1 adjectivenouns 1 big dog red book 2",
        "p2 adjectivenouns 1 big dog red book 3",
        "p1 adjectivenouns 1 big fish big man 6",
        "p1 verbobjects 1 book read fish eat 5",
        "p1 verbobjects 1 dog see whale eat 1",
    ]
    (folder / "mitchell_data.txt").write_text("\n".join([phrase_similarity.MITCHELL, *rows]) + "\n", "utf-8")
    found = rated.phrases(model(), tmp_path)
    sets = found.figures["sets"]
    assert [part["set"] for part in sets] == ["AN", "VO"]
    assert found.missing == ("NN", "SVO", "GS11", "GS12")
    assert [part["pairs"] for part in sets] == [2, 2]
    assert sets[0]["oov"] == 0 and sets[1]["oov"] == pytest.approx(1 / 7)
    assert [row["rating"] for row in found.details] == ["2.500", "6.000", "5.000", "1.000"]


def test_a_broken_rating_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mitchell_data.txt"
    layout = phrase_similarity.LAYOUTS["AN"]
    path.write_text(f"{phrase_similarity.MITCHELL}\np1 adjectivenouns 1 big dog red book much\n", "utf-8")
    with pytest.raises(InputError, match=r"mitchell_data\.txt:2: expected 8 columns"):
        phrase_similarity.read(path, layout)
    path.write_text("something else\n", "utf-8")
    with pytest.raises(InputError, match="expected the header"):
        phrase_similarity.read(path, layout)


def test_a_word_that_asks_for_everything_gains_less_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    things = [f"thing{number}" for number in range(30)]
    made = random_model(words=("eat/V", "have/V", *(f"{thing}/N" for thing in things)))
    common = np.mean([made.answer_vector(f"{thing}/N") for thing in things], axis=0)
    query = np.array(made.query)
    query[made.vocabulary.word_id("have/V")] = common @ made.matrix("ARG") @ made.inverse("COMP")
    asking = replace(made, query=query)
    items = [(verb, thing) for verb in ("have", "eat") for thing in things]

    def ahead() -> float:
        found = preference.plausibilities(asking, preference.ROLES["dobj"], items)
        return float(found[:30].mean() - found[30:].mean())

    now = ahead()
    monkeypatch.setattr(compose, "WITH_ALL", 0.0)
    assert 0 < now < 0.95 * ahead()


def test_plausibility_asks_both_ways(tmp_path: Path) -> None:
    made = model()
    found = preference.plausibilities(made, preference.ROLES["dobj"], [("eat", "fish")])[0]
    asked = made.query_vector("fish/N") @ made.matrix("ARG") @ made.inverse("COMP") @ its_own(made, "eat/V")
    back = made.query_vector("eat/V") @ made.matrix("COMP") @ made.inverse("ARG") @ its_own(made, "fish/N")
    assert found == pytest.approx((asked + back) / 2, abs=1e-5)
    folder = tmp_path / preference.FOLDER
    folder.mkdir()
    (folder / "dobj_annotation.txt").write_text("eat\tfish\t9.5\nread\tfish\t1\nsee\twhale\t8\n", "utf-8")
    result = rated.preferences(made, tmp_path)
    (dobj,) = result.figures["sets"]
    assert dobj["items"] == 3 and dobj["oov"] == pytest.approx(1 / 3)
    assert len(result.missing) == 4
    (folder / "dobj_annotation.txt").write_text("eat fish 9.5\n", "utf-8")
    with pytest.raises(InputError, match=r"dobj_annotation\.txt:1"):
        rated.preferences(made, tmp_path)


@pytest.mark.parametrize("name", A_AND_B)
def test_the_published_files_map_as_the_table_says(name: str, shared: Path) -> None:
    layout = phrase_similarity.LAYOUTS[name]
    ratings = phrase_similarity.read(shared / "data" / "eval" / phrase_similarity.FOLDER / layout.file, layout)
    a, b = A_AND_B[name]
    for seed in range(3):
        scores = np.random.default_rng(seed).normal(size=len(ratings.pairs))
        found = three_ways(scores, ratings.pair, ratings.rating)
        assert found.paper == pytest.approx(a + b * found.tie_corrected, abs=2e-3)
