"""Small corpora for tests: sentences of our own with their UD trees, as CoNLL-U and as text."""

from __future__ import annotations

import random
from pathlib import Path

from vecdcs.text.conllu import Sentence, Token, format_sentence

NOUNS = "cat dog child teacher doctor farmer poet river song letter garden boat".split()
VERBS = {"see": "sees", "like": "likes", "find": "finds", "follow": "follows", "paint": "paints"}
ADJECTIVES = "old small happy green quiet".split()
PLACES = "in near behind under".split()

Row = tuple[str, str, str, str, int, str]  # form, lemma, upos, xpos, head, relation


def sentence(rows: list[Row]) -> Sentence:
    tokens = [Token(at, *row[:4], "_", *row[4:]) for at, row in enumerate(rows, 1)]
    return Sentence(tokens, [f"# text = {' '.join(token.form for token in tokens[:-1])}."])


def clause(rng: random.Random) -> Sentence:
    """`The old cat sees the dog in the garden .`, with or without its parts, or with two objects."""
    rows: list[Row] = []

    def phrase(head: int, relation: str, case: str = "") -> int:
        words = [("the", "DET", "DT", "det")]
        if case:
            words.insert(0, (case, "ADP", "IN", "case"))
        if rng.random() < 0.5:
            words.append((rng.choice(ADJECTIVES), "ADJ", "JJ", "amod"))
        noun = rng.choice(NOUNS)
        at = len(rows) + len(words) + 1
        rows.extend((word, word, upos, xpos, at, rel) for word, upos, xpos, rel in words)
        rows.append((noun, noun, "NOUN", "NN", head, relation))
        return at

    phrase(-1, "nsubj")
    lemma = rng.choice(list(VERBS))
    rows.append((VERBS[lemma], lemma, "VERB", "VBZ", 0, "root"))
    verb = len(rows)
    first = phrase(verb, "obj")
    if rng.random() < 0.3:
        rows.append(("and", "and", "CCONJ", "CC", len(rows) + 3, "cc"))
        phrase(first, "conj")
        rows[-4 if rows[-2][2] == "ADJ" else -3] = ("and", "and", "CCONJ", "CC", len(rows), "cc")
    if rng.random() < 0.5:
        phrase(verb, "obl", rng.choice(PLACES))
    rows.append((".", ".", "PUNCT", ".", verb, "punct"))
    return sentence([row if row[4] >= 0 else (*row[:4], verb, row[5]) for row in rows])


def sentences(count: int, seed: int = 0) -> list[Sentence]:
    rng = random.Random(seed)
    return [clause(rng) for _ in range(count)]


def write_conllu(path: Path, count: int, seed: int = 0) -> Path:
    path.write_text("".join(map(format_sentence, sentences(count, seed))), encoding="utf-8")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
