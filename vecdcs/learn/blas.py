"""One thread for matrix products: workers share the cores, and a product's result must not hang on their number."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import scipy.linalg.cython_blas

SETTERS = tuple(f"{prefix}openblas_set_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", ""))


def pin() -> bool:
    """Hold every OpenBLAS of this process to one thread; whether there is one that could be held."""
    return sum(_set_one_thread(library) for library in _libraries()) > 0


def _libraries() -> Iterator[Path]:
    """The BLAS libraries that wheels of NumPy and SciPy bring along, or that this process has loaded."""
    for package in (numpy, scipy):
        folder = Path(str(package.__file__)).parent
        for place in (folder.parent / f"{package.__name__}.libs", folder / ".dylibs"):
            yield from sorted(place.glob("*openblas*"))
    maps = Path("/proc/self/maps")
    if sys.platform == "linux" and maps.exists():
        named = {line.split()[-1] for line in maps.read_text("utf-8").splitlines() if "blas" in line.rpartition("/")[2]}
        yield from (Path(name) for name in sorted(named) if ".so" in name)


def _set_one_thread(library: Path) -> bool:
    try:
        loaded = ctypes.CDLL(str(library))
    except OSError:
        return False
    setters = [getattr(loaded, name) for name in SETTERS if hasattr(loaded, name)]
    for setter in setters:
        setter(1)
    return bool(setters)
