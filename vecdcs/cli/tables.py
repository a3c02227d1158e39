"""Tables of figures in a terminal: none is cut to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Drawn

    from vecdcs.tasks.paper import Table


def print_table(table: Table) -> None:
    """Print a table; one that is too wide is turned, if that makes it fit, and otherwise its words are wrapped."""
    from rich.console import Console

    console = Console()
    drawn, turned = _drawn(table), _drawn(_turned(table))
    fits = _width(drawn, console) <= console.width or _width(turned, console) > console.width
    console.print(drawn if fits else turned, markup=False)


def _turned(table: Table) -> Table:
    """Rows as columns."""
    from vecdcs.tasks.paper import Table

    header, *rows = zip(table.header, *table.rows, strict=True)
    return Table(table.title, header, rows)


def _drawn(table: Table) -> Drawn:
    from rich.table import Table as Drawn

    drawn = Drawn(title=table.title, title_justify="left")
    for at, name in enumerate(table.header):
        drawn.add_column(name, justify="left" if at == 0 else "right", overflow="fold")
    for row in table.rows:
        drawn.add_row(*row, style="dim" if row[0].endswith(", paper") else None)
    return drawn


def _width(drawn: Drawn, console: Console) -> int:
    """How wide it is where nothing is wrapped."""
    return console.measure(drawn, options=console.options.update(max_width=10_000)).maximum
