"""How good the shipped parser is: CoNLL-2018 figures with gold words and from raw text, and labelled F1 of DCS edges.

    python benchmarks/parser_accuracy.py [--part test] [--shared ../shared] [ewt gum pud]

Scores follow the CoNLL-2018 scorer: words are aligned by the characters they cover, relation subtypes are ignored,
F1 of words, sentences, tags, lemmas and attachments. DCS edges are compared by word ids, the parser given gold words.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

from vecdcs.dcs.convert import convert
from vecdcs.text.conllu import NO_SPACE, Sentence, Token, read_conllu
from vecdcs.text.shipped import ENGLISH, Raw, ShippedParser

METRICS = ("Words", "UPOS", "XPOS", "Lemmas", "UAS", "LAS")


class Span(NamedTuple):
    """A word in the text without spaces; `head` is the span of its head, None at the root."""

    start: int
    end: int


def spans(sentences: Iterable[Sentence]) -> tuple[list[Span], list[tuple[Token, Span | None]], list[Span]]:
    """Spans of all words, each word with the span of its head, and the spans of the sentences."""
    at = 0
    found: list[Span] = []
    words: list[tuple[Token, Span | None]] = []
    whole: list[Span] = []
    for sentence in sentences:
        start, own = at, []
        for form in surfaces(sentence):
            own.append(Span(at, at + len(form)))
            at += len(form)
        found += own
        words += [(token, own[token.head - 1] if token.head else None) for token in sentence.tokens]
        whole.append(Span(start, at))
    return found, words, whole


def surfaces(sentence: Sentence) -> list[str]:
    """What each word covers of the text: its form, or its share of the multiword token it stands in."""
    forms = [token.form.replace(" ", "") for token in sentence.tokens]
    for _, row in sentence.extras:
        identifier, surface, *_ = row.split("\t")
        if "-" in identifier:
            first, last = map(int, identifier.split("-"))
            if "".join(forms[first - 1 : last]) != surface:
                forms[first - 1 : last] = [surface, *[""] * (last - first)]
    return forms


def scores(gold: list[Sentence], system: list[Sentence]) -> dict[str, float]:
    """F1 of words, tags, lemmas and attachments, and of sentences."""
    gold_spans, gold_words, gold_whole = spans(gold)
    spans_, words, whole = spans(system)
    by_span = dict(zip(spans_, words, strict=True))
    right: Counter[str] = Counter()
    for span, (token, head) in zip(gold_spans, gold_words, strict=True):
        if span not in by_span:
            continue
        other, other_head = by_span[span]
        attached = head == other_head
        right.update(
            Words=True, UPOS=token.upos == other.upos, XPOS=token.xpos == other.xpos,
            Lemmas=token.lemma in ("_", other.lemma), UAS=attached,
            LAS=attached and token.deprel.split(":")[0] == other.deprel.split(":")[0],
        )  # fmt: skip
    found = {name: 200 * right[name] / (len(gold_spans) + len(spans_)) for name in METRICS}
    found["Sentences"] = 200 * len(set(gold_whole) & set(whole)) / (len(gold_whole) + len(whole))
    return found


def paragraphs(sentences: list[Sentence]) -> Iterator[str]:
    """The raw text of a treebank, a paragraph each."""
    text = ""
    for sentence in sentences:
        starts = any(comment.startswith(("# newdoc", "# newpar")) for comment in sentence.comments)
        if starts and text:
            yield text
            text = ""
        last = sentence.extras[-1][1] if sentence.extras and _ends_with_range(sentence) else sentence.tokens[-1].misc
        text += sentence.text + ("" if NO_SPACE in last else " ")
    if text:
        yield text


def _ends_with_range(sentence: Sentence) -> bool:
    identifier = sentence.extras[-1][1].split("\t", 1)[0]
    return identifier.endswith(f"-{len(sentence.tokens)}")


def gold_raw(sentence: Sentence) -> Raw:
    """A treebank sentence as the parser's input, with its own words."""
    glued = [False] + [NO_SPACE in token.misc for token in sentence.tokens[:-1]]
    for _, row in sentence.extras:
        identifier, *_, misc = row.split("\t")
        if "-" in identifier:
            first, last = map(int, identifier.split("-"))
            glued[first:last] = [True] * (last - first)
            if last < len(glued):
                glued[last] = NO_SPACE in misc
    return Raw([token.form for token in sentence.tokens], glued, sentence.text)


def edges(sentence: Sentence) -> set[tuple[int, int, str, str]]:
    """(child, parent, label at the child, label at the parent) of the sentence's DCS trees."""
    return {
        (node.token, tree[node.parent].token, node.label, node.parent_label)
        for tree in convert(sentence)
        for node in tree
        if node.parent >= 0
    }


def field(edge: tuple[int, int, str, str]) -> str:
    """The field an edge is about: the end that is not ARG."""
    *_, label, parent_label = edge
    name = label if label != "ARG" else parent_label
    return name if name in ("ARG", "SUBJ", "COMP") else "prepositions and other"


def edge_counts(gold: list[Sentence], system: list[Sentence]) -> Counter[tuple[str, str]]:
    """Right, gold and system edges by field."""
    counts: Counter[tuple[str, str]] = Counter()
    for one, other in zip(gold, system, strict=True):
        first, second = edges(one), edges(other)
        for kind, part in (("right", first & second), ("gold", first), ("system", second)):
            counts.update((field(edge), kind) for edge in part)
    return counts


def f1(counts: Counter[tuple[str, str]], fields: Iterable[str]) -> float:
    right, gold, system = (sum(counts[name, kind] for name in fields) for kind in ("right", "gold", "system"))
    return 2 * right / (gold + system)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", default=["ewt", "gum", "pud"])
    options.add_argument("--part", default="test")
    options.add_argument("--shared", type=Path, default=Path(os.environ.get("VECDCS_SHARED", "../shared")))
    options.add_argument("--weights", type=Path, default=ENGLISH)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    parser = ShippedParser(given.weights)
    total: Counter[tuple[str, str]] = Counter()
    report: dict[str, dict[str, float]] = {}
    for name in given.names:
        gold = list(read_conllu(given.shared / "data" / "treebanks" / f"en_{name}-ud-{given.part}.conllu.xz"))
        parsed = list(parser.annotate(map(gold_raw, gold)))
        counts = edge_counts(gold, parsed)
        total += counts
        report[f"{name} gold words"] = scores(gold, parsed) | {"DCS": 100 * f1(counts, {n for n, _ in counts})}
        report[f"{name} raw"] = scores(gold, list(parser.parse(paragraphs(gold))))
    for name in sorted({name for name, _ in total}):
        report[f"DCS {name}"] = {"F1": 100 * f1(total, [name]), "gold": total[name, "gold"]}
    whole = sum(count for (_, kind), count in total.items() if kind == "gold")
    report["DCS all"] = {"F1": 100 * f1(total, {name for name, _ in total}), "gold": whole}
    for title, row in report.items():
        print(f"{title:28}" + "  ".join(f"{key} {value:.2f}" for key, value in row.items()))
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
