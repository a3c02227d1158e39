"""The words the rule table is written in: conditions on a child x and its parent p, and labels read off them."""

from __future__ import annotations

from collections.abc import Callable

from vecdcs.dcs.words import TIME_WORDS, Word

Condition = Callable[[Word, Word], bool]
LabelOf = Callable[[Word, Word], str]

WH_ADVERBS = frozenset("where when why how".split())


def shared_subject(x: Word, p: Word) -> bool:
    """Predicates are coordinated: clauses, which share a subject rather than a slot."""
    return p.cop or (p.pos == "V" and (x.pos == "V" or x.cop))


def asks_how(x: Word) -> bool:
    """The wh-adverb of a question: where, when, why, how."""
    return x.name == "_" and x.lemma in WH_ADVERBS


def is_time(x: Word) -> bool:
    """A bare noun phrase that says when."""
    return x.name.lower() in TIME_WORDS


CONDITIONS: dict[str, tuple[str, Condition]] = {
    "": ("always", lambda x, p: True),
    "asks what": ("x has the wh-word *what*", lambda x, p: x.wh is not None and x.wh.lemma == "what"),
    "asks": ("x has a wh-word", lambda x, p: x.wh is not None),
    "own subject": ("x has a subject", lambda x, p: x.subj),
    "p has object": ("p has an object", lambda x, p: p.comp),
    "participle": ("x is a past participle", lambda x, p: x.tag == "VBN"),
    "nominal": ("x is a noun, pronoun or adverb", lambda x, p: x.pos in "NPR"),
    "agent": ("p is passive and x has *by*", lambda x, p: p.passive and x.case == "by"),
    "agent clause": (
        "p is passive and x has the mark *by*",
        lambda x, p: p.passive and x.mark == "by" and x.wh is None,
    ),
    "cased": ("x has a preposition", lambda x, p: bool(x.case)),
    "time": ("x is a time word, p no adverb or bare adjective", lambda x, p: is_time(x) and (p.pos in "NPV" or p.cop)),
    "asked": ("x is the wh-word of the question", lambda x, p: x.name == "_" and x.form != "_"),
    "two nouns": ("both are nouns", lambda x, p: x.pos in "NP" and p.pos in "NP"),
    "verb and participle": (
        "p is a verb, x a past participle without subject and object",
        lambda x, p: p.pos == "V" and x.tag == "VBN" and not x.subj and not x.comp,
    ),
    "copular noun": ("p is a noun with a copula", lambda x, p: p.pos in "NP" and p.cop),
    "marked": ("x has a mark and no wh-word", lambda x, p: bool(x.mark) and x.wh is None),
    "after": ("x stands after p and has no wh-word", lambda x, p: x.id > p.id and x.wh is None),
    "wh adverb": (
        "x has a wh-adverb, not *whose*",
        lambda x, p: x.wh is not None and x.wh.rel == "advmod" and not x.wh.whose,
    ),
    "to, stranded": (
        "x is a verb with *to* and a stranded preposition, no wh-word",
        lambda x, p: x.wh is None and x.pos == "V" and x.mark == "to" and bool(x.stranded),
    ),
    "to, object": (
        "x is a verb with *to* and an object, no wh-word",
        lambda x, p: x.wh is None and x.pos == "V" and x.mark == "to" and x.comp,
    ),
    "to": ("x is a verb with *to*, no wh-word", lambda x, p: x.wh is None and x.pos == "V" and x.mark == "to"),
    "active participle": (
        "x is an -ing form, or *having* + participle, without subject and wh-word",
        lambda x, p: x.wh is None and x.pos == "V" and not x.subj and (x.tag == "VBG" or (x.having and not x.passive)),
    ),
    "stranded": (
        "x is a verb with a subject and a stranded preposition, no wh-word",
        lambda x, p: x.wh is None and x.pos == "V" and x.subj and bool(x.stranded),
    ),
    "object gap": (
        "x is a verb with a subject but no object, no wh-word",
        lambda x, p: x.wh is None and x.pos == "V" and x.subj and not x.comp,
    ),
    "reduced": (
        "x is a past participle without object, no wh-word",
        lambda x, p: x.wh is None and x.pos == "V" and x.tag == "VBN" and not x.comp,
    ),
    "copular": ("x has a copula and is no verb, no wh-word", lambda x, p: x.wh is None and x.pos != "V" and x.cop),
    "wh subject": ("x has a wh-word as subject", lambda x, p: x.wh is not None and x.wh.rel == "nsubj"),
    "wh object": (
        "x has a wh-word without preposition as object or passive subject",
        lambda x, p: x.wh is not None and x.wh.rel in ("obj", "nsubj:pass") and not x.wh.case,
    ),
    "wh preposition": (
        "x has a wh-word with a preposition, not *whose*",
        lambda x, p: x.wh is not None and x.wh.rel in ("nmod", "obl", "obj") and bool(x.wh.case) and not x.wh.whose,
    ),
    "passive goes on": (
        "p is passive, x a past participle without subject or auxiliary",
        lambda x, p: p.passive and p.pos == x.pos == "V" and x.tag == "VBN" and not x.subj and not x.aux,
    ),
    "clauses": (
        "predicates, x without a subject of its own",
        lambda x, p: shared_subject(x, p) and not x.subj,
    ),
    "clauses, own subject": ("predicates, x with its own subject", lambda x, p: shared_subject(x, p) and x.subj),
    "alike": (
        "same part of speech (nouns and pronouns count as one)",
        lambda x, p: _family(x) == _family(p),
    ),
}


def _family(x: Word) -> str:
    return "N" if x.pos == "P" else x.pos


def subject_slot(x: Word, p: Word) -> str:
    """S(p): the slot of p that its subject fills."""
    if asks_how(p):
        return p.lemma
    if not p.cop:
        return "SUBJ"
    return p.case or ("ARG" if p.pos in "NPR" else "SUBJ")


def own_subject_slot(x: Word, p: Word) -> str:
    """S(x): the slot of x that the noun it modifies fills."""
    return subject_slot(p, x)


def gap(x: Word, p: Word) -> str:
    """W(x): the slot of x that its own wh-word fills."""
    rel = x.wh.rel if x.wh is not None else ""
    return {"nsubj": "SUBJ", "nsubj:pass": "COMP", "obj": "COMP"}.get(rel, "ARG")


def role(x: Word) -> str:
    """R(x): the slot of x that a subject shared with another predicate fills."""
    if x.passive:
        return "COMP"
    if x.pos in "VJ":
        return "SUBJ"
    return x.case if x.cop and x.case else "ARG"


def controlled(x: Word, p: Word) -> str:
    """The slot of x that its controller fills."""
    if x.pos in "VJ":
        return "COMP" if x.tag == "VBN" else "SUBJ"
    return "ARG"


LABELS: dict[str, tuple[str, LabelOf]] = {
    "⟨subject⟩": (
        "the subject slot of p: SUBJ; with a copula, p's preposition, ARG for a noun or adverb, SUBJ else",
        subject_slot,
    ),
    "⟨subject of x⟩": ("the subject slot of x, by the same reading", own_subject_slot),
    "⟨gap⟩": ("the slot of x that its wh-word fills: SUBJ, COMP or ARG", gap),
    "⟨role⟩": (
        "the slot of x that a shared subject fills: COMP if passive, SUBJ, its preposition or ARG",
        lambda x, p: role(x),
    ),
    "⟨role of p⟩": ("the slot of p that a shared subject fills", lambda x, p: role(p)),
    "⟨controlled⟩": ("the slot of x that its controller fills: COMP for a past participle, SUBJ, or ARG", controlled),
    "⟨case⟩": ("the preposition of x", lambda x, p: x.case),
    "⟨mark⟩": ("the subordinating word of x", lambda x, p: x.mark),
    "⟨wh⟩": ("the wh-adverb of x", lambda x, p: x.wh.lemma if x.wh is not None else "ARG"),
    "⟨wh case⟩": ("the preposition of x's wh-word", lambda x, p: x.wh.case if x.wh is not None else "ARG"),
    "⟨asked⟩": ("the wh-adverb itself", lambda x, p: x.lemma),
    "⟨stranded⟩": ("the stranded preposition of x", lambda x, p: x.stranded),
    "⟨owner⟩": (
        "'s if x's wh-word has *whose*, else ARG",
        lambda x, p: "'s" if x.wh is not None and x.wh.whose else "ARG",
    ),
}
