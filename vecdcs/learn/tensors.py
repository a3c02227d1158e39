"""Arrays on disk in the safetensors format, written without a copy and mapped without reading."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError

Array = NDArray[np.generic]
NAMES = {"I8": "|i1", "F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


def write(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write the arrays, one after the other."""
    header, end = {}, 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": _name(array), "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            stream.write(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
        stream.flush()
        os.fsync(stream.fileno())


def mapped(path: Path) -> dict[str, Array]:
    """The arrays of a file, mapped into memory: read when they are looked at, and never written."""
    try:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        begin = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:begin])
        header.pop("__metadata__", None)
        return {name: _view(data, begin, item) for name, item in header.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"not a safetensors file as expected here: {error!r}", str(path)) from error


def _view(data: mmap.mmap, begin: int, item: Mapping[str, list[int]]) -> Array:
    first, last = item["data_offsets"]
    dtype = np.dtype(NAMES[str(item["dtype"])])
    shape = tuple(item["shape"])
    if last - first != dtype.itemsize * int(np.prod(shape)) or begin + last > len(data):
        raise ValueError("offsets do not fit the shape")
    return np.frombuffer(data, dtype, (last - first) // dtype.itemsize, begin + first).reshape(shape)


def _name(array: Array) -> str:
    return next(name for name, dtype in NAMES.items() if np.dtype(dtype) == array.dtype)
