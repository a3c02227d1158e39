"""Relation classification: the official score by hand, the machine against libsvm's own, mirrored items, reading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from eval_data import RELATIONS, write_relations
from made_models import random_model
from sklearn.svm import SVC

from vecdcs.dcs.convert import Node
from vecdcs.errors import InputError
from vecdcs.model.model import unit
from vecdcs.tasks import relations, svm
from vecdcs.tasks.parses import grouped, parsed, spans, within
from vecdcs.tasks.semeval import LABELS, OTHER, confusion, macro_f1, mirrored, read, score
from vecdcs.tasks.vectors import read_vectors
from vecdcs.text.conllu import Sentence, Token

CAUSE, EFFECT = LABELS.index("Cause-Effect(e1,e2)"), LABELS.index("Cause-Effect(e2,e1)")
TOPIC = LABELS.index("Message-Topic(e1,e2)")


def numbers(*labels: int) -> np.ndarray:
    return np.array(labels, np.int64)


def test_score_worked_by_hand() -> None:
    """Cause-Effect: 5 true, 4 given, 2 right, one with the wrong direction; Message-Topic: 2 true, 3 given, 1 right."""
    gold = numbers(CAUSE, CAUSE, EFFECT, EFFECT, CAUSE, TOPIC, TOPIC, OTHER, OTHER)
    given = numbers(CAUSE, EFFECT, EFFECT, OTHER, TOPIC, TOPIC, CAUSE, TOPIC, OTHER)
    found = score(gold, given)
    cause, topic = 2 * 2 / (5 + 4), 2 * 1 / (2 + 3)
    assert found["f1"]["Cause-Effect"] == pytest.approx(cause)
    assert found["f1"]["Message-Topic"] == pytest.approx(topic)
    assert found["macro_f1"] == pytest.approx((cause + topic) / 2)
    assert found["direction_errors"] == 1
    assert found["accuracy"] == pytest.approx(4 / 9)


def test_score_of_extremes() -> None:
    gold = numbers(*range(len(LABELS)))
    assert macro_f1(gold, gold) == 1.0
    assert macro_f1(gold, mirrored(gold)) == 0.0
    assert score(gold, mirrored(gold))["direction_errors"] == 18
    assert macro_f1(gold, np.full_like(gold, OTHER)) == 0.0
    assert confusion(gold, mirrored(gold))[CAUSE, EFFECT] == 1


def brute_force(gold: list[str], given: list[str]) -> float:
    """The scorer's words: P over all given of a relation, R over all true ones, right only with the right direction."""
    found = []
    for name in sorted({label.partition("(")[0] for label in gold + given} - {"Other"}):
        right = sum(a == b and a.startswith(name) for a, b in zip(gold, given, strict=True))
        proposed = sum(label.startswith(name) for label in given)
        true = sum(label.startswith(name) for label in gold)
        precision, recall = right / proposed if proposed else 0.0, right / true if true else 0.0
        found.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return sum(found) / len(found)


def test_score_equals_a_plain_reading_of_the_rules() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        gold, given = rng.integers(0, len(LABELS), (2, 60))
        given = np.where(rng.random(60) < 0.5, gold, given)
        wanted = brute_force([LABELS[label] for label in gold], [LABELS[label] for label in given])
        assert macro_f1(gold, given) == pytest.approx(wanted)


def test_machine_equals_libsvm() -> None:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(5, 6))
    labels = rng.integers(0, 5, 300)
    points = (centres[labels] + 0.8 * rng.normal(size=(300, 6))).astype(np.float32)
    machine = svm.fit(points[:200], labels[:200], 2.0, 0.25)
    wanted = SVC(C=2.0, gamma=0.25).fit(points[:200].astype(np.float64), labels[:200]).predict(points[200:])
    assert np.mean(svm.predict(machine, points[200:]) == wanted) > 0.98
    assert np.mean(wanted == labels[200:]) > 0.4


def test_folds_cover_everything_once_and_spread_classes() -> None:
    labels = np.repeat([0, 1], [50, 10])
    left = [test for _, test in svm.folds(labels, 5, 0)]
    assert sorted(np.concatenate(left).tolist()) == list(range(60))
    assert all(np.bincount(labels[test]).tolist() == [10, 2] for test in left)
    assert all(not set(fit) & set(test) for fit, test in svm.folds(labels, 5, 0))


def test_exchanging_entities_exchanges_features_and_labels() -> None:
    found = np.arange(8, dtype=np.float32)[None]
    assert relations.exchanged(found).tolist() == [[2, 3, 0, 1, 6, 7, 4, 5]]
    assert mirrored(numbers(CAUSE, EFFECT, OTHER)).tolist() == [EFFECT, CAUSE, OTHER]


def test_mirrored_copies_are_never_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a machine is fitted to never holds an item of its test fold, nor its mirror image."""
    rng = np.random.default_rng(0)
    found = rng.normal(size=(40, 8)).astype(np.float32)
    labels = np.tile([CAUSE, EFFECT, TOPIC, OTHER], 10)
    scored: list[int] = []

    def fit(points: np.ndarray, *_: object) -> np.ndarray:
        return points

    def predict(fitted: np.ndarray, tested: np.ndarray) -> np.ndarray:
        rows = {row.tobytes() for row in fitted}
        assert len(fitted) == 2 * (40 - len(tested))
        assert not any(row.tobytes() in rows for row in (*tested, *relations.exchanged(tested)))
        scored.append(len(tested))
        return np.zeros(len(tested), np.int64)

    monkeypatch.setattr(svm, "fit", fit)
    monkeypatch.setattr(svm, "predict", predict)
    relations._classified(found, labels, 0, 2.0, 0.25, relations.Options())
    assert sum(scored) == 40 and len(scored) == 5


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_relations(path, first=8001)
    items = read(path)
    assert [item.id for item in items] == list(range(8001, 8011))
    assert [LABELS[item.label] for item in items] == [label for _, label in RELATIONS]
    marked = [tuple(item.text[start:end] for start, end in item.spans) for item in items]
    assert marked[0] == ("storm", "flood") and marked[4] == ("man", "river")
    assert items[4].text == 'The "old" man saw the river.'


GOOD = '1\t"The <e1>key</e1> opens <e2>it</e2>."\r\nOther\r\nComment: yes\r\n\r\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('1\t"The <e1>key</e1> opens <e2>it</e2>."\r\nUnknown(e1,e2)\r\n', 2),
        ('1\t"The <e1>key</e1> opens it."\r\nOther\r\n', 1),
        ("1\tThe <e1>key</e1> opens <e2>it</e2>.\r\nOther\r\n", 1),
        (GOOD + '2 "The <e1>key</e1> opens <e2>it</e2>."\r\nOther\r\n', 5),
        (GOOD + '2\t"The <e1>key</e1> opens <e2>it</e2>."\r\nOther\r\nmore\r\n', 7),
        (GOOD.rstrip() + '\r\n2\t"The <e1>key</e1> opens <e2>it</e2>."\r\nOther\r\n', 4),
        ("nothing", 1),
        ("", 1),
    ],
)
def test_malformed_files_name_the_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.line == line and str(path) in str(caught.value)


def words(text: str) -> Sentence:
    return Sentence([Token(at, form, form, "X", "X", "_", 0, "dep") for at, form in enumerate(text.split(), 1)])


def test_tokens_are_found_by_their_place() -> None:
    text = 'He said: "I do n\'t." Then he left.'
    sentences = [words('He said : " I do n\'t . "'), words("Then he left .")]
    found = within(text, sentences, text.index("Then"), text.index("Then") + 4)
    assert [(span.sentence, span.token) for span in found] == [(1, 1)]
    assert len(spans(text, sentences)) == 13


def test_sentences_go_back_to_their_texts() -> None:
    texts = ["One two. Three.", "", "Four.", "Five six."]
    sentences = [words("One two ."), words("Three ."), words("Four ."), words("Five six .")]
    assert [len(group) for group in grouped(texts, sentences)] == [2, 0, 1, 1]


def test_parses_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The old man saw a river. He left.", "Boats sail."]
    first = parsed(texts, tmp_path)

    def fail(name: str) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr("vecdcs.tasks.parses.load_parser", fail)
    again = parsed(texts, tmp_path)
    assert [[s.text for s in group] for group in again] == [["The old man saw a river.", "He left."], ["Boats sail."]]
    assert [[s.tokens for s in group] for group in again] == [[s.tokens for s in group] for group in first]
    with pytest.raises(AssertionError, match="parsed again"):
        parsed([*texts, "More."], tmp_path)


def test_by_cross_validation_and_by_test_file(tmp_path: Path) -> None:
    write_relations(tmp_path / relations.TRAIN, RELATIONS * 3)
    model = random_model()
    result = relations.evaluate(model, tmp_path, tmp_path / "cache")
    assert result.figures["items"] == 30 and result.missing == (relations.TEST,)
    assert 0 <= result.figures["macro_f1"] <= 1 and "5-fold" in result.protocol
    low, high = result.figures["interval95"]
    assert low <= result.figures["macro_f1"] <= high
    write_relations(tmp_path / relations.TEST, RELATIONS, first=8001)
    tested = relations.evaluate(model, tmp_path, tmp_path / "cache")
    assert tested.figures["items"] == 10 and tested.missing == () and "test file" in tested.protocol
    assert [row["id"] for row in tested.details] == list(range(8001, 8011))
    assert relations.evaluate(model, tmp_path, tmp_path / "cache").figures == tested.figures
    model = random_model(words=("storm/N", "flood/N", "rain/N", "letter/N", "box/N", "damage/N", "jar/N", "milk/N"))
    known = relations.evaluate(model, tmp_path, tmp_path / "cache").figures
    assert known["oov"] == pytest.approx(7 / 20) and known["no_features"] == 0
    near = relations.similar(model, tmp_path, tmp_path / "cache", 8001, 3)
    assert near[0][1].id == 8001 and {item.id % 10 for _, item in near[1:]} == {1}


def test_tuning_takes_the_best_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 9, 18], 40)
    found = rng.normal(labels[:, None] / 9, 0.3, (120, 8)).astype(np.float32)
    monkeypatch.setattr(relations, "GRID_C", (4.0,))
    monkeypatch.setattr(relations, "GRID_GAMMA", (1e4, 0.2, 1e5))  # so narrow that nothing is near anything
    assert relations._chosen(found, labels, relations.Options(mirror=False)) == (2.0, 0.25)
    assert relations._chosen(found, labels, relations.Options(mirror=False, tune=True)) == (4.0, 0.2)


def test_vectors_give_span_features(tmp_path: Path) -> None:
    write_relations(tmp_path / relations.TRAIN, RELATIONS[:1])
    (tmp_path / "vectors.txt").write_text("4 2\nstorm 1 0\ncaused 0 1\nthe 0 0\nflood 3 4\n", encoding="utf-8")
    model = read_vectors(tmp_path / "vectors.txt")
    items = read(tmp_path / relations.TRAIN)
    found = relations.features(model, items, parsed([items[0].text], tmp_path / "cache"))[0][0]
    half = np.sqrt(0.5)
    last = np.array([0.6, 1.8]) / np.hypot(0.6, 1.8)
    np.testing.assert_allclose(found, [1, 0, 0.6, 0.8, half, half, *last], atol=1e-6)
    (tmp_path / "nodes.txt").write_text("storm/N 1 0\ncause/V 0 1\nflood/N 3 4\n", encoding="utf-8")
    same = relations.features(read_vectors(tmp_path / "nodes.txt"), items, parsed([items[0].text], tmp_path / "cache"))
    np.testing.assert_allclose(same[0][0], found, atol=1e-6)
    assert same[1] == 0


def node(token: int, word: str, parent: int = -1, label: str = "", parent_label: str = "") -> Node:
    return Node(token, word, parent, label, parent_label, 0)


# The old storm in the bay caused a flood yesterday.
STORM = [
    node(6, "cause/V"),
    node(3, "storm/N", 0, "ARG", "SUBJ"),
    node(2, "old/J", 1, "SUBJ", "ARG"),
    node(5, "bay/N", 1, "in", "ARG"),
    node(8, "flood/N", 0, "ARG", "COMP"),
    node(9, "yesterday/R", 0, "ARG", "ARG"),
]


def test_an_entity_is_its_head() -> None:
    assert relations._head([STORM], {2, 3}) == {3}
    assert relations._head([STORM], {1, 2}) == {2} and relations._head([STORM], {1, 4}) == set()
    assert relations._head([STORM], {2, 5}) == {5}  # neither hangs at the other


def test_the_bare_path_has_no_side_branches() -> None:
    words = [[one.word for one in tree] for tree in relations._path([STORM, [node(11, "sail/V")]], {5, 8})]
    assert words == [["cause/V", "storm/N", "bay/N", "flood/N"]]
    (chain,) = relations._path([STORM], {2, 3})
    assert chain == [node(3, "storm/N"), node(2, "old/J", 0, "SUBJ", "ARG")]
    (alone,) = relations._path([STORM], {5})
    assert [one.word for one in alone] == ["cause/V", "storm/N", "bay/N"]


def test_vectors_of_the_path_stand_beside_the_papers_four(tmp_path: Path) -> None:
    """The old storm caused the flood: a, b are the words alone, c and d know nothing of `old`."""
    text = ("The old <e1>storm</e1> caused the <e2>flood</e2>.", "Cause-Effect(e1,e2)")
    write_relations(tmp_path / relations.TRAIN, (text,))
    items = read(tmp_path / relations.TRAIN)
    group = parsed([items[0].text], tmp_path / "cache")
    model = random_model(words=("storm/N", "flood/N", "cause/V", "old/J"))
    (four,), (eight,) = (relations.features(model, items, group, path)[0] for path in (False, True))
    parts = eight.reshape(4, 2, -1)
    np.testing.assert_allclose(parts[:, 0].ravel(), four, atol=1e-6)
    storm, flood = (model.query_vector(word) for word in ("storm/N", "flood/N"))
    flood_up = flood @ model.matrix("ARG") @ model.inverse("COMP")
    around = (model.query_vector("cause/V") + flood_up) @ model.matrix("SUBJ") @ model.inverse("ARG")
    np.testing.assert_allclose(parts[0, 1], storm, atol=1e-5)
    np.testing.assert_allclose(parts[1, 1], flood, atol=1e-5)
    np.testing.assert_allclose(parts[2, 1], unit(around), atol=1e-5)
    back = items[0]._replace(spans=items[0].spans[::-1])
    exchanged, _ = relations.features(model, [back], group, True)
    np.testing.assert_allclose(relations.exchanged(eight[None]), exchanged, atol=1e-5)


def test_missing_data_is_reported(tmp_path: Path) -> None:
    result = relations.evaluate(random_model(), tmp_path, tmp_path)
    assert result.figures == {} and result.missing == (relations.TRAIN,)


def test_the_confusion_matrix_is_drawn(tmp_path: Path) -> None:
    table = confusion(numbers(CAUSE, OTHER), numbers(EFFECT, OTHER)).tolist()
    relations.draw_confusion(table, tmp_path / "matrix.png")
    assert (tmp_path / "matrix.png").read_bytes().startswith(b"\x89PNG")
