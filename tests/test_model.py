"""The model folder: mapped, checked, readable by others; projection; inspection."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from random_forest import random_trees
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.vocabulary import cut
from vecdcs.errors import InputError
from vecdcs.learn import tensors
from vecdcs.learn.trainer import orthogonal
from vecdcs.model.calibrate import asked_by_few
from vecdcs.model.compose import project, word_vectors
from vecdcs.model.inspect import inspection, off_identity, same_pos_share
from vecdcs.model.model import Model, check, load, save, unit
from vecdcs.model.pack import rounded

WORDS = {f"w{k}/{pos}": 30.0 - k for k in range(10) for pos in "NV"}
FIELDS = {"ARG": 9.0, "SUBJ": 5.0, "COMP": 4.0, "of": 2.0}
CONFIG = {
    "plan": {"variant": "full", "recipe": {"name": "default", "orthogonal": True}, "epochs": 1, "seed": 1},
    "paths": 10,
    "finished": True,
    "sources": ["a.txt"],
}


def made(pair: bool = False, dim: int = 6, seed: int = 0) -> Model:
    rng = np.random.default_rng(seed)
    vocabulary = cut(WORDS, FIELDS, 0, 0)
    size = len(vocabulary.words), dim
    query, answer = (rng.normal(size=size).astype(np.float32) for _ in range(2))
    shape = len(vocabulary.fields), dim, dim
    matrices, inverses = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    if pair:
        return Model(vocabulary, query, answer, matrices, inverses, CONFIG)
    return Model(vocabulary, query, answer, orthogonal(matrices), None, CONFIG)


@pytest.mark.parametrize("pair", [False, True])
def test_a_saved_model_comes_back_mapped(pair: bool, tmp_path: Path) -> None:
    model = made(pair)
    save(model, tmp_path / "model", [{"paths": 1, "loss": 2.0, "rate": 0.1}])
    again = load(tmp_path / "model")
    assert again.vocabulary.words == model.vocabulary.words
    for name in ("query", "answer", "matrices", "inverses"):
        mine, theirs = getattr(model, name), getattr(again, name)
        assert (mine is None and theirs is None) or np.array_equal(mine, theirs)
    assert not again.query.flags.owndata and not again.query.flags.writeable
    check(tmp_path / "model")
    assert not (tmp_path / "model.partial").exists()


def test_the_tensors_are_those_of_the_safetensors_library(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(3), "c": np.empty((0, 4), np.float32)}
    tensors.write(tmp_path / "ours", arrays)
    theirs = load_file(tmp_path / "ours")
    assert all(np.array_equal(theirs[name], arrays[name]) for name in arrays)
    save_file(arrays, tmp_path / "theirs", {"made": "by the library"})
    ours = tensors.mapped(tmp_path / "theirs")
    assert all(np.array_equal(ours[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 40, b'\x10\0\0\0\0\0\0\0{"a": 1}        '])
def test_damaged_tensors_are_named(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(damage)
    with pytest.raises(InputError, match="not a safetensors file"):
        tensors.mapped(tmp_path / "x")


def test_damaged_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model here"):
        load(tmp_path)
    folder = tmp_path / "model"
    save(made(), folder, [])
    words = (folder / "words.tsv").read_text("utf-8")
    (folder / "words.tsv").write_text(words + "0.5\tmore/N\n", "utf-8")
    with pytest.raises(InputError, match="query has shape"):
        load(folder)
    with pytest.raises(InputError, match=r"words\.tsv: the file is not what the manifest says"):
        check(folder)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": 99}), "utf-8")
    with pytest.raises(InputError, match="vecdcs-model 99"):
        load(folder)


def test_vectors_are_unit_and_unknown_words_have_their_kind() -> None:
    model = made()
    assert np.linalg.norm(model.query_vector("w3/N")) == pytest.approx(1, rel=1e-6)
    assert np.array_equal(model.answer_vector("never/V"), model.answer_vector("*UNKNOWN*/V"))
    assert not model.knows("never/V")
    pair = made(pair=True)
    assert np.linalg.norm(pair.inverse("of")) == pytest.approx(np.sqrt(6), rel=1e-6)
    assert np.array_equal(model.inverse("of"), model.matrix("of").T)


@pytest.mark.parametrize(("pair", "packed"), [(False, False), (True, False), (False, True)])
def test_narrow_matrices_turn_the_first_dimensions_alone(tmp_path: Path, pair: bool, packed: bool) -> None:
    wide = made(pair)
    inverses = None if wide.inverses is None else wide.inverses[:, :4, :4]
    narrow = replace(wide, matrices=wide.matrices[:, :4, :4], inverses=inverses)
    save(rounded(narrow) if packed else narrow, tmp_path / "model", [])
    model = load(tmp_path / "model")
    for inverse in (False, True):
        whole = model.learned(1, inverse)
        np.testing.assert_array_equal(whole[4:], np.eye(model.dim)[4:])
        np.testing.assert_array_equal(whole[:, 4:], np.eye(model.dim)[:, 4:])
        np.testing.assert_allclose(whole[:4, :4], wide.learned(1, inverse)[:4, :4], atol=0.02)
    around = project(model, np.ones((1, model.dim), np.float32), ["ARG", "of"])
    np.testing.assert_allclose(around[0, 4:] / around[0, 4], 1)


@pytest.mark.parametrize("pair", [False, True])
def test_calibration_asks_by_one_or_two_words_beside_a_node(pair: bool) -> None:
    """M_L M_P^-1 from a child, M_P M_L^-1 from the parent; which two of many is left to chance."""
    model = made(pair)
    trees = random_trees(np.random.default_rng(3), 5, len(WORDS), len(FIELDS))
    beside: dict[int, list[np.ndarray]] = {}
    edges: dict[int, set[tuple[int, int, int]]] = {}
    part = model.vocabulary.parts
    for node in np.flatnonzero(trees.parent >= 0):
        parent = int(trees.parent[node])
        labels = [model.vocabulary.fields[number] for number in (trees.label[node], trees.parent_label[node])]
        words = [model.vocabulary.words[trees.word[at]] for at in (node, parent)]
        beside.setdefault(parent, []).append(project(model, word_vectors(model, words[:1]), labels)[0])
        beside.setdefault(int(node), []).append(project(model, word_vectors(model, words[1:]), labels[::-1])[0])
        ends = int(trees.label[node]), int(trees.parent_label[node])
        edges.setdefault(int(trees.word[parent]), set()).add((int(part[trees.word[node]]), *ends))
        edges.setdefault(int(trees.word[node]), set()).add((int(part[trees.word[parent]]), *ends[::-1]))
    asked, backs, truth, kinds = asked_by_few(model, trees, np.random.default_rng(1), 1000)
    turned = asked_by_few(replace(model, query=model.answer), trees, np.random.default_rng(1), 1000)
    np.testing.assert_array_equal(backs, turned.vectors)
    assert len(asked) == len(truth) == len(beside)
    assert sorted(truth) == sorted(trees.word[[*beside]])
    possible = [
        (trees.word[node], unit(sum(some)[None])[0])
        for node, vectors in beside.items()
        for some in (combinations(vectors, 2) if len(vectors) > 1 else [vectors])
    ]
    for vector, word in zip(asked, truth, strict=True):
        assert any(word == other and np.allclose(vector, one, atol=1e-5) for other, one in possible)
    assert all(1 <= len(some) <= 2 and set(some) <= edges[word] for some, word in zip(kinds, truth, strict=True))
    fewer = asked_by_few(model, trees, np.random.default_rng(1), 3)
    assert len(fewer.vectors) == len(fewer.kinds) == 3


def test_without_matrices_projection_is_identity() -> None:
    model = replace(made(), matrices=np.empty((0, 6, 6), np.float32))
    vectors = word_vectors(model, ["w1/N", "w2/V"])
    assert np.array_equal(project(model, vectors, ("ARG", "COMP")), vectors)


def test_inspection_measures_what_it_says() -> None:
    assert off_identity(3 * np.eye(4)) == 0
    assert off_identity(np.diag([1.0, 3.0])) == pytest.approx(0.5)
    found = inspection(made())
    assert [row["field"] for row in found["matrices"]] == ["ARG", "SUBJ", "COMP", "of"]
    assert all(row["orthogonality_error"] < 1e-6 and row["inverse_by_construction"] for row in found["matrices"])
    loose = inspection(made(pair=True))["matrices"][0]
    assert loose["inverse_error"] > 0.5 and not loose["inverse_by_construction"]


def test_same_pos_share_sees_clusters() -> None:
    model = made()
    clustered = model.query.copy()
    for number, word in enumerate(model.vocabulary.words):
        clustered[number, 0] += 50 if word.endswith("/N") else -50
    assert same_pos_share(replace(model, query=clustered), neighbours=5) == 1.0
    assert 0.2 < same_pos_share(model, neighbours=5) < 0.8


def test_inspect_command(tmp_path: Path) -> None:
    save(made(), tmp_path / "model", [{"paths": k, "loss": 2.0 / k, "rate": 0.1} for k in range(1, 9)])
    runner = CliRunner()
    shown = runner.invoke(app, ["inspect", str(tmp_path / "model"), "--plot", str(tmp_path / "curve.svg")])
    assert shown.exit_code == 0 and "* by construction" in shown.stdout
    assert "<svg" in (tmp_path / "curve.svg").read_text("utf-8")
    told = json.loads(runner.invoke(app, ["inspect", str(tmp_path / "model"), "--json", "--all"]).stdout)
    assert len(told["matrices"]) == 5
    assert [row["weight"] for row in told["matrices"]] == list(made().vocabulary.field_weights)
