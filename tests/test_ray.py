"""The Ray engine: byte-equal to the local build, also with a worker killed in the middle."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import skip_or_fail
from corpora import contents, write_conllu
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.build import build
from vecdcs.corpus.pieces import Job
from vecdcs.corpus.shard import Options, ShardFiles
from vecdcs.engines import ray as engine
from vecdcs.errors import InputError, VecdcsError

OPTIONS = Options(shard_bytes=2000)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray cluster of two workers on this machine."""
    if find_spec("ray") is None:
        skip_or_fail("Ray is not installed (pip install 'vecdcs[ray]')")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_conllu(tmp_path_factory.mktemp("ray") / "corpus.conllu", 300)


@pytest.fixture(scope="module")
def local(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("local") / "forest"
    build([corpus], folder, OPTIONS)
    return contents(folder)


def test_it_starts_and_stops_a_cluster_of_its_own() -> None:
    if find_spec("ray") is None:
        skip_or_fail("Ray is not installed (pip install 'vecdcs[ray]')")
    import ray

    assert sorted(engine.run(str, range(5), workers=1)) == list("01234")
    assert not ray.is_initialized()


def test_ray_builds_the_same_bytes_with_a_worker_killed(
    cluster: None, corpus: Path, local: dict[str, bytes], tmp_path: Path
) -> None:
    marker = tmp_path / "killed"

    def run(function: Callable[[Job], ShardFiles], tasks: Iterable[Job]) -> Iterator[ShardFiles]:
        def work(job: Job) -> ShardFiles:
            if job.shard == 4 and not marker.exists():
                marker.write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
            return function(job)

        return engine.run(work, tasks, workers=2)

    build([corpus], tmp_path / "forest", OPTIONS, run)
    assert marker.read_text() != str(os.getpid())
    assert contents(tmp_path / "forest") == local


def test_a_task_that_kills_every_worker_is_given_up(cluster: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(engine, "RETRIES", 1)
    with pytest.raises(VecdcsError, match="Ray gave a task up after 1 more tries"):
        list(engine.run(die, [1]))


def test_an_error_of_the_input_comes_back_as_it_is(cluster: None, corpus: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.conllu"
    broken.write_text(corpus.read_text() + "1\ttoo few\n\n")
    with pytest.raises(InputError, match=r"broken\.conllu:\d+: expected 10 tab-separated columns"):
        build([broken], tmp_path / "forest", OPTIONS, engine.run)


def test_command(cluster: None, corpus: Path, local: dict[str, bytes], tmp_path: Path) -> None:
    arguments = ["build", str(corpus), "-o", str(tmp_path / "forest"), "--shard-bytes", "2000", "--engine", "ray", "-q"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert contents(tmp_path / "forest") == local


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(VecdcsError, match=r"vecdcs\[ray\]"):
        list(engine.run(str, [1]))
