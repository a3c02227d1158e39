"""Commands of the text room."""

from __future__ import annotations

import typer

app = typer.Typer()
