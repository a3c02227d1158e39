"""Tables in a terminal: every cell of a table of figures is shown whole."""

from __future__ import annotations

import pytest

from vecdcs.cli.tables import print_table
from vecdcs.tasks.paper import Table

NAMES = tuple(f"figure {at}" for at in range(12))
FIGURES = [(f"set {row}", *(f"0.{row}{at:03}" for at in range(11))) for row in range(3)]


def shown(table: Table, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(table)
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [50, 80, 200])
def test_no_figure_is_cut(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(Table("sets", NAMES, FIGURES), width, monkeypatch, capsys)
    assert all(cell in text for row in (NAMES, *FIGURES) for cell in row)
    assert max(map(len, text.splitlines())) <= width


def test_a_table_that_fits_is_not_turned(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    narrow, wide = (shown(Table("", NAMES, FIGURES), width, monkeypatch, capsys) for width in (80, 200))
    assert any("set 0" in line and "set 1" in line for line in narrow.splitlines())
    assert any("set 0" in line and "set 1" not in line for line in wide.splitlines())


def test_long_text_is_wrapped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"word{at:02}" for at in range(40)]
    text = shown(Table("", ("", "answers"), [("book", ", ".join(words))]), 60, monkeypatch, capsys)
    assert all(word in text for word in words)
    assert max(map(len, text.splitlines())) <= 60
