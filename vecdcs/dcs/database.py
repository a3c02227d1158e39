"""The world that trees are executed on: things, and the words that apply to them, from dicts or files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from vecdcs.dcs.notation import quoted
from vecdcs.dcs.tree import ARG, BLANK, COMP, SUBJ, Tree
from vecdcs.errors import InputError
from vecdcs.text.source import COMPRESSED, open_bytes

FIRST_FIELDS = {ARG: 0, SUBJ: 1, COMP: 2}
DELIMITERS = {".csv": ",", ".tsv": "\t"}
KINDS = (*DELIMITERS, ".parquet")
WORD = "word"
FILE = "things.csv"

_PLAIN = re.compile(r'[^()"\\,=]*')


class Thing(NamedTuple):
    """A tuple of Field=Value. ARG is the thing's own name; an event that is given none is named by its fields."""

    name: str
    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, fields: str | Mapping[str, object]) -> Thing:
        """A thing from its name or its fields; an empty value is no value."""
        if isinstance(fields, str):
            fields = {ARG: fields}
        given = sorted(_given(fields), key=_field_order)
        if not given:
            raise InputError("expected a thing with a name or at least one field, found nothing")
        if given[0][0] == ARG:
            return cls(given[0][1], tuple(given[1:]))
        return cls(_tuple_name(given), tuple(given))

    def get(self, field: str) -> str | None:
        """π of one thing: its value of a field, if it has one."""
        if field == ARG:
            return self.name
        for name, value in self.fields:
            if name == field:
                return value
        return None

    def items(self) -> list[tuple[str, str]]:
        """The fields that make the thing, as `of` takes them."""
        own = bool(self.fields) and self.name == _tuple_name(self.fields)
        return list(self.fields) if own else [(ARG, self.name), *self.fields]

    def __str__(self) -> str:
        return _tuple_name(self.items()) if self.fields else self.name


Denotation = frozenset[Thing]
NOTHING: Denotation = frozenset()


@dataclass(frozen=True)
class Database:
    """Words with what they denote. A word that is not here denotes nothing."""

    words: Mapping[str, Denotation]

    @classmethod
    def of(cls, tables: Mapping[str, Iterable[Thing | str | Mapping[str, object]]]) -> Database:
        """A database from plain dicts: `{"man/N": ["John"], "ban/V": [{"SUBJ": "Canada", "COMP": "Aspirin"}]}`."""
        words: dict[str, set[Thing]] = {}
        for word, rows in tables.items():
            if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
                raise InputError(f"{word}: expected a list of things, found {rows!r}")
            words[word] = {row if isinstance(row, Thing) else Thing.of(row) for row in rows}
        return cls({word: frozenset(things) for word, things in words.items() if things})

    @classmethod
    def read(cls, path: str | Path) -> Database:
        """A database from a CSV, TSV or Parquet table, or a folder of them.

        Columns are fields, an empty cell is an absent field. A column `word` says to which word a row belongs;
        where there is none, the name of the file does: `drug.N.tsv` holds `drug/N`.
        """
        words: dict[str, set[Thing]] = {}
        for file in _tables(Path(path)):
            for word, thing in _read_table(file):
                words.setdefault(word, set()).add(thing)
        return cls({word: frozenset(things) for word, things in words.items()})

    def to_folder(self, folder: str | Path) -> None:
        """Write all things as one table, which `read` reads back."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
            others = [file.name for file in target.iterdir() if file.name != FILE and _kind(file)[1] in KINDS]
            if others:
                raise InputError(f"expected a folder without other tables, found {others[0]}", str(target))
            aside = target / f"{FILE}.part"
            aside.write_bytes(self._csv().encode("utf-8"))
            aside.replace(target / FILE)
        except (OSError, UnicodeEncodeError) as error:
            raise InputError(f"cannot be written: {error}", str(target)) from error

    def __getitem__(self, word: str) -> Denotation:
        """What a word denotes; the blank denotes everything."""
        return self.things if word == BLANK else self.words.get(word, NOTHING)

    def unknown(self, tree: Tree) -> list[str]:
        """The words of a tree that are not in the database, for a warning."""
        words = {node.word: None for node in tree.nodes() if not node.alternatives}
        return [word for word in words if word != BLANK and word not in self.words]

    @cached_property
    def things(self) -> Denotation:
        """Everything there is: what the words denote, and what is only named as a value."""
        listed = NOTHING.union(*self.words.values())
        names = {thing.name for thing in listed}
        values = {value for thing in listed for _, value in thing.fields}
        return listed | {Thing(value) for value in values - names}

    @cached_property
    def by_value(self) -> Mapping[str, Mapping[str, list[Thing]]]:
        """The things by field and value."""
        index: dict[str, dict[str, list[Thing]]] = {}
        for thing in self.things:
            for field, value in ((ARG, thing.name), *thing.fields):
                index.setdefault(field, {}).setdefault(value, []).append(thing)
        return index

    def _csv(self) -> str:
        rows = sorted((word, thing.items()) for word, things in self.words.items() for thing in things)
        fields = dict(sorted((item for _, items in rows for item in items), key=_field_order))
        if WORD in fields:
            raise InputError(f"a field called {WORD!r} cannot be written: that column holds the words")
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow([WORD, *fields])
        for word, items in rows:
            cells = dict(items)
            writer.writerow([word, *(cells.get(field, "") for field in fields)])
        return text.getvalue()


def _given(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for field, value in fields.items():
        if not isinstance(field, str) or not field:
            raise InputError(f"expected the name of a field, found {field!r}")
        if isinstance(value, bytes | list | tuple | set | frozenset | Mapping):
            raise InputError(f"{field}: expected one value, found {value!r}")
        text = "" if value is None else str(value)
        if text:
            yield field, text


def _field_order(item: tuple[str, str]) -> tuple[int, str]:
    return FIRST_FIELDS.get(item[0], len(FIRST_FIELDS)), item[0]


def _tuple_name(fields: Iterable[tuple[str, str]]) -> str:
    """(SUBJ=Canada, COMP=Thalidomide): the same for equal tuples, and only for them."""
    return "(" + ", ".join(f"{_shown(field)}={_shown(value)}" for field, value in fields) + ")"


def _shown(text: str) -> str:
    """In quotes where it could be misread; tuples as values stay plain."""
    return text if text == text.strip() and text.isprintable() and _is_whole(text) else quoted(text)


def _is_whole(text: str) -> bool:
    """Brackets match, and no sign of the tuple notation stands outside them."""
    if _PLAIN.fullmatch(text):
        return True
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0 or char in '"\\' or (char in ",=" and not depth):
            return False
    return depth == 0


def _kind(file: Path) -> tuple[str, str]:
    """The name of a table without its endings, and which kind it is: `drug.N` and `.tsv` of drug.N.tsv.gz."""
    name = file.name.removesuffix(file.suffix) if file.suffix in COMPRESSED else file.name
    stem, dot, ending = name.rpartition(".")
    return stem, dot + ending


def _tables(path: Path) -> list[Path]:
    if not path.is_dir():
        if _kind(path)[1] not in KINDS:
            raise InputError(f"expected a folder or a table ({', '.join(KINDS)})", str(path))
        return [path]
    found = sorted(file for file in path.iterdir() if _kind(file)[1] in KINDS)
    if not found:
        raise InputError(f"expected tables in the folder ({', '.join(KINDS)}), found none", str(path))
    return found


def _read_table(file: Path) -> Iterator[tuple[str, Thing]]:
    stem, kind = _kind(file)
    with open_bytes(file) as stream:
        data = stream.read()
    header, rows = _parquet(data, file) if kind == ".parquet" else _delimited(data, DELIMITERS[kind], file)
    _check_header(header, file)
    default = "/".join(stem.rsplit(".", 1)) if "." in stem else ""
    if WORD not in header and not default:
        raise InputError(f"expected a column {WORD!r}, or a file name such as drug.N.tsv for drug/N", str(file), 1)
    for line, cells in rows:
        try:
            yield _row(header, cells, default)
        except InputError as error:
            raise InputError(error.message, str(file), line) from error


def _check_header(header: list[str], file: Path) -> None:
    if not header or not all(header):
        raise InputError("expected the names of the columns, found an empty one", str(file), 1)
    if len(set(header)) < len(header):
        raise InputError("expected columns with different names", str(file), 1)


def _row(header: list[str], cells: list[object], default: str) -> tuple[str, Thing]:
    if len(cells) > len(header):
        raise InputError(f"expected at most {len(header)} cells, found {len(cells)}")
    fields = dict(zip(header, cells, strict=False))
    word = fields.pop(WORD, default)
    if not isinstance(word, str) or not word:
        raise InputError(f"expected a word in the column {WORD!r}, found {word!r}")
    return word, Thing.of(fields)


Rows = Iterable[tuple[int, list[object]]]


def _delimited(data: bytes, delimiter: str, file: Path) -> tuple[list[str], Rows]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", str(file), data.count(b"\n", 0, error.start) + 1) from error
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True, quotechar='"' if delimiter == "," else None)
    rows: list[tuple[int, list[object]]] = []
    try:
        header = next(reader, [])
        rows += ((reader.line_num, list(cells)) for cells in reader if cells)
    except csv.Error as error:
        raise InputError(f"not a table: {error}", str(file), reader.line_num) from error
    return header, rows


def _parquet(data: bytes, file: Path) -> tuple[list[str], Rows]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data))
        columns = [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"not a Parquet table: {error}", str(file)) from error
    return list(table.column_names), enumerate((list(cells) for cells in zip(*columns, strict=True)), 1)
