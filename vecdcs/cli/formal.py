"""Commands of the formal half: trees, rules, exact denotations, the small world."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import typer

from vecdcs.dcs.convert import convert, sentence_trees
from vecdcs.dcs.tree import ARG, Tree
from vecdcs.errors import VecdcsError
from vecdcs.text.conllu import ConlluReader, Sentence

app = typer.Typer()


class Format(StrEnum):
    """How a tree is shown."""

    text = "text"
    notation = "notation"
    svg = "svg"
    json = "json"


@app.command("tree")
def tree_command(
    text: list[str] = typer.Argument(None, help="A phrase, question or sentence; `-` or nothing reads standard input."),
    conllu: Path = typer.Option(None, help="Read UD trees from this CoNLL-U file (plain, .gz, .xz, or -) instead."),
    form: Format = typer.Option(Format.text, "--format", help="Drawing, notation, SVG, or JSON (one object a line)."),
    parser: str = typer.Option("english", help="The parser: the shipped one, or stanza:en, spacy:NAME, udpipe:FILE."),
    skip_bad: bool = typer.Option(False, "--skip-bad", help="Leave out bad CoNLL-U sentences; say how many."),
) -> None:
    """Show the DCS trees of text or of a CoNLL-U file.

    In raw text `_` is a blank, and so is the wh-word of a question, at which its tree is hung up; CoNLL-U input keeps
    its words.

    [bold]Examples[/bold]

    vecdcs tree "drugs banned by Canada"

    vecdcs tree "Who sells drugs?" --format notation

    vecdcs tree --conllu sentences.conllu --format json
    """
    if conllu is not None and text:
        raise VecdcsError("give a text or --conllu, not both")
    if conllu is not None:
        reader = ConlluReader(conllu, skip_bad)
        _show(reader, form, blanks=False)
        if reader.skipped:
            typer.echo(f"vecdcs: skipped {reader.skipped} bad sentences; the first: {reader.errors[0]}", err=True)
    else:
        _show(_parsed(text or ["-"], parser), form, blanks=True)


def _parsed(texts: list[str], parser: str) -> Iterator[Sentence]:
    from vecdcs.text.parser import load_parser

    lines = (line for text in texts for line in (sys.stdin if text == "-" else [text]))
    return load_parser(parser).parse(lines)


def _show(sentences: Iterable[Sentence], form: Format, blanks: bool) -> None:
    for sentence in sentences:
        trees = sentence_trees(sentence, blanks)
        match form:
            case Format.json:
                typer.echo(json.dumps(tree_record(sentence, trees, blanks), ensure_ascii=False))
            case Format.notation:
                typer.echo("\n".join(map(str, trees)))
            case Format.svg:
                typer.echo("".join(tree.to_svg() for tree in trees), nl=False)
            case Format.text:
                typer.echo("\n\n".join([sentence.text, *(tree.to_text() for tree in trees)]) + "\n")


def tree_record(sentence: Sentence, trees: list[Tree], blanks: bool) -> dict[str, object]:
    """A sentence with its trees and edges, as JSON shows it."""
    edges = [
        [node.token, nodes[node.parent].token, node.label, node.parent_label]
        for nodes in convert(sentence, blanks)
        for node in nodes
        if node.parent >= 0
    ]
    return {"text": sentence.text, "trees": [str(tree) for tree in trees], "edges": edges}


class RulesFormat(StrEnum):
    """How the rules are printed."""

    text = "text"
    markdown = "markdown"


@app.command("rules")
def rules_command(
    form: RulesFormat = typer.Option(RulesFormat.text, "--format", help="A table, or docs/rules.md."),
) -> None:
    """Print the table of rules that turns UD relations into DCS edges."""
    from vecdcs.dcs.rulebook import rules_page

    if form is RulesFormat.markdown:
        typer.echo(rules_page(), nl=False)
    else:
        _print_rules()


def _print_rules() -> None:
    from rich.console import Console
    from rich.table import Table

    from vecdcs.dcs.conditions import CONDITIONS
    from vecdcs.dcs.rulebook import example_text
    from vecdcs.dcs.rules import RULES

    table = Table("relation", "condition", "child", "parent", "example", title="UD → DCS", show_lines=False)
    for rule in RULES:
        labels = rule.label or "–", rule.parent_label or "–"
        table.add_row(rule.relation, CONDITIONS[rule.condition][0], *labels, example_text(rule).replace("**", "*"))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


@app.command("denote")
def denote_command(
    database: Path = typer.Argument(..., help="A CSV, TSV or Parquet table of things, or a folder of them."),
    tree: str = typer.Argument(..., help="A tree in notation, such as 'drug/N & ban/V.COMP'; | and ~ are allowed."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Give the exact denotation of a tree over a database of things.

    Columns of the tables are fields; `drug.N.tsv` holds the word drug/N, and a column `word` may hold many words.
    """
    from vecdcs.dcs.denotation import Database, denotation, project
    from vecdcs.dcs.notation import parse

    world, parsed = Database.read(database), parse(tree)
    things = sorted(project(denotation(parsed, world), ARG))
    unknown = world.unknown(parsed)
    if as_json:
        typer.echo(json.dumps({"tree": str(parsed), "things": things, "unknown": unknown}, ensure_ascii=False))
        return
    for word in unknown:
        typer.echo(f"vecdcs: no such word in the database: {word}", err=True)
    for thing in things:
        typer.echo(thing)


@app.command("world")
def world_command(
    output: Path = typer.Option(..., "-o", "--output", help="The folder to write."),
    seed: int = typer.Option(0, help="The same seed gives the same world, to the byte."),
    sentences: int = typer.Option(None, min=1, help="At least so many sentences; by default 3,000."),
) -> None:
    """Write a small made-up world: sentences (text and CoNLL-U), its database, and questions with their answers."""
    from vecdcs.world import World, write_world

    world = World.make(seed, sentences) if sentences else World.make(seed)
    write_world(world, output)
    stated = len(world.stated) / len(world.facts)
    typer.echo(
        f"{output}: {len(world.entities)} entities, {len(world.facts)} facts ({stated:.0%} stated), "
        f"{len(world.statements)} sentences"
    )


@app.command("demo")
def demo_command(seed: int = typer.Option(0, help="Of the small world.")) -> None:
    """Show what the program does: ask the shipped model, then read, learn and ask a small world, with exact answers."""
    from vecdcs.cli.demo import run

    run(seed)
