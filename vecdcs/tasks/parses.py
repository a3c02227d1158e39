"""Parses of benchmark texts, kept in a cache: the same texts and the same parser are never parsed twice."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import vecdcs.text
from vecdcs.text.conllu import Sentence, parse_conllu, write_conllu
from vecdcs.text.parser import load_parser

AHEAD = 50  # texts among which the next sentence is looked for
NEW_TEXT = "# newpar id = "


class Span(NamedTuple):
    """A token of a text: its sentence, its number there, and where it stands, counted without spaces."""

    sentence: int
    token: int
    start: int
    end: int


def default_cache() -> Path:
    """Where parses are kept unless said otherwise: `vecdcs` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vecdcs"


def parsed(texts: Sequence[str], cache: Path, parser: str = "english") -> list[list[Sentence]]:
    """The sentences of each text."""
    key = hashlib.sha256(json.dumps([parser_digest(parser), *texts]).encode()).hexdigest()
    path = cache / "parses" / f"{key[:32]}.conllu"
    if not path.is_file():
        _put(path, grouped(texts, load_parser(parser).parse(texts)))
    return _read(path, len(texts))


@lru_cache(maxsize=4)
def parser_digest(name: str) -> str:
    """Changes whenever the parser does: its weights, its code, or the file that is named."""
    kind, _, argument = name.partition(":")
    state = hashlib.sha256(name.encode())
    code = Path(next(iter(vecdcs.text.__path__)))
    files = sorted(code.glob("*.py")) if kind == "english" else []
    folder = Path(argument) if argument else code / "english"
    files += sorted(folder.iterdir()) if folder.is_dir() else [folder] if folder.is_file() else []
    for path in files:
        state.update(path.read_bytes())
    return state.hexdigest()


def grouped(texts: Sequence[str], sentences: Iterable[Sentence]) -> list[list[Sentence]]:
    """The sentences by the text they are from; they come in order, and none goes beyond its text."""
    bare = [squeezed(text) for text in texts]
    groups: list[list[Sentence]] = [[] for _ in texts]
    at, offset = 0, 0
    for sentence in sentences:
        wanted = squeezed(sentence.text)
        for place in range(at, min(at + AHEAD, len(texts))):
            found = bare[place].find(wanted, offset if place == at else 0)
            if found >= 0:
                at, offset = place, found + len(wanted)
                break
        groups[at].append(sentence)
    return groups


def squeezed(text: str) -> str:
    """The text without its spaces: what a tokeniser leaves as it is."""
    return "".join(text.split())


def spans(text: str, sentences: Sequence[Sentence]) -> list[Span]:
    """Where each token of a text stands in it."""
    bare, at, found = squeezed(text), 0, list[Span]()
    for number, sentence in enumerate(sentences):
        for token in sentence.tokens:
            form = squeezed(token.form)
            start = bare.find(form, at, at + 3 * len(form) + 10)
            start = at if start < 0 else start
            at = min(start + len(form), len(bare))
            found.append(Span(number, token.id, start, at))
    return found


def within(text: str, sentences: Sequence[Sentence], start: int, end: int) -> list[Span]:
    """The tokens that have a letter between two places of the text (places counted with spaces)."""
    first, last = len(squeezed(text[:start])), len(squeezed(text[:end]))
    return [span for span in spans(text, sentences) if span.start < last and span.end > first]


def _put(path: Path, groups: list[list[Sentence]]) -> None:
    stream = io.StringIO()
    write_conllu(_marked(groups), stream)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    aside.write_text(stream.getvalue(), encoding="utf-8", newline="\n")
    aside.replace(path)


def _marked(groups: list[list[Sentence]]) -> Iterator[Sentence]:
    for number, group in enumerate(groups):
        for sentence in group:
            yield Sentence(sentence.tokens, [f"{NEW_TEXT}{number}", *sentence.comments], sentence.extras)


def _read(path: Path, count: int) -> list[list[Sentence]]:
    groups: list[list[Sentence]] = [[] for _ in range(count)]
    for sentence in parse_conllu(path.read_text(encoding="utf-8"), str(path)):
        groups[int(sentence.comments[0].removeprefix(NEW_TEXT))].append(sentence)
    return groups
