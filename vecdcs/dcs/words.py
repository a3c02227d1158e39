"""A UD sentence as the rules see it: each word with its word form, its labels and the flags its dependents give it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from vecdcs.dcs.questions import question_words
from vecdcs.dcs.relations import relation
from vecdcs.dcs.tags import part_of_speech, penn_tag
from vecdcs.dcs.tree import BLANK
from vecdcs.text.conllu import Sentence, Token

if TYPE_CHECKING:
    from vecdcs.dcs.rules import Rule

NUMERAL = "*NUMERAL*"

SUBJECTS = frozenset("nsubj nsubj:pass csubj csubj:pass".split())
NOMINAL = frozenset("nsubj nsubj:pass obj".split())
OBLIQUE = frozenset("nmod obl obl:npmod obl:tmod".split())
MERGED = frozenset("compound:prt fixed".split())
PRONOUNS = {
    "me": "I", "my": "I", "mine": "I", "your": "you", "yours": "you", "him": "he", "his": "he", "her": "she",
    "hers": "she", "its": "it", "us": "we", "our": "we", "ours": "we", "them": "they", "their": "they",
    "theirs": "they",
}  # fmt: skip
TIME_WORDS = frozenset(
    "today tonight yesterday tomorrow now day night morning afternoon evening noon midnight week weekend month "
    "quarter year decade century hour minute second moment time season spring summer autumn fall winter monday "
    "tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march "
    "april may june july august september october november december jan feb mar apr jun jul aug sep sept oct "
    "nov dec".split()
)


class Word:
    """A token with what conversion needs to know of it."""

    __slots__ = (
        "aux", "case", "comp", "cop", "edge", "form", "group", "having", "head", "id", "lemma", "mark", "name",
        "open", "parent", "passive", "pos", "rel", "rule", "stranded", "subj", "tag", "wh", "whose",
    )  # fmt: skip

    def __init__(self, token: Token, rel: str, blank: bool) -> None:
        self.id, self.form, self.rel = token.id, token.form, rel
        self.tag = tag = "NN" if blank else penn_tag(token.upos, token.xpos, token.feats, token.lemma)
        # A name keeps its shape: the "United" of a kingdom is not the verb *unite*.
        as_written = token.lemma == "_" or (token.upos == "VERB" and tag == "NNP")
        self.lemma = token.form if as_written else token.lemma
        self.pos = part_of_speech(tag, token.lemma, rel in NOMINAL)
        self.name = ""  # the word without its part of speech
        self.head: Word | None = None
        self.subj = self.comp = self.passive = self.cop = self.having = self.whose = self.aux = self.open = False
        self.wh: Word | None = None
        self.case = self.mark = self.stranded = ""
        self.edge: tuple[str, str] | None = None  # labels at the child's and at the parent's end
        self.parent: Word | None = None
        self.group = 0
        self.rule: Rule | None = None  # the row that decided


def read_words(sentence: Sentence, blanks: bool = False) -> list[Word]:
    """The words of a sentence, linked, flagged and named."""
    asked = question_words(sentence.tokens) if blanks else frozenset()
    words = [
        Word(token, relation(token.deprel), token.id in asked or (blanks and token.form == BLANK))
        for token in sentence.tokens
    ]
    for word, token in zip(words, sentence.tokens, strict=True):
        if token.head:
            word.head = words[token.head - 1]
    for word in words:
        _name(word, blanks and (word.form == BLANK or word.id in asked))
    for word in words:
        if word.head:
            _flag(word, word.head)
    for word in words:
        _offer_case(word)
        _take_control(word)
    for word in words:
        if word.rel == "acl" and word.head is not None and word.head.tag.startswith("W"):
            _free_relative(word, word.head)
    return words


def _name(word: Word, blank: bool) -> None:
    """The word form; particles and the tails of fixed expressions join their head, to their left."""
    if blank:
        word.name = BLANK
        return
    lemma = word.lemma
    if (word.tag == "CD" or word.rel in ("nummod", "compound")) and is_numeral(lemma):
        word.name = NUMERAL
    elif word.pos == "P":
        word.name = PRONOUNS.get(lemma.lower(), "I" if lemma == "i" else lower(lemma))
    else:
        word.name = lower(lemma)
    if word.rel in MERGED and word.head is not None:
        word.head.name = f"{word.head.name} {word.name.lower()}"
        word.pos = ""


_NUMERAL = re.compile(r"[-+0-9,.]+\Z")


@lru_cache(maxsize=65536)
def is_numeral(lemma: str) -> bool:
    """Only digits and the signs that numbers are written with."""
    return _NUMERAL.match(lemma) is not None


@lru_cache(maxsize=262144)
def lower(lemma: str) -> str:
    """Lower case, except where the lemma is all upper case (USA, I)."""
    return lemma if lemma == lemma.upper() else lemma.lower()


def _flag(word: Word, head: Word) -> None:
    """What a dependent tells about its head."""
    rel, tag = word.rel, word.tag
    if rel in SUBJECTS:
        head.subj = True
    elif rel == "obj" or rel == "ccomp":
        head.comp = True
    elif rel == "xcomp":
        head.open = True
    elif rel == "aux:pass":
        head.passive = head.aux = True
    elif rel == "cop":
        head.cop = True
    elif rel == "case":
        head.case = word.name
    elif rel == "mark":
        head.mark = word.name
    elif rel == "aux":
        head.aux = True
        if word.lemma == "have" and tag == "VBG" and head.tag == "VBN":
            head.having = True
    if tag == "WP$":
        head.whose = True
        if head.head:
            _offer_wh(head, head.head)
    elif tag.startswith("W") or (tag == "IN" and rel in NOMINAL and head.rel == "acl" and word.lemma == "that"):
        _offer_wh(word, head)  # taggers confuse a relative *that* with the conjunction


def _offer_wh(word: Word, head: Word) -> None:
    """The first wh-word counts; a later one replaces *that*."""
    if head.wh is None or (head.wh.lemma == "that" and word.lemma != "that"):
        head.wh = word


def _offer_case(word: Word) -> None:
    """Prepositions that are not `case`: stranded ones, and coordinated ones ("in and around the house")."""
    head = word.head
    if head is None:
        return
    if word.pos:
        if word.rel == "conj" and head.tag == "IN" and head.rel in OBLIQUE and not head.case:
            head.case, head.name, head.pos = lower(head.lemma), word.name, word.pos
    elif word.rel in OBLIQUE and not word.case and word.tag in ("IN", "TO", "RP"):
        head.stranded = word.name


def _take_control(word: Word) -> None:
    """The iobj of "she asked John to leave" is what v1 called the object: it controls the open clause."""
    head = word.head
    if word.rel == "iobj" and head is not None and head.open and not head.comp:
        word.rel, head.comp = "obj", True


CLAUSE_FOR = {"nsubj": "csubj", "nsubj:pass": "csubj:pass", "nsubj:outer": "csubj", "obj": "ccomp", "advmod": "advcl"}


def _free_relative(clause: Word, wh: Word) -> None:
    """In "he sells what he makes" v2 hangs the clause below *what*; here, as in v1, it takes the place of *what*."""
    clause.head, clause.rel = wh.head, CLAUSE_FOR.get(wh.rel, wh.rel)
    clause.case, clause.wh = wh.case, wh
    if wh.rel != "advmod":
        wh.rel = "nsubj" if not clause.subj else "dep" if clause.comp else "obj"
    wh.pos = ""
