"""How training is told: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from vecdcs.errors import InputError

if TYPE_CHECKING:
    from vecdcs.learn.averaging import Averaging
    from vecdcs.learn.session import Watch
    from vecdcs.learn.trainer import Report

LOG_EVERY = 10.0  # seconds between plain lines


def cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def averaging(engine: str, actors: int, ray_address: str | None, round_paths: int | None) -> Averaging | None:
    """Who learns: actors on Ray, or none but this process."""
    if engine == "local":
        for option, value in (("--ray-address", ray_address), ("--round", round_paths)):
            if value is not None:
                raise InputError(f"{option} is for --engine ray")
        return None
    if engine != "ray":
        raise InputError(f"--engine {engine}: expected local or ray")
    if not actors:
        raise InputError("--engine ray needs --workers: what is learned depends on the number of actors")
    from vecdcs.engines.ray import actors as on_ray
    from vecdcs.learn.averaging import Averaging

    return Averaging(engine, actors, partial(on_ray, address=ray_address), round_paths)


@contextmanager
def training_progress(quiet: bool) -> Iterator[Watch]:
    """What training calls after every step."""
    if quiet:
        yield lambda report, total: None
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield _lines()


def _bar() -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("training"), BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task, pace = bar.add_task("", total=None), Pace()

        def watch(report: Report, total: float) -> None:
            bar.update(task, completed=report.position.paths, total=total, description=pace.describe(report, total))

        yield watch


def _lines() -> Watch:
    pace, last = Pace(), [monotonic() - LOG_EVERY]

    def watch(report: Report, total: float) -> None:
        text = pace.describe(report, total)
        if monotonic() - last[0] >= LOG_EVERY:
            last[0] = monotonic()
            print(f"train: {100 * report.position.paths / total:.1f} %, {text}", file=sys.stderr, flush=True)

    return watch


class Pace:
    """Speed and a smoothed loss, of this run alone; the first step compiles the kernels, so speed is of later ones."""

    def __init__(self) -> None:
        self.start, self.paths, self.loss = 0.0, 0, 0.0

    def describe(self, report: Report, total: float) -> str:
        """One line: loss, speed, learning rate, time left."""
        if not self.start:
            self.start, self.loss = monotonic(), report.loss
            return f"loss {self.loss:.4f}, rate {report.rate:.5f}"
        self.loss = 0.98 * self.loss + 0.02 * report.loss
        self.paths += report.paths
        speed = self.paths / max(monotonic() - self.start, 1e-9)
        left = int(max(total - report.position.paths, 0) / speed)
        clock = f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d}"
        return f"loss {self.loss:.4f}, {speed:,.0f} paths/s, rate {report.rate:.5f}, {clock} left"
