"""Commands of the formal room."""

from __future__ import annotations

import typer

app = typer.Typer()
