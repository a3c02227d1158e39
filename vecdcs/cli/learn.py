"""Commands of the learn room: train a model, join two, look inside one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def train(
    forest: Annotated[Path, typer.Argument(help="A folder made by `vecdcs build`.", metavar="FOREST")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the model.")],
    dim: Annotated[int, typer.Option(help="Length of the vectors.")] = 250,
    epochs: Annotated[int, typer.Option(help="Passes over the forest.")] = 1,
    noise: Annotated[
        int | None, typer.Option(help="Noise chains a path is set against; by default as the recipe.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="First step size of vectors; else as the recipe. For 200 million paths 0.05, without matrices 0.03."
        ),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(help="Noise words are drawn by their weight to this power; by default as the recipe."),
    ] = None,
    variant: Annotated[str, typer.Option(help="full, no-matrix, no-inverse or ud (on a vecUD forest).")] = "full",
    recipe: Annotated[
        str,
        typer.Option(help="default; dense for few words of which much is said; paper for the paper's own section 4."),
    ] = "default",
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    workers: Annotated[
        int,
        typer.Option(min=0, help="Threads; 0 for one a core. Does not change the result. With Ray: actors, and does."),
    ] = 0,
    engine: Annotated[str, typer.Option(help="local, or ray: actors that average what they learn.")] = "local",
    ray_address: Annotated[str | None, typer.Option(help="A running Ray cluster; without, one is started.")] = None,
    round_paths: Annotated[
        int | None,
        typer.Option("--round", min=1, help="Paths an actor learns between averages; a million, on little text fewer."),
    ] = None,
    min_word: Annotated[float | None, typer.Option(help="Least weight of a word; rarer ones are *UNKNOWN*.")] = None,
    min_field: Annotated[float | None, typer.Option(help="Least weight of a field; rarer ones are *UNKNOWN*.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Minutes; then a model is left, and the same command goes on.")
    ] = None,
    checkpoint: Annotated[float, typer.Option(min=0, help="Minutes between checkpoints.")] = 5.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Train a model on a forest: killed at any point, the same command goes on and ends with the same bytes."""
    from vecdcs.cli.training import averaging, cores, training_progress
    from vecdcs.corpus.forest import Forest
    from vecdcs.learn.recipes import plan
    from vecdcs.learn.session import Options
    from vecdcs.model.fit import fit

    chosen = plan(recipe, variant, dim, epochs, noise, seed, rate, power)
    limit = None if time_limit is None else 60 * time_limit
    options = Options(workers or cores(), 60 * checkpoint, limit)
    by = averaging(engine, workers, ray_address, round_paths)
    with training_progress(quiet) as watch:
        model = fit(Forest.open(forest), output, chosen, options, min_word, min_field, watch, by)
    if not quiet:
        words, fields = len(model.vocabulary.words), len(model.vocabulary.fields)
        done = "" if model.config["finished"] else "; stopped by the time limit, the same command goes on"
        typer.echo(f"{output}: {words:,} words, {fields:,} fields, {model.dim} dimensions{done}", err=True)


@app.command()
def join(
    model: Annotated[Path, typer.Argument(help="A model with matrices.", metavar="MODEL")],
    plain: Annotated[Path, typer.Argument(help="A model without, of the same forest.", metavar="NO_MATRIX")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the model to make.")],
    share: Annotated[float, typer.Option(min=0, help="How much longer to make the vectors of the second.")] = 1.0,
) -> None:
    """Put a model with matrices and one without side by side: the one tells roles apart, the other what goes together.

    The scores of both add up. docs/results.md compares it with either of them.

    [bold]Example[/bold]

    vecdcs train forest/ -o full && vecdcs train forest/ -o plain --variant no-matrix --rate 0.03

    vecdcs join full plain -o model
    """
    from vecdcs.model.join import join as run

    made = run(model, plain, output, share)
    typer.echo(f"{output}: {len(made.vocabulary.words):,} words, {made.dim} dimensions", err=True)


@app.command()
def inspect(
    model: Annotated[Path, typer.Argument(help="A folder made by `vecdcs train`.", metavar="MODEL")],
    every: Annotated[bool, typer.Option("--all", help="All fields, not only the paper's.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw loss and learning rate into this file (.png, .svg, .pdf).")
    ] = None,
) -> None:
    """Look inside a model: how near its matrices are to orthogonal and inverse, and how its words cluster."""
    from vecdcs.model.inspect import as_text, draw_curves, inspection
    from vecdcs.model.model import load

    loaded = load(model)
    found = inspection(loaded, every)
    typer.echo(json.dumps(found, ensure_ascii=False) if as_json else as_text(found))
    if plot is not None:
        draw_curves(loaded, plot)
