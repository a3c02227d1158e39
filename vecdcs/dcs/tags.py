"""One tag set for the rules: Penn tags where a treebank has them, else Penn-like tags from UPOS and FEATS."""

from __future__ import annotations

from functools import lru_cache

PENN = frozenset(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG "
    "VBN VBP VBZ WDT WP WP$ WRB $ #".split()
)
MODALS = frozenset("can could may might must ought shall should will would".split())
QUANTIFIERS = frozenset("some any all either neither both".split())
NEGATIONS = frozenset("not n't never".split())
PERSONAL = frozenset("I you he she it we they my your his her its our their".split())
PRONOUN_NOUNS = ("thing", "body", "one", "none", "other")

SIMPLE = {
    "ADJ": "JJ",
    "ADP": "IN",
    "CCONJ": "CC",
    "INTJ": "UH",
    "NOUN": "NN",
    "NUM": "CD",
    "PROPN": "NNP",
    "PUNCT": ".",
    "SCONJ": "IN",
    "X": "FW",
}


@lru_cache(maxsize=65536)
def penn_tag(upos: str, xpos: str, feats: str, lemma: str) -> str:
    """The Penn tag of a word; made from UPOS and FEATS where XPOS is not Penn's."""
    if xpos in PENN and (xpos, upos) != ("POS", "ADJ"):  # some treebanks call the positive degree POS
        return xpos
    if upos in SIMPLE:
        return SIMPLE[upos]
    wh = "PronType=Int" in feats or "PronType=Rel" in feats
    match upos:
        case "VERB" | "AUX":
            return "MD" if upos == "AUX" and lemma in MODALS else _verb_tag(feats)
        case "PRON":
            return _pronoun_tag(feats, lemma, wh)
        case "DET":
            return "WDT" if wh else ("PRP$" if "Poss=Yes" in feats else "DT")
        case "ADV":
            return "WRB" if wh else "RB"
        case "PART":
            return {"to": "TO", "not": "RB"}.get(lemma, "POS")
        case "SYM":
            return "$"
    return xpos


def _verb_tag(feats: str) -> str:
    if "VerbForm=Ger" in feats:
        return "VBG"
    if "VerbForm=Part" in feats:
        return "VBG" if "Tense=Pres" in feats else "VBN"
    if "VerbForm=Fin" in feats:
        return "VBD" if "Tense=Past" in feats else "VBZ"
    return "VB"


def _pronoun_tag(feats: str, lemma: str, wh: bool) -> str:
    possessive = "Poss=Yes" in feats
    if wh:
        return "WP$" if possessive else "WP"
    if "PronType=Prs" in feats or possessive or lemma in PERSONAL:
        return "PRP$" if possessive else "PRP"
    if lemma == "there":
        return "EX"
    return "NN" if lemma.endswith(PRONOUN_NOUNS) else "DT"


@lru_cache(maxsize=65536)
def part_of_speech(tag: str, lemma: str, nominal: bool) -> str:
    """N, P, J, R or V for content words, "" for words without a node.

    `nominal`: the word fills a subject or object slot, where adjectives and verbs stand for things ("the poor").
    """
    match tag[:2]:
        case "NN" | "CD" | "$" | "#":
            return "N"
        case "PR":
            return "P"
        case "JJ":
            return "N" if nominal else "J"
        case "VB":
            return "N" if nominal else "V"
        case "RB":
            return "" if lemma in NEGATIONS else "R"
        case "DT":
            return "N" if lemma in QUANTIFIERS else ""
    return ""
