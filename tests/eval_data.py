"""Miniature evaluation data of our own, in the formats of the real files."""

from __future__ import annotations

from pathlib import Path

RELATIONS = (
    ("The <e1>storm</e1> caused the <e2>flood</e2>.", "Cause-Effect(e1,e2)"),
    ("The <e1>fire</e1> was caused by the <e2>spark</e2>.", "Cause-Effect(e2,e1)"),
    ("The <e1>letter</e1> was in the <e2>box</e2>.", "Content-Container(e1,e2)"),
    ("The <e1>box</e1> holds the <e2>letter</e2>.", "Content-Container(e2,e1)"),
    ('The "old" <e1>man</e1> saw the <e2>river</e2>.', "Other"),
    ("A <e1>rain</e1> brought the <e2>damage</e2>.", "Cause-Effect(e1,e2)"),
    ("The <e1>damage</e1> came from the <e2>wind</e2>.", "Cause-Effect(e2,e1)"),
    ("The <e1>milk</e1> is in the <e2>jar</e2>.", "Content-Container(e1,e2)"),
    ("The <e1>jar</e1> contains <e2>milk</e2>.", "Content-Container(e2,e1)"),
    ("A <e1>dog</e1> met a <e2>cat</e2>.", "Other"),
)
QUESTIONS = (
    ("The farmer sold the [{}] at the market .", ("song", "cow", "moon", "idea", "law"), "b"),
    ("She read the [{}] to her child .", ("boat", "storm", "stone", "book", "flood"), "d"),
)
MITCHELL = """participant type ver s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating
1 adjectivenouns 1 old man old book 2
1 adjectivenouns 1 old book old man 6
1 verbobjects 1 book read letter write 5
2 verbobjects 1 book read letter write 6
1 verbobjects 1 man see book read 1
"""
GS11 = """participant verb subject object landmark input hilo
1 see man book read 6 HIGH
1 see man letter write 2 LOW
2 see man letter write 3 LOW
"""
AMOD = "book\told\t8.5\nman\told\t9.0\nriver\tred\t2.5\n"


def write_relations(path: Path, items: tuple[tuple[str, str], ...] = RELATIONS, first: int = 1) -> None:
    """As the task's files are: windows line ends, a comment, a blank line."""
    rows = [f'{at}\t"{text}"\r\n{label}\r\nComment:\r\n\r\n' for at, (text, label) in enumerate(items, first)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(rows), encoding="utf-8", newline="")


def write_completion(folder: Path, first: int = 1) -> None:
    """Questions and answers in machine format, numbered from `first`."""
    folder.mkdir(parents=True, exist_ok=True)
    asked, right = [], []
    for number, (frame, words, key) in enumerate(QUESTIONS, first):
        lines = [f"{number}{letter}) {frame.format(word)}\n" for letter, word in zip("abcde", words, strict=True)]
        asked += lines
        right.append(lines["abcde".index(key)])
    (folder / "Holmes.machine_format.questions.txt").write_text("".join(asked), encoding="utf-8")
    (folder / "Holmes.machine_format.answers.txt").write_text("".join(right), encoding="utf-8")


def write_all(data: Path) -> Path:
    """A whole data folder."""
    write_relations(data / "relations/SemEval2010_task8_TRAIN_FILE.TXT")
    write_completion(data / "completion")
    for name, text in (
        ("phrase_similarity/mitchell_data.txt", MITCHELL),
        ("phrase_similarity/GS2011data.txt", GS11),
        ("preference/amod_annotation.txt", AMOD),
    ):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(text, encoding="utf-8")
    return data
