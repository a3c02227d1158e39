"""Files open by their ending, and broken ones say which file and what is wrong."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import IO

import pyarrow as pa
import pytest

from vecdcs.errors import InputError
from vecdcs.text.source import open_bytes

TEXT = b"".join(b"Line %d: the cat sat on mat %d.\n" % (i, i * i) for i in range(20_000))


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


@pytest.fixture(params=["", ".gz", ".xz", ".zst"])
def packed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"text.txt{request.param}"
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd}
    path.write_bytes(pack[request.param](TEXT))
    return path


def read(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


def test_reads_what_was_packed(packed: Path) -> None:
    assert read(packed) == TEXT


def test_lines_and_small_reads(packed: Path) -> None:
    with open_bytes(packed) as stream:
        assert stream.read(7) == TEXT[:7]
        assert stream.readline() == TEXT[7:].split(b"\n")[0] + b"\n"


def test_watch_sees_the_file_on_disk_being_read(packed: Path) -> None:
    seen: list[IO[bytes]] = []
    with open_bytes(packed, seen.append) as stream:
        stream.read()
        assert seen[0].tell() == packed.stat().st_size


def test_truncated_is_an_input_error(packed: Path) -> None:
    data = packed.read_bytes()
    packed.write_bytes(data[: len(data) // 2])
    if packed.suffix == ".txt":
        assert read(packed) == TEXT[: len(TEXT) // 2]
    else:
        with pytest.raises(InputError, match=packed.name):
            read(packed)


def test_damaged_is_an_input_error(packed: Path) -> None:
    if packed.suffix == ".txt":
        return
    data = bytearray(packed.read_bytes())
    at = 8 if packed.suffix == ".zst" else len(data) // 2  # this .zst has no checksum: damage what must be understood
    data[at : at + 64] = b"\xff" * 64
    packed.write_bytes(data)
    with pytest.raises(InputError, match=packed.name):
        read(packed)


def test_not_compressed_at_all(packed: Path) -> None:
    if packed.suffix == ".txt":
        return
    packed.write_bytes(b"plain text, wrongly named")
    with pytest.raises(InputError, match=packed.name):
        read(packed)


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path)
