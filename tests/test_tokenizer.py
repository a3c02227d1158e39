"""Chunks, words and sentence boundaries."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecdcs.text import tokenizer
from vecdcs.text.sentences import LONGEST, boundaries, limited
from vecdcs.text.shipped import ENGLISH, pieces
from vecdcs.text.tokenizer import LONGEST_CHUNK, chunks, tokenize

CASES = [
    ("John couldn't go.", "John could n't go ."),
    ("It's the king's, not mine!", "It 's the king 's , not mine !"),
    ("They'll say we've won; I'd wait.", "They 'll say we 've won ; I 'd wait ."),
    ("She cannot come, dont ask", "She can not come , do nt ask"),
    ("a well-known non-smoker", "a well - known non-smoker"),
    ("Mr. Smith left at 5 p.m. sharp.", "Mr. Smith left at 5 p.m. sharp ."),
    ("The U.S. exported 1,200.50 tons (30%).", "The U.S. exported 1,200.50 tons ( 30 % ) ."),
    ("See No. 5 and no. 7.", "See No. 5 and no. 7 ."),
    ("built (c. 1850) here", "built ( c. 1850 ) here"),
    ("No. He refused.", "No . He refused ."),
    ('"Well," he said -- "go!"', '" Well , " he said -- " go ! "'),
    ("Write to ann@example.org or http://example.org/a-b.", "Write to ann@example.org or http://example.org/a-b ."),
    ("in the 1990s, the 20th century", "in the 1990s , the 20th century"),
    ("Wait... what?!", "Wait ... what ?!"),
    ("The drug _ is banned.", "The drug _ is banned ."),
    ("_'s wife, _, and _.", "_ 's wife , _ , and _ ."),
    ("O'Brien's o'clock ma'am", "O'Brien 's o'clock ma'am"),
    ("'Tis true, 'twas so", "'T is true , 't was so"),
    ("J. S. Bach and you and I.", "J. S. Bach and you and I ."),
    ("and/or $5 10km", "and / or $ 5 10 km"),
    ("the dogs' food", "the dogs ' food"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_words(text: str, expected: str) -> None:
    assert [word for chunk in tokenize(text) for word in chunk] == expected.split()


@given(st.text())
def test_no_character_is_lost(text: str) -> None:
    kept = "".join(word for chunk in tokenize(text) for word in chunk)
    assert kept == "".join(chunks(text))
    assert all(word and not word.isspace() for chunk in tokenize(text) for word in chunk)


def test_long_chunks_are_cut_and_not_remembered() -> None:
    tokenizer._cache.clear()
    found = tokenize("x" * (3 * LONGEST_CHUNK + 1))
    assert [len(word) for chunk in found for word in chunk] == [LONGEST_CHUNK] * 3 + [1]
    assert all(len(chunk) <= tokenizer.LONGEST_CACHED for chunk in tokenizer._cache)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "CACHE_SIZE", 10)
    tokenize(" ".join(f"word{number}" for number in range(100)))
    assert len(tokenizer._cache) <= 10


SPLITS = [
    'He came. "Why?" he asked. She said nothing.|He came.|"Why?" he asked.|She said nothing.',
    "Mr. Brown met Mrs. Green in St. Louis. They left.|Mr. Brown met Mrs. Green in St. Louis.|They left.",
    "He was born in 1902 (in Paris). He died in 1980.|He was born in 1902 (in Paris).|He died in 1980.",
    '"Go away!" I cried. "Now!"|"Go away!" I cried.|"Now!"',
    "The work by J. S. Bach is known. It is long.|The work by J. S. Bach is known.|It is long.",
    "It rose to No. 3 in May. It fell later.|It rose to No. 3 in May.|It fell later.",
    "It cost 3.5 million. Who paid? Nobody did!|It cost 3.5 million.|Who paid?|Nobody did!",
    "He waited; she came: they left.|He waited; she came: they left.",
]


@pytest.mark.parametrize("case", SPLITS)
def test_sentences(case: str) -> None:
    text, *expected = case.split("|")
    weights = json.loads((ENGLISH / "splitter.json").read_text(encoding="utf-8"))
    found = chunks(text)
    ends = [*boundaries(found, weights), len(found) - 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    assert [" ".join(found[start : end + 1]) for start, end in zip(starts, ends, strict=True)] == expected


@given(st.lists(st.sampled_from(["a", ",", ";", "--"]), max_size=5 * LONGEST))
def test_long_sentences_are_cut(forms: list[str]) -> None:
    ends = limited(forms)
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    assert ends[-1] == len(forms)
    assert all(size <= LONGEST for size in sizes)
    assert len(forms) <= LONGEST or all(sizes)


@given(st.text(st.sampled_from("ab. "), max_size=300))
def test_pieces_make_the_text(text: str) -> None:
    long = text * 3000
    assert "".join(pieces(long)) == long
    assert all(len(piece) <= 200_000 for piece in pieces(long))
