"""From what a user types to the tree that is asked: notation as it is, words through the parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH
from vecdcs.dcs.convert import Node, convert, sentence_trees
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.errors import InputError
from vecdcs.model.blank import Filled
from vecdcs.text.conllu import Sentence, Token

if TYPE_CHECKING:
    from vecdcs.text.parser import Parser

# A word with its part of speech, or a mark that joins words: what no plain text has.
NOTATION = re.compile(rf"[^\s/]/(?:[{''.join(PARTS_OF_SPEECH)}])(?=[\s&|~(){{}},:.\"]|$)|&|\{{|\}}|~")
BLANK_WORD = re.compile(r"(?<!\w)_(?!\w)")
PRONOUN = "he"
_LOCK = Lock()


@dataclass(frozen=True)
class Understood:
    """The tree that is asked, and the words of the text that are in none of its nodes but in another tree's."""

    text: str
    tree: Tree
    unused: tuple[str, ...] = ()


def is_notation(text: str) -> bool:
    """Whether a text is meant as notation: it has a word such as ban/V, or a mark such as &; so has a lone blank."""
    return bool(NOTATION.search(text)) or text.strip() == BLANK


def understand(texts: Sequence[str], parser: str = "english") -> list[Understood]:
    """The trees of questions, phrases, statements and notation."""
    plain = [text for text in texts if not is_notation(text)]
    parsed = iter(_relatives(plain, _parsed(plain, parser), parser))
    return [Understood(text, parse(text)) if is_notation(text) else _chosen(text, next(parsed)) for text in texts]


def _relatives(texts: Sequence[str], parsed: list[list[Sentence]], parser: str) -> list[list[Sentence]]:
    """The same, but where a blank or a name is the subject of a bare relative clause that ends in a preposition, as in
    "the report _ gives an account of", parsed with a pronoun in its place: after a noun it is taken for its name."""
    subjects = {at: subject for at, sentences in enumerate(parsed) if (subject := _subject(sentences))}
    again = _parsed([_with_pronoun(texts[at], subject.form) for at, subject in subjects.items()], parser)
    for (at, subject), sentences in zip(subjects.items(), again, strict=True):
        if len(sentences) == 1 and len(sentences[0].tokens) == len(parsed[at][0].tokens):
            parsed[at] = [_restored(sentences[0], subject)]
    return parsed


def _subject(sentences: Sequence[Sentence]) -> Token | None:
    """The blank or name between a noun and a verb, if the text ends in a preposition that introduces nothing."""
    tokens = [token for token in sentences[0].tokens if token.upos != "PUNCT"] if len(sentences) == 1 else []
    if not tokens or tokens[-1].upos != "ADP":
        return None
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        subject = token.form == BLANK or token.upos == "PROPN"
        if subject and before.upos == "NOUN" and after.upos in ("VERB", "AUX"):
            return token
    return None


def _with_pronoun(text: str, subject: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(subject)}(?!\w)", PRONOUN, text, count=1)


def _restored(sentence: Sentence, subject: Token) -> Sentence:
    """The sentence with its pronoun turned back into the word it stood for."""
    at = subject.id - 1
    found = sentence.tokens[at]
    tokens = [*sentence.tokens[:at], subject._replace(head=found.head, deprel=found.deprel), *sentence.tokens[at + 1 :]]
    return replace(sentence, tokens=tokens)


def _chosen(text: str, sentences: Sequence[Sentence]) -> Understood:
    """The first tree with a blank, else the largest; the words of the others are unused."""
    trees = [tree for sentence in sentences for tree in sentence_trees(sentence)]
    if not trees:
        raise InputError(f"there is no word to ask about in {text!r}")
    tree = next((tree for tree in trees if tree.blanks()), None) or max(trees, key=len)
    unused = tuple(node.word for other in trees if other is not tree for node in other.nodes())
    return Understood(text, tree, unused)


def fill(text: str, candidates: Sequence[str], parser: str = "english") -> list[Filled | None]:
    """The text with each candidate in its blank, parsed anew, since a blank's role may depend on what fills it.

    None for a candidate without a node.
    """
    if is_notation(text):
        return _fill_notation(text, candidates)
    blank = BLANK_WORD.search(text)
    if not blank:
        raise InputError(f"there is no blank to fill in {text!r}: write _ where the word is missing")
    texts = [text[: blank.start()] + candidate + text[blank.end() :] for candidate in candidates]
    found = _parsed(texts, parser)
    spans = [(blank.start(), blank.start() + len(candidate)) for candidate in candidates]
    return [_filled(*each) for each in zip(texts, spans, found, strict=True)]


def _fill_notation(text: str, candidates: Sequence[str]) -> list[Filled | None]:
    tree = parse(text)
    blanks = tree.blanks()
    if not blanks:
        raise InputError(f"there is no blank to fill in {text!r}: write _ where the word is missing")
    return [Filled(tree, candidate) for candidate in candidates]


def _filled(text: str, span: tuple[int, int], sentences: Iterable[Sentence]) -> Filled | None:
    """The first token of the candidate that has a node."""
    at = 0
    for sentence in sentences:
        inside: set[int] = set()
        for token in sentence.tokens:
            at = text.find(token.form, at)
            if span[0] <= at < span[1]:
                inside.add(token.id)
            at += len(token.form)
        for nodes in convert(sentence, blanks=True, single=True):
            position = next((n for n, node in enumerate(nodes) if node.token in inside), -1)
            if position >= 0:
                at_node = _preorder(nodes)[position]
                return Filled(Tree.from_nodes(nodes).blank(at_node), nodes[position].word, at_node)
    return None


def _preorder(nodes: Sequence[Node]) -> list[int]:
    """The position of every node in the tree that `from_nodes` makes."""
    sizes = [1] * len(nodes)
    for at in range(len(nodes) - 1, 0, -1):
        sizes[nodes[at].parent] += sizes[at]
    reached, position = [1] * len(nodes), [0] * len(nodes)
    for at, node in enumerate(nodes[1:], 1):
        position[at] = position[node.parent] + reached[node.parent]
        reached[node.parent] += sizes[at]
    return position


def _parsed(texts: Sequence[str], parser: str) -> list[list[Sentence]]:
    """The sentences of each text, in one run of the parser; parsers are shared, and none is asked twice at a time."""
    lines = [" ".join(text.split()) for text in texts]
    with _LOCK:
        together = list(_loaded(parser).parse(lines)) if len(lines) > 1 else []
        found = _dealt(lines, together)
        return found or [list(_loaded(parser).parse([line])) for line in lines]


def _dealt(lines: Sequence[str], sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """Sentences given to the lines they come from, by their letters; nothing if these do not fit."""
    found: list[list[Sentence]] = []
    rest = iter(sentences)
    for line in lines:
        left = _letters(line)
        found.append([])
        while left > 0 and (sentence := next(rest, None)) is not None:
            found[-1].append(sentence)
            left -= _letters(sentence.text)
        if left:
            return []
    return found if next(rest, None) is None else []


def _letters(text: str) -> int:
    return len("".join(text.split()))


@lru_cache(maxsize=4)
def _loaded(name: str) -> Parser:
    from vecdcs.text.parser import load_parser

    return load_parser(name)
