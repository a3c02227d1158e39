"""Commands that ask a model: on the line, in batches from standard input, at a prompt, in the browser."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecdcs.errors import InputError, VecdcsError

if TYPE_CHECKING:
    from vecdcs.model.ask import Answer, Asker, Question

app = typer.Typer()
importing = typer.Typer(no_args_is_help=True, help="Make a model from another program's files.")
app.add_typer(importing, name="import")

BATCH = 256
BAR = 20

Folder = Annotated[
    Path | None, typer.Option("-m", "--model", help="A folder made by `vecdcs train`; by default the shipped model.")
]
Forest = Annotated[Path | None, typer.Option("--corpus", help="A folder made by `vecdcs build`, for exact answers.")]
Count = Annotated[int, typer.Option("-k", min=1, max=10_000, help="How many to show.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Pos = Annotated[
    str, typer.Option("--pos", help="Keep these parts of speech, such as N or NV: of N, V, J, R, P; else NVJR.")
]
Parser = Annotated[str, typer.Option(help="The parser: the shipped one, or stanza:en, spacy:NAME, udpipe:FILE.")]
Texts = Annotated[
    list[str] | None,
    typer.Argument(help="Phrases, questions or trees; `-` or nothing reads lines.", metavar="[TEXT]..."),
]


@app.command()
def ask(
    texts: Texts = None,
    model: Folder = None,
    corpus: Forest = None,
    k: Count = 10,
    pos: Pos = "",
    by: Annotated[
        str, typer.Option(help="Rank by probability, by score, or balanced (probability with half its prior).")
    ] = "probability",
    own_words: Annotated[bool, typer.Option("--own-words", help="Keep the question's own words.")] = False,
    stepwise: Annotated[
        bool | None,
        typer.Option(
            "--stepwise/--at-once",
            help="First answer what inner nouns name, then ask on with these answers, or not; else as suits the model.",
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each part adds to the scores.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the explanation into this file.")] = None,
    as_json: Json = False,
    parser: Parser = "english",
) -> None:
    """Ask a question: in words or as a tree in notation.

    `_` is a blank, and so is the wh-word of a question; a noun phrase asks for what it names.

    [bold]Examples[/bold]

    vecdcs ask "drugs banned by Canada"

    vecdcs ask "Who sells drugs?" --corpus forest/ -k 5

    vecdcs ask "Who sells drugs banned by Canada?" --stepwise

    vecdcs ask "_ & about:learn/V" --json
    """
    asker = _load(model, parser)
    for lines in _batches(texts):
        asked = asker.ask_many(lines, corpus, stepwise=stepwise)
        questions = [each for question in asked for each in question.each()]
        for question, answers in zip(questions, asker.answer_many(questions, k, list(pos), by, own_words), strict=True):
            _tell(question, answers, as_json, explain, svg)


def _tell(question: Question, answers: list[Answer], as_json: bool, explain: bool, svg: Path | None) -> None:
    known = [answer.word for answer in answers if answer.score is not None]
    explanation = None
    if (explain or svg) and known:
        from vecdcs.model.explain import explain as explained

        explanation = explained(question, known)
    if svg and explanation:
        svg.write_text(explanation.to_svg(), "utf-8")
    if as_json:
        record = question.as_dict(answers) | ({"explanation": explanation.as_dict()} if explain and explanation else {})
        typer.echo(json.dumps(record, ensure_ascii=False))
        return
    print_question(question)
    print_answers(answers)
    if explain and explanation:
        typer.echo(explanation.to_text() + "\n")


def print_question(question: Question) -> None:
    """The tree, and what is not understood."""
    typer.echo(typer.style(str(question.tree), dim=True))
    if len(question.tree.blanks()) > 1:
        typer.echo(f"asked: node {question.position}, {question.hung}")
    for what, words in (("unknown to the model", question.unknown), ("not in the tree", question.unused)):
        if words:
            typer.echo(f"vecdcs: {what}: {', '.join(words)}", err=True)


def print_answers(answers: list[Answer]) -> None:
    """Words, probabilities, scores, bars and sentences."""
    longest = max((answer.probability for answer in answers), default=1)
    for answer in answers:
        score = "     –" if answer.score is None else f"{answer.score:6.3f}"
        bar = "█" * round(BAR * answer.probability / longest)
        mark = typer.style(f"exact {answer.count}", fg="green") if answer.count else "inferred"
        word = typer.style(f"{answer.word:<24}", bold=True)
        typer.echo(f"{word} {answer.probability:7.2%} {score}  {bar:<{BAR}}  {mark}".rstrip())
        for quote in answer.evidence:
            near = "" if answer.count else f"  ({quote.states})"
            typer.echo(f"    “{quote.text}”  {typer.style(f'{quote.source}:{quote.line}', dim=True)}{near}")
    typer.echo()


@app.command()
def similar(
    one: Annotated[
        str | None, typer.Argument(help="A phrase or tree; without, `one TAB other` lines are read.")
    ] = None,
    other: Annotated[str | None, typer.Argument(help="Another one.")] = None,
    model: Folder = None,
    as_json: Json = False,
    parser: Parser = "english",
) -> None:
    """Tell how similar two phrases are: the cosine of their query vectors."""
    if (one is None) != (other is None):
        raise InputError("expected two phrases, or none and pairs on standard input")
    asker = _load(model, parser)
    for lines in _batches(None if one is None else [f"{one}\t{other}"]):
        pairs = [_pair(line) for line in lines]
        for pair, value in zip(pairs, asker.similarities(pairs), strict=True):
            record = {"phrases": pair, "similarity": value}
            typer.echo(json.dumps(record, ensure_ascii=False) if as_json else f"{value:.4f}")


def _pair(line: str) -> tuple[str, str]:
    parts = line.split("\t")
    if len(parts) != 2:
        raise InputError(f"expected `phrase TAB phrase`, found {line!r}")
    return parts[0], parts[1]


@app.command()
def nearest(
    texts: Texts = None,
    model: Folder = None,
    k: Count = 10,
    pos: Pos = "",
    as_json: Json = False,
    parser: Parser = "english",
) -> None:
    """List the words whose query vectors are nearest to that of a word, phrase or tree."""
    asker = _load(model, parser)
    for text in (line for lines in _batches(texts) for line in lines):
        near = asker.nearest(text, k, list(pos))
        if as_json:
            record = {"query": text, "nearest": [each._asdict() for each in near]}
            typer.echo(json.dumps(record, ensure_ascii=False))
        else:
            typer.echo("".join(f"{each.word:<24} {each.score:.4f}\n" for each in near))


@app.command()
def complete(
    text: Annotated[str, typer.Argument(help="A sentence (or tree) with `_` where a word is missing.")],
    candidates: Annotated[list[str], typer.Argument(help="What might fill it.")],
    model: Folder = None,
    as_json: Json = False,
    parser: Parser = "english",
) -> None:
    """Rank candidates for the blank of a sentence.

    [bold]Example[/bold]

    vecdcs complete "The drug _ is banned by the government." thalidomide aspirin
    """
    choices = _load(model, parser).complete(text, candidates)
    if as_json:
        typer.echo(json.dumps({"query": text, "choices": [each._asdict() for each in choices]}, ensure_ascii=False))
        return
    for choice in choices:
        typer.echo(f"{choice.candidate:<24} {choice.score:7.4f}  {choice.word or '(no word of its own in the tree)'}")


@app.command()
def plausible(
    predicate: Annotated[str, typer.Argument(help="Such as eat/V.")],
    field: Annotated[str, typer.Argument(help="Such as COMP, SUBJ or in.")],
    arguments: Annotated[list[str], typer.Argument(help="Such as bread/N.")],
    model: Folder = None,
) -> None:
    """Tell how plausible words are in a field of another word (selectional preference)."""
    asker = _load(model)
    for argument in arguments:
        typer.echo(f"{asker.plausibility(predicate, field, argument):7.4f}  {argument}")


@app.command()
def calibrate(
    model: Annotated[Path, typer.Argument(help="A folder made by `vecdcs train`.")],
    corpus: Annotated[Path, typer.Option(help="A forest, best of text that the model has not seen.")],
    nodes: Annotated[int, typer.Option(min=10, max=20_000, help="Words of it to ask for.")] = 1000,
    seed: Annotated[int, typer.Option(help="Which words.")] = 0,
) -> None:
    """Fit what scores are worth as probabilities to a forest, and keep it in the model's folder."""
    from vecdcs.corpus.forest import Forest
    from vecdcs.model.calibrate import calibrate_on
    from vecdcs.model.search import write_calibration

    found = calibrate_on(_load(model), Forest.open(corpus), nodes, seed)
    write_calibration(found, model)
    numbers = ", ".join(f"{name} {value:.3f}" for name, value in asdict(found).items())
    typer.echo(f"{model}: {numbers}", err=True)


@app.command()
def shell(model: Folder = None, corpus: Forest = None, k: Count = 10, parser: Parser = "english") -> None:
    """Ask at a prompt, with history and completion of words and fields."""
    from vecdcs.cli.shell import run

    run(_load(model, parser), corpus, k)


@app.command()
def serve(
    model: Folder = None,
    corpus: Forest = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 8016,
    parser: Parser = "english",
) -> None:
    """Serve the page and its JSON interface."""
    try:
        from vecdcs.web.serve import run
    except ImportError as error:
        raise VecdcsError(f"serving needs FastAPI and uvicorn ({error}): pip install 'vecdcs[web]'") from error
    run(_load(model, parser), corpus, host, port)


@app.command()
def pack(
    model: Annotated[Path, typer.Argument(help="A folder made by `vecdcs train`.", metavar="MODEL")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the small model.")],
    words: Annotated[int, typer.Option(min=0, help="Keep so many words; 0 for all that fit.")] = 0,
    fields: Annotated[int, typer.Option(min=0, help="Keep so many fields; 0 for all.")] = 0,
    max_mb: Annotated[float, typer.Option("--max-mb", min=0, help="Keep as many words as fit; 0 for any size.")] = 45,
    results: Annotated[Path | None, typer.Option(help="A results.json, for the figures of the card.")] = None,
    row: Annotated[str, typer.Option(help="The name of the model in these results.")] = "vecDCS",
    about: Annotated[Path | None, typer.Option(help="Markdown for the card: text, licences, known weaknesses.")] = None,
    cpu_hours: Annotated[float | None, typer.Option(min=0, help="What training took, for the card.")] = None,
) -> None:
    """Make a model small enough to ship: heaviest words and fields, numbers of one byte, a card.

    [bold]Example[/bold]

    vecdcs pack general/ -o vecdcs/model/english --about docs/english.md --results results/full/general/results.json
    """
    from vecdcs.model.pack import Card
    from vecdcs.model.pack import pack as run

    small = run(model, output, words, fields, max_mb, Card(results, row, about, cpu_hours))
    size = sum(path.stat().st_size for path in output.iterdir()) / 1e6
    counts = f"{len(small.vocabulary.words):,} words, {len(small.vocabulary.fields):,} fields"
    typer.echo(f"{output}: {counts}, {small.dim} dimensions, {size:.1f} MB", err=True)


@importing.command("reference")
def import_reference(
    words: Annotated[Path, typer.Argument(help="Their word list: `weight TAB word/POS`.")],
    roles: Annotated[Path, typer.Argument(help="Their role list: `weight TAB role`.")],
    model: Annotated[Path, typer.Argument(help="Their model file.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the model to make.")],
) -> None:
    """Make a model from the files of the paper's authors."""
    from vecdcs.model.interop import import_reference as run

    made = run(words, roles, model, output)
    typer.echo(f"{output}: {len(made.vocabulary.words):,} words, {made.dim} dimensions", err=True)


def _load(model: Path | None, parser: str = "english") -> Asker:
    from vecdcs.model.ask import load

    return load(model, parser)


def _batches(texts: list[str] | None) -> Iterator[list[str]]:
    """Lines to ask about, some at a time; from a terminal one at a time."""
    lines = _lines(texts)
    size = 1 if sys.stdin.isatty() else BATCH
    while batch := list(islice(lines, size)):
        yield batch


def _lines(texts: list[str] | None) -> Iterator[str]:
    for text in texts or ["-"]:
        found: Any = (line.rstrip("\n") for line in sys.stdin) if text == "-" else [text]
        yield from (line for line in found if line.strip())
