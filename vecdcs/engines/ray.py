"""Work on a Ray cluster: the same tasks and results as on this machine; a worker that dies is replaced by Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from vecdcs.errors import VecdcsError

Task = TypeVar("Task")
Result = TypeVar("Result")

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
        return ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise VecdcsError(f"Ray gave a task up after {RETRIES} more tries: {error}") from error


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
