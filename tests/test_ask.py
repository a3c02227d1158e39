"""Asking: words and notation, blanks, unknown words, filters, completion, and answers with evidence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_models import its_own, random_model, world_folder

import vecdcs
from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.errors import InputError, VecdcsError
from vecdcs.model import ask as asking
from vecdcs.model.ask import EXACT, INFERRED, Asker, load
from vecdcs.model.blank import Filled, candidate_scores
from vecdcs.model.model import unit
from vecdcs.model.question import fill, is_notation, understand
from vecdcs.model.search import calibrate, log_odds, log_sum
from vecdcs.model.support import Corpus, parts_of
from vecdcs.world.queries import make_queries
from vecdcs.world.world import World

MODEL = random_model()


@pytest.fixture(scope="module")
def world() -> Asker:
    return load(world_folder() / "model")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(world_folder() / "forest")


def test_import_is_instant_and_load_comes_with_first_use() -> None:
    code = "import sys, vecdcs; assert 'numpy' not in sys.modules; vecdcs.load; assert 'numpy' in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="nothing"):
        vecdcs.nothing  # noqa: B018


def test_a_model_by_its_folder(world: Asker) -> None:
    assert vecdcs.load(world_folder() / "model").vocabulary.words == world.vocabulary.words


def test_without_a_shipped_model_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(asking, "SHIPPED", tmp_path / "english")
    monkeypatch.delenv("VECDCS_MODEL", raising=False)
    with pytest.raises(InputError, match="no shipped model"):
        load()
    monkeypatch.setenv("VECDCS_MODEL", str(world_folder() / "model"))
    assert load().path == world_folder() / "model"


@pytest.mark.parametrize(
    "text, notation",
    [
        ("banned drugs", False),
        ("drug/N & ban/V.COMP", True),
        ("ban/V", True),
        ("he and/or she", False),
        ("_", True),
        ("The drug _ is banned.", False),
        ("_ & about:learn/V", True),
        ("km/h", False),
        ("drug/N | book/N", True),
    ],
)
def test_what_is_notation(text: str, notation: bool) -> None:
    assert is_notation(text) == notation


def test_questions_in_words_become_trees() -> None:
    texts = [
        "banned drugs",
        "drugs banned by Canada",
        "Who sells drugs?",
        "What did Canada ban?",
        "Where do students live?",
        "The drug _ is banned by the government.",
    ]
    trees = [str(found.tree) for found in understand(texts)]
    assert trees[:5] == [
        "drug/N & ban/V.COMP",
        "drug/N & (ban/V & SUBJ:canada/N).COMP",
        "_ & (sell/V & COMP:drug/N).SUBJ",
        "_ & (ban/V & SUBJ:canada/N).COMP",
        "_ & where:(live/V & SUBJ:student/N)",
    ]
    assert Tree.parse(trees[5]).blanks()
    assert [str(understand([text])[0].tree) for text in texts] == trees


def test_blanks_and_names_are_subjects_of_relative_clauses_that_end_in_a_preposition() -> None:
    texts = ["the report _ gives an account of", "the house Mary lives in", "The drug _ is banned.", "_ lives in"]
    texts += ["the company that John works for"]
    assert [str(found.tree) for found in understand(texts)] == [
        "report/N & of:(give/V & SUBJ:_ & COMP:account/N)",
        "house/N & in:(live/V & SUBJ:mary/N)",
        "ban/V & COMP:(drug/N & _)",
        "live/V & SUBJ:_",
        "company/N & for:(work/V & SUBJ:john/N)",
    ]


def test_texts_of_several_sentences_are_dealt_to_their_questions() -> None:
    texts = ["John sleeps. Who sells drugs?", "banned drugs"]
    first, second = understand(texts)
    assert str(first.tree) == "_ & (sell/V & COMP:drug/N).SUBJ"
    assert first.unused == ("sleep/V", "john/N")
    assert str(second.tree) == "drug/N & ban/V.COMP"


def test_a_text_without_words() -> None:
    with pytest.raises(InputError, match="no word"):
        MODEL.ask("of the")


def test_a_bad_tree_is_shown_with_its_column() -> None:
    with pytest.raises(VecdcsError, match="column"):
        MODEL.ask("drug/N & & ban/V")


def test_unknown_words_are_told() -> None:
    question = MODEL.ask("quux/N & ban/V.COMP")
    assert question.unknown == ("quux/N",)
    same = MODEL.ask("*UNKNOWN*/N & ban/V.COMP")
    np.testing.assert_allclose(question.vector, same.vector, atol=1e-6)
    assert question.as_dict(question.answers(1))["unknown"] == ["quux/N"]


def test_a_phrase_is_asked_at_its_root_a_blank_at_the_blank() -> None:
    assert MODEL.ask("drug/N & ban/V.COMP").position == 0
    question = MODEL.ask("ban/V & SUBJ:canada/N & COMP:_")
    assert question.tree.subtree(question.position).word == BLANK
    np.testing.assert_allclose(question.vector, MODEL.ask("_ & (ban/V & SUBJ:canada/N).COMP").vector, atol=1e-5)


def test_each_of_several_blanks() -> None:
    question = MODEL.ask("sell/V & SUBJ:_ & COMP:_")
    subject, thing = question.each()
    assert subject.position == question.position
    np.testing.assert_allclose(thing.vector, MODEL.ask("_ & (sell/V & SUBJ:_).COMP").vector, atol=1e-5)
    np.testing.assert_allclose(MODEL.ask(question.text, blank=1).vector, thing.vector, atol=1e-6)
    with pytest.raises(InputError, match="blank 2"):
        MODEL.ask(question.text, blank=2)


def test_nothing_to_ask_with() -> None:
    with pytest.raises(VecdcsError, match="nothing to ask"):
        MODEL.ask("_").answers()


def test_answers_are_the_best_words_without_the_questions_own() -> None:
    answers = MODEL.answers("drug/N & ban/V.COMP", k=4, by="score")
    scores = unit(MODEL.answer) @ MODEL.ask("drug/N & ban/V.COMP").vector
    order = [MODEL.vocabulary.words[at] for at in np.argsort(-scores)]
    allowed = [word for word in order if word not in ("drug/N", "ban/V", "he/P") and "*" not in word]
    assert [answer.word for answer in answers] == allowed[:4]
    assert all(answer.kind == INFERRED and not answer.evidence for answer in answers)
    own = {answer.word for answer in MODEL.answers("drug/N & ban/V.COMP", k=50, own_words=True)}
    assert {"drug/N", "ban/V"} <= own


def test_answers_by_part_of_speech() -> None:
    assert {answer.word.rpartition("/")[2] for answer in MODEL.answers("drug/N", pos="V")} == {"V"}
    assert {answer.word.rpartition("/")[2] for answer in MODEL.answers("drug/N", pos=["V", "J"])} == {"V", "J"}


def test_pronouns_and_numerals_answer_only_where_asked_for() -> None:
    model = random_model(words=("drug/N", "he/P", "*NUMERAL*/N", "book/N"))
    assert {answer.word for answer in model.answers("drug/N")} == {"book/N"}
    assert {answer.word for answer in model.answers("drug/N", pos="NP")} == {"book/N", "he/P", "*NUMERAL*/N"}
    assert "he/P" in {near.word for near in model.nearest("drug/N")}


def test_bad_options() -> None:
    with pytest.raises(InputError, match="balanced, probability, score"):
        MODEL.answers("drug/N", by="chance")
    with pytest.raises(InputError, match="at least 1"):
        MODEL.answers("drug/N", k=0)


def test_many_questions_at_once() -> None:
    trees = ["drug/N & ban/V.COMP", "_ & about:learn/V", "man/N & old/J.SUBJ"] * 30
    together = MODEL.answer_many(MODEL.ask_many(trees), k=3)
    for tree, answers in zip(trees, together, strict=True):
        alone = MODEL.answers(tree, k=3)
        assert [answer.word for answer in answers] == [answer.word for answer in alone]
        np.testing.assert_allclose([a.score for a in answers], [a.score for a in alone], atol=1e-5)


def test_union_and_negation_have_exact_answers_only() -> None:
    with pytest.raises(VecdcsError, match="exact answers only"):
        MODEL.answers("drug/N & ~ban/V.COMP")


def test_similarity() -> None:
    assert MODEL.similarity("drug/N", "drug/N") == pytest.approx(1, abs=1e-5)
    questions = MODEL.ask_many(["drug/N & ban/V.COMP", "book/N"])
    one, other = MODEL.likeness.vectors(lambda side: side.vectors(questions))
    assert MODEL.similarity("drug/N & ban/V.COMP", "book/N") == pytest.approx(float(one @ other), abs=1e-5)
    pairs = [("drug/N", "book/N"), ("man/N", "he/P")]
    np.testing.assert_allclose(MODEL.similarities(pairs), [MODEL.similarity(*pair) for pair in pairs], atol=1e-5)


def test_nearest() -> None:
    near = MODEL.nearest("book/N", k=3)
    cosines = MODEL.likeness.words @ MODEL.likeness.words[MODEL.vocabulary.word_index["book/N"]]
    order = [MODEL.vocabulary.words[at] for at in np.argsort(-cosines)]
    assert [each.word for each in near] == [w for w in order if w != "book/N" and "*" not in w][:3]


def test_plausibility() -> None:
    asked = MODEL.ask("_ & sell/V.COMP").vector @ its_own(MODEL, "drug/N")
    back = MODEL.ask("_ & COMP:drug/N").vector @ its_own(MODEL, "sell/V")
    assert MODEL.plausibility("sell/V", "COMP", "drug/N") == pytest.approx(float(asked + back) / 2, abs=1e-5)


def test_completion_in_notation() -> None:
    choices = MODEL.complete("sell/V & SUBJ:man/N & COMP:_", ["drug/N", "book/N", "he/P"])
    assert [c.score for c in choices] == sorted([c.score for c in choices], reverse=True)
    sell, man = (MODEL.answer[MODEL.vocabulary.word_id(word)] for word in ("sell/V", "man/N"))
    for choice in choices:
        there = MODEL.query[MODEL.vocabulary.word_id(choice.candidate)] @ MODEL.matrix("ARG") @ MODEL.inverse("COMP")
        further = there @ MODEL.matrix("SUBJ") @ MODEL.inverse("ARG")
        assert choice.score == pytest.approx(float(there @ sell + further @ man), abs=1e-5)
    (alone,) = MODEL.complete("sell/V & SUBJ:man/N & COMP:_", ["book/N"])
    (same,) = (choice for choice in choices if choice.candidate == "book/N")
    assert alone.word == same.word and alone.score == pytest.approx(same.score, abs=1e-5)  # one row or three: rounding
    assert MODEL.complete("sell/V & COMP:_", []) == []


def test_completion_in_words_takes_each_candidate_as_parsed() -> None:
    drugs, book, of = fill("The man sold the _ to Canada.", ["drugs", "old book", "of"])
    assert drugs is not None and book is not None and of is None
    assert (drugs.word, book.word) == ("drug/N", "book/N")
    assert drugs.hung.word == BLANK and {node.word for node in drugs.tree.nodes()} >= {BLANK, "sell/V", "man/N"}
    choices = MODEL.complete("The man sold the _ to Canada.", ["drugs", "of", "books"])
    assert choices[-1].candidate == "of" and choices[-1].word is None
    score = next(choice.score for choice in choices if choice.candidate == "drugs")
    assert score == pytest.approx(float(candidate_scores(MODEL, [drugs])[0]), abs=1e-5)


def test_candidates_are_compared_in_the_trees_of_all() -> None:
    """Drugs are the complement of *banned* and the subject of *old*: each is tried in both trees."""
    text, words = "The _ drugs are sold by the man.", ["banned", "old"]
    filled = [each for each in fill(text, words) if each is not None]
    trees = {each.tree for each in filled}
    assert len(trees) == 2
    for choice in MODEL.complete(text, words):
        own = [Filled(each.tree, str(choice.word), each.position) for each in filled]
        assert choice.score == pytest.approx(float(candidate_scores(MODEL, own).mean()), abs=1e-5)


def test_completion_of_the_first_of_two_blanks() -> None:
    """The other blank says nothing, and is not taken for the candidate's, though it is above it in the tree."""
    (found,) = fill("The man sold the _ to _.", ["drugs"])
    assert found is not None and str(found.hung) == "_ & (sell/V & SUBJ:man/N & _.to).COMP"
    (below,) = fill("The government bans _'s _.", ["Canada"])
    assert below is not None and below.tree.blanks()[1] == below.position
    with pytest.raises(VecdcsError, match="cannot be re-rooted"):
        MODEL.complete("sell/V & COMP:(drug/N | _)", ["book/N"])


def test_completion_in_a_second_sentence_and_with_repeated_words() -> None:
    (found,) = fill("The man bans drugs. The drugs are sold by the _.", ["man"])
    assert found is not None and found.word == "man/N"
    assert {node.word for node in found.tree.nodes()} == {"sell/V", "drug/N", BLANK}


def test_completion_needs_a_blank() -> None:
    for text in ("no blank here", "drug/N & ban/V"):
        with pytest.raises(InputError, match="no blank"):
            MODEL.complete(text, ["x"])


def test_parts_of_a_question() -> None:
    parts = {str(part) for part in parts_of(Tree.parse("_ & (ban/V & SUBJ:canada/N).COMP"))}
    assert parts == {"_ & ban/V.COMP"}
    parts = {str(part) for part in parts_of(Tree.parse("drug/N & ban/V.COMP"))}
    assert parts == {"_ & drug/N & ban/V.COMP", "_ & drug/N", "_ & ban/V.COMP"}


def test_exact_and_inferred_answers_in_one_ranking(world: Asker, corpus: Corpus) -> None:
    question = world.ask("Who sells drugs?", corpus)
    answers = question.answers(60)
    kinds = {answer.kind for answer in answers}
    assert kinds == {EXACT, INFERRED}
    chances = [answer.probability for answer in answers]
    assert chances == sorted(chances, reverse=True)
    for answer in answers:
        if answer.kind == EXACT:
            assert answer.count > 0 and answer.evidence
            assert answer.evidence[0].text
        else:
            assert answer.count == 0
    quoted = [answer for answer in answers if answer.kind == INFERRED and answer.evidence]
    assert quoted, "inferred answers have the nearest real statements as support"
    for answer in quoted:
        assert all(Tree.parse(quote.states) for quote in answer.evidence)


def test_sentences_are_chosen_to_tell_most(world: Asker, corpus: Corpus) -> None:
    """First one that names the answer, then one that says the rest of the question."""
    for answer in world.ask("Who sells drugs banned by Canada?", corpus).answers(10):
        if answer.kind == EXACT:
            texts = [quote.text.lower() for quote in answer.evidence]
            assert answer.word.rpartition("/")[0] in texts[0]
            assert any("canada" in text for text in texts)


def test_sentences_that_are_joined_are_about_the_same_thing(world: Asker, corpus: Corpus) -> None:
    """No sentence beside those that together suffice, all of which name the drug that the answer sells."""
    countries = corpus.exact(Tree.parse("_ & ban/V.SUBJ"), 0)
    trees = [f"_ & (sell/V & COMP:(drug/N & (ban/V & SUBJ:{country}).COMP)).SUBJ" for country in countries]
    answers = [answer for tree in trees for answer in world.ask(tree, corpus).answers(10)]
    joined = [answer for answer in answers if answer.kind == EXACT and len(answer.evidence) > 1]
    assert joined
    drugs = {word.rpartition("/")[0] for word in corpus.exact(Tree.parse("_ & drug/N & ban/V.COMP"), 0)}
    for answer in joined:
        texts = [quote.text.lower() for quote in answer.evidence]
        assert any(all(drug in text for text in texts) for drug in drugs), texts


def test_exact_answers_are_the_denotation_of_what_is_stated(world: Asker, corpus: Corpus) -> None:
    """Joined across sentences, what the forest says is what the stated facts say."""
    made = World.make(0, 1500)
    for query in make_queries(made, count=4):
        exact = {a.word for a in world.ask(query.tree, corpus).answers(500, own_words=True) if a.kind == EXACT}
        missing = {f"{name}/N" for name in query.stated} - exact
        assert not missing, (query.tree, missing)


def test_exact_only_for_union_and_negation(world: Asker, corpus: Corpus) -> None:
    answers = world.ask("drug/N & ~ban/V.COMP", corpus).answers()
    assert answers and all(answer.kind == EXACT for answer in answers)


def test_pos_filter_holds_for_exact_answers(world: Asker, corpus: Corpus) -> None:
    assert all(answer.word.endswith("/N") for answer in world.ask("_ & ban/V.COMP", corpus).answers(50, pos="N"))


def test_a_vecud_forest_cannot_be_asked(tmp_path: Path) -> None:
    from corpora import write_conllu

    from vecdcs.corpus.build import build
    from vecdcs.corpus.shard import Options

    build([write_conllu(tmp_path / "a.conllu", 5)], tmp_path / "forest", Options(ud=True))
    with pytest.raises(InputError, match="vecUD"):
        MODEL.ask("drug/N", tmp_path / "forest")


def average_precision(words: list[str], gold: set[str]) -> float:
    ranks = [rank for rank, word in enumerate(words, 1) if word in gold]
    return sum(hit / rank for hit, rank in enumerate(ranks, 1)) / len(gold)


def test_learned_vectors_answer_far_better_than_chance(world: Asker, corpus: Corpus) -> None:
    queries = make_queries(World.make(0, 1500), count=10)
    gold = [{f"{name}/N" for name in query.answers} for query in queries]
    questions = world.ask_many([query.tree for query in queries])
    answers = world.answer_many(questions, k=400, pos="N")
    found = np.mean([average_precision([a.word for a in some], true) for some, true in zip(answers, gold, strict=True)])
    rng = np.random.default_rng(0)
    nouns = [word for word in world.vocabulary.words if word.endswith("/N")]
    chance = np.mean([average_precision(list(rng.permutation(nouns)), true) for true in gold])
    assert found > 3 * chance
    with_corpus = world.answer_many(world.ask_many([query.tree for query in queries], corpus), k=400, pos="N")
    merged = np.mean(
        [average_precision([a.word for a in some], true) for some, true in zip(with_corpus, gold, strict=True)]
    )
    assert merged > found


def test_probabilities_are_calibrated_on_what_they_are_fitted_to(world: Asker) -> None:
    """Answers given with probabilities around p are right about as often."""
    from vecdcs.corpus.forest import Forest
    from vecdcs.model.calibrate import asked_by_few
    from vecdcs.model.leanings import by_edges

    flat = Forest.open(world_folder() / "forest").flat(0, world.vocabulary)
    vectors, _, words, kinds = asked_by_few(world, flat, np.random.default_rng(1), 3000)
    some, others = (by_edges(world, part) for part in (kinds[:1500], kinds[1500:]))
    fitted = calibrate(world.answer_space, vectors[:1500], words[:1500], world.calibration, some)
    vectors, words = vectors[1500:], words[1500:]
    logits = log_odds(world.answer_space, world.answer_space.scores(vectors), fitted, others)
    chance = np.exp(logits - log_sum(logits)[:, None])
    assert chance.max(1).mean() == pytest.approx(float((chance.argmax(1) == words).mean()), abs=0.1)


def test_logic_has_no_vector() -> None:
    for tree in ("drug/N | book/N", "drug/N & ~ban/V.COMP"):
        with pytest.raises(VecdcsError, match="no vector"):
            MODEL.similarity(tree, "drug/N")
        with pytest.raises(VecdcsError):
            MODEL.explain(tree)


def test_a_vecud_model_cannot_be_asked() -> None:
    model = random_model()
    ud = Asker(**{**vars(model), "config": {"forest": {"ud": True}}})
    with pytest.raises(InputError, match="vecUD"):
        ud.ask("drug/N")


def test_a_search_without_end_is_given_up(world: Asker) -> None:
    impatient = Corpus(world_folder() / "forest", seconds=0.2)
    endless = "SELECT sum(a.range * b.range) FROM range(100000000) a, range(100000000) b"
    with pytest.raises(VecdcsError, match="given up after"), impatient._searching():
        impatient.evidence.database.execute(endless).fetchall()
    with pytest.raises(VecdcsError, match="search failed"), impatient._searching():
        impatient.evidence.database.execute("SELECT nothing FROM nowhere").fetchall()
    assert world.ask("_ & ban/V.COMP", Corpus(world_folder() / "forest")).answers(1)


def test_many_blanks_and_one_word(world: Asker, corpus: Corpus) -> None:
    """Smaller questions that have no word left are not asked."""
    assert world.ask("_ & drug/N & SUBJ:_ & COMP:_", corpus).answers(3)
    assert all(part.find("drug/N") for part in parts_of(Tree.parse("_ & drug/N & SUBJ:_ & COMP:_")))
