"""Commands of the text room."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import typer

from vecdcs.errors import VecdcsError

app = typer.Typer()


@app.command("parse")
def parse_command(
    files: list[str] = typer.Argument(None, help="Text files (plain, .gz, .xz, .zst); `-` or none: standard input."),
    output: Path = typer.Option(None, "-o", "--output", help="Write here rather than to standard output."),
    parser: str = typer.Option("english", help="The parser: the shipped one, or stanza:en, spacy:NAME, udpipe:FILE."),
) -> None:
    """Parse raw text into Universal Dependencies, as CoNLL-U.

    A line of text is a paragraph: no sentence goes on in the next line. `_` standing alone is a blank.

    [bold]Examples[/bold]

    echo "Drugs banned by Canada were sold." | vecdcs parse

    vecdcs parse novel.txt.xz -o novel.conllu
    """
    from vecdcs.text.conllu import write_conllu
    from vecdcs.text.parser import load_parser, read_texts

    loaded = load_parser(parser)
    with _written(output) as stream:
        write_conllu(loaded.parse(text for file in files or ["-"] for text in read_texts(file)), stream)
    cut = getattr(loaded, "split", 0)
    if cut:
        typer.echo(f"vecdcs: {cut} sentences were too long and were cut", err=True)


@contextmanager
def _written(output: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that appears only when it is whole."""
    if output is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
        yield sys.stdout
        return
    aside = output.with_name(output.name + ".part")
    try:
        with aside.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        aside.replace(output)
    except OSError as error:
        raise VecdcsError(f"{output}: cannot be written: {error.strerror or error}") from error
    finally:
        aside.unlink(missing_ok=True)
