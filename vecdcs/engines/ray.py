"""Work on a Ray cluster: tasks, with the same results as on this machine, and actors, which remember.

A worker that dies is replaced by Ray, an actor by us: only we know what it must be told to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from vecdcs.errors import VecdcsError

Task = TypeVar("Task")
Result = TypeVar("Result")

Work = Callable[[Any, Any], Any]  # what an actor does: it hears news, and answers a task

RETRIES = 5


def run(
    function: Callable[[Task], Result], tasks: Iterable[Task], workers: int = 1, address: str | None = None
) -> Iterator[Result]:
    """The results of all tasks, as they are finished; no more tasks are sent out than keep all workers busy."""
    with _cluster(workers, address) as ray:
        work = ray.remote(num_cpus=1, max_retries=RETRIES)(_apply)
        shared = ray.put(function)
        waiting = iter(tasks)
        at_once = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        under_way = [work.remote(shared, task) for task in islice(waiting, at_once)]
        while under_way:
            (done,), under_way = ray.wait(under_way)
            under_way += [work.remote(shared, task) for task in islice(waiting, 1)]
            yield _result(ray, done)


def _apply(function: Callable[[Any], Any], task: Any) -> Any:
    return function(task)


def _result(ray: Any, done: Any) -> Any:
    try:
        return _known(ray, done)
    except ray.exceptions.RayError as error:
        raise VecdcsError(f"Ray gave a task up after {RETRIES} more tries: {error}") from error


def _known(ray: Any, done: Any) -> Any:
    """The result, or the error of the function itself."""
    try:
        return ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


@contextmanager
def actors(make: Callable[[int], Work], count: int, address: str | None = None) -> Iterator[Crew]:
    """Actors, `make(k)` the k-th of them, wherever Ray puts them."""
    with _cluster(count, address) as ray:
        cores = int(ray.cluster_resources().get("CPU", 0))
        if cores < count:
            raise VecdcsError(f"the Ray cluster has {cores} CPUs, too few for {count} actors")
        crew = Crew(ray, make, count)
        try:
            yield crew
        finally:
            for actor in crew.actors:
                ray.kill(actor)


class Crew:
    """Actors at work; one that dies is made anew, told all, and does its task again."""

    def __init__(self, ray: Any, make: Callable[[int], Work], count: int) -> None:
        self.ray = ray
        self.hire = partial(ray.remote(num_cpus=1, max_restarts=0)(_Actor).remote, ray.put(make))
        self.actors = [self.hire(number) for number in range(count)]

    def __call__(self, news: Any, tasks: Sequence[Any], whole: Callable[[], Any]) -> list[Any]:
        """Let each do its task; all hear the same news, but one that was made anew hears `whole()`."""
        results = self._each(news, dict(enumerate(tasks)))
        for _ in range(RETRIES):
            again = {number: task for number, task in enumerate(tasks) if number not in results}
            if not again:
                break
            for number in again:
                self.ray.kill(self.actors[number])
                self.actors[number] = self.hire(number)
            results |= self._each(whole(), again)
        if len(results) < len(tasks):
            raise VecdcsError(f"an actor died {1 + RETRIES} times at the same task (out of memory?)")
        return [results[number] for number in range(len(tasks))]

    def _each(self, news: Any, tasks: dict[int, Any]) -> dict[int, Any]:
        """The results of those that lived to give one."""
        told = self.ray.put(news)
        under_way = {number: self.actors[number].do.remote(told, task) for number, task in tasks.items()}
        results = {}
        for number, answer in under_way.items():
            lost = self.ray.exceptions.RayActorError, self.ray.exceptions.ObjectLostError
            with suppress(*lost):
                results[number] = _known(self.ray, answer)
        return results


class _Actor:
    """What lives in an actor's process."""

    def __init__(self, make: Callable[[int], Work], number: int) -> None:
        self.make, self.number = make, number

    @cached_property
    def work(self) -> Work:
        """Made with the first task, because its errors then come back as they are."""
        return self.make(self.number)

    def do(self, news: Any, task: Any) -> Any:
        return self.work(news, task)


@contextmanager
def _cluster(workers: int, address: str | None) -> Iterator[Any]:
    """The cluster at an address, or one on this machine for as long as it is needed."""
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise VecdcsError("the Ray engine needs Ray: pip install 'vecdcs[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    try:
        size = {} if address else {"num_cpus": workers, "include_dashboard": False}
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **size)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise VecdcsError(f"no Ray cluster at {address or 'this machine'}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()
