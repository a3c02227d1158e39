"""Opening what users name: plain, .gz, .xz and .zst files, and `-` for standard input."""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from vecdcs.errors import InputError

COMPRESSED = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed by its ending; whatever goes wrong names the file."""
    name = str(path)
    try:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with _open(Path(path)) as stream:
                yield stream
    except EOFError as error:
        raise InputError("the compressed file ends too early (truncated?)", name) from error
    except (gzip.BadGzipFile, lzma.LZMAError) as error:
        raise InputError(f"not a valid {COMPRESSED[Path(name).suffix]} file: {error}", name) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", name) from error


def _open(path: Path) -> IO[bytes]:
    match path.suffix:
        case ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        case ".xz":
            return cast(IO[bytes], lzma.open(path, "rb"))
        case ".zst":
            return _open_zstd(path)
        case _:
            return path.open("rb")


def _open_zstd(path: Path) -> IO[bytes]:
    import io

    import pyarrow as pa

    stream: Any = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return cast(IO[bytes], io.BufferedReader(stream))
