"""Training: the same bytes for any number of workers and after any interruption, and clear errors."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from random_forest import random_trees

from vecdcs.corpus.build import build
from vecdcs.corpus.flat import FlatTrees
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options as BuildOptions
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.corpus.weights import field_totals, path_weights, word_totals
from vecdcs.errors import InputError, VecdcsError
from vecdcs.learn import session, tensors
from vecdcs.learn.recipes import Plan, plan
from vecdcs.learn.trainer import LEAST_PATHS, Position, Trainer, joined
from vecdcs.model.fit import fit
from vecdcs.text.conllu import format_sentence
from vecdcs.world import World

WORDS, FIELDS = 30, 5
VARIANTS = [
    ("default", "full"),
    ("default", "no-matrix"),
    ("default", "no-inverse"),
    ("default", "ud"),
    ("paper", "full"),
]


class Memory:
    """A forest in memory, of several shards."""

    def __init__(self, ud: bool = False, shards: int = 11) -> None:
        self.trees = [random_trees(np.random.default_rng(k), 12, WORDS, FIELDS, ud) for k in range(shards)]
        self.shards = range(shards)

    def flat(self, shard: int, vocabulary: Vocabulary) -> FlatTrees:
        return self.trees[shard]

    @property
    def vocabulary(self) -> Vocabulary:
        trees = joined(self.trees)
        weights = path_weights(trees)
        names = [tuple(f"{k}/N" for k in range(WORDS)), ("ARG", *(f"f{k}" for k in range(1, FIELDS)))]
        return Vocabulary(names[0], word_totals(trees, weights, WORDS), names[1], field_totals(trees, weights, FIELDS))


def small(recipe: str = "default", variant: str = "full", epochs: int = 2) -> Plan:
    made = plan(recipe, variant, dim=8, epochs=epochs, noise=6)
    return replace(made, recipe=replace(made.recipe, paths=32, batches=3, longest=5))


def trained(chosen: Plan, workers: int = 1, source: Memory | None = None) -> tuple[Trainer, list[float]]:
    source = source or Memory(chosen.variant == "ud")
    trainer = Trainer(chosen, source.vocabulary, source, workers)
    return trainer, [report.loss for report in trainer.run()]


def all_bytes(trainer: Trainer) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in trainer.state.arrays().items()}


@pytest.mark.parametrize(("recipe", "variant"), VARIANTS)
def test_any_number_of_workers_gives_the_same_bytes(recipe: str, variant: str) -> None:
    one, losses = trained(small(recipe, variant))
    for workers in (2, 5):
        other, other_losses = trained(small(recipe, variant), workers)
        assert all_bytes(other) == all_bytes(one)
        assert other_losses == losses


def test_another_seed_gives_another_model() -> None:
    one, other = trained(small())[0], trained(replace(small(), seed=2))[0]
    assert all_bytes(one) != all_bytes(other)


@pytest.mark.parametrize(("recipe", "variant"), VARIANTS)
def test_loss_falls(recipe: str, variant: str) -> None:
    _, losses = trained(small(recipe, variant, epochs=12))
    assert np.mean(losses[-10:]) < 0.97 * np.mean(losses[:10])


def test_every_path_of_every_epoch_is_seen_once() -> None:
    source = Memory()
    trainer = Trainer(small(), source.vocabulary, source)
    positions = [report.position for report in trainer.run()]
    assert positions[-1].paths == pytest.approx(2 * source.vocabulary.total, rel=0.05)
    assert {(position.epoch, position.window) for position in positions} == {(e, w) for e in (0, 1) for w in (0, 1)}
    assert trainer.state.uses.query.sum() == positions[-1].paths


def test_run_goes_on_from_a_position() -> None:
    source = Memory()
    whole, _ = trained(small(), source=source)
    for stop in (1, 7, 20):
        first = Trainer(small(), source.vocabulary, source)
        report = next(islice(first.run(), stop - 1, None))
        second = Trainer(small(), source.vocabulary, source)
        for name, array in second.state.arrays().items():
            array[...] = first.state.arrays()[name]
        for _ in second.run(report.position):
            pass
        assert all_bytes(second) == all_bytes(whole)


def test_subsampling_thins_frequent_words_at_both_ends() -> None:
    source = Memory()
    thin = replace(small(epochs=4), recipe=replace(small().recipe, subsample=0.01))
    trainer = Trainer(thin, source.vocabulary, source)
    reports = list(trainer.run())
    assert reports[-1].position.paths == pytest.approx(trainer.total, rel=0.05)
    kept = sum(report.paths for report in reports)
    expected = trainer.keep @ source.vocabulary.word_weights / source.vocabulary.total
    assert kept == pytest.approx(4 * source.vocabulary.total * expected**2, rel=0.1)
    assert trainer.state.uses.query.sum() == kept
    share = trainer.state.uses.query / kept
    before = source.vocabulary.word_weights / source.vocabulary.total
    assert share.max() < before.max()


@pytest.mark.parametrize(("recipe", "variant"), VARIANTS)
def test_the_matrix_of_arg_is_still_in_the_default_recipe(recipe: str, variant: str) -> None:
    memory = Memory(variant == "ud")
    trainer = Trainer(plan(recipe, variant, dim=6), memory.vocabulary, memory)
    list(trainer.run())
    model = trainer.state.parameters
    near = [np.abs(matrix - np.eye(6)).max() for matrix in model.matrix]
    expected = {"full": [0], "no-inverse": [0]}.get(variant, []) if recipe == "default" else []
    assert [number for number, off in enumerate(near) if off == 0] == expected
    assert model.still == (expected or [-1])[0]


def test_tied_matrices_stay_orthogonal_and_pairs_differ() -> None:
    tied = session.finished(trained(small())[0].state, small()).parameters.matrix
    assert np.abs(tied.transpose(0, 2, 1) @ tied - np.eye(8)).max() < 1e-6
    pair = trained(small(variant="no-inverse"))[0].state.parameters.matrix
    assert len(pair) == 2 * len(tied)
    assert np.abs(pair[0] @ pair[1] - np.eye(8)).max() > 1e-3


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Forest:
    """The small world as a forest of several shards."""
    folder = tmp_path_factory.mktemp("world")
    text = "".join(format_sentence(statement.sentence) for statement in World.make(sentences=600).statements)
    (folder / "world.conllu").write_text(text, "utf-8")
    return build([folder / "world.conllu"], folder / "forest", BuildOptions(shard_bytes=20_000))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def command(forest: Forest, output: Path, *more: str) -> list[str]:
    options = ["--dim", "16", "--epochs", "3", "--checkpoint", "0", "--workers", "1", *more]
    return [sys.executable, "-m", "vecdcs", "train", str(forest.path), "-o", str(output), *options]


def test_killed_at_random_points_it_ends_with_the_same_bytes(forest: Forest, tmp_path: Path) -> None:
    """kill -9 again and again, each time once a new checkpoint is there or being written."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run(command(forest, whole), check=True, capture_output=True)
    chance, kills = random.Random(1), 0
    while not broken.exists():
        process = subprocess.Popen(command(forest, broken), stderr=subprocess.DEVNULL)
        before = _checkpoint(broken)
        while process.poll() is None and _checkpoint(broken) == before:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.05)
        if process.poll() is None and kills < 6:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills >= 3
    assert files(broken) == files(whole)
    assert not broken.with_name("broken.training").exists()


def _checkpoint(output: Path) -> bytes:
    position = output.with_name(output.name + ".training") / session.POSITION
    return position.read_bytes() if position.exists() else b""


def interrupted(forest: Forest, tmp_path: Path, steps: int = 3) -> Path:
    """The folder of a run that was stopped by its time limit."""
    outcome = session.train(
        forest, plan(dim=8), session.vocabulary_of(forest), tmp_path, session.Options(time_limit=0.0)
    )
    assert not outcome.finished
    return tmp_path


def test_a_changed_option_or_forest_is_named(forest: Forest, tmp_path: Path) -> None:
    work = interrupted(forest, tmp_path)
    vocabulary = session.vocabulary_of(forest)
    with pytest.raises(InputError, match=r"plan\.seed = 1, now it is 2"):
        session.train(forest, plan(dim=8, seed=2), vocabulary, work)
    manifest = json.loads(json.dumps(dict(forest.manifest)))
    manifest["files"]["shards/000000.nodes.parquet"]["sha256"] = "0"
    with pytest.raises(InputError, match="began with forest = "):
        session.train(Forest(forest.path, manifest), plan(dim=8), vocabulary, work)


def test_a_full_disk_leaves_the_last_checkpoint(
    forest: Forest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = interrupted(forest, tmp_path)
    before = files(work)
    real = tensors.write

    def full(path: Path, arrays: dict[str, tensors.Array]) -> None:
        real(path, dict(list(arrays.items())[:1]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tensors, "write", full)
    with pytest.raises(VecdcsError, match="No space left"):
        session.train(forest, plan(dim=8), session.vocabulary_of(forest), work, session.Options(every=0.0))
    assert files(work) == before


def test_divergence_is_an_error_and_keeps_the_checkpoint(
    forest: Forest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = interrupted(forest, tmp_path)
    before = files(work)
    real = Trainer._step

    def diverge(self: Trainer, *arguments: object) -> tuple[float, int]:
        self.state.parameters.query[...] = np.nan
        return real(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "_step", diverge)
    with pytest.raises(VecdcsError, match=r"diverged; the checkpoint in .* is from before"):
        session.train(forest, plan(dim=8), session.vocabulary_of(forest), work)
    assert files(work) == before


def test_time_limit_leaves_a_model_and_the_same_command_goes_on(forest: Forest, tmp_path: Path) -> None:
    chosen = plan(dim=8)
    part = fit(forest, tmp_path / "model", chosen, session.Options(time_limit=0.0))
    assert not part.config["finished"]
    whole = fit(forest, tmp_path / "model", chosen)
    assert whole.config["finished"]
    fit(forest, tmp_path / "other", chosen)
    assert files(tmp_path / "model") == files(tmp_path / "other")


def test_output_in_the_way_and_wrong_forest_are_refused(forest: Forest, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(InputError, match="in the way"):
        fit(forest, tmp_path / "model", plan(dim=8))
    with pytest.raises(InputError, match="vecdcs build --ud"):
        fit(forest, tmp_path / "other", plan(dim=8, variant="ud"))


def test_plans_are_checked() -> None:
    numbers = ({"dim": 0}, {"epochs": 0}, {"noise": 0}, {"rate": 0.0}, {"rate": float("nan")}, {"power": 1.5})
    for wrong in ({"recipe": "soup"}, {"variant": "half"}, *numbers):
        with pytest.raises(InputError):
            plan(**wrong)  # type: ignore[arg-type]
    assert plan("paper", noise=7).recipe.noise_mass == 7
    assert plan(rate=0.03).recipe.vector_rate == 0.03 and plan(rate=0.03).recipe.name == "default"
    assert plan(power=1.0).recipe.word_power == 1.0 != plan().recipe.word_power


def test_position_counts_windows() -> None:
    trainer = Trainer(small(), Memory().vocabulary, Memory())
    assert trainer.windows == 2
    assert next(trainer.run()).position == Position(0, 0, 1, 96)


def test_little_text_is_learned_in_small_steps() -> None:
    source = Memory()
    assert Trainer(plan(), source.vocabulary, source).paths == LEAST_PATHS
    many = Trainer(plan(epochs=10**6), source.vocabulary, source)
    assert many.paths == many.plan.recipe.paths
