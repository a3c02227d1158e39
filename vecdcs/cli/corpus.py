"""Commands of the corpus room: build a forest, look at it, search it, hand it on."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecdcs.errors import InputError

if TYPE_CHECKING:
    from vecdcs.corpus.build import Engine
    from vecdcs.corpus.evidence import Found
    from vecdcs.corpus.forest import Forest

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
    keep_parses: Annotated[
        bool, typer.Option("--keep-parses", help="Also write the UD parses, from which other forests can be built.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out and count what cannot be read.")] = False,
    shard_bytes: Annotated[int, typer.Option(min=1, help="Text in a shard, the unit of work.")] = 1 << 20,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    ray_address: Annotated[str | None, typer.Option(help="A running Ray cluster; without, one is started.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Build a DCS forest from text: killed at any point, the same command goes on where it stopped.

    CPU time by step and the most memory used are logged beside it, in forest.costs.jsonl.

    [bold]Examples[/bold]

    vecdcs build texts/ -o forest/ --keep-parses

    vecdcs build forest/parses -o forest-ud/ --ud
    """
    from vecdcs.cli.progress import build_progress, summary
    from vecdcs.corpus import build as building
    from vecdcs.corpus.shard import Options

    if format not in FORMATS:
        raise InputError(f"--format {format}: expected one of {', '.join(FORMATS)}")
    options = Options(parser, ud, format, shard_bytes, skip_bad, keep_parses)  # type: ignore[arg-type]
    with build_progress(quiet) as watch:
        seen = building.Progress(0)
        building.build(sources, output, options, _engine(engine, workers or _cores(), ray_address), watch, seen)
    if not quiet:
        typer.echo(summary(seen), err=True)


def _engine(name: str, workers: int, ray_address: str | None) -> Engine:
    match name:
        case "local":
            from vecdcs.engines.local import run as run_here

            return partial(run_here, workers=workers)
        case "ray":
            from vecdcs.engines.ray import run as run_on_ray

            return partial(run_on_ray, workers=workers, address=ray_address)
        case _:
            raise InputError(f"--engine {name}: expected local or ray")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@app.command()
def find(
    folder: Folder,
    query: Annotated[str, typer.Argument(help='A tree in notation; `_` marks what to return: "_ & ban/V.COMP".')],
    k: Annotated[int, typer.Option("-k", min=1, help="Answers (without a blank: sentences) to show.")] = 10,
    examples: Annotated[int, typer.Option(min=0, help="Sentences to show for an answer.")] = 2,
    across: Annotated[bool, typer.Option("--across", help="Join facts about the same name across sentences.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print the SQL instead of running it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Search a forest for a tree: exact answers, with the sentences that say so.

    [bold]Examples[/bold]

    vecdcs find forest/ "drug/N & ban/V.COMP"

    vecdcs find forest/ "_ & ban/V.COMP"

    vecdcs find forest/ "sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)" --across
    """
    from vecdcs.corpus.across import explain_across, find_across
    from vecdcs.corpus.evidence import Evidence
    from vecdcs.corpus.forest import Forest
    from vecdcs.dcs.notation import parse

    tree = parse(query)
    evidence = Evidence(Forest.open(folder))
    if explain:
        typer.echo(str(explain_across(evidence, tree) if across else evidence.explain(tree)))
        return
    shown = examples if across or tree.blanks() else k
    found = find_across(evidence, tree, k) if across else evidence.find(tree, k, shown)
    if as_json:
        typer.echo(json.dumps(_found_json(evidence.forest, query, found), ensure_ascii=False))
    else:
        _show_found(evidence.forest, found, shown)
    if not found.answers:
        _show_missing(evidence.missing(tree))


def _show_missing(missing: dict[str, list[str]]) -> None:
    """Say on standard error why nothing was found."""
    typer.echo("no match", err=True)
    for name, alike in missing.items():
        hint = f"; there is {', '.join(alike)}" if alike else ""
        typer.echo(f"{name} is not in the forest{hint}", err=True)


def _found_json(forest: Forest, query: str, found: Found) -> dict[str, Any]:
    answers = [
        {
            "words": answer.words,
            "count": answer.count,
            "sentences": [forest.sentence(number)._asdict() for number in answer.sentences],
        }
        for answer in found.answers
    ]
    return {"query": query, "different": found.different, "matches": found.matches, "answers": answers}


def _show_found(forest: Forest, found: Found, examples: int) -> None:
    for answer in found.answers:
        typer.echo(f"{answer.count:8,}  {', '.join(answer.words)}")
        for number in answer.sentences[:examples]:
            _, text, source, line = forest.sentence(number)
            typer.echo(f"{'':10}{text}  ({source}:{line})")


@app.command()
def stats(
    folder: Folder,
    top: Annotated[int, typer.Option(min=0, help="Words and fields to list.")] = 20,
    min_word: Annotated[float | None, typer.Option(help="Least weight of a word, as for `train`.")] = None,
    min_field: Annotated[float | None, typer.Option(help="Least weight of a field, as for `train`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw them into this file (.png, .svg, .pdf).")] = None,
) -> None:
    """Count what a forest holds: sentences, trees, nodes, path lengths, words and fields, the share of unknown."""
    from vecdcs.corpus import stats as counting
    from vecdcs.corpus.forest import Forest

    figures = counting.statistics(Forest.open(folder), top, min_word, min_field)
    if plot:
        counting.plot(figures, plot)
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False))
    else:
        _show_stats(figures)


def _show_stats(figures: dict[str, Any]) -> None:
    for name in ("sentences", "words", "trees", "nodes", "skipped"):
        typer.echo(f"{name:22}{figures[name]:>14,}")
    for name in ("trees_per_sentence", "nodes_per_tree", "mean_path_length"):
        typer.echo(f"{name.replace('_', ' '):22}{figures[name]:>14.2f}")
    typer.echo(f"{'paths an epoch':22}{figures['paths']:>14,.0f}")
    for kind in ("words", "fields"):
        known, share = figures["vocabulary"][kind], figures["unknown"][kind]
        typer.echo(f"{kind + ' in vocabulary':22}{known:>14,}   unknown {share:.1%} of the weight")
    for length, weight in enumerate(figures["path_lengths"][:12], 1):
        share = weight / figures["paths"]
        typer.echo(f"paths of {length:2} edges{'':6}{share:>13.2%}  {'#' * round(100 * share)}")
    for name in ("top_words", "top_fields"):
        listed = ", ".join(f"{item} {weight:,.0f}" for item, weight in figures[name])
        typer.echo(f"{name.replace('_', ' ')}: {listed}")


@app.command()
def export(
    folder: Folder,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")],
    format: Annotated[
        str, typer.Option(help="reference: files of the paper's authors; a model also: word2vec[-binary], tsv, half.")
    ] = "reference",
    min_word: Annotated[float | None, typer.Option(help="Least weight of a word, as for `train`.")] = None,
    min_field: Annotated[float | None, typer.Option(help="Least weight of a field, as for `train`.")] = None,
) -> None:
    """Write a forest or a model in another program's files."""
    from vecdcs.corpus.export import export_reference
    from vecdcs.corpus.forest import Forest
    from vecdcs.model.interop import export_model, is_model

    if is_model(folder):
        written = export_model(folder, output, format)
    elif format != "reference":
        raise InputError(f"--format {format}: expected reference for a forest")
    else:
        written = export_reference(Forest.open(folder), output, min_word, min_field)
    typer.echo(f"{len(written)} files in {output}", err=True)
