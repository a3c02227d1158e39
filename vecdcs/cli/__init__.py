"""The command line: verbs over files and standard input; each room's commands in a file of their own."""

from __future__ import annotations

import importlib
import sys

import typer

import vecdcs
from vecdcs.errors import VecdcsError

ROOMS = ("formal", "text", "corpus", "learn", "ask", "evaluate")

app = typer.Typer(
    name="vecdcs",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for _room in ROOMS:
    app.add_typer(importlib.import_module(f"vecdcs.cli.{_room}").app)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"vecdcs {vecdcs.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_tell_version, is_eager=True, help="Tell the version."),
) -> None:
    """Ask structured questions of plain text."""


def main() -> None:
    """Run the command line; an error the user can mend is one line on stderr and exit code 1."""
    try:
        app()
    except VecdcsError as error:
        typer.echo(f"vecdcs: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
