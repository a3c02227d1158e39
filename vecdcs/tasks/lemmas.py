"""Words of data sets as a model knows them: as they are given, else by their lemma (better/J as good/J)."""

from __future__ import annotations

from collections.abc import Sequence

from vecdcs.model.model import Model
from vecdcs.text.adapters import lemmatizer

TAGS = {"N": ("NNS",), "V": ("VBZ", "VBD", "VBN", "VBG"), "J": ("JJR", "JJS")}


def as_known(model: Model, words: Sequence[str]) -> list[str]:
    """The words, each by its lemma if only that is in the model's vocabulary."""
    return [word if model.knows(word) else _by_lemma(model, word) for word in words]


def _by_lemma(model: Model, word: str) -> str:
    form, _, pos = word.rpartition("/")
    lemmas = (f"{lemmatizer()(form, tag)}/{pos}" for tag in TAGS.get(pos, ()))
    return next((lemma for lemma in lemmas if model.knows(lemma)), word)
