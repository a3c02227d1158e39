"""The demo: a tour of the formal half on the small world."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from vecdcs.dcs.convert import sentence_trees
from vecdcs.dcs.denotation import Database, Thing, denotation, project
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import ARG, Tree
from vecdcs.world import World

QUESTIONS = (
    ("banned drugs", "drug/N & ban/V.COMP"),
    ("Who sells a drug that Canada bans?", "_ & (sell/V & COMP:(drug/N & (ban/V & SUBJ:canada/N).COMP)).SUBJ"),
    ("drugs that no one bans", "drug/N & ~ban/V.COMP"),
    ("books or films written by a woman", "(book/N | film/N) & (write/V & SUBJ:woman/N).COMP"),
)
ANSWERS = 4


def run(seed: int) -> None:
    """The whole tour."""
    console = Console()
    world = World.make(seed)
    console.rule("[bold]A small made-up world")
    console.print(
        f"{len(world.entities)} entities, {len(world.facts)} facts, {len(world.statements)} sentences that state "
        f"{len(world.stated)} of the facts. For example:\n"
    )
    for statement in world.statements[:3]:
        console.print(f"  {escape(statement.sentence.text)}")
    _show_tree(console, world)
    for question, notation in QUESTIONS:
        _ask(console, world, question, notation)


def _show_tree(console: Console, world: World) -> None:
    longest = max(world.statements[:200], key=lambda statement: len(statement.sentence.tokens)).sentence
    console.rule("[bold]A sentence and its DCS tree")
    console.print(f"\n  {escape(longest.text)}\n")
    for tree in sentence_trees(longest):
        _draw(console, tree)


def _draw(console: Console, tree: Tree) -> None:
    console.print(f"  [cyan]{escape(str(tree))}[/cyan]")
    console.print(Panel(escape(tree.to_text()), expand=False))


def _ask(console: Console, world: World, question: str, notation: str) -> None:
    console.rule(f"[bold]{escape(question)}")
    tree = parse(notation)
    _draw(console, tree)
    found = {thing.name: thing for thing in sorted(denotation(tree, world.stated_database), reverse=True)}
    unsaid = project(denotation(tree, world.database), ARG) - set(found)
    console.print(f"  [green]exact answers[/green] from the sentences: {len(found)}; true but unsaid: {len(unsaid)}")
    for name in sorted(found)[:ANSWERS]:
        console.print(f"  [bold]{escape(name)}[/bold]")
        for sentence in _evidence(world, witness(tree, found[name], world.stated_database)):
            console.print(f"    [dim]“{escape(sentence)}”[/dim]")
    if len(found) > ANSWERS:
        console.print(f"  … and {len(found) - ANSWERS} more")


def witness(tree: Tree, thing: Thing, database: Database) -> list[tuple[str, Thing]]:
    """Words of the tree with things that together make `thing` an answer."""
    if tree.alternatives:
        part = next(part for part in tree.alternatives if thing in denotation(part, database))
        found = witness(part, thing, database)
    else:
        found = [(tree.word, thing)]
    for child in tree.children:
        if not child.negated:
            value = thing.get(child.parent_label)
            below = (each for each in denotation(child.tree, database) if each.get(child.label) == value)
            found += witness(child.tree, min(below), database)
    return found


def _evidence(world: World, used: list[tuple[str, Thing]]) -> list[str]:
    """The first sentence that states each of the facts used."""
    wanted = {(word, thing.name) for word, thing in used}
    found: dict[tuple[str, str], str] = {}
    for statement in world.statements:
        for fact in statement.facts:
            key = (fact.word, Thing.of(fact.thing()).name)
            if key in wanted:
                found.setdefault(key, statement.sentence.text)
    return list(dict.fromkeys(found.values()))
