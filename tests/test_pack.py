"""Models made small: what is kept, what rounding costs, and that the shipped one costs no more than is allowed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from made_models import FIELDS, WORDS, random_model
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.vocabulary import UNKNOWN
from vecdcs.errors import InputError
from vecdcs.learn.trainer import orthogonal
from vecdcs.model.ask import SHIPPED, Asker, asker, load
from vecdcs.model.interop import export_model
from vecdcs.model.model import MANIFEST, SIDES, TENSORS, Model, check, save, unit
from vecdcs.model.pack import Card, cut, pack
from vecdcs.model.search import Calibration, write_calibration
from vecdcs.tasks import preference, rated
from vecdcs.tasks.phrase_similarity import FOLDER, LAYOUTS, read

COST = 0.01  # the most that packing may cost on any figure
TREES = ("drug/N & ban/V.COMP", "_ & (sell/V & COMP:(book/N & old/J.SUBJ)).SUBJ", "learn/V & man/N.in")
COSTS = ROOT / "results" / "shipped_cost.json"


def gentle(model: Asker, turn: float = 0.3, seed: int = 1) -> Asker:
    """The model with orthogonal matrices near the identity, as learning leaves them."""
    noise = np.random.default_rng(seed).normal(size=model.matrices.shape) * turn / model.dim**0.5
    return replace(model, matrices=orthogonal((np.eye(model.dim) + noise).astype(np.float32)), inverses=None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of 40 dimensions on disk, with a calibration."""
    save(gentle(random_model(dim=40, tied=True)), tmp_path / "model", [{"paths": 1, "loss": 2.0}])
    write_calibration(Calibration(7.0, 0.5), tmp_path / "model")
    return tmp_path / "model"


def test_a_packed_model_answers_as_before(folder: Path, tmp_path: Path) -> None:
    full, small = load(folder), asker(pack(folder, tmp_path / "small"))
    assert small.query.dtype == np.int8 and small.matrices.dtype == np.int8
    assert not small.query.flags.owndata, "mapped, not read"
    assert small.calibration == Calibration(7.0, 0.5)
    for one, other in zip(small.ask_many(TREES), full.ask_many(TREES), strict=True):
        assert one.vector @ other.vector > 0.9995
        words, expected = ([answer.word for answer in asked.answers(3)] for asked in (one, other))
        assert words[0] == expected[0] and set(words) & set(expected)
        scores = {answer.word: answer.score for answer in one.answers(20)}
        for answer in other.answers(20):
            assert scores[answer.word] == pytest.approx(answer.score, abs=0.02)
    for name in FIELDS:
        np.testing.assert_allclose(small.matrix(name), full.matrix(name), atol=0.01)
        np.testing.assert_allclose(small.inverse(name), full.inverse(name), atol=0.01)
    np.testing.assert_allclose(unit(small.query), unit(full.query), atol=0.005)
    check(tmp_path / "small")


def test_the_heaviest_are_kept_and_the_weight_of_others_goes_to_the_unknown() -> None:
    model = random_model(tied=True)
    words = [*range(4), *range(len(WORDS), len(model.vocabulary.words))]
    small = cut(model, words, [0, 1, len(FIELDS)])
    assert small.vocabulary.words[:4] == WORDS[:4] and small.vocabulary.fields == (*FIELDS[:2], UNKNOWN)
    assert small.vocabulary.total == pytest.approx(model.vocabulary.total)
    lost = sum(model.vocabulary.word_weights[at] for at, word in enumerate(WORDS) if at >= 4 and word.endswith("/V"))
    at = model.vocabulary.word_index[f"{UNKNOWN}/V"]
    gained = small.vocabulary.word_weights[small.vocabulary.word_index[f"{UNKNOWN}/V"]]
    assert gained == pytest.approx(lost + model.vocabulary.word_weights[at])
    np.testing.assert_array_equal(small.query_vector("drug/N"), model.query_vector("drug/N"))
    np.testing.assert_array_equal(small.query_vector("learn/V"), model.query_vector(f"{UNKNOWN}/V"))
    np.testing.assert_array_equal(small.matrix("SUBJ"), model.matrix("SUBJ"))
    np.testing.assert_array_equal(small.matrix("on"), model.matrix(UNKNOWN))


def test_it_fits_where_it_must(tmp_path: Path) -> None:
    names = [f"word{at}/{'NVJR'[at % 4]}" for at in range(6000)]
    save(gentle(random_model(dim=50, words=names, tied=True)), tmp_path / "model", [])
    small = pack(tmp_path / "model", tmp_path / "small", megabytes=0.5)
    size = sum(path.stat().st_size for path in (tmp_path / "small").iterdir())
    assert 0.3e6 < size <= 0.5e6 and 2000 < len(small.vocabulary.words) < 6000
    assert len(pack(tmp_path / "model", tmp_path / "few", words=100, fields=2).vocabulary.words) == 105
    with pytest.raises(InputError, match="leave no room"):
        pack(tmp_path / "model", tmp_path / "none", megabytes=0.1)


def test_what_cannot_be_packed(folder: Path, tmp_path: Path) -> None:
    save(random_model(), tmp_path / "paper", [])
    with pytest.raises(InputError, match="inverses of its own"):
        pack(tmp_path / "paper", tmp_path / "small")
    with pytest.raises(InputError, match="something here already"):
        pack(folder, tmp_path / "paper")
    pack(folder, tmp_path / "small")
    with pytest.raises(InputError, match="packed already"):
        pack(tmp_path / "small", tmp_path / "smaller")
    pack(folder, tmp_path / "small", words=3)  # a packed model may be replaced
    assert len(load(tmp_path / "small").vocabulary.words) == 8


def test_without_matrices(tmp_path: Path) -> None:
    save(random_model(matrices=False), tmp_path / "model", [])
    small = asker(pack(tmp_path / "model", tmp_path / "small"))
    assert not small.has_matrices and small.answers(TREES[0])


def test_a_packed_model_can_be_exported(folder: Path, tmp_path: Path) -> None:
    pack(folder, tmp_path / "small")
    export_model(tmp_path / "small", tmp_path / "text", "tsv")
    rows = np.loadtxt(tmp_path / "text" / "query.tsv", delimiter="\t")
    np.testing.assert_allclose(rows, load(folder).query, atol=0.02)


def test_a_packed_model_keeps_lengths(folder: Path, tmp_path: Path) -> None:
    full, small = load(folder), asker(pack(folder, tmp_path / "small"))
    for side in SIDES:
        lengths = np.linalg.norm(small.as_learned(side), axis=1)
        np.testing.assert_allclose(lengths, np.linalg.norm(getattr(full, side), axis=1), rtol=1e-3)
        np.testing.assert_allclose(small.as_learned(side, np.array([2, 0])), small.as_learned(side)[[2, 0]])
    text, words = "sell/V & SUBJ:man/N & COMP:_", ["drug/N", "book/N", "canada/N"]
    before, after = ({c.word: c.score for c in model.complete(text, words)} for model in (full, small))
    assert after == pytest.approx(before, abs=0.01 * max(map(abs, before.values())) + 0.05)
    # of a model packed before lengths were kept only directions are known
    np.testing.assert_allclose(replace(small, lengths=None).as_learned("query"), unit(full.query), atol=0.005)


def test_the_card(folder: Path, tmp_path: Path) -> None:
    about = tmp_path / "about.md"
    about.write_text("Learned from nothing.\n", "utf-8")
    sets = [{"set": "AN", "spearman_tie_corrected": 0.5, "interval95": [0.4, 0.6]}]
    by = [{"set": "2-step", "by": {"model": {"mrr": 0.25, "hits10": 0.5}}}]
    tasks = {
        "phrase-similarity": {"protocol": "cosines", "sets": sets},
        "relations": {"protocol": "", "macro_f1": 0.75, "direction_errors": 16, "interval95": [0.7, 0.8]},
        "execution": {"protocol": "hidden", "sets": by},
    }
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"models": {"vecDCS": tasks}}), "utf-8")
    arguments = ["--results", results, "--about", about, "--cpu-hours", 1.5, "--words", 4, "-o", tmp_path / "small"]
    done = CliRunner().invoke(app, ["pack", str(folder), *map(str, arguments)])
    assert done.exit_code == 0 and "9 words" in done.output
    card = (tmp_path / "small" / "README.md").read_text("utf-8")
    digest = json.loads((tmp_path / "small" / MANIFEST).read_text("utf-8"))["files"][TENSORS]["sha256"]
    for part in (
        "Learned from nothing.",
        "| CPU hours of training | 1.50 |",
        "| cut and rounded | from 15 words, 7 fields |",
        "| phrase-similarity | AN | spearman tie corrected | 0.500 | 0.400–0.600 |",
        "| relations |  | macro f1 | 0.750 | 0.700–0.800 |",
        "| relations |  | direction errors | 16 |  |",
        "| execution | 2-step, model | mrr | 0.250 |  |",
        "- **phrase-similarity**: cosines.",
        digest,
    ):
        assert part in card
    with pytest.raises(InputError, match="no figures of 'other'"):
        pack(folder, tmp_path / "small", card=Card(results, "other"))


def quick_figures(model: Model, data: Path) -> dict[str, float]:
    """The development figures that need no parser."""
    found = {}
    for result in (rated.phrases(model, data), rated.preferences(model, data)):
        for row in result.figures["sets"]:
            found |= {f"{row['set']} {key}": row[key] for key in row if key.startswith(("spearman", "plain"))}
    return found


def evaluated_words(data: Path) -> list[str]:
    """All words of the rated sets: of unknown ones the scores would be equal but for noise."""
    words: dict[str, None] = {}
    for layout in LAYOUTS.values():
        path = data / FOLDER / layout.file
        for pair in read(path, layout).pairs if path.is_file() else ():
            for term in layout.terms:
                sides = (pair[term.column], pair[term.column + len(layout.phrases[0])])
                words |= dict.fromkeys(f"{word}/{term.pos}" for word in sides)
    for name, role in preference.ROLES.items():
        path = data / preference.FOLDER / f"{name}_annotation.txt"
        for predicate, argument in preference.read(path)[0] if path.is_file() else ():
            words |= {f"{predicate}/{role.predicate}": None, f"{argument}/{role.argument}": None}
    return list(words)


def test_packing_a_random_model_costs_little_on_every_set(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "eval"
    words = evaluated_words(data)
    assert len(words) > 1000
    full = gentle(random_model(dim=100, words=words, tied=True))
    save(full, tmp_path / "model", [])
    expected, found = (quick_figures(m, data) for m in (full, pack(tmp_path / "model", tmp_path / "small")))
    assert len(found) >= 9
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=COST), name


needs_shipped = pytest.mark.skipif(not (SHIPPED / MANIFEST).is_file(), reason="no shipped model in this source tree")


@needs_shipped
def test_the_shipped_model_is_small_and_whole() -> None:
    check(SHIPPED)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) <= 45e6
    assert load().config["packed"]


@needs_shipped
def test_shipping_cost_little(shared: Path) -> None:
    """What was measured before and after packing (benchmarks/shipped_cost.py), and that it is still so."""
    told = json.loads(COSTS.read_text("utf-8"))
    assert told["digest"] == json.loads((SHIPPED / MANIFEST).read_text("utf-8"))["files"][TENSORS]["sha256"]
    tasks = {name.partition(" ")[0] for name in told["figures"]}
    assert {"phrase-similarity", "preference", "relations", "completion"} <= tasks
    for name, (before, after) in told["figures"].items():
        assert after == pytest.approx(before, abs=COST), name
    measured = quick_figures(load(), shared / "data" / "eval")
    recorded = {key.partition(" ")[2]: after for key, (_, after) in told["figures"].items()}
    again = sorted(measured.keys() & recorded.keys())
    assert len(again) >= 11
    assert [measured[name] for name in again] == pytest.approx([recorded[name] for name in again], abs=1e-3)
