"""Words of data sets as a model knows them: as given, else as the trees would have them (better/J as good/J).

A participle before a noun is a verb in the trees, but now and then the parser takes one for an adjective. Such an
adjective is known, and badly: *growing* has one edge where *grow* has eight hundred. So an adjective counts as given
only if what it may be instead is not far more frequent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vecdcs.model.model import Model
from vecdcs.text.adapters import lemmatizer

# What a word of a part of speech may be instead, the first that is known: a tag to take its lemma by, and the part of
# speech of that; and the field that a noun then fills, if it is another (docs/rules.md, amod).
INSTEAD = {
    "N": (("NNS", "N", ""),),
    "V": tuple((tag, "V", "") for tag in ("VBZ", "VBD", "VBN", "VBG")),
    "J": (("JJR", "J", ""), ("JJS", "J", ""), ("VBG", "V", ""), ("VBN", "V", "COMP"), ("NN", "N", "ARG")),
}

FAR_MORE = {"J": 50}  # times as frequent, by part of speech; words of others, once known, are as given


def as_known(model: Model, words: Sequence[str]) -> list[str]:
    """The words, each as what it may be instead if only that is in the model's vocabulary."""
    return [_as_known(model, word)[0] for word in words]


def ways(
    model: Model, forms: Sequence[str], pos: str, fields: tuple[str, ...]
) -> Iterator[tuple[list[int], list[str], tuple[str, ...]]]:
    """Words of one part of speech by the fields they go through: places in `forms`, the words as known, the fields.

    All go through `fields`, but for adjectives that are known as participles or nouns only.
    """
    found = [_as_known(model, f"{form}/{pos}") for form in forms]
    for first in sorted({field for _, field in found}):
        places = [place for place, (_, field) in enumerate(found) if field == first]
        yield places, [found[place][0] for place in places], (first, *fields[1:]) if first else fields


def _as_known(model: Model, word: str) -> tuple[str, str]:
    form, _, pos = word.rpartition("/")
    known = model.knows(word)
    if known and pos not in FAR_MORE:
        return word, ""
    least = FAR_MORE[pos] * _weight(model, word) if known else 0.0
    instead = ((f"{_lemma(form, tag)}/{other}", field) for tag, other, field in INSTEAD.get(pos, ()))
    return next((one for one in instead if model.knows(one[0]) and _weight(model, one[0]) >= least), (word, ""))


def _weight(model: Model, word: str) -> float:
    """How frequent a known word is, by the paths from it; 1 for all where that is not known."""
    return float(model.vocabulary.word_weights[model.vocabulary.word_id(word)]) or 1.0


def _lemma(form: str, tag: str) -> str:
    """The lemma; none if that is no such form of a verb."""
    lemma = lemmatizer()(form, tag)
    inflected = lemma != form and (tag != "VBG" or form.endswith("ing"))
    return lemma if inflected or not tag.startswith("V") else ""
