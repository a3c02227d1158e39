"""The paper's tables of words (1, 2 and 5) as our models have them, beside the paper's own, as Markdown.

    python runs/tables.py vecDCS=MODEL ["no matrix=MODEL" vecUD=MODEL GloVe=VECTORS.txt] > tables.md

Lists are as the commands of docs/results.md give them: nothing is left out or put in another order.
"""

from __future__ import annotations

import sys
from itertools import zip_longest
from pathlib import Path

from vecdcs.model.ask import Asker, load
from vecdcs.model.model import Model
from vecdcs.tasks.intrinsic import neighbours, transformed
from vecdcs.tasks.vectors import read_vectors

PAPER_NEIGHBOURS = {
    "GloVe": "books author published novel memoir wrote biography autobiography essay illustrated",
    "no matrix": (
        "essay/N novel/N memoir/N books/N autobiography/N non-fiction/J reprint/V publish/V republish/V chapbook/N"
    ),
    "vecDCS": "novel/N essay/N anthology/N publication/N memoir/N poem/N autobiography/N story/N pamphlet/N tale/N",
    "vecUD": "essay/N novel/N article/N anthology/N poem/N autobiography/N publication/N journal/N memoir/N pamphlet/N",
}
PAPER_TRANSFORMED = {
    ("house/N", "ARG SUBJ"): (
        "victorian/J stand/V vacant/J 18th-century/J historic/J old/J georgian/J local/J 19th-century/J tenement/J"
    ),
    ("house/N", "ARG COMP"): (
        "build/V rent/V leave/V burn_down/V remodel/V demolish/V restore/V renovate/V rebuild/V construct/V"
    ),
    ("house/N", "in ARG"): "sit/V house/N stand/V live/V hang/V seat/N stay/V serve/V reside/V hold/V",
    ("learn/V", "SUBJ ARG"): "teacher/N skill/N he/P she/P therapist/N student/N they/P mother/N lesson/N father/N",
    ("learn/V", "COMP ARG"): (
        "skill/N lesson/N technique/N experience/N ability/N something/N knowledge/N language/N opportunity/N "
        "instruction/N"
    ),
    ("learn/V", "ARG about"): (
        "otherness/N intimacy/N femininity/N self-awareness/N life/N self-expression/N sadomasochism/N emptiness/N "
        "criminality/N masculinity/N"
    ),
}
PAPER_ANSWERS = {
    "banned drugs": "drug/N marijuana/N cannabis/N trafficking/N thalidomide/N smoking/N narcotic/N botox/N doping/N",
    "banned movies": "bratz/N porn/N indecent/N blockbuster/N movie/N idiots/N blacklist/N grindhouse/N doraemon/N",
    "banned books": "publish/N unfair/N obscene/N samizdat/N book/N responsum/N illegal/N reclaiming/N redbook/N",
}


def table(title: str, columns: dict[str, list[str]]) -> str:
    """A list a column."""
    rows = zip_longest(*columns.values(), fillvalue="")
    lines = ["| " + " | ".join(cells) + " |" for cells in (columns, ["---"] * len(columns), *rows)]
    return "\n".join([f"**{title}**", "", *lines, ""])


def listed(words: str) -> list[str]:
    return [word.replace("_", " ") for word in words.split()]


def neighbour_table(full: Asker, models: dict[str, Model], word: str) -> str:
    """Table 1: the first model as `vecdcs nearest` has it, then plain query vectors, each beside the paper's."""
    columns = {f"{next(iter(models))}, by likeness": [near.word for near in full.nearest(word, 10)]}
    for name, model in models.items():
        columns[name] = neighbours(model, word)
        if name in PAPER_NEIGHBOURS:
            columns[f"{name}, paper"] = listed(PAPER_NEIGHBOURS[name])
    return table(f"Nearest to {word}", columns)


def transformed_table(model: Model, word: str) -> str:
    """Table 2."""
    columns = {}
    for row in transformed(model, word):
        first, second = row["fields"].split()
        columns[f"{first} → {second}"] = row["answers"]
        columns[f"{first} → {second}, paper"] = listed(PAPER_TRANSFORMED[word, row["fields"]])
    return table(f"{word} through matrices", columns)


def answer_table(model: Asker, phrase: str) -> str:
    """Table 5: by score as in the paper, by probability, as `vecdcs ask` has it, and what is most like it."""
    question = model.ask(phrase)
    paper = listed(PAPER_ANSWERS[phrase])
    ways = {f"by {way}": question.answers(len(paper), by=way, own_words=True) for way in ("score", "probability")}
    ours = {name: [answer.word for answer in found] for name, found in ways.items()}
    alike = [near.word for near in model.nearest(phrase, len(paper))]
    return table(f"“{phrase}”", {**ours, "most like it": alike, "paper": paper})


def main() -> None:
    named = dict(argument.split("=", 1) for argument in sys.argv[1:])
    if not named:
        sys.exit(__doc__)
    models: dict[str, Model] = {
        name: read_vectors(Path(path)) if path.endswith(".txt") else load(path) for name, path in named.items()
    }
    full = load(next(iter(named.values())))
    print(neighbour_table(full, models, "book/N"))
    for word in ("house/N", "learn/V"):
        print(transformed_table(full, word))
    for phrase in PAPER_ANSWERS:
        print(answer_table(full, phrase))


if __name__ == "__main__":
    main()
