"""Parsers of others, where the user has them: stanza, spaCy pipelines with UD labels, UDPipe models."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from vecdcs.errors import VecdcsError
from vecdcs.text.conllu import NO_SPACE, Sentence, Token, parse_conllu

ParseText = Callable[[str], Iterator[Sentence]]


class Adapter:
    """A parser made of a function from one text to its sentences."""

    def __init__(self, parse_text: ParseText) -> None:
        self._parse_text = parse_text

    def parse(self, texts: Iterable[str]) -> Iterator[Sentence]:
        """The sentences of the texts, in order."""
        for text in texts:
            if text.strip():
                yield from self._parse_text(text.strip())


def load(kind: str, argument: str) -> Adapter:
    """A parser by the name of its library and of its model."""
    package = {"stanza": "stanza", "spacy": "spacy", "udpipe": "ufal.udpipe"}[kind]
    try:
        library = importlib.import_module(package)
    except ImportError as error:
        raise VecdcsError(f"the parser {kind}:{argument} needs the package {package}: pip install {package}") from error
    return Adapter({"stanza": _stanza, "spacy": _spacy, "udpipe": _udpipe}[kind](library, argument))


def _stanza(library: Any, language: str) -> ParseText:
    try:
        pipeline = library.Pipeline(language, processors="tokenize,mwt,pos,lemma,depparse", verbose=False)
    except Exception as error:
        raise VecdcsError(f"stanza has no model for {language!r} here: {error}") from error

    def parse_text(text: str) -> Iterator[Sentence]:
        for sentence in pipeline(text).sentences:
            rows = [row for token in sentence.tokens for row in _stanza_rows(token)]
            yield Sentence(_spaced(rows), [f"# text = {_line(sentence.text)}"])

    return parse_text


def _stanza_rows(token: Any) -> Iterator[tuple[Token, int, int]]:
    """The words of a token, each with the characters it covers; words of one token share its end."""
    for at, word in enumerate(token.words):
        row = Token(
            word.id, word.text, word.lemma or word.text, word.upos or "X", word.xpos or "_", word.feats or "_",
            word.head, word.deprel,
        )  # fmt: skip
        yield row, token.start_char if not at else token.end_char, token.end_char


def _spacy(library: Any, name: str) -> ParseText:
    try:
        pipeline = library.load(name)
    except OSError as error:
        raise VecdcsError(f"spaCy cannot load {name!r}: {error}") from error

    def parse_text(text: str) -> Iterator[Sentence]:
        for span in pipeline(text).sents:
            yield _from_spacy([token for token in span if not token.is_space])

    return parse_text


def _from_spacy(words: list[Any]) -> Sentence:
    place = {word.i: at for at, word in enumerate(words, 1)}
    rows = []
    for at, word in enumerate(words, 1):
        root = word.head.i == word.i or word.head.i not in place
        row = Token(
            at, word.text, word.lemma_ or word.text, word.pos_ or "X", word.tag_ or "_", str(word.morph) or "_",
            0 if root else place[word.head.i], "root" if root else word.dep_,
        )  # fmt: skip
        rows.append((row, word.idx, word.idx + len(word.text)))
    return Sentence(_spaced(rows), [f"# text = {_line(''.join(word.text_with_ws for word in words))}"])


def _udpipe(library: Any, file: str) -> ParseText:
    model = library.Model.load(file)
    if model is None:
        raise VecdcsError(f"{file}: expected a UDPipe model")
    pipeline = library.Pipeline(model, "tokenize", library.Pipeline.DEFAULT, library.Pipeline.DEFAULT, "conllu")

    def parse_text(text: str) -> Iterator[Sentence]:
        error = library.ProcessingError()
        output = pipeline.process(text, error)
        if error.occurred():
            raise VecdcsError(f"UDPipe failed: {error.message}")
        yield from parse_conllu(output, file)

    return parse_text


def _spaced(rows: list[tuple[Token, int, int]]) -> list[Token]:
    """Tokens with SpaceAfter=No where the next one starts at the same character."""
    ends = [start for _, start, _ in rows[1:]] + [-1]
    return [
        row._replace(misc=NO_SPACE if end == after else "_") for (row, _, end), after in zip(rows, ends, strict=True)
    ]


def _line(text: str) -> str:
    return " ".join(text.split())
