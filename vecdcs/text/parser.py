"""Parsers by name: the one in the box, or one the user has installed."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from vecdcs.errors import VecdcsError
from vecdcs.text.conllu import Sentence
from vecdcs.text.source import open_bytes

LONGEST_READ = 1 << 18


class Parser(Protocol):
    """Texts (paragraphs or lines) to UD sentences, streamed and in order."""

    def parse(self, texts: Iterable[str]) -> Iterator[Sentence]:
        """Every sentence has a `# text =` comment and SpaceAfter=No where no space follows a word."""
        ...


def read_texts(path: str | Path) -> Iterator[str]:
    """The lines of a text file (plain, .gz, .xz, .zst, or `-`); a very long line comes in pieces, cut at a space."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    kept = ""
    with open_bytes(path) as stream:
        while block := stream.readline(LONGEST_READ):
            ended = block.endswith(b"\n") or len(block) < LONGEST_READ
            text, kept = kept + decoder.decode(block, ended), ""
            if not ended and " " in text:
                text, _, kept = text.rpartition(" ")
            yield text
        yield kept + decoder.decode(b"", final=True)


def load_parser(name: str = "english") -> Parser:
    """`english` (shipped), `english:FOLDER` (other weights), `stanza:LANGUAGE`, `spacy:PIPELINE` or `udpipe:FILE`."""
    kind, _, argument = name.partition(":")
    match kind:
        case "english":
            from vecdcs.text.shipped import ENGLISH, ShippedParser

            return ShippedParser(Path(argument) if argument else ENGLISH)
        case "stanza" | "spacy" | "udpipe" if argument:
            from vecdcs.text import adapters

            return adapters.load(kind, argument)
        case _:
            raise VecdcsError(
                f"unknown parser {name!r}: expected english, stanza:LANGUAGE, spacy:PIPELINE or udpipe:MODEL-FILE"
            )
