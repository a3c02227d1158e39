"""Work on this machine: one process a worker, each with a pipe of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from vecdcs.errors import VecdcsError

Task = TypeVar("Task")
Result = TypeVar("Result")

TRIES = 3
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(function: Callable[[Task], Result], tasks: Iterable[Task], workers: int = 0) -> Iterator[Result]:
    """The results of all tasks, as they are finished; a worker that dies is replaced and its task tried again.

    Without workers, the tasks are done in this process.
    """
    if not workers:
        yield from map(function, tasks)
        return
    waiting = iter(tasks)
    team: dict[Connection, _Worker] = {}
    try:
        for task in islice(waiting, workers):
            _give(team, _Worker.start(function), task, 1)
        while team:
            for pipe in wait(list(team)):
                worker = team.pop(pipe)  # type: ignore[call-overload]
                outcome = worker.outcome()
                if outcome is None:
                    _give(team, _Worker.start(function), worker.task, worker.tries + 1)
                    continue
                _give_next(team, worker, waiting)
                yield outcome[0]
    finally:
        for worker in team.values():
            worker.process.kill()


@dataclass
class _Worker:
    """A process, our end of its pipe, and the task it is at."""

    process: SpawnProcess
    pipe: Connection
    task: Any = None
    tries: int = 0

    @classmethod
    def start(cls, function: Callable[[Any], Any]) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, function), daemon=True)
        with _one_thread():
            process.start()
        theirs.close()
        return cls(process, ours)

    def outcome(self) -> tuple[Any] | None:
        """The result in a tuple of one; none if the worker died; its error is raised here."""
        try:
            good, value = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return None
        if not good:
            raise value
        return (value,)


def _give_next(team: dict[Connection, _Worker], worker: _Worker, waiting: Iterator[Any]) -> None:
    """The next task for this worker, or none left and it may go."""
    for task in waiting:
        _give(team, worker, task, 1)
        return
    worker.pipe.close()


def _give(team: dict[Connection, _Worker], worker: _Worker, task: Any, tries: int) -> None:
    if tries > TRIES:
        raise VecdcsError(
            f"a worker died {TRIES} times at the same task (out of memory?): use fewer workers; "
            "the same command goes on where this one stopped"
        )
    worker.task, worker.tries = task, tries
    team[worker.pipe] = worker
    with suppress(ConnectionError):  # if it has died, its pipe is at its end, which `outcome` will see
        worker.pipe.send(task)


def _work(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """Answer tasks until the other end is closed, be it that the main process was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            task = pipe.recv()
            try:
                answer = (True, function(task))
            except Exception as error:
                answer = (False, error)
            pipe.send(answer)
    except (EOFError, ConnectionError):
        return


class _one_thread:
    """While processes start: numerical libraries shall use one thread each."""

    def __enter__(self) -> None:
        self.before = {name: os.environ.get(name) for name in _THREADS}
        os.environ.update(dict.fromkeys(_THREADS, "1"))

    def __exit__(self, *_: object) -> None:
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
