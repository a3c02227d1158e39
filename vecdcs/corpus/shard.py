"""One shard: pieces of raw text in, the bytes of its files out; nothing else is touched, so it can run anywhere."""

from __future__ import annotations

import gc
import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecdcs.corpus.forest import NODES_SCHEMA, SENTENCES_SCHEMA, digest, parses_file, shard_file
from vecdcs.corpus.instances import dressed_tokens, instances
from vecdcs.corpus.pieces import Bad, Format, Job, Piece, conllu_blocks, paragraphs
from vecdcs.dcs.convert import Node, convert, convert_ud
from vecdcs.errors import InputError
from vecdcs.text.conllu import Sentence, format_sentence, parse_conllu

if TYPE_CHECKING:
    from vecdcs.text.parser import Parser

BATCH = 512
KEPT_ERRORS = 20
SOURCE = "source"  # the comment of a kept parse that says where its sentence stands: `# source = FILE:LINE`


@dataclass(frozen=True)
class Options:
    """Everything that decides the bytes of a forest, beside its input."""

    parser: str = "english"
    ud: bool = False
    format: Format = "auto"
    shard_bytes: int = 1 << 20
    skip_bad: bool = False
    keep_parses: bool = False


class ShardFiles(NamedTuple):
    """The files of a finished shard by name, the report last; the CPU seconds each step took; the worker's memory."""

    files: dict[str, bytes]
    seconds: dict[str, float]
    peak_memory: int


class Where(NamedTuple):
    source: str
    line: int

    @property
    def comment(self) -> str:
        return f"# {SOURCE} = {' '.join(_spelled(self.source).splitlines())}:{self.line}"

    @classmethod
    def told_by(cls, sentence: Sentence) -> Where | None:
        """What the comment of a kept parse says; none in other CoNLL-U."""
        source, _, line = (sentence.meta(SOURCE) or "").rpartition(":")
        return cls(source, int(line)) if source and line.isdecimal() else None


@dataclass
class Rows:
    """The columns of a shard while they grow."""

    texts: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    words: int = 0
    trees: int = 0
    nodes: list[Node] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # nodes of each sentence
    instances: list[int] = field(default_factory=list)

    def add(self, sentence: Sentence, where: Where, trees: list[list[Node]]) -> None:
        tokens = sentence.tokens
        dressed = dressed_tokens(tokens)
        before = len(self.nodes)
        for tree in trees:
            self.nodes += tree
            self.instances += instances(tree, tokens, dressed)
        self.sizes.append(len(self.nodes) - before)
        self.texts.append(sentence.text)
        self.sources.append(where.source)
        self.lines.append(where.line)
        self.words += len(tokens)
        self.trees += len(trees)


def build_shard(options: Options, job: Job) -> ShardFiles:
    """Parse, convert and write one shard."""
    with _rare_collections():
        return _build_shard(options, job)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for cyclic garbage less often: a shard is a million small objects that all stay until its end."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _build_shard(options: Options, job: Job) -> ShardFiles:
    clock, bad, rows, kept = Clock(), Bad(options.skip_bad), Rows(), list[str]()
    make = convert_ud if options.ud else convert
    parsed = _sentences(job, options, bad)
    while batch := list(islice(parsed, BATCH)):
        clock.spent("parse")
        for sentence, where in batch:
            rows.add(sentence, where, make(sentence))
        clock.spent("convert")
        if options.keep_parses:
            kept += [_with_place(sentence, where) for sentence, where in batch]
            clock.spent("keep")
    clock.spent("parse")
    parses = {}
    if options.keep_parses:
        parses[parses_file(job.shard)] = _compressed("".join(kept))
        clock.spent("keep")
    files = _files(job, parses, rows, bad)
    clock.spent("write")
    return ShardFiles(files, clock.seconds, peak_memory())


class Clock:
    """CPU seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = process_time()

    def spent(self, step: str) -> None:
        """What was done since the last call was this step."""
        now = process_time()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self.last
        self.last = now


def _with_place(sentence: Sentence, where: Where) -> str:
    """A sentence as CoNLL-U that says where it stands."""
    text, comment = format_sentence(sentence), where.comment
    return text if comment in sentence.comments else f"{comment}\n{text}"


def _compressed(text: str) -> bytes:
    data: bytes = pa.Codec("zstd", compression_level=6).compress(text.encode(), asbytes=True)
    return data


def peak_memory() -> int:
    """The most bytes this process has had in memory; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _sentences(job: Job, options: Options, bad: Bad) -> Iterator[tuple[Sentence, Where]]:
    """The sentences of a job in order, runs of text pieces going to the parser together."""
    texts: list[Piece] = []
    for piece in job.pieces:
        if piece.kind != "conllu":
            texts.append(piece)
            continue
        yield from _parsed(texts, options, bad)
        texts = []
        yield from _read(piece, bad)
    yield from _parsed(texts, options, bad)


def _read(piece: Piece, bad: Bad) -> Iterator[tuple[Sentence, Where]]:
    """The sentences of a piece of CoNLL-U."""
    for block, line in conllu_blocks(piece, bad):
        try:
            found = parse_conllu(block, piece.source)
        except InputError as error:
            bad.report(InputError(error.message, piece.source, line + (error.line or 1) - 1))
            continue
        for sentence in found:
            yield sentence, Where.told_by(sentence) or Where(piece.source, line)


def _parsed(pieces: list[Piece], options: Options, bad: Bad) -> Iterator[tuple[Sentence, Where]]:
    """The sentences of pieces of text, each with the place of its paragraph."""
    if pieces:
        place = Placing(pieces, bad)
        for sentence in _parser(options.parser).parse(place.texts()):
            yield sentence, place.of(sentence.text)


@lru_cache(maxsize=1)
def _parser(name: str) -> Parser:
    from vecdcs.text.parser import load_parser

    return load_parser(name)


class Placing:
    """Hands paragraphs to a parser and finds out which of them each sentence that comes back is from.

    A parser reads ahead and keeps the order, so a sentence is in the paragraph of the one before it or in a later one.
    """

    def __init__(self, pieces: Iterable[Piece], bad: Bad) -> None:
        self.pieces, self.bad = pieces, bad
        self.handed: deque[tuple[str, Where]] = deque()
        self.offset = 0

    def texts(self) -> Iterator[str]:
        """The paragraphs, with single spaces."""
        for piece in self.pieces:
            for text, line in paragraphs(piece, self.bad):
                self.handed.append((" ".join(text.split()), Where(piece.source, line)))
                yield self.handed[-1][0]

    def of(self, sentence: str) -> Where:
        """The place of the next sentence; one that was changed by the parser stays where the one before it was."""
        offset = self.offset
        for passed, (text, where) in enumerate(self.handed):
            at = text.find(sentence, offset)
            if at >= 0:
                self.offset = at + len(sentence)
                for _ in range(passed):
                    self.handed.popleft()
                return where
            offset = 0
        return self.handed[0][1]


def _files(job: Job, parses: dict[str, bytes], rows: Rows, bad: Bad) -> dict[str, bytes]:
    tables = {"sentences": _sentence_table(rows), "nodes": _node_table(rows)}
    files = parses | {shard_file(job.shard, what): parquet_bytes(table) for what, table in tables.items()}
    report = {
        "shard": job.shard,
        "pieces": [piece.fingerprint() for piece in job.pieces],
        "sentences": len(rows.texts),
        "words": rows.words,
        "trees": rows.trees,
        "nodes": len(rows.nodes),
        "skipped": len(bad.errors),
        "errors": [str(error) for error in bad.errors[:KEPT_ERRORS]],
        "files": {name: digest(data) for name, data in files.items()},
    }
    files[shard_file(job.shard, "report")] = json_bytes(report)
    return files


def _sentence_table(rows: Rows) -> pa.Table:
    names = {name: _spelled(name) for name in set(rows.sources)}
    source = pa.array([names[name] for name in rows.sources], pa.string()).dictionary_encode()
    return pa.table([pa.array(rows.texts, pa.string()), source, pa.array(rows.lines, pa.int64())], SENTENCES_SCHEMA)


def _spelled(name: str) -> str:
    """The name of a file as text, be it not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _node_table(rows: Rows) -> pa.Table:
    token, word, parent, label, parent_label, group = zip(*rows.nodes, strict=True) if rows.nodes else ((),) * 6
    sentence = np.repeat(np.arange(len(rows.sizes), dtype=np.int32), rows.sizes)
    names = [pa.array(column, pa.string()).dictionary_encode() for column in (word, label, parent_label)]
    numbers = [pa.array(column, pa.int32()) for column in (token, parent, group)]
    instance = pa.array(rows.instances, pa.int8())
    columns = [pa.array(sentence), numbers[0], names[0], numbers[1], names[1], names[2], numbers[2], instance]
    return pa.table(columns, NODES_SCHEMA)


def parquet_bytes(table: pa.Table) -> bytes:
    """The table as Parquet: the same bytes for the same rows."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=6, write_statistics=False)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def json_bytes(value: object) -> bytes:
    """Readable JSON: the same bytes for the same value."""
    return (json.dumps(value, indent=1) + "\n").encode()
