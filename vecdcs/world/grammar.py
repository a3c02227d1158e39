"""A little English grammar: phrases that grow by attaching phrases, and their UD v2 trees, annotated as EWT is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from vecdcs.text.conllu import NO_SPACE, Sentence, Token
from vecdcs.world.data import IRREGULAR_PLURALS, VERBS

FINITE = "Mood=Ind|Number={}|Person=3|Tense={}|VerbForm=Fin"
PARTICIPLE = "Tense=Past|VerbForm=Part"
NO_SPACE_BEFORE = (".", ",", "'s")
AUXILIARIES = {
    ("be", "present"): ("is", "are"),
    ("be", "past"): ("was", "were"),
    ("have", "present"): ("has", "have"),
}


class Word(NamedTuple):
    """A word with its tags: columns 2 to 6 of CoNLL-U."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"


@dataclass(frozen=True)
class Phrase:
    """A head word with its dependents on both sides."""

    head: Word
    before: tuple[tuple[str, Phrase], ...] = ()
    after: tuple[tuple[str, Phrase], ...] = ()

    def pre(self, relation: str, dependent: Phrase) -> Phrase:
        """The phrase with a dependent before all it has."""
        return replace(self, before=((relation, dependent), *self.before))

    def post(self, relation: str, dependent: Phrase) -> Phrase:
        """The phrase with a dependent after all it has."""
        return replace(self, after=(*self.after, (relation, dependent)))

    @property
    def plural(self) -> bool:
        """Does it agree with a plural verb?"""
        return "Number=Plur" in self.head.feats or any(relation == "conj" for relation, _ in self.after)


def _leaf(form: str, lemma: str, upos: str, xpos: str, feats: str = "_") -> Phrase:
    return Phrase(Word(form, lemma, upos, xpos, feats))


COMMA = _leaf(",", ",", "PUNCT", ",")
STOP = _leaf(".", ".", "PUNCT", ".")
AND = _leaf("and", "and", "CCONJ", "CC")
THE = _leaf("the", "the", "DET", "DT", "Definite=Def|PronType=Art")
POSSESSIVE = _leaf("'s", "'s", "PART", "POS")
SUCH_AS = _leaf("such", "such", "ADJ", "JJ", "Degree=Pos|ExtPos=ADP").post("fixed", _leaf("as", "as", "ADP", "IN"))


def name(form: str) -> Phrase:
    """A proper name."""
    return _leaf(form, form, "PROPN", "NNP", "Number=Sing")


def noun(lemma: str, plural: bool = False) -> Phrase:
    """A common noun without determiner."""
    if plural:
        return _leaf(plural_of(lemma), lemma, "NOUN", "NNS", "Number=Plur")
    return _leaf(lemma, lemma, "NOUN", "NN", "Number=Sing")


def plural_of(lemma: str) -> str:
    """The plural form of a noun."""
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return IRREGULAR_PLURALS.get(lemma, lemma + "s")


def adjective(lemma: str) -> Phrase:
    """An adjective."""
    return _leaf(lemma, lemma, "ADJ", "JJ", "Degree=Pos")


def definite(phrase: Phrase) -> Phrase:
    """With *the*."""
    return phrase.pre("det", THE)


def indefinite(phrase: Phrase) -> Phrase:
    """With *a* or *an*, as the next word asks; a plural stays bare."""
    if phrase.plural:
        return phrase
    following = phrase.before[0][1].head.form if phrase.before else phrase.head.form
    article = "an" if following[0] in "aeiou" else "a"
    return phrase.pre("det", _leaf(article, "a", "DET", "DT", "Definite=Ind|PronType=Art"))


def with_case(preposition: str, phrase: Phrase) -> Phrase:
    """A noun phrase behind its preposition."""
    return phrase.pre("case", _leaf(preposition, preposition, "ADP", "IN"))


def possessor(phrase: Phrase) -> Phrase:
    """John's."""
    return phrase.post("case", POSSESSIVE)


WHOSE = _leaf("whose", "whose", "PRON", "WP$", "Poss=Yes|PronType=Rel")


def relative_pronoun(form: str) -> Phrase:
    """who, whom, which or that."""
    return _leaf(form, form, "PRON", "WP" if form.startswith("who") else "WDT", "PronType=Rel")


def coordinate(phrases: Sequence[Phrase]) -> Phrase:
    """A, B and C: all hang on the first."""
    first, *others = phrases
    for position, phrase in enumerate(others, 1):
        link = ("cc", AND) if position == len(others) else ("punct", COMMA)
        first = first.post("conj", phrase.pre(*link))
    return first


def between_commas(phrase: Phrase) -> Phrase:
    """Set off by commas; the second one vanishes at the end of the sentence."""
    return phrase.pre("punct", COMMA).post("punct", COMMA)


def verb(lemma: str, tense: str, plural: bool, passive: bool = False) -> Phrase:
    """A finite verb with its auxiliaries."""
    third, past, participle, _ = VERBS[lemma]
    perfect = tense == "perfect"
    if not (passive or perfect):
        return Phrase(_finite(lemma, past if tense == "past" else lemma if plural else third, tense, plural))
    voice = "|Voice=Pass" if passive else ""
    phrase = _leaf(participle, lemma, "VERB", "VBN", PARTICIPLE + voice)
    if passive:
        been = _leaf("been", "be", "AUX", "VBN", PARTICIPLE)
        phrase = phrase.pre("aux:pass", been if perfect else _auxiliary("be", tense, plural))
    return phrase.pre("aux", _auxiliary("have", "present", plural)) if perfect else phrase


def participle(lemma: str, passive: bool) -> Phrase:
    """*banned* (passive) or *banning*, as they follow a noun."""
    _, _, past, present = VERBS[lemma]
    if passive:
        return _leaf(past, lemma, "VERB", "VBN", PARTICIPLE + "|Voice=Pass")
    return _leaf(present, lemma, "VERB", "VBG", "VerbForm=Ger")


def copular(predicate: Phrase, plural: bool, tense: str = "present") -> Phrase:
    """*is a drug*, *are illegal*."""
    return predicate.pre("cop", _auxiliary("be", tense, plural))


def _finite(lemma: str, form: str, tense: str, plural: bool, upos: str = "VERB") -> Word:
    xpos = "VBD" if tense == "past" else "VBP" if plural else "VBZ"
    feats = FINITE.format("Plur" if plural else "Sing", "Past" if tense == "past" else "Pres")
    return Word(form, lemma, upos, xpos, feats)


def _auxiliary(lemma: str, tense: str, plural: bool) -> Phrase:
    return Phrase(_finite(lemma, AUXILIARIES[lemma, tense][plural], tense, plural, "AUX"))


class _Row(NamedTuple):
    """A word on its way into a sentence: its head is a row of the same list, None at the root."""

    word: Word
    relation: str
    head: int | None


def sentence(root: Phrase, comments: Iterable[str] = ()) -> Sentence:
    """The phrase as a sentence: capital letter, full stop, UD tree."""
    rows = _without_stray_commas(_rows(root.post("punct", STOP)))
    forms = [row.word.form for row in rows]
    forms[0] = forms[0][0].upper() + forms[0][1:]
    tight = [following in NO_SPACE_BEFORE for following in [*forms[1:], ""]]
    tokens = [
        Token(i + 1, forms[i], *row.word[1:], 0 if row.head is None else row.head + 1, row.relation,
              misc=NO_SPACE if tight[i] and forms[i + 1] != "'s" else "_")
        for i, row in enumerate(rows)
    ]  # fmt: skip
    text = "".join(form if close else form + " " for form, close in zip(forms, tight, strict=True)).rstrip()
    return Sentence(tokens, [*comments, f"# text = {text}"], _multiwords(tokens))


def _rows(root: Phrase) -> list[_Row]:
    rows: list[_Row] = []

    def lay(phrase: Phrase, relation: str) -> int:
        """Lay down the words in order; gives the row of the head."""
        left = [lay(part, name) for name, part in phrase.before]
        here = len(rows)
        rows.append(_Row(phrase.head, relation, None))
        right = [lay(part, name) for name, part in phrase.after]
        for dependent in (*left, *right):
            rows[dependent] = rows[dependent]._replace(head=here)
        return here

    lay(root, "root")
    return rows


def _without_stray_commas(rows: list[_Row]) -> list[_Row]:
    """A comma goes where another punctuation mark follows; it never has dependents."""
    forms = [*(row.word.form for row in rows), ""]
    stray = [form == "," and after in (",", ".") for form, after in pairwise(forms)]
    place = [position - sum(stray[:position]) for position in range(len(rows))]
    return [
        row if row.head is None else row._replace(head=place[row.head])
        for row, out in zip(rows, stray, strict=True)
        if not out
    ]


def _multiwords(tokens: Sequence[Token]) -> list[tuple[int, str]]:
    """*John's* is one written word of two syntactic ones."""
    extras = []
    for owner, mark in pairwise(tokens):
        if mark.form == "'s":
            columns = [f"{owner.id}-{mark.id}", owner.form + mark.form, *"_______", mark.misc]
            extras.append((owner.id - 1, "\t".join(columns)))
    return extras
