"""Reading the test cases of tests/denotations; docs/dcslogic.md says how they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vecdcs.dcs.denotation import Database

FOLDER = Path(__file__).parent / "denotations"


@dataclass(frozen=True)
class Case:
    """A tree, the database it is executed on, and the things it denotes as text, or the error it is."""

    name: str
    database: Database
    tree: str
    expected: frozenset[str]
    error: str = ""


def cases(folder: Path = FOLDER) -> Iterator[Case]:
    """The cases of all files of a folder."""
    for file in sorted(folder.glob("*.dcslogic")):
        yield from read_cases(file)


def read_cases(file: Path) -> Iterator[Case]:
    """The cases of a file; each tree is executed on all tables of its file."""
    blocks = list(_blocks(file.read_text(encoding="utf-8")))
    database = Database.of({name: _rows(lines) for kind, name, lines in blocks if kind == "table"})
    for kind, name, lines in blocks:
        if kind == "tree":
            yield _case(f"{file.stem}: {name}", database, lines)


def _blocks(text: str) -> Iterator[tuple[str, str, list[str]]]:
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            kind, _, name = lines[0].partition(" ")
            assert kind in ("table", "tree"), f"expected table or tree, found {lines[0]!r}"
            yield kind, name, lines[1:]


def _rows(lines: list[str]) -> list[dict[str, str]]:
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    return [dict(zip(header, row, strict=True)) for row in rows]


def _case(name: str, database: Database, lines: list[str]) -> Case:
    tree, outcome, *things = lines
    if outcome == "----":
        assert len(set(things)) == len(things), f"{name}: a thing stands there twice"
        return Case(name, database, tree, frozenset(things))
    kind, _, error = outcome.partition(" ")
    assert kind == "error" and error and not things, f"{name}: expected ---- or an error, found {outcome!r}"
    return Case(name, database, tree, frozenset(), error)
