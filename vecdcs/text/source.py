"""Opening what users name: plain, .gz, .xz and .zst files, and `-` for standard input."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from vecdcs.errors import InputError

COMPRESSED = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}


@contextmanager
def open_bytes(path: str | Path, watch: Callable[[IO[bytes]], None] | None = None) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed by its ending; whatever goes wrong names the file.

    `watch` gets the file below the decompression, whose `tell()` says how much of the file on disk has been read.
    """
    name = str(path)
    try:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as raw:
                if watch:
                    watch(raw)
                with _decompressed(raw, Path(path).suffix) as stream:
                    yield stream
    except EOFError as error:
        raise InputError("the compressed file ends too early (truncated?)", name) from error
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"not a valid {COMPRESSED[Path(name).suffix]} file: {error}", name) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", name) from error


def _decompressed(raw: IO[bytes], suffix: str) -> IO[bytes]:
    match suffix:
        case ".gz":
            return cast(IO[bytes], gzip.open(raw, "rb"))
        case ".xz":
            return cast(IO[bytes], lzma.open(raw, "rb"))
        case ".zst":
            return _open_zstd(raw)
        case _:
            return raw


def _open_zstd(raw: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    stream: Any = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")
    return cast(IO[bytes], io.BufferedReader(stream))
