"""Noun phrases, questions and sentences with blanks, cut out of treebank trees: what users type and treebanks lack."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from runs.parser.data import Record, Word
from vecdcs.text.features import BLANK

PHRASES, QUESTIONS, BLANKS = 0.16, 0.14, 0.14
"""How many of each are added, as a share of the sentences."""
LOWERED, UNPUNCTUATED = 0.05, 0.08
"""Shares of the sentences that lose their capitals, or their last full stop."""

NOMINAL = {"NOUN", "PROPN"}
MODIFIERS = {"amod", "acl", "acl:relcl", "nmod", "nmod:poss", "nummod", "compound"}
OUTSIDE = {"case", "cc", "mark", "punct", "cc:preconj", "discourse", "vocative"}
INSIDE = MODIFIERS | {"det", "flat", "appos", "nmod:desc", "nmod:unmarked", "det:predet", "fixed", "goeswith"}
SLOTS = {"nsubj", "nsubj:pass", "obj", "obl", "obl:agent", "nmod", "iobj", "root", "conj", "nmod:poss", "xcomp"}
CLAUSE = {
    "nsubj", "nsubj:pass", "aux", "aux:pass", "cop", "obj", "iobj", "obl", "obl:agent", "obl:unmarked", "xcomp",
    "advmod", "compound:prt", "det", "amod", "nmod", "nmod:poss", "compound", "flat", "case", "nummod",
}  # fmt: skip
DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
PLACES, TIMES = {"in", "at", "on", "near", "to"}, {"in", "on", "at", "during", "after", "before", "since"}
MONTHS_AND_DAYS = set(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday day week month year century morning evening night".split()
)


class Draft:
    """A tree being edited: words by id (heads are ids), and their order."""

    def __init__(self, record: Record) -> None:
        self.words = dict(enumerate(record, 1))
        self.order = list(self.words)
        self.children: dict[int, list[int]] = {}
        for at, word in self.words.items():
            self.children.setdefault(word.head, []).append(at)

    @property
    def root(self) -> int:
        return self.children[0][0]

    def kids(self, at: int, relations: Iterable[str]) -> list[int]:
        return [kid for kid in self.children.get(at, []) if self.words[kid].deprel in relations]

    def subtree(self, at: int, without: Iterable[int] = ()) -> list[int]:
        """Ids below and with `at`, in text order."""
        found, todo = [], [at]
        while todo:
            one = todo.pop()
            found.append(one)
            todo += [kid for kid in self.children.get(one, []) if kid not in without]
        return sorted(found)

    def add(self, word: Word) -> int:
        at = len(self.words) + 1
        self.words[at] = word
        self.children.setdefault(word.head, []).append(at)
        return at

    def change(self, at: int, **changes: object) -> None:
        self.words[at] = replace(self.words[at], **changes)  # type: ignore[arg-type]

    def finish(self, order: list[int]) -> Record | None:
        """The words in this order as a tree; nothing where a head is lost."""
        place = {at: number for number, at in enumerate(order, 1)} | {0: 0}
        chosen = [self.words[at] for at in order]
        if any(word.head not in place for word in chosen) or sum(word.head == 0 for word in chosen) != 1:
            return None
        words = [replace(word, head=place[word.head]) for word in chosen]
        words[0] = replace(words[0], glued=False)
        for number, (before, at) in enumerate(pairwise(order), 1):
            moved = at != before + 1 and words[number].upos != "PUNCT" and not is_clitic(words[number])
            words[number] = replace(words[number], glued=words[number].glued and not moved)
        return tuple(words)


def is_clitic(word: Word) -> bool:
    return word.form[:1] in "'’" or word.form.lower() in ("n't", "n’t")


def contiguous(ids: list[int]) -> bool:
    return ids[-1] - ids[0] + 1 == len(ids)


def lowered_start(word: Word) -> Word:
    keep = word.upos == "PROPN" or word.form == "I" or word.form.isupper()
    return word if keep else replace(word, form=word.form[:1].lower() + word.form[1:])


def capitalised(word: Word) -> Word:
    return replace(word, form=word.form[:1].upper() + word.form[1:])


def noun_phrase(record: Record, rng: random.Random) -> Record | None:
    """A noun with its modifiers as a text of its own."""
    draft = Draft(record)
    nouns = [at for at, w in draft.words.items() if w.upos in NOMINAL and draft.kids(at, MODIFIERS)]
    rng.shuffle(nouns)
    for noun in nouns:
        kids = draft.children[noun]
        if any(draft.words[k].deprel not in INSIDE | OUTSIDE for k in kids):
            continue
        without = draft.kids(noun, OUTSIDE) + (draft.kids(noun, ["det"]) if rng.random() < 0.5 else [])
        ids = draft.subtree(noun, without)
        if not contiguous(ids) or not 2 <= len(ids) <= 12 or draft.words[ids[0]].upos == "PUNCT":
            continue
        draft.change(noun, head=0, deprel="root")
        found = draft.finish(ids)
        if found and rng.random() < 0.85:
            found = (lowered_start(found[0]), *found[1:])
        return found
    return None


def clause(record: Record, rng: random.Random) -> Record | None:
    """The main clause without what is joined to it."""
    draft = Draft(record)
    root = draft.root
    if not draft.kids(root, ["nsubj", "nsubj:pass"]) or draft.kids(root, ["expl"]):
        return None
    kids = [kid for kid in draft.children[root] if draft.words[kid].deprel in CLAUSE]
    late = [kid for kid in kids if draft.words[kid].deprel in ("advmod", "obl", "obl:unmarked") and rng.random() < 0.5]
    kids = [kid for kid in kids if kid not in late]
    ids = sorted([root, *(one for kid in kids for one in draft.subtree(kid))])
    if len(ids) > 14 or draft.words[ids[0]].upos in ("PUNCT", "CCONJ"):
        return None
    found = draft.finish(ids)
    if not found or any(w.form == "?" or w.xpos in ("WP", "WDT", "WRB") for w in found):
        return None
    at = next(number for number, word in enumerate(found, 1) if word.head == 0)
    stop = Word(".", ".", "PUNCT", ".", at, "punct", True)
    return (capitalised(found[0]), *found[1:], stop)


def blanked(record: Record, rng: random.Random) -> Record | None:
    """A noun phrase becomes `_`, or `_` is named after a noun: the drug _."""
    return (named if rng.random() < 0.25 else replaced)(record, rng)


def replaced(record: Record, rng: random.Random) -> Record | None:
    draft = Draft(record)
    nouns = [
        at
        for at, w in draft.words.items()
        if (w.upos in NOMINAL or (w.upos == "PRON" and w.xpos == "PRP")) and w.deprel in SLOTS
    ]  # fmt: skip
    if not nouns:
        return None
    noun = rng.choice(nouns)
    gone = {one for kid in draft.kids(noun, INSIDE) for one in draft.subtree(kid)}
    draft.change(noun, form=BLANK, lemma=BLANK, upos="PROPN", xpos="NNP")
    left = [at for at in draft.order if at not in gone]
    return draft.finish(left) if len(left) > 2 else None


def named(record: Record, rng: random.Random) -> Record | None:
    draft = Draft(record)
    nouns = [
        at
        for at, w in draft.words.items()
        if w.xpos == "NN"
        and w.deprel in SLOTS
        and any(draft.words[kid].lemma == "the" for kid in draft.children.get(at, []))
        and draft.subtree(at)[-1] == at
    ]
    if not nouns:
        return None
    noun = rng.choice(nouns)
    new = draft.add(Word(BLANK, BLANK, "PROPN", "NNP", noun, "appos", False))
    at = draft.order.index(noun)
    return draft.finish([*draft.order[: at + 1], new, *draft.order[at + 1 :]])


def question(record: Record, rng: random.Random) -> Record | None:
    """A question about the subject, the object, a prepositional phrase, the place or time of a plain clause."""
    found = clause(record, rng)
    if not found or any(word.lemma in ("not", "n't") for word in found):
        return None
    draft = Draft(found)
    ways = [copular_question] if draft.kids(draft.root, ["cop"]) else VERBAL
    made = rng.choice(ways)(draft, rng)
    if made and rng.random() < 0.1:
        made = made[:-1]
    return made


def wh_word(draft: Draft, at: int, rng: random.Random) -> Word:
    """Who or what, in place of the word."""
    word = draft.words[at]
    person = word.upos == "PRON" or (word.upos == "PROPN" and rng.random() < 0.6) or rng.random() < 0.15
    form = "who" if person else "what"
    return Word(form, form, "PRON", "WP", word.head, word.deprel, False)


def wh_phrase(draft: Draft, at: int, rng: random.Random) -> list[int]:
    """The ids of what asks for the phrase: who, what, or which and its noun."""
    if draft.words[at].upos == "NOUN" and rng.random() < 0.4:
        gone = draft.kids(at, ["det", "nmod:poss", "case", "appos", "acl:relcl", "nummod"])
        form = rng.choice(["which", "which", "what"])
        phrase = draft.subtree(at, gone)
        return [draft.add(Word(form, form, "DET", "WDT", at, "det", False)), *phrase]
    return [draft.add(wh_word(draft, at, rng))]


def closed(draft: Draft, order: list[int]) -> Record | None:
    """The order with a question mark in place of the full stop, first word with a capital."""
    stop = draft.add(Word("?", "?", "PUNCT", ".", draft.root, "punct", True))
    found = draft.finish([*(at for at in order if draft.words[at].form != "."), stop])
    return (capitalised(found[0]), *found[1:]) if found else None


def subject_question(draft: Draft, rng: random.Random) -> Record | None:
    subject = draft.kids(draft.root, ["nsubj", "nsubj:pass"])[0]
    old = set(draft.subtree(subject))
    rest = [at for at in draft.order if at not in old and at > max(old)]
    return closed(draft, [*wh_phrase(draft, subject, rng), *rest])


def inverted(draft: Draft) -> tuple[list[int], list[int]] | None:
    """Auxiliary and subject, and the rest of the clause; *do* where there is no auxiliary."""
    root = draft.root
    subject = draft.subtree(draft.kids(root, ["nsubj", "nsubj:pass"])[0])
    if subject[0] > root:
        return None
    draft.change(subject[0], form=lowered_start(draft.words[subject[0]]).form)
    helpers = draft.kids(root, ["aux", "aux:pass"])
    if helpers:
        first = helpers[0]
        if is_clitic(draft.words[first]):
            return None
        draft.change(first, form=lowered_start(draft.words[first]).form)
    elif draft.words[root].xpos in DO:
        word = draft.words[root]
        first = draft.add(Word(DO[word.xpos], "do", "AUX", word.xpos, root, "aux", False))
        draft.change(root, form=word.lemma, xpos="VB")
    else:
        return None
    rest = [at for at in draft.order if at not in subject and at != first and at > subject[-1]]
    return [first, *subject], rest


def object_question(draft: Draft, rng: random.Random) -> Record | None:
    objects = draft.kids(draft.root, ["obj"])
    return fronted(draft, objects[0], [], rng) if objects else None


def oblique_question(draft: Draft, rng: random.Random) -> Record | None:
    phrases = [at for at in draft.kids(draft.root, ["obl"]) if len(draft.kids(at, ["case"])) == 1]
    if not phrases:
        return None
    phrase = rng.choice(phrases)
    case = draft.kids(phrase, ["case"])[0]
    preposition, noun = draft.words[case].lemma, draft.words[phrase]
    temporal = noun.lemma.lower() in MONTHS_AND_DAYS or noun.upos == "NUM"
    adverb = "when" if preposition in TIMES and temporal else "where"
    if adverb == "when" or (preposition in PLACES and rng.random() < 0.6):
        turned = inverted(draft)
        if not turned:
            return None
        form = rng.choice([adverb, adverb, adverb, "how", "why"])
        asked = draft.add(Word(form, form, "ADV", "WRB", draft.root, "advmod", False))
        gone = set(draft.subtree(phrase))
        return closed(draft, [asked, *turned[0], *(at for at in turned[1] if at not in gone)])
    if draft.subtree(case) != [case] or draft.words[case].upos != "ADP":
        return None
    return fronted(draft, phrase, [case], rng)


def fronted(draft: Draft, phrase: int, stranded: list[int], rng: random.Random) -> Record | None:
    """What did she learn about: the phrase in front, its preposition left behind."""
    turned = inverted(draft)
    if not turned:
        return None
    gone = set(draft.subtree(phrase))
    asked = [at for at in wh_phrase(draft, phrase, rng) if at not in stranded]
    head = asked[0] if len(asked) == 1 else phrase
    for case in stranded:
        draft.change(case, head=head, glued=False)
    rest = [at for at in turned[1] if at not in gone and draft.words[at].form != "."]
    return closed(draft, [*asked, *turned[0], *rest, *stranded])


def copular_question(draft: Draft, rng: random.Random) -> Record | None:
    """What is the capital of France: the wh-word is the predicate."""
    root = draft.root
    subject, cop = draft.kids(root, ["nsubj"]), draft.kids(root, ["cop"])[0]
    nominal = subject and {draft.words[root].upos, draft.words[subject[0]].upos} <= NOMINAL
    if not nominal or draft.kids(root, ["case", "aux"]) or is_clitic(draft.words[cop]):
        return None
    ids = draft.subtree(subject[0])
    draft.change(ids[0], form=lowered_start(draft.words[ids[0]]).form)
    asked = wh_word(draft, root, rng)
    form = "who" if draft.words[subject[0]].upos == "PROPN" else "what"
    new = draft.add(replace(asked, form=form, lemma=form, head=0, deprel="root"))
    draft.change(cop, head=new)
    draft.change(subject[0], head=new)
    draft.change(root, head=new)
    stop = draft.add(Word("?", "?", "PUNCT", ".", new, "punct", True))
    found = draft.finish([new, cop, *ids, stop])
    return (capitalised(found[0]), *found[1:]) if found else None


VERBAL = [subject_question, object_question, oblique_question]


def lowered(record: Record) -> Record:
    return tuple(replace(word, form=word.form.lower()) for word in record)


def unpunctuated(record: Record) -> Record:
    last = record[-1]
    leaf = all(word.head != len(record) for word in record)
    return record[:-1] if len(record) > 1 and last.upos == "PUNCT" and leaf else record


def blank_statement(record: Record, rng: random.Random) -> Record | None:
    """A blank in a whole sentence or in its bare main clause."""
    start = clause(record, rng) if rng.random() < 0.6 else record
    return blanked(start, rng) if start else None


def made(
    train: list[Record], rng: random.Random, count: int, make: Callable[[Record, random.Random], Record | None]
) -> list[Record]:
    """`count` records made from random sentences."""
    found: list[Record] = []
    for _ in range(count * 20):
        if len(found) >= count:
            break
        record = make(rng.choice(train), rng)
        if record:
            found.append(record)
    return found


def augmented(train: list[Record], rng: random.Random, share: float) -> list[Record]:
    """The training data of one epoch."""
    records = []
    for record in train:
        draw = rng.random() / share if share else 1.0
        if draw < LOWERED:
            record = lowered(record)
        elif draw < LOWERED + UNPUNCTUATED:
            record = unpunctuated(record)
        records.append(record)
    for part, make in ((PHRASES, noun_phrase), (QUESTIONS, question), (BLANKS, blank_statement)):
        new = made(train, rng, int(part * share * len(train)), make)
        records += [lowered(r) if rng.random() < 0.1 else r for r in new]
    return records
