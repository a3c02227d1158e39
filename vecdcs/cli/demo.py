"""The demo: questions to the shipped model, then a small world from raw sentences to answers with evidence."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from vecdcs.cli.progress import build_progress
from vecdcs.cli.training import cores, training_progress
from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options
from vecdcs.dcs.denotation import denotation, project
from vecdcs.dcs.tree import ARG, Tree
from vecdcs.errors import InputError
from vecdcs.learn.recipes import plan
from vecdcs.learn.session import Options as Training
from vecdcs.model.ask import EXACT, Answer, Asker, Question, default_model, load
from vecdcs.model.fit import fit
from vecdcs.world import World, write_world

# A participle, a preposition, a passive question, a statement with a blank, a question that ends in a preposition.
QUESTIONS = (
    "banned drugs",
    "books about war",
    "Who was killed by the army?",
    "The report gives an account of _.",
    "What do people learn about?",
)
PHRASES = (("fight war", "win battle"), ("fight war", "read book"))
LIKE = ("banned drugs", "book")
WORLD_QUESTIONS = ("drugs banned by Canada", "Who sells drugs banned by Canada?", "books written by a woman")
RECIPE, DIM, EPOCHS = "dense", 100, 20
ANSWERS, WORLD_ANSWERS = 5, 8


def run(seed: int) -> None:
    """The whole tour."""
    console = Console()
    try:
        shipped = load(default_model())
    except InputError as error:
        console.print(f"[yellow]{escape(str(error))}[/yellow]", soft_wrap=True)
    else:
        ask_shipped(console, shipped)
    with TemporaryDirectory() as folder:
        ask_world(console, World.make(seed), Path(folder))


def ask_shipped(console: Console, model: Asker) -> None:
    """Questions of different shapes: their trees, and what the vectors answer."""
    console.rule("[bold]The shipped model of English")
    console.print(
        f"{len(model.vocabulary.words):,} words, {len(model.vocabulary.fields)} fields, {model.dim} dimensions. "
        "Answers with probability and score, as by `vecdcs ask`."
    )
    for question in model.ask_many(QUESTIONS):
        console.rule(f"[bold]{escape(question.text)}")
        draw(console, question.tree)
        for answer in question.answers(ANSWERS):
            console.print(f"  [bold]{escape(answer.word):<20}[/bold] {answer.probability:7.2%} {answer.score:7.3f}")
    console.rule("[bold]How alike are …")
    for pair in PHRASES:
        console.print(f"  {pair[0]!r} and {pair[1]!r}: {model.similarity(*pair):.3f}")
    console.rule("[bold]What is most like …")
    for phrase in LIKE:
        near = ", ".join(found.word for found in model.nearest(phrase, k=6))
        console.print(f"  {phrase!r}: {escape(near)}", soft_wrap=True)


def ask_world(console: Console, world: World, folder: Path) -> None:
    """A small world: its sentences become a forest, the forest a model, and both answer."""
    console.rule("[bold]A small made-up world, from raw sentences")
    console.print(
        f"{len(world.entities)} entities, {len(world.facts)} facts, {len(world.statements)} sentences that state "
        f"{len(world.stated)} of the facts. For example:\n"
    )
    for statement in world.statements[:3]:
        console.print(f"  {escape(statement.sentence.text)}")
    write_world(world, folder / "world")
    model = learn(folder)
    console.print(f"learned {len(model.vocabulary.words):,} words and {len(model.vocabulary.fields)} fields\n")
    for text in WORLD_QUESTIONS:
        compare(console, world, model.ask(text, folder / "forest"))


def learn(folder: Path) -> Asker:
    """Parse and index the sentences, and train on them."""
    with build_progress(quiet=False) as watch:
        build([folder / "world" / "text.txt"], folder / "forest", Options(), watch=watch)
    with training_progress(quiet=False) as told:
        chosen = plan(RECIPE, dim=DIM, epochs=EPOCHS)
        fit(Forest.open(folder / "forest"), folder / "model", chosen, Training(cores()), watch=told)
    return load(folder / "model")


def compare(console: Console, world: World, question: Question) -> None:
    """The answers of the vectors beside the exact ones, and the sentences these come from."""
    console.rule(f"[bold]{escape(question.text)}")
    draw(console, question.tree)
    alone = question.asker.ask(question.tree).answers(WORLD_ANSWERS)
    exact = [answer for answer in question.answers(WORLD_ANSWERS) if answer.kind == EXACT]
    stated, true = (project(denotation(question.tree, known), ARG) for known in (world.stated_database, world.database))
    names = frozenset(entity.name for entity in world.entities)
    table = Table("", "vectors, step by step", "", "exact", "")
    for at in range(max(len(alone), len(exact))):
        table.add_row(str(at + 1), *_guess(alone[at : at + 1], names, stated, true), *_found(exact[at : at + 1]))
    console.print(table)
    for answer in exact[:2]:
        console.print(f"  [bold]{escape(answer.word)}[/bold]")
        for quote in answer.evidence:
            console.print(f"    [dim]“{escape(quote.text)}” line {quote.line}[/dim]")


def _guess(some: list[Answer], names: frozenset[str], stated: frozenset[str], true: frozenset[str]) -> tuple[str, str]:
    """An answer of the vectors, and whether it is so in the world."""
    if not some:
        return "", ""
    name = some[0].word.rpartition("/")[0]
    return f"{escape(some[0].word)} {some[0].probability:.1%}", verdict(name, names, stated, true)


def verdict(name: str, names: frozenset[str], stated: frozenset[str], true: frozenset[str]) -> str:
    """Whether a name is an answer of the world; words of other kinds, such as *company*, are none of its names."""
    if name in stated:
        return "[green]stated[/green]"
    if name in true:
        return "[green]true, unsaid[/green]"
    return "[red]not true[/red]" if name in names else "[dim]not a name[/dim]"


def _found(some: list[Answer]) -> tuple[str, str]:
    return (escape(some[0].word), f"{some[0].count} found") if some else ("", "")


def draw(console: Console, tree: Tree) -> None:
    """A tree in notation and as a picture."""
    console.print(f"  [cyan]{escape(str(tree))}[/cyan]")
    console.print(Panel(escape(tree.to_text()), expand=False))
