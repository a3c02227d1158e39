"""Commands of the learn room."""

from __future__ import annotations

import typer

app = typer.Typer()
