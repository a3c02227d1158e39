"""Training by actors: one is as good as none, several average; whoever dies, it ends with the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import skip_or_fail
from corpora import contents
from test_trainer import VARIANTS, Memory, all_bytes, small, trained
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options as BuildOptions
from vecdcs.engines import ray as engine
from vecdcs.errors import InputError, VecdcsError
from vecdcs.learn import averaging, session
from vecdcs.learn.averaging import Averager, Averaging, Change, Order, Result, Rows, Team, Work
from vecdcs.learn.recipes import plan
from vecdcs.learn.trainer import State, initial_state
from vecdcs.model.fit import fit
from vecdcs.model.model import load
from vecdcs.tasks import small_world
from vecdcs.world import World, write_world

OPTIONS = ["--dim", "16", "--epochs", "2", "--checkpoint", "0", "--engine", "ray", "--workers", "2", "-q"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Ray cluster of two workers on this machine."""
    if find_spec("ray") is None:
        skip_or_fail("Ray is not installed (pip install 'vecdcs[ray]')")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small world, and its forest of several shards."""
    folder = tmp_path_factory.mktemp("small")
    write_world(World.make(), folder / "world")
    build([folder / "world/sentences.conllu"], folder / "forest", BuildOptions(shard_bytes=20_000))
    return folder


@pytest.fixture(scope="module")
def forest(world: Path) -> Forest:
    return Forest.open(world / "forest")


@pytest.fixture(scope="module")
def undisturbed(forest: Forest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What two actors learn, both in this process."""
    folder = tmp_path_factory.mktemp("undisturbed") / "model"
    fit(forest, folder, plan(dim=16, epochs=2), averaging=Averaging("ray", 2))
    return contents(folder)


def averaged(actors: int, recipe: str = "default", variant: str = "full") -> Averager:
    source = Memory(variant == "ud")
    return Averager(small(recipe, variant), source.vocabulary, source, Averaging("here", actors, round=300))


@pytest.mark.parametrize(("recipe", "variant"), VARIANTS)
def test_one_actor_gives_the_bytes_of_training_without(recipe: str, variant: str) -> None:
    trainer = averaged(1, recipe, variant)
    reports = list(trainer.run())
    assert len(reports) > 3
    assert all_bytes(trainer) == all_bytes(trained(small(recipe, variant))[0])  # type: ignore[arg-type]


@pytest.mark.parametrize(("recipe", "variant"), VARIANTS)
def test_several_actors_learn_all_paths_and_the_loss_falls(recipe: str, variant: str) -> None:
    trainer = averaged(3, recipe, variant)
    reports = list(trainer.run())
    assert reports[-1].position.paths == pytest.approx(trainer.total, rel=0.05)
    assert trainer.state.uses.query.sum() == reports[-1].position.paths == sum(report.paths for report in reports)
    assert reports[-1].loss < reports[0].loss
    assert all(np.isfinite(array).all() for array in trainer.state.arrays().values())
    if small(recipe).recipe.linear:
        rates = [report.rate for report in reports]
        assert rates == sorted(rates, reverse=True)
        assert rates[-1] < 0.25 * rates[0]


def test_actors_share_the_shards_and_draw_differently() -> None:
    source = Memory()
    parts = [averaging.Part(source, number, 3) for number in range(3)]
    assert sorted(shard for part in parts for shard in part.shards) == list(source.shards)
    seeds = [averaging.Actor(small(), source.vocabulary, part).learner.plan.seed for part in parts]
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(("recipe", "variant"), VARIANTS)
def test_a_whole_change_is_all_of_the_state(recipe: str, variant: str) -> None:
    """Also of whatever the state will one day hold besides: then `tables` must know it."""
    rng = np.random.default_rng(1)
    source = Memory(variant == "ud")
    one, other = (initial_state(small(recipe, variant), source.vocabulary) for _ in range(2))
    for array in one.arrays().values():
        array[...] = rng.integers(1, 100, array.shape)
    averaging.put(other, averaging.whole(one))
    for name, array in one.arrays().items():
        assert np.array_equal(array, other.arrays()[name]), name


@pytest.mark.parametrize("actors", [1, 2, 3, 4, 9])
def test_an_actor_steps_over_fewer_paths_but_as_far(actors: int) -> None:
    alone = plan("paper")
    recipe, each = alone.recipe, averaging.shared(alone, 500, actors).recipe
    assert each.batches * each.paths == pytest.approx(recipe.batches * 500 / actors, rel=0.02)
    assert each.vector_rate * each.batches * each.paths == pytest.approx(
        recipe.vector_rate * recipe.batches * 500, 0.02
    )
    assert each.vector_rate * each.vector_decay == pytest.approx(recipe.vector_rate * recipe.vector_decay)
    assert averaging.shared(alone, recipe.paths, 1) == alone


def change(rows: list[int], uses: list[int], value: float, state: State) -> Change:
    """A change of some query vectors to a value."""
    empty = [averaging.taken(table, np.array([], np.int32)) for table in averaging.tables(state)[1:]]
    values = np.full((len(rows), state.parameters.query.shape[1]), value, np.float32)
    return (Rows(np.array(rows, np.int32), np.array(uses, np.int64), (values,)), *empty)


def test_the_average_is_over_all_actors_and_who_did_not_use_a_word_has_it_as_before() -> None:
    state = initial_state(small(), Memory().vocabulary)
    before = state.parameters.query.copy()
    changes = [change([2, 5], [1, 4], 1.0, state), change([2, 7], [3, 2], 9.0, state)]
    news = averaging.average(state, changes, orthogonal=True)
    expected = [np.full(8, 5.0), (before[5] + 1) / 2, (before[7] + 9) / 2]
    assert np.allclose(state.parameters.query[[2, 5, 7]], expected, rtol=1e-6)
    assert list(state.uses.query[[2, 5, 7]]) == [4, 4, 2]
    untouched = [row for row in range(len(before)) if row not in (2, 5, 7)]
    assert np.array_equal(state.parameters.query[untouched], before[untouched])
    assert list(news[0].rows) == [2, 5, 7]


def test_averaged_matrices_stay_orthogonal() -> None:
    trainer = averaged(3)
    for _ in trainer.run():
        pass
    matrix = trainer.state.parameters.matrix
    assert np.abs(matrix.transpose(0, 2, 1) @ matrix - np.eye(8)).max() < 1e-2


def test_only_what_was_used_is_sent() -> None:
    trainer = averaged(2)
    list(trainer.run())
    everything = 2 * averaging.size(averaging.whole(trainer.state))
    assert trainer.costs[0].down == everything
    assert all(0 < cost.up <= everything for cost in trainer.costs[:-1])
    assert trainer.costs[-1].up == 0


def test_interrupted_after_every_round_it_ends_with_the_same_bytes(
    forest: Forest, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    finished, rounds = False, 0
    while not finished:
        limit = session.Options(time_limit=0.0 if rounds < 5 else None)
        by = Averaging("ray", 2)
        finished = fit(forest, tmp_path / "model", plan(dim=16, epochs=2), limit, averaging=by).config["finished"]
        rounds += 1
    assert contents(tmp_path / "model") == undisturbed


def test_other_actors_or_rounds_are_named(forest: Forest, tmp_path: Path) -> None:
    chosen, words = plan(dim=8), session.vocabulary_of(forest)
    session.train(forest, chosen, words, tmp_path, session.Options(time_limit=0.0), averaging=Averaging("ray", 2))
    for by, message in (
        (Averaging("ray", 3), r"averaging\.actors = 2, now it is 3"),
        (Averaging("ray", 2, round=77), r"averaging\.round = \d+, now it is 77"),
        (None, r"averaging = \{.*\}, now it is None"),
    ):
        with pytest.raises(InputError, match=message):
            session.train(forest, chosen, words, tmp_path, averaging=by)


def test_more_actors_than_shards_are_refused(forest: Forest) -> None:
    many = len(forest.shards) + 1
    with pytest.raises(InputError, match=f"{many} actors for the {many - 1} shards"):
        Averager(plan(), session.vocabulary_of(forest), forest, Averaging("ray", many))


def mortal(marker: Path) -> averaging.Engine:
    """Ray, but the second actor is killed once, with its second round done but not yet told."""

    def actors(make: Callable[[int], Work], count: int) -> AbstractContextManager[Team]:
        def make_mortal(number: int) -> Work:
            work = make(number)

            def live(news: Change, order: Order) -> Result:
                result = work(news, order)
                if number == 1 and order.position.paths and not marker.exists():
                    marker.write_text(str(os.getpid()))
                    os.kill(os.getpid(), signal.SIGKILL)
                return result

            return live

        return engine.actors(make_mortal, count)

    return actors


def test_an_actor_is_killed_and_the_bytes_are_the_same(
    cluster: str, forest: Forest, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    by = Averaging("ray", 2, mortal(tmp_path / "killed"))
    model = fit(forest, tmp_path / "model", plan(dim=16, epochs=2), averaging=by)
    assert (tmp_path / "killed").read_text() != str(os.getpid())
    assert contents(tmp_path / "model") == undisturbed
    assert model.config["averaging"]["engine"] == "ray"
    assert model.config["averaging"]["actors"] == 2
    assert model.config["averaging"]["rounds"] >= 50


def test_the_command_is_killed_and_goes_on_to_the_same_bytes(
    cluster: str, forest: Forest, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    output = tmp_path / "model"
    where = ["--ray-address", cluster]
    command = [sys.executable, "-m", "vecdcs", "train", str(forest.path), "-o", str(output), *OPTIONS, *where]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    position = tmp_path / "model.training" / session.POSITION
    while process.poll() is None and not position.exists():
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL, process.stderr and process.stderr.read()
    assert position.exists() and not output.exists()
    subprocess.run(command, check=True, capture_output=True)
    assert contents(output) == undisturbed


def test_two_actors_learn_as_well_as_one_process(cluster: str, world: Path, forest: Forest, tmp_path: Path) -> None:
    """By mean average precision on the small world, where seeds alone make a difference of 0.01."""
    chosen = plan(dim=32, epochs=20)
    fit(forest, tmp_path / "one", chosen, min_word=1, min_field=1)
    fit(forest, tmp_path / "two", chosen, min_word=1, min_field=1, averaging=Averaging("ray", 2, engine.actors))
    one, two = (small_world.evaluate(load(tmp_path / name), world / "world").figures["map"] for name in ("one", "two"))
    assert two > one - 0.03


def test_an_actor_that_dies_at_once_is_given_up(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(number: int) -> Callable[[Any, Any], Any]:
        return lambda news, task: os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(engine, "RETRIES", 1)
    with pytest.raises(VecdcsError, match="died 2 times"), engine.actors(make, 1) as crew:
        crew(None, [1], lambda: None)


def test_too_small_a_cluster_is_named(cluster: str) -> None:
    with pytest.raises(VecdcsError, match="2 CPUs, too few for 3 actors"), engine.actors(lambda k: lambda a, b: 0, 3):
        pass


def test_another_forest_where_an_actor_works_is_named(cluster: str, forest: Forest, tmp_path: Path) -> None:
    other = Forest(forest.path, {**forest.manifest, "files": {}})
    with pytest.raises(VecdcsError, match="not the same forest on"):
        fit(other, tmp_path / "model", plan(dim=8), averaging=Averaging("ray", 2, engine.actors))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "ray"], "needs --workers"),
        (["--engine", "soup"], "expected local or ray"),
        (["--round", "5"], "--round is for --engine ray"),
    ],
)
def test_options_are_checked(forest: Forest, tmp_path: Path, options: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["train", str(forest.path), "-o", str(tmp_path / "model"), *options])
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)
    assert not (tmp_path / "model").exists()
