r"""The written form of a tree: print it, and parse it back with errors that point at the column.

    tree   := part ("|" part)*                      a union; `a | b & c` is a | (b & c)
    part   := head ("&" child)*                     a node; `~x & ...` is short for `_ & ~x & ...`
    head   := word | "_" | "(" tree ")"
    child  := "~"? edge | (field ":")? "{" member ("," member)* "}"
    edge   := (field ":")? head ("." field)?        P before the colon, L after the dot, both ARG where left out
    member := edge | "^"                            a coordination group; "^" is the edge to the parent

Words and fields that are empty, start with ', or hold a space, an unprintable character or one of &|~(){},:."^\
stand in double quotes, where \" \\ \n \r \t and \u{hex} are escapes.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, cast
from unicodedata import combining, east_asian_width

from vecdcs.dcs.tree import ARG, BLANK, Child, Tree
from vecdcs.errors import VecdcsError

MARKS = "&|~(){},:.^"
ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
UNESCAPES = {char: "\\" + name for name, char in ESCAPES.items()}
WORD, END = "word", "end"

_SPACE = re.compile(r"\s*")
_BARE = re.compile(r"[^\s&|~(){},:.\"^\\]+")
_PIECE = re.compile(r'[^"\\]+|\\(?:u\{([0-9A-Fa-f]{1,6})\}|(["\\nrt]))')


class NotationError(VecdcsError):
    """A string that writes no tree; `column` (from 1) is where it went wrong."""

    def __init__(self, text: str, column: int, expected: str) -> None:
        self.text, self.column, self.expected = text, column, expected
        super().__init__(text, column, expected)

    def __str__(self) -> str:
        return f"column {self.column}: expected {self.expected}\n  {_excerpt(self.text, self.column)}"


class Token(NamedTuple):
    """A mark, a word, or the end, with its column."""

    kind: str
    text: str
    column: int


def parse(text: str) -> Tree:
    """The tree that `text` writes."""
    return _run(_Parser(text).everything())


def format(tree: Tree) -> str:
    """The tree as `parse` reads it."""
    pieces: list[str] = []
    waiting: list[Pieces] = [_union(tree, 0)]
    while waiting:
        piece = next(waiting[-1], None)
        if piece is None:
            waiting.pop()
        elif isinstance(piece, str):
            pieces.append(piece)
        else:
            waiting.append(piece)
    return "".join(pieces)


def quote(word: str) -> str:
    """A word or field as it is written: in quotes only where needed."""
    if _BARE.fullmatch(word) and word.isprintable() and not word.startswith("'"):
        return word
    return quoted(word)


def quoted(word: str) -> str:
    """A word in quotes, with escapes for what would end them or not be seen."""
    return '"' + "".join(map(_escape, word)) + '"'


def visible(text: str) -> str:
    """A word or field as a picture shows it: without quotes, but with nothing unprintable."""
    return "".join(char if char.isprintable() else _escape(char) for char in text) or '""'


def _escape(char: str) -> str:
    if char in UNESCAPES:
        return UNESCAPES[char]
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"


# What is printed: strings, and iterators of more of it, so that printing nests as deep as the tree without recursion.
Pieces = Iterator["str | Pieces"]


def _union(tree: Tree, own_group: int) -> Pieces:
    if not tree.alternatives or tree.children:
        yield _part(tree, own_group)
        return
    for index, part in enumerate(tree.alternatives):
        if index:
            yield " | "
        yield _operand(part, 0) if part.alternatives and not part.children else _part(part, 0)


def _part(tree: Tree, own_group: int) -> Pieces:
    groups: dict[int, list[Child]] = {}
    for child in tree.children:
        groups.setdefault(child.group, []).append(child)
    yield _operand(replace(tree, children=()), 0)
    for child in tree.children:
        members = groups.pop(child.group, []) if child.group else [child]
        if members:
            upward = 0 < child.group == own_group
            yield " & "
            yield _group(members, upward) if len(members) > 1 or upward else _edge(child)


def _operand(tree: Tree, own_group: int) -> Pieces:
    """A tree where a word may stand: the word, or brackets."""
    if not (tree.alternatives or tree.children):
        yield quote(tree.word)
        return
    yield "("
    yield _union(tree, own_group)
    yield ")"


def _edge(child: Child, with_parent_label: bool = True) -> Pieces:
    if child.negated:
        yield "~"
    if with_parent_label and child.parent_label != ARG:
        yield quote(child.parent_label) + ":"
    yield _operand(child.tree, child.own_group)
    if child.label != ARG:
        yield "." + quote(child.label)


def _group(members: list[Child], upward: bool) -> Pieces:
    shared = len({child.parent_label for child in members}) == 1
    if shared and members[0].parent_label != ARG:
        yield quote(members[0].parent_label) + ":"
    yield "{^, " if upward else "{"
    for index, child in enumerate(members):
        if index:
            yield ", "
        yield _edge(child, with_parent_label=not shared)
    yield "}"


def _tokens(text: str) -> Iterator[Token]:
    at = _skip(text, 0)
    while at < len(text):
        start = at
        if text[at] == '"':
            word, at = _quoted(text, at)
            yield Token(WORD, word, start + 1)
        elif text[at] in MARKS:
            at += 1
            yield Token(text[start], text[start], start + 1)
        else:
            bare = _BARE.match(text, at)
            if not bare:
                raise NotationError(text, at + 1, "a word; a backslash stands only between double quotes")
            at = bare.end()
            yield Token(WORD, bare.group(), start + 1)
        at = _skip(text, at)
    yield Token(END, "", len(text) + 1)


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _quoted(text: str, start: int) -> tuple[str, int]:
    """The word in the quotes that open at `start`, and where it ends."""
    pieces: list[str] = []
    at = start + 1
    while at < len(text) and text[at] != '"':
        piece = _PIECE.match(text, at)
        code = int(piece[1], 16) if piece and piece[1] else 0
        if not piece or code > 0x10FFFF:
            raise NotationError(text, at + 1, r"an escape: \" \\ \n \r \t or \u{hex}")
        pieces.append(ESCAPES[piece[2]] if piece[2] else chr(code) if piece[1] else piece[0])
        at = piece.end()
    if at == len(text):
        raise NotationError(text, at + 1, f"a closing quote for the one in column {start + 1}")
    return "".join(pieces), at + 1


class _Read(NamedTuple):
    """A tree as read, with the group that its upward edge is in, and where the `^` of that group stands."""

    tree: Tree
    own_group: int = 0
    caret: Token | None = None


Parse = Generator[Any, _Read, _Read]  # yields the parse of what stands in brackets, and is sent what was read there


def _run(parse: Generator[Any, _Read, _Read]) -> Tree:
    """Run a parse and the parses it yields on a stack of our own, so that brackets nest as deep as they like."""
    stack = [parse]
    read: Any = None
    while stack:
        try:
            stack.append(stack[-1].send(read))
            read = None
        except StopIteration as stop:
            stack.pop()
            read = stop.value
    return cast(_Read, read).tree


class _Parser:
    """Recursive descent, but for brackets, which are yielded to `_run`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = 0

    @property
    def kind(self) -> str:
        """What kind of token comes next."""
        return self.tokens[self.at].kind

    def take(self, kind: str) -> Token | None:
        """The next token if it is of this kind."""
        token = self.tokens[self.at]
        self.at += token.kind == kind
        return token if token.kind == kind else None

    def need(self, kind: str, expected: str) -> Token:
        return self.take(kind) or self.fail(expected)

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        raise NotationError(self.text, (token or self.tokens[self.at]).column, expected)

    def forbid(self, caret: Token | None, where: str) -> None:
        if caret:
            self.fail(f"no '^' {where}: it stands for the edge to the parent", caret)

    def everything(self) -> Parse:
        read = yield from self.union()
        self.forbid(read.caret, "at the root")
        self.end(END, "the end")
        return read

    def end(self, kind: str, name: str) -> None:
        if self.kind == ".":
            self.fail(f"'&', '|' or {name}; a label after '.' belongs to the edge of a child, and here is none")
        self.need(kind, f"'&', '|' or {name}")

    def union(self) -> Parse:
        parts = [(yield from self.part())]
        while self.take("|"):
            parts.append((yield from self.part()))
        if len(parts) == 1:
            return parts[0]
        for part in parts:
            self.forbid(part.caret, "at an alternative")
        return _Read(Tree("", (), tuple(part.tree for part in parts)))

    def part(self) -> Parse:
        implied = self.kind == "~"
        tree, own_group, caret = _Read(Tree(BLANK)) if implied else (yield from self.head())
        children = list(tree.children)
        number = max((child.group for child in children), default=0)
        while implied or self.take("&"):
            implied = False
            number += 1
            members, found = yield from self.child(number)
            if found and caret:
                self.fail("one '^' in a node: an edge is in one group", found)
            if found:
                own_group, caret = members[0].group if members else 0, found
            children += members
        return _Read(replace(tree, children=tuple(children)), own_group, caret)

    def child(self, number: int) -> Generator[Any, _Read, tuple[list[Child], Token | None]]:
        """A child or a coordination group with the given number, and the `^` in it."""
        negated = self.take("~") is not None
        parent_label = self.field()
        if self.kind != "{":
            return [(yield from self.edge(ARG if parent_label is None else parent_label, 0, negated))], None
        if negated:
            self.fail("one child after '~'; none of a group is ~a & ~b")
        return (yield from self.group(parent_label, number))

    def field(self) -> str | None:
        """The field before a colon, if there is one."""
        if self.kind != WORD or self.tokens[self.at + 1].kind != ":":
            return None
        self.at += 2
        return self.tokens[self.at - 2].text

    def edge(self, parent_label: str, group: int, negated: bool = False) -> Generator[Any, _Read, Child]:
        read = yield from self.head()
        label = self.need(WORD, "a field after '.'").text if self.take(".") else ARG
        if negated:
            self.forbid(read.caret, "under '~'")
        return Child(read.tree, parent_label, label, group, read.own_group, negated)

    def group(self, shared: str | None, number: int) -> Generator[Any, _Read, tuple[list[Child], Token | None]]:
        members: list[Child] = []
        caret = None
        self.need("{", "'{'")
        while True:
            found = self.take("^")
            if found and caret:
                self.fail("one '^' in a group", found)
            caret = caret or found
            if not found:
                members.append((yield from self.edge(self.member_label(shared), number)))
            if not self.take(","):
                break
        self.need("}", "',' or '}'")
        return members, caret

    def member_label(self, shared: str | None) -> str:
        before = self.tokens[self.at]
        if before.kind == "~":
            self.fail("a word, '_', '(' or '^'; a member of a group cannot be negated")
        own = self.field()
        if own is not None and shared is not None:
            self.fail(f"no field here, since {shared!r} before the bracket is that of all members", before)
        return next(label for label in (own, shared, ARG) if label is not None)

    def head(self) -> Parse:
        """A word, or a tree in brackets."""
        word = self.take(WORD)
        if word:
            return _Read(Tree(word.text))
        self.need("(", "a word, '_' or '('")
        read = yield self.union()
        self.end(")", "')'")
        return read


def _excerpt(text: str, column: int, around: int = 40) -> str:
    """The text near a column, unprintable characters as dots, with a caret below the column."""
    first = max(0, column - 1 - around)
    before, after = text[first : column - 1], text[column - 1 : column - 1 + around]
    lead, tail = "…" if first else "", "…" if column - 1 + around < len(text) else ""
    shown = "".join(char if char.isprintable() else "·" for char in before)
    rest = "".join(char if char.isprintable() else "·" for char in after)
    return f"{lead}{shown}{rest}{tail}\n  {' ' * (len(lead) + text_width(shown))}^"


def text_width(text: str) -> int:
    """The columns of a terminal that a text takes."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
