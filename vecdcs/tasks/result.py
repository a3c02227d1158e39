"""What every benchmark gives back: its protocol, figures with intervals, coverage, timings, and every item."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 1000
Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A figure as a function of the items it is measured on, so that it can be measured on others drawn from them."""

    name: str
    size: int
    figure: Callable[[Rows], float] = field(repr=False)

    @classmethod
    def mean(cls, name: str, values: Floats) -> Sample:
        """The mean of a value for each item."""
        return cls(name, len(values), lambda rows: float(values[rows].mean()))

    @property
    def value(self) -> float:
        return self.figure(np.arange(self.size))


@dataclass(frozen=True)
class Result:
    """A benchmark's result; `figures` go into the JSON, `details` into a table with a row for each item."""

    task: str
    model: str
    protocol: str
    figures: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    samples: tuple[Sample, ...] = field(default=(), repr=False)
    details: Sequence[Mapping[str, object]] = field(default=(), repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The JSON of the result."""
        head = {"task": self.task, "model": self.model, "protocol": self.protocol}
        seconds = {name: round(spent, 2) for name, spent in self.seconds.items()}
        return {**head, **self.figures, "missing": list(self.missing), "cpu_seconds": seconds}


def interval95(sample: Sample, seed: int, draws: int = DRAWS) -> tuple[float, float]:
    """The 95 % interval of a figure, by a bootstrap over items."""
    return _quantiles(_drawn(sample, seed, draws))


def difference(one: Sample, other: Sample, seed: int, draws: int = DRAWS) -> dict[str, Any]:
    """How much better `one` is than `other` on the same items: both measured on the same draws."""
    gaps = _drawn(one, seed, draws) - _drawn(other, seed, draws)
    gap = one.value - other.value
    return {"name": one.name, "difference": gap, "interval95": _quantiles(gaps), "draws": draws}


def against(one: Result, other: Result, seed: int) -> list[dict[str, Any]]:
    """The differences between two models on every set that both were measured on."""
    others = {sample.name: sample for sample in other.samples}
    return [difference(sample, others[sample.name], seed) for sample in one.samples if sample.name in others]


@lru_cache(maxsize=1024)
def _drawn(sample: Sample, seed: int, draws: int) -> Floats:
    """The figure on items drawn at random; kept, as an interval and every difference ask for the same."""
    rng = np.random.default_rng(seed)
    return np.array([sample.figure(rng.integers(0, sample.size, sample.size)) for _ in range(draws)])


def _quantiles(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


class Clock:
    """CPU seconds by step: the same on a busy machine."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = process_time()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + process_time() - start


def write_details(results: Iterable[Result], path: Path) -> None:
    """A TSV with a row for each item, `task` first; columns of all tasks side by side."""
    rows = [{"task": result.task, **row} for result in results for row in result.details]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    aside = path.with_name(path.name + ".part")
    with aside.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, delimiter="\t", lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows)
    aside.replace(path)


def data_digests(folder: Path) -> dict[str, str]:
    """The digest of every file of the data, by name: what figures were measured on."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix.lower() == ".txt")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in files}
