"""Commands of the tasks room: the paper's experiments, and the forest cut in two that one of them needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vecdcs.errors import InputError

if TYPE_CHECKING:
    from vecdcs.model.model import Model
    from vecdcs.tasks.result import Result
    from vecdcs.tasks.suite import Settings

app = typer.Typer()
tasks = typer.Typer(no_args_is_help=True, help="Measure a model on the paper's tasks, and on two where roles decide.")
app.add_typer(tasks, name="evaluate")

ModelOption = Annotated[Path | None, typer.Option("--model", "-m", help="A model folder; by default the shipped one.")]
VectorsOption = Annotated[
    Path | None, typer.Option("--vectors", help="A word2vec or GloVe text file instead, added up.")
]
DataOption = Annotated[Path, typer.Option("--data", help="The folder with phrase_similarity, relations, completion, …")]
AgainstOption = Annotated[Path | None, typer.Option("--against", help="Another model: the paired difference to it.")]
UnusedData = Annotated[Path | None, typer.Option("--data", help="As elsewhere; nothing of it is needed here.")]
PathOption = Annotated[
    bool, typer.Option("--path", help="Relations: also the vectors of the bare path, beyond the paper.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object.")]
DetailsOption = Annotated[Path | None, typer.Option("--details", help="Write every item to this file (TSV).")]
CacheOption = Annotated[
    Path | None, typer.Option("--cache", help="Where parses are kept; by default the user's cache.")
]
ParserOption = Annotated[str, typer.Option("--parser", help="The parser for the sentences.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Of folds, draws and bootstraps.")]


@app.command("split")
def split_command(
    forest: Annotated[Path, typer.Argument(help="A folder made by `vecdcs build`.", metavar="FOREST")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for both parts: `train` and `hidden`.")],
    share: Annotated[float, typer.Option(help="The share of the sentences to hide.")] = 0.1,
    seed: Annotated[int, typer.Option(help="The same seed hides the same sentences, in any forest.")] = 1,
) -> None:
    """Cut a forest in two by sentence: train on one part, and ask `evaluate execution` about the other."""
    from vecdcs.corpus.forest import Forest
    from vecdcs.corpus.split import split

    parts = split(Forest.open(forest), output, share, seed)
    for part in (parts.train, parts.hidden):
        typer.echo(f"{part.path}: {part.totals['sentences']:,} sentences, {part.totals['nodes']:,} nodes", err=True)


@tasks.command("phrase-similarity")
def phrase_similarity(
    data: DataOption,
    model: ModelOption = None,
    vectors: VectorsOption = None,
    plain_sum: Annotated[bool, typer.Option("--plain-sum", help="Add up SVO as the paper did, not by (4).")] = False,
    against: AgainstOption = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 1,
) -> None:
    """Similarity of phrases against human ratings: Spearman's ρ in the paper's way and in two others."""
    settings = replace(_settings(data, seed=seed), plain_sum=plain_sum)
    _run("phrase-similarity", settings, _one(model, vectors), against, details, as_json)


@tasks.command("preference")
def preference(
    data: DataOption,
    model: ModelOption = None,
    vectors: VectorsOption = None,
    against: AgainstOption = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 1,
) -> None:
    """How plausible a word is in a role, against human ratings (SP-10K)."""
    _run("preference", _settings(data, seed=seed), _one(model, vectors), against, details, as_json)


@tasks.command("relations")
def relations(
    data: DataOption,
    model: ModelOption = None,
    vectors: VectorsOption = None,
    mirror: Annotated[bool, typer.Option("--mirror/--no-mirror", help="Train on mirrored items as well.")] = True,
    path: PathOption = False,
    tune: Annotated[bool, typer.Option("--tune", help="Choose C and γ by cross-validation.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the confusion matrix (.png, .svg, .pdf).")] = None,
    similar: Annotated[
        int | None, typer.Option(help="Only show the training items most like this one (its id).")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many of them.")] = 5,
    against: AgainstOption = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
    cache: CacheOption = None,
    parser: ParserOption = "english",
    seed: SeedOption = 1,
) -> None:
    """The relation between two marked words (SemEval-2010 task 8), by a support vector machine on four vectors."""
    settings = replace(_settings(data, cache, parser, seed), mirror=mirror, path=path, tune=tune)
    loaded = _one(model, vectors)
    if similar is not None:
        _show_similar(loaded, settings, similar, k)
        return
    result = _run("relations", settings, loaded, against, details, as_json)
    if plot is not None and result.figures:
        from vecdcs.tasks.relations import draw_confusion

        draw_confusion(result.figures["confusion"], plot)


def _show_similar(model: Model, settings: Settings, wanted: int, k: int) -> None:
    from vecdcs.tasks.relations import similar
    from vecdcs.tasks.semeval import LABELS

    for cosine, item in similar(model, settings.data, settings.cache, wanted, k, settings.parser):
        (a, b), (c, d) = item.spans
        text = f"{item.text[:a]}[{item.text[a:b]}]1{item.text[b:c]}[{item.text[c:d]}]2{item.text[d:]}"
        typer.echo(f"{cosine:.3f}  {LABELS[item.label]:27}{text}")


@tasks.command("completion")
def completion(
    data: DataOption,
    model: ModelOption = None,
    vectors: VectorsOption = None,
    pmi: Annotated[Path | None, typer.Option("--pmi", help="A forest: smoothed PMI over its paths instead.")] = None,
    unknown_last: Annotated[bool, typer.Option("--unknown-last", help="Prefer words that the model knows.")] = False,
    against: AgainstOption = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
    cache: CacheOption = None,
    parser: ParserOption = "english",
    seed: SeedOption = 1,
) -> None:
    """Which of five words completes a sentence (MSR)."""
    settings = replace(_settings(data, cache, parser, seed), unknown_last=unknown_last)
    if pmi is None:
        _run("completion", settings, _one(model, vectors), against, details, as_json)
        return
    from vecdcs.corpus.forest import Forest
    from vecdcs.tasks.completion import evaluate_counts

    result = evaluate_counts(Forest.open(pmi), data, settings.cache, parser, seed)
    _report(result, [], details, as_json)


@tasks.command("execution")
def execution(
    forest: Annotated[Path | None, typer.Option("--forest", help="A folder made by `vecdcs split`.")] = None,
    world: Annotated[Path | None, typer.Option("--world", help="A folder made by `vecdcs world`, instead.")] = None,
    model: ModelOption = None,
    vectors: VectorsOption = None,
    pmi: Annotated[
        Path | None, typer.Option("--pmi", help="With --world: a forest of its text, to compare with counting.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="Questions of each kind.")] = 300,
    stepwise: Annotated[
        bool | None, typer.Option("--stepwise/--at-once", help="As in `vecdcs ask`: inner nouns first, or not.")
    ] = None,
    data: UnusedData = None,
    against: AgainstOption = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 1,
) -> None:
    """Questions whose answers only hidden sentences support: how high a model that never saw them ranks these."""
    if (forest is None) == (world is None) and (forest or data is None):
        raise InputError("expected either --forest (from `vecdcs split`) or --world (from `vecdcs world`)")
    settings = replace(_settings(data or Path(), seed=seed), split=forest, world=world, pmi=pmi)
    settings = replace(settings, questions=questions, stepwise=stepwise)
    _run("execution", settings, _one(model, vectors), against, details, as_json)


@tasks.command("intrinsic")
def intrinsic(
    model: ModelOption = None,
    vectors: VectorsOption = None,
    word: Annotated[
        list[str] | None, typer.Option("--word", help="A word for the tables, as book/N; repeatable.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw matrices and words (.png, .svg, .pdf).")] = None,
    data: UnusedData = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
) -> None:
    """What the space shows: neighbours by part of speech, how orthogonal matrices are, words sent through them."""
    from vecdcs.tasks.intrinsic import draw

    settings = _settings(data or Path())
    loaded = _one(model, vectors)
    _run("intrinsic", replace(settings, words=tuple(word)) if word else settings, loaded, None, details, as_json)
    if plot is not None:
        draw(loaded, plot)


@tasks.command("all")
def evaluate_all(
    data: DataOption,
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="PATH or NAME=PATH; repeatable.")] = None,
    vectors: Annotated[list[str] | None, typer.Option("--vectors", help="FILE or NAME=FILE; repeatable.")] = None,
    forest: Annotated[Path | None, typer.Option("--forest", help="A folder made by `vecdcs split`.")] = None,
    pmi: Annotated[Path | None, typer.Option("--pmi", help="A forest: a row of smoothed PMI for completion.")] = None,
    path: PathOption = False,
    only: Annotated[list[str] | None, typer.Option("--task", help="Only this task; repeatable.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write results.json and README.md here.")
    ] = None,
    details: DetailsOption = None,
    as_json: JsonOption = False,
    cache: CacheOption = None,
    parser: ParserOption = "english",
    seed: SeedOption = 1,
) -> None:
    """Every task for every model: the paper's tables, with the paper's figures beside ours."""
    from vecdcs.tasks.report import account, run, write_report
    from vecdcs.tasks.result import write_details

    settings = replace(_settings(data, cache, parser, seed), split=forest, pmi=pmi, path=path)
    models = _several(model or [], vectors or [])
    results = run(models, settings, only or (), lambda text: typer.echo(text, err=True))
    told = account(results, settings)
    if output is not None:
        write_report(results, told, output)
    if details is not None:
        named = [replace(one, task=f"{name}: {one.task}") for name, done in results.items() for one in done.values()]
        write_details(named, details)
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=False))
    else:
        from vecdcs.cli.tables import print_table
        from vecdcs.tasks.paper import tables
        from vecdcs.tasks.report import difference_table

        gaps = difference_table(told["differences"])
        for table in [*tables(results), *([gaps] if gaps.rows else [])]:
            print_table(table)


def _settings(data: Path, cache: Path | None = None, parser: str = "english", seed: int = 1) -> Settings:
    from vecdcs.tasks.suite import Settings

    if not data.is_dir():
        raise InputError("expected a folder of evaluation data", str(data))
    made = Settings(data=data, parser=parser, seed=seed)
    return replace(made, cache=cache) if cache else made


def _one(model: Path | None, vectors: Path | None) -> Model:
    """The model named, or the shipped one; or vectors in its place. Figures must not hang on the number of threads."""
    from vecdcs.learn import blas

    blas.pin()
    if vectors is not None:
        from vecdcs.tasks.vectors import read_vectors

        if model is not None:
            raise InputError("--model and --vectors: expected one of them")
        return read_vectors(vectors)
    from vecdcs.model.ask import SHIPPED
    from vecdcs.model.model import load

    return load(model or SHIPPED)


def _several(models: list[str], vectors: list[str]) -> dict[str, Model]:
    """Models by name; without one, the paper's name for the variant."""
    from vecdcs.tasks.paper import NAMES

    found: dict[str, Model] = {}
    for kind, named in (("model", models or ([] if vectors else [""])), ("vectors", vectors)):
        for item in named:
            name, equals, path = item.rpartition("=")
            target = Path(path) if path else None
            one = _one(target, None) if kind == "model" else _one(None, target)
            variant = str(one.config.get("plan", {}).get("variant"))
            name = name if equals else NAMES.get(variant, variant)
            if name in found:
                raise InputError(f"two models are called {name!r}: name them, as --model {name}2={path}")
            found[name] = one
    return found


def _run(
    task: str, settings: Settings, model: Model, other: Path | None, details: Path | None, as_json: bool
) -> Result:
    from vecdcs.model.model import load
    from vecdcs.tasks.result import against
    from vecdcs.tasks.suite import TASKS

    result = TASKS[task](model, settings)
    gaps = [] if other is None else against(result, TASKS[task](load(other), settings), settings.seed)
    _report(result, gaps, details, as_json)
    return result


def _report(result: Result, gaps: list[dict[str, object]], details: Path | None, as_json: bool) -> None:
    from vecdcs.tasks.result import write_details

    if details is not None:
        write_details([result], details)
    if as_json:
        compared = {"against": gaps} if gaps else {}
        typer.echo(json.dumps({**result.as_dict(), **compared}, ensure_ascii=False))
        return
    _print_result(result, gaps)


def _print_result(result: Result, gaps: list[dict[str, object]]) -> None:
    from vecdcs.cli.tables import print_table
    from vecdcs.tasks.report import result_tables

    for table in result_tables(result, gaps):
        print_table(table)
    if result.protocol:
        typer.echo(result.protocol)
    for name in result.missing:
        typer.echo(f"missing: {name}", err=True)
