"""CoNLL-U, streamed: sentences in and out, every error with its file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from vecdcs.errors import InputError
from vecdcs.text.source import open_bytes

NO_SPACE = "SpaceAfter=No"


class Token(NamedTuple):
    """One syntactic word: the ten columns, ids and heads as numbers."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str
    deps: str = "_"
    misc: str = "_"


@dataclass(slots=True)
class Sentence:
    """A UD tree with its comments; multiword tokens and empty nodes are kept as raw rows.

    `extras` pairs each raw row with the number of words that stand before it.
    """

    tokens: list[Token]
    comments: list[str] = field(default_factory=list)
    extras: list[tuple[int, str]] = field(default_factory=list)

    def meta(self, key: str) -> str | None:
        """The value of the comment `# key = value`."""
        for comment in self.comments:
            name, equals, value = comment[1:].partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return None

    @property
    def text(self) -> str:
        """`# text`, or the words joined as SpaceAfter and multiword tokens say."""
        text = self.meta("text")
        return text if text is not None else "".join(_surface(self)).rstrip()


class ConlluReader(Iterable[Sentence]):
    """The sentences of a CoNLL-U file, one at a time.

    With `skip_bad`, sentences with errors are left out, counted in `skipped`, and the first
    few errors are kept in `errors`; without, the first error is raised.
    """

    def __init__(self, path: str | Path, skip_bad: bool = False, keep_errors: int = 20) -> None:
        self.path, self.skip_bad = path, skip_bad
        self.skipped = 0
        self.errors: list[InputError] = []
        self._keep_errors = keep_errors

    def __iter__(self) -> Iterator[Sentence]:
        name = str(self.path)
        with open_bytes(self.path) as stream:
            for first_line, rows in _blocks(stream):
                try:
                    sentence = _sentence(rows, first_line, name)
                except InputError as error:
                    self._skip(error)
                else:
                    if sentence.tokens:
                        yield sentence

    def _skip(self, error: InputError) -> None:
        if not self.skip_bad:
            raise error
        self.skipped += 1
        if len(self.errors) < self._keep_errors:
            self.errors.append(error)


def read_conllu(path: str | Path, skip_bad: bool = False) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file (plain, .gz, .xz, .zst, or `-`)."""
    return iter(ConlluReader(path, skip_bad))


def parse_conllu(text: str, name: str = "<string>") -> list[Sentence]:
    """The sentences of a CoNLL-U string."""
    lines = (line.encode("utf-8", "surrogatepass") for line in text.split("\n"))
    sentences = (_sentence(rows, first, name) for first, rows in _blocks(lines))
    return [sentence for sentence in sentences if sentence.tokens]


def write_conllu(sentences: Iterable[Sentence], stream: IO[str]) -> None:
    """Write sentences as CoNLL-U."""
    for sentence in sentences:
        stream.write(format_sentence(sentence))


def format_sentence(sentence: Sentence) -> str:
    """One sentence as CoNLL-U, with the blank line that ends it."""
    lines = list(sentence.comments)
    extras = iter([*sentence.extras, (-1, "")])
    position, row = next(extras)
    for before, token in enumerate(sentence.tokens):
        while position == before:
            lines.append(row)
            position, row = next(extras)
        lines.append("\t".join(map(str, token)))
    while position >= 0:
        lines.append(row)
        position, row = next(extras)
    return "\n".join(lines) + "\n\n"


def _blocks(lines: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Runs of non-empty lines, each with the number of its first line."""
    rows: list[bytes] = []
    number = 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip(b"\r\n")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line and not line.isspace():
            rows.append(line)
        elif rows:
            yield number - len(rows), rows
            rows = []
    if rows:
        yield number - len(rows) + 1, rows


def _sentence(rows: list[bytes], first_line: int, name: str) -> Sentence:
    tokens: list[Token] = []
    comments: list[str] = []
    extras: list[tuple[int, str]] = []
    lines: list[int] = []
    for line, raw in enumerate(rows, first_line):
        try:
            row = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 at byte {error.start} of the line", name, line) from error
        if row.startswith("#"):
            comments.append(row)
            continue
        columns = row.split("\t")
        if len(columns) != 10:
            raise InputError(f"expected 10 tab-separated columns, found {len(columns)}", name, line)
        if columns[0].isdecimal():
            tokens.append(_token(columns, len(tokens) + 1, name, line))
            lines.append(line)
        else:
            extras.append(_extra(columns[0], row, len(tokens), name, line))
    _check_tree(tokens, lines, name)
    return Sentence(tokens, comments, extras)


def _token(columns: list[str], expected: int, name: str, line: int) -> Token:
    identifier, form, lemma, upos, xpos, feats, head, deprel, deps, misc = columns
    if identifier != str(expected):
        raise InputError(f"expected word id {expected}, found {identifier!r}", name, line)
    if not (head.isascii() and head.isdigit() and len(head) < 10):
        raise InputError(f"expected a number as head (column 7), found {head!r}", name, line)
    if not form or not deprel:
        raise InputError("expected a form (column 2) and a relation (column 8), found an empty column", name, line)
    return Token(expected, form, lemma, upos, xpos, feats, int(head), deprel, deps, misc)


def _extra(identifier: str, row: str, before: int, name: str, line: int) -> tuple[int, str]:
    """A multiword range `3-4` or an empty node `3.1`."""
    for mark in "-.":
        first, found, second = identifier.partition(mark)
        if found and first.isdecimal() and second.isdecimal():
            return before, row
    raise InputError(f"expected an id such as 3, 3-4 or 3.1 in column 1, found {identifier!r}", name, line)


def _check_tree(tokens: list[Token], lines: list[int], name: str) -> None:
    """Heads must exist and lead to the root: no cycles."""
    count = len(tokens)
    done = bytearray(count + 1)
    done[0] = 2
    for token in tokens:
        if token.head > count:
            message = f"word {token.id}: expected a head from 0 to {count}, found {token.head}"
            raise InputError(message, name, lines[token.id - 1])
    for token in tokens:
        walk = []
        at = token.id
        while not done[at]:
            done[at] = 1
            walk.append(at)
            at = tokens[at - 1].head
        if done[at] == 1:
            raise InputError(f"word {at}: its heads form a cycle, expected a tree", name, lines[at - 1])
        for visited in walk:
            done[visited] = 2


def _surface(sentence: Sentence) -> Iterator[str]:
    """The pieces of the sentence's text, each with the space after it."""
    spans = {before: row.split("\t") for before, row in sentence.extras if "-" in row.split("\t", 1)[0]}
    covered = 0
    for before, token in enumerate(sentence.tokens):
        if before in spans and before >= covered:
            identifier, form, *_, misc = spans[before]
            covered = int(identifier.partition("-")[2])
        elif before < covered:
            continue
        else:
            form, misc = token.form, token.misc
        yield form if NO_SPACE in misc else form + " "
