"""Lemmas: a table of the training data and of frequent inflected words, then lemminflect, loaded only when needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vecdcs.text.features import BLANK

INFLECTED = {
    "NNS": "NOUN", "VBD": "VERB", "VBG": "VERB", "VBN": "VERB", "VBZ": "VERB", "JJR": "ADJ", "JJS": "ADJ", "RBR": "ADV",
    "RBS": "ADV",
}  # fmt: skip
"""Penn tags whose form is not the lemma, and lemminflect's name for the word class."""

NEAR = {
    "JJ": ("JJS", "JJR"), "RB": ("RBS", "RBR"), "VBD": ("VBN",), "VBN": ("VBD",), "VB": ("VBP", "VBD", "VBN"),
    "VBP": ("VB", "VBD", "VBN"), "JJR": ("JJ",), "JJS": ("JJ",),
}  # fmt: skip
"""Where else to look for a form: the tagger errs most between these."""

NAMES = frozenset({"NNP", "NNPS", "ADD"})
CAPITAL_KEPT = frozenset({"JJ", "NN", "FW"})
CACHE_SIZE = 400_000


class Lemmatizer:
    """(form, Penn tag) to lemma."""

    def __init__(self, table: Mapping[tuple[str, str], str]) -> None:
        self.table = table
        self._cache: dict[tuple[str, str], str] = {}

    def __call__(self, form: str, tag: str) -> str:
        key = form, tag
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
            found = self._cache[key] = self._lemma(form, tag)
        return found

    def _lemma(self, form: str, tag: str) -> str:
        lowered = form.lower()
        if form == BLANK:
            return BLANK
        if tag in NAMES:
            return self._name(form, lowered, tag)
        for near in (tag, *NEAR.get(tag, ())):
            known = self.table.get((lowered, near))
            if known is not None:
                return known
        if tag in INFLECTED:
            return inflection(lowered, tag)
        if tag == "CD":
            return lowered.replace(",", "")
        return form if tag in CAPITAL_KEPT else lowered

    def _name(self, form: str, lowered: str, tag: str) -> str:
        known = self.table.get((lowered, tag))
        if known is not None and known.lower() != lowered:
            return known
        if tag == "NNPS":
            plural = self.table.get((lowered, "NNS"))
            return recased(plural, form) if plural else form
        return form.capitalize() if form == lowered and form.isalpha() else form


def recased(lemma: str, form: str) -> str:
    """The lemma with the form's capitals."""
    return lemma.upper() if form.isupper() else lemma.capitalize() if form[:1].isupper() else lemma


def inflection(lowered: str, tag: str) -> str:
    """The lemma of an inflected form by lemminflect."""
    import lemminflect

    found = lemminflect.getLemma(lowered, INFLECTED[tag])
    return str(found[0]) if found else lowered


def read_lemmas(path: Path) -> dict[tuple[str, str], str]:
    """The table from lines `form TAB tag TAB lemma`."""
    table = {}
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            form, tag, lemma = line[:-1].split("\t")
            table[form, tag] = lemma
    return table
