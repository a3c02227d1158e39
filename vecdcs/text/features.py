"""What the network is told of a word: its form, affixes and shape, as numbers."""

from __future__ import annotations

import re
import zlib

BLANK = "_"
AFFIXES = ((0, 2), (0, 3), (-1, None), (-2, None), (-3, None), (-4, None))
"""Slices of the lower-cased form; each has a hashed table of its own."""

BUCKETS = 4096
SHAPES = 64
COLUMNS = ("vector", "word", "shape", *(f"affix{number}" for number in range(len(AFFIXES))))

_DIGIT = re.compile(r"\d")
_QUOTES = {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "''": '"', "``": '"', "—": "--", "–": "-", "…": "..."}


def normal(form: str) -> str:
    """The form as the vocabulary has it: lower case, digits as 0, plain quotes and dashes."""
    found = _QUOTES.get(form)
    if found is not None:
        return found
    if form.isalpha():
        return form.lower()
    return _DIGIT.sub("0", form.lower().replace("’", "'"))


def affixes(word: str) -> list[int]:
    """Hashed prefixes and suffixes of a normal form; 0 where the word is not longer than the affix."""
    found = []
    for number, (start, stop) in enumerate(AFFIXES):
        length = stop if stop is not None else -start
        affix = word[start:stop]
        found.append(1 + zlib.crc32(f"{number}{affix}".encode()) % (BUCKETS - 1) if len(word) > length else 0)
    return found


def shape(form: str) -> int:
    """A number under SHAPES for the cut of the form: case, digits, punctuation, length."""
    if form == BLANK:
        return 1
    length = 0 if len(form) == 1 else 1 if len(form) < 4 else 2
    return 2 + (_case(form) * 4 + _kind(form)) * 3 + length


def _case(form: str) -> int:
    lowered = form.lower()
    if lowered == form:
        return 1 if form.islower() else 0
    return 2 if form.isupper() else 3 if form[1:] == lowered[1:] else 4


def _kind(form: str) -> int:
    if form.isalpha():
        return 0
    return 1 if form.isdecimal() else 2 if any(map(str.isalnum, form)) else 3
