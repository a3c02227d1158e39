"""Random numbers by counting: a key and a counter give the number, whoever asks and in whatever order."""

from __future__ import annotations

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
WORD = (1 << 64) - 1


@njit(cache=True, nogil=True, inline="always")
def mix(number: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every bit of the number touches every bit of the result."""
    number = (number ^ (number >> np.uint64(30))) * FIRST
    number = (number ^ (number >> np.uint64(27))) * SECOND
    return number ^ (number >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def number(key: np.uint64, counter: int) -> np.uint64:
    """The counter-th number of a stream, 64 random bits."""
    return mix(key + np.uint64(counter + 1) * GOLDEN)


@njit(cache=True, nogil=True, inline="always")
def uniform(key: np.uint64, counter: int) -> float:
    """The counter-th number of a stream, uniform in [0, 1)."""
    return float(number(key, counter) >> np.uint64(11)) * 2.0**-53


def stream(*names: int) -> np.uint64:
    """The key of a stream named by numbers, such as (seed, epoch, shard, batch)."""
    key = 0
    for name in names:
        key = int(_mix(((key ^ name) + int(GOLDEN)) & WORD))
    return np.uint64(key)


def _mix(number: int) -> int:
    """`mix` on Python's numbers, free of the overflow warnings of NumPy scalars."""
    number = ((number ^ (number >> 30)) * int(FIRST)) & WORD
    number = ((number ^ (number >> 27)) * int(SECOND)) & WORD
    return number ^ (number >> 31)
