"""Cutting whatever the user names into shards of raw text that depend on the input alone, never on who works on it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, Literal

from vecdcs.errors import InputError
from vecdcs.text.source import COMPRESSED, open_bytes

Kind = Literal["lines", "wrapped", "conllu"]
Format = Literal["auto", "lines", "wrapped", "conllu"]

ENDINGS = {".txt": "auto", ".text": "auto", ".conllu": "conllu", ".conll": "conllu"}
SHARD_BYTES = 1 << 20
CONLLU_BYTES = 8  # a word of CoNLL-U takes about eight times the bytes of a word of text
MAX_LINE = 8 << 20
CHUNK = 1 << 18
SAMPLE = 1 << 16
WRAP_WIDTH = 120

LINE_END = re.compile(rb"\n")
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
SENTENCE_END = re.compile(rb"[.!?:;][\"')\]]*\s*$")


@dataclass(frozen=True)
class Piece:
    """Some whole paragraphs (or CoNLL-U sentences) of one source, with the number of their first line."""

    source: str
    line: int
    kind: Kind
    data: bytes

    def fingerprint(self) -> dict[str, str | int]:
        """What tells whether the source still says the same here."""
        digest = hashlib.sha256(self.data).hexdigest()
        return {"source": self.source, "line": self.line, "kind": self.kind, "bytes": len(self.data), "sha256": digest}


@dataclass(frozen=True)
class Job:
    """The text of one shard; `read` is how many bytes of the sources on disk lie behind its end."""

    shard: int
    pieces: tuple[Piece, ...]
    read: int


@dataclass
class Bad:
    """What could not be read: raised at once, or with `skip` kept and left out."""

    skip: bool = False
    errors: list[InputError] = field(default_factory=list)

    def report(self, error: InputError) -> None:
        """Raise the error, or note it and go on."""
        if not self.skip:
            raise error
        self.errors.append(error)


def find_sources(paths: Iterable[str | Path], bad: Bad) -> list[str]:
    """The files named, and those in the folders named (by ending, in the order of their names)."""
    sources: list[str] = []
    for path in map(str, paths):
        if path == "-" or Path(path).is_file():
            sources.append(path)
        elif Path(path).is_dir():
            sources.extend(_in_folder(path, bad))
        else:
            bad.report(InputError("cannot be read: No such file or directory", path))
    if not sources and not bad.errors:
        raise InputError(f"no input: expected files, or folders with files ending in {', '.join(ENDINGS)}")
    return sources


def _in_folder(folder: str, bad: Bad) -> list[str]:
    found: list[str] = []

    def unreadable(error: OSError) -> None:
        bad.report(InputError(f"cannot be read: {error.strerror or error}", str(error.filename)))

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders.sort()
        found.extend(str(Path(parent, name)) for name in sorted(files) if _ending(name) in ENDINGS)
    if not found and not bad.errors:
        endings = ", ".join(ENDINGS)
        bad.report(InputError(f"the folder has no file ending in {endings} (or those with .gz, .xz, .zst)", folder))
    return found


def _ending(name: str) -> str:
    """The ending that tells the format: `.txt` of `a.txt.xz`."""
    path = Path(name)
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def is_conllu(source: str, format: Format) -> bool:
    """Whether a source holds trees already: told by the format, else by its ending."""
    return format == "conllu" or (format == "auto" and ENDINGS.get(_ending(source)) == "conllu")


def size_on_disk(source: str) -> int:
    """Bytes of the file, 0 where nobody can know."""
    try:
        return 0 if source == "-" else Path(source).stat().st_size
    except OSError:
        return 0


def jobs(sources: Iterable[str], format: Format, shard_bytes: int, bad: Bad) -> Iterator[Job]:
    """All shards of the sources in order; small files share one, large files are cut at paragraphs."""
    shard, held, before = 0, list[Piece](), 0
    position = [0]

    def room() -> int:
        return max(1, shard_bytes - sum(map(_cost, held)))

    for source in sources:
        for piece in _pieces(source, format, room, bad, position):
            held.append(piece)
            if sum(map(_cost, held)) >= shard_bytes:
                yield Job(shard, tuple(held), before + position[0])
                shard, held = shard + 1, []
        before, position[0] = before + size_on_disk(source), 0
    if held:
        yield Job(shard, tuple(held), before)


def _cost(piece: Piece) -> int:
    return len(piece.data) // CONLLU_BYTES if piece.kind == "conllu" else len(piece.data)


def _pieces(source: str, format: Format, room: Callable[[], int], bad: Bad, position: list[int]) -> Iterator[Piece]:
    """The pieces of one source; `position` is kept at the number of bytes read from disk."""
    raw: list[IO[bytes]] = []
    try:
        with open_bytes(source, raw.append) as stream:
            for piece in _cut(source, stream, format, room, bad):
                position[0] = raw[0].tell() if raw else 0
                yield piece
    except InputError as error:
        bad.report(error)


def _cut(source: str, stream: IO[bytes], format: Format, room: Callable[[], int], bad: Bad) -> Iterator[Piece]:
    """Cut at the first boundary behind the room left: a position that does not depend on how the bytes arrive."""
    buffer = bytearray()
    _fill(stream, buffer, SAMPLE)
    kind = _kind(source, bytes(buffer[:SAMPLE]), format)
    line = 1
    while buffer:
        wanted = room() * (CONLLU_BYTES if kind == "conllu" else 1)
        end = _boundary(stream, buffer, kind, wanted)
        if end:
            data = bytes(buffer[:end])
            _check_text(source, line, data)
            yield Piece(source, line, kind, data)
            del buffer[:end]
            line += data.count(b"\n")
        else:
            what = "sentence (lines without an empty line between them)" if kind == "conllu" else "line"
            bad.report(InputError(f"a {what} of more than {MAX_LINE >> 20} MB", source, line))
            line += _discard(stream, buffer, BLANK_LINE if kind == "conllu" else LINE_END)


def _boundary(stream: IO[bytes], buffer: bytearray, kind: Kind, wanted: int) -> int:
    """Where to cut: behind `wanted` if a boundary is near, else before it; 0 if there is none; the end at the end."""
    pattern = LINE_END if kind == "lines" else BLANK_LINE
    filled, limit = 0, wanted + MAX_LINE
    while True:
        if match := pattern.search(buffer, max(wanted - 1, 0), limit):
            return match.end()
        if len(buffer) >= limit:
            break
        filled = len(buffer)
        _fill(stream, buffer, min(limit, filled + CHUNK))
        if len(buffer) == filled:
            return filled
    earlier = [match.end() for match in pattern.finditer(buffer, 0, wanted)]
    if not earlier and kind == "wrapped":
        earlier = [match.end() for match in LINE_END.finditer(buffer, 0, limit)]
    return earlier[-1] if earlier else 0


def _fill(stream: IO[bytes], buffer: bytearray, size: int) -> None:
    """Read until the buffer has `size` bytes or the stream ends."""
    while len(buffer) < size and (chunk := stream.read(size - len(buffer))):
        buffer += chunk


def _discard(stream: IO[bytes], buffer: bytearray, pattern: re.Pattern[bytes]) -> int:
    """Drop everything to the next boundary; the number of lines dropped."""
    lines = 0
    while not (match := pattern.search(buffer)):
        keep = 1 + len(buffer) - len(buffer.rstrip(b" \t\r"))
        lines += buffer.count(b"\n", 0, max(0, len(buffer) - keep))
        del buffer[: max(0, len(buffer) - keep)]
        before = len(buffer)
        _fill(stream, buffer, before + CHUNK)
        if len(buffer) == before:
            break
    end = match.end() if match else len(buffer)
    lines += buffer.count(b"\n", 0, end)
    del buffer[:end]
    return lines


def _check_text(source: str, line: int, data: bytes) -> None:
    at = data.find(b"\0")
    if at >= 0:
        where = line + data.count(b"\n", 0, at)
        raise InputError("not text: it has a zero byte (a binary file, or UTF-16?), expected UTF-8", source, where)


def _kind(source: str, sample: bytes, format: Format) -> Kind:
    if is_conllu(source, format):
        return "conllu"
    if format != "auto":
        return format
    return "wrapped" if is_wrapped(sample) else "lines"


def is_wrapped(sample: bytes) -> bool:
    """Whether lines look cut to a width: none is long, and most that have a line below end in mid-sentence."""
    lines = [line.strip() for line in sample.split(b"\n")]
    above = [line for line, below in pairwise(lines) if line and below]
    if len(above) < 4 or max(map(len, lines)) > WRAP_WIDTH:
        return False
    return sum(1 for line in above if not SENTENCE_END.search(line)) > len(above) / 2


def paragraphs(piece: Piece, bad: Bad) -> Iterator[tuple[str, int]]:
    """The paragraphs of a piece of text, each with its line number; lines that are not UTF-8 are bad."""
    joined: list[str] = []
    first = piece.line
    for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
        try:
            text = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            bad.report(InputError(f"not UTF-8 at byte {error.start} of the line", piece.source, number))
            continue
        text = text.removeprefix("\ufeff") if number == 1 else text
        if piece.kind == "lines":
            if text:
                yield text, number
        elif text:
            first = first if joined else number
            joined.append(text)
        elif joined:
            yield " ".join(joined), first
            joined = []
    if joined:
        yield " ".join(joined), first


def conllu_blocks(piece: Piece, bad: Bad) -> Iterator[tuple[str, int]]:
    """The sentences of a piece of CoNLL-U as text, each with the number of its first line."""
    rows: list[bytes] = []
    number = piece.line
    for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
        line = raw.rstrip(b"\r").removeprefix(b"\xef\xbb\xbf") if number == 1 else raw.rstrip(b"\r")
        if line and not line.isspace():
            rows.append(line)
        elif rows:
            yield from _decoded(piece.source, rows, number - len(rows), bad)
            rows = []
    if rows:
        yield from _decoded(piece.source, rows, number - len(rows) + 1, bad)


def _decoded(source: str, rows: list[bytes], first: int, bad: Bad) -> Iterator[tuple[str, int]]:
    data = b"\n".join(rows)
    try:
        yield data.decode("utf-8"), first
    except UnicodeDecodeError as error:
        line = first + data.count(b"\n", 0, error.start)
        bad.report(InputError("not UTF-8", source, line))
