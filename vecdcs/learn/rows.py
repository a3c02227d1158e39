"""Rows of a table, one at a time or in groups: what the kernels do many million times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray

Rows = NDArray[np.float32]

NONE = -1


class Sorted(NamedTuple):
    """Rows in order of what they belong to: those of item k are order[begin[k]:begin[k+1]]."""

    order: IntArray
    begin: NDArray[np.int64]


@njit(cache=True, nogil=True, error_model="numpy")
def sort(keys: IntArray, kinds: int) -> Sorted:
    """Stable counting sort of the rows with a key."""
    begin = np.zeros(kinds + 1, np.int64)
    for key in keys:
        if key != NONE:
            begin[key + 1] += 1
    for key in range(kinds):
        begin[key + 1] += begin[key]
    place = begin[:-1].copy()
    order = np.empty(begin[kinds], np.int32)
    for i in range(len(keys)):
        if keys[i] != NONE:
            order[place[keys[i]]] = i
            place[keys[i]] += 1
    return Sorted(order, begin)


@njit(cache=True, nogil=True, error_model="numpy")
def take_rows(rows: Rows, which: IntArray) -> Rows:
    taken = np.empty((len(which), rows.shape[1]), np.float32)
    for i in range(len(which)):
        copy_row(rows, which[i], taken, i)
    return taken


@njit(cache=True, nogil=True, inline="always")
def copy_row(source: Rows, i: int, target: Rows, j: int) -> None:
    for k in range(source.shape[1]):
        target[j, k] = source[i, k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def row_dot(rows: Rows, i: int, j: int) -> float:
    total = np.float32(0.0)
    for k in range(rows.shape[1]):
        total += rows[i, k] * rows[j, k]
    return float(total)


@njit(cache=True, nogil=True, error_model="numpy")
def row_length(rows: Rows, i: int) -> float:
    return float(np.sqrt(row_dot(rows, i, i)))


@njit(cache=True, nogil=True, error_model="numpy")
def shorten_row(rows: Rows, i: int, limit: float) -> None:
    now = row_length(rows, i)
    if now > limit:
        scale_row(rows, i, limit / now)


@njit(cache=True, nogil=True, error_model="numpy")
def scale_row(rows: Rows, i: int, factor: float) -> None:
    for k in range(rows.shape[1]):
        rows[i, k] *= np.float32(factor)
