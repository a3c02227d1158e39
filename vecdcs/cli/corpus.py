"""Commands of the corpus room: build a forest, look at it, search it, hand it on."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vecdcs.errors import InputError

if TYPE_CHECKING:
    from vecdcs.corpus.build import Engine

app = typer.Typer()

FORMATS = ("auto", "lines", "wrapped", "conllu")
Folder = Annotated[Path, typer.Argument(help="A folder made by `vecdcs build`.", metavar="FOREST")]


@app.command()
def build(
    sources: Annotated[
        list[str], typer.Argument(help="Text (.txt), CoNLL-U (.conllu), also .gz, .xz, .zst; folders; - for stdin.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the forest.")],
    ud: Annotated[bool, typer.Option("--ud", help="Write the vecUD forest (one relation an edge) instead.")] = False,
    parser: Annotated[str, typer.Option(help="The parser for raw text.")] = "english",
    format: Annotated[
        str, typer.Option(help="auto, lines (a paragraph a line), wrapped (blank lines between) or conllu.")
    ] = "auto",
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out and count what cannot be read.")] = False,
    shard_bytes: Annotated[int, typer.Option(min=1, help="Text in a shard, the unit of work.")] = 1 << 20,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    ray_address: Annotated[str | None, typer.Option(help="A running Ray cluster; without, one is started.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Build a DCS forest from text: killed at any point, the same command goes on where it stopped."""
    from vecdcs.cli.progress import build_progress, summary
    from vecdcs.corpus import build as building
    from vecdcs.corpus.shard import Options

    if format not in FORMATS:
        raise InputError(f"--format {format}: expected one of {', '.join(FORMATS)}")
    options = Options(parser, ud, format, shard_bytes, skip_bad)  # type: ignore[arg-type]
    with build_progress(quiet) as watch:
        seen = building.Progress(0)
        building.build(sources, output, options, _engine(engine, workers or _cores(), ray_address), watch, seen)
    if not quiet:
        typer.echo(summary(seen), err=True)


def _engine(name: str, workers: int, ray_address: str | None) -> Engine:
    match name:
        case "local":
            from vecdcs.engines import local

            return partial(local.run, workers=workers)
        case "ray":
            from vecdcs.engines import ray

            return partial(ray.run, workers=workers, address=ray_address)
        case _:
            raise InputError(f"--engine {name}: expected local or ray")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
