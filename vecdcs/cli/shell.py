"""The prompt: questions one after the other, with history and completion of words and fields."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vecdcs.errors import VecdcsError
from vecdcs.model.steps import goes_stepwise

if TYPE_CHECKING:
    from vecdcs.model.ask import Asker, Question

PROMPT = "? "
HELP = """Type a phrase, a question, a statement with _, or a tree such as drug/N & ban/V.COMP.
Tab completes words and fields.
  :tree TEXT       draw the tree
  :why TEXT        what each part adds to the scores
  :near TEXT       words with similar query vectors
  :similar A ; B   how similar two phrases are
  :k NUMBER        how many answers
  :steps           answer inner nouns first, or no longer
  :help  :quit"""
COMPLETIONS = 50


def run(asker: Asker, corpus: Path | None, k: int) -> None:
    """Read questions until the end of input."""
    _prepare(asker)
    typer.echo(HELP)
    shell = Shell(asker, corpus, k)
    while True:
        try:
            line = input(PROMPT).strip()
        except EOFError:
            break
        except KeyboardInterrupt:
            typer.echo()
            continue
        if line in (":quit", ":q", "quit", "exit"):
            break
        shell.answer(line)
    _remember()


class Shell:
    """What a line at the prompt does."""

    def __init__(self, asker: Asker, corpus: Path | None, k: int) -> None:
        self.asker, self.corpus, self.k, self.stepwise = asker, corpus, k, goes_stepwise(asker)
        self.commands: dict[str, Callable[[str], None]] = {
            "tree": lambda text: typer.echo(asker.ask(text).tree.to_text()),
            "why": lambda text: typer.echo(self.ask(text).explain(min(self.k, 5)).to_text()),
            "near": self.near,
            "similar": self.similar,
            "k": self.count,
            "steps": self.steps,
            "help": lambda _: typer.echo(HELP),
        }

    def answer(self, line: str) -> None:
        """Run a line; an error is told, and the prompt comes back."""
        from vecdcs.cli.ask import print_answers, print_question

        try:
            if line.startswith(":"):
                name, _, rest = line[1:].partition(" ")
                self.commands.get(name, self.commands["help"])(rest.strip())
            elif line:
                for question in self.ask(line, self.corpus).each():
                    print_question(question)
                    print_answers(question.answers(self.k))
        except VecdcsError as error:
            typer.echo(f"vecdcs: {error}", err=True)

    def ask(self, text: str, corpus: Path | None = None) -> Question:
        return self.asker.ask(text, corpus, stepwise=self.stepwise)

    def steps(self, _: str) -> None:
        self.stepwise = not self.stepwise
        typer.echo("step by step" if self.stepwise else "all at once")

    def near(self, text: str) -> None:
        for each in self.asker.nearest(text, self.k):
            typer.echo(f"{each.word:<24} {each.score:.4f}")

    def similar(self, text: str) -> None:
        one, mark, other = text.partition(";")
        if not mark:
            raise VecdcsError("expected two phrases with ; between them")
        typer.echo(f"{self.asker.similarity(one.strip(), other.strip()):.4f}")

    def count(self, text: str) -> None:
        if not text.isdecimal() or not 0 < int(text) <= 1000:
            raise VecdcsError("expected a number from 1 to 1000")
        self.k = int(text)


def completer(asker: Asker) -> Callable[[str, int], str | None]:
    """What readline asks: the n-th word or field that begins with a text; fields get their colon."""
    names = sorted([*asker.vocabulary.words, *(f"{field}:" for field in asker.vocabulary.fields)])

    def complete(text: str, state: int) -> str | None:
        at = bisect_left(names, text) + state
        return names[at] if state < COMPLETIONS and at < len(names) and names[at].startswith(text) else None

    return complete


def history_file() -> Path:
    """Where the history is kept."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "vecdcs" / "history"


def _prepare(asker: Asker) -> None:
    try:
        import readline
    except ImportError:  # not on every platform; the prompt works without
        return
    readline.set_completer(completer(asker))
    readline.set_completer_delims(" &|~(){},.")
    readline.parse_and_bind("tab: complete")
    if history_file().is_file():
        readline.read_history_file(history_file())


def _remember() -> None:
    try:
        import readline

        history_file().parent.mkdir(parents=True, exist_ok=True)
        readline.set_history_length(1000)
        readline.write_history_file(history_file())
    except (ImportError, OSError):  # a history is a comfort, not a duty
        return
