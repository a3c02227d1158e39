"""Relation classification: four vectors of two marked words, and a support vector machine (paper, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.convert import Node, convert, convert_ud
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.model.model import Model, unit
from vecdcs.model.relation import Relation, relation_features, relation_of
from vecdcs.tasks import svm
from vecdcs.tasks.parses import parsed, within
from vecdcs.tasks.result import Clock, Result, Sample, interval95
from vecdcs.tasks.semeval import LABELS, Item, Labels, confusion, macro_f1, mirrored, read, score
from vecdcs.tasks.vectors import PlainVocabulary
from vecdcs.text.conllu import Sentence

TRAIN, TEST = "relations/SemEval2010_task8_TRAIN_FILE.TXT", "relations/SemEval2010_task8_TEST_FILE_FULL.TXT"
FOLDS = 5
PAPER_C, PAPER_GAMMA = 2.0, 0.25
GRID_C, GRID_GAMMA = (1.0, 2.0, 4.0, 8.0), (0.125, 0.18, 0.25, 0.35, 0.5, 0.7)
SAMPLE = 4000  # items to choose the grid's best on
AT_ONCE = 2000  # items composed at once

Features = NDArray[np.float32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """How to classify; `path` adds to the paper's four vectors, `tune` cross-validates C and γ on training items."""

    mirror: bool = True
    path: bool = False
    tune: bool = False
    parser: str = "english"
    seed: int = 1


AS_THE_PAPER = Options()


def evaluate(model: Model, data: Path, cache: Path, options: Options = AS_THE_PAPER) -> Result:
    """The official score on the test file; without one, by cross-validation on the training file."""
    if not (data / TRAIN).is_file():
        return Result("relations", str(model.path), "", {}, (TRAIN,))
    clock = Clock()
    with clock("read"):
        items = read(data / TRAIN)
        tested = read(data / TEST) if (data / TEST).is_file() else []
    with clock("parse"):
        sentences = _parsed(items, cache, options.parser) + _parsed(tested, cache, options.parser)
    with clock("compose"):
        found, unknown = features(model, [*items, *tested], sentences, options.path)
    labels = np.array([item.label for item in items])
    with clock("classify"):
        c, gamma = _chosen(found[: len(items)], labels, options)
        given = _classified(found, labels, len(tested), c, gamma, options)
    scored = tested or items
    coverage = {
        "no_features": int(np.sum(~found[-len(scored) :].any(1))),
        "oov": float(unknown[-len(scored) :].mean()),
    }
    settings = {**coverage, "C": c, "gamma": gamma}
    return _result(model, scored, given, clock, settings, bool(tested), options)


def _result(
    model: Model,
    items: Sequence[Item],
    given: Labels,
    clock: Clock,
    settings: dict[str, float],
    tested: bool,
    options: Options,
) -> Result:
    gold = np.array([item.label for item in items])
    sample = Sample("relations", len(gold), lambda rows: macro_f1(gold[rows], given[rows]))
    how = "fitted to the training file, scored on the test file" if tested else f"{FOLDS}-fold on the training file"
    mirror = "training items also mirrored" if options.mirror else "training items not mirrored"
    plain = isinstance(model.vocabulary, PlainVocabulary)
    four = "two words and the sums between them" if plain else "the paper's four vectors"
    used = f"{four}, and four of the bare path" if options.path and not plain else four
    protocol = f"SemEval-2010 task 8, (9+1)-way with direction, macro-F1 without Other; {used}; {how}; {mirror}"
    figures: dict[str, Any] = {
        "items": len(items),
        **score(gold, given),
        "interval95": interval95(sample, options.seed),
        **settings,
        "confusion": confusion(gold, given).tolist(),
    }
    details = [
        {"id": item.id, "gold": LABELS[one], "given": LABELS[other]}
        for item, one, other in zip(items, gold, given, strict=True)
    ]
    missing = () if tested else (TEST,)
    return Result("relations", str(model.path), protocol, figures, missing, clock.seconds, (sample,), details)


def _parsed(items: Sequence[Item], cache: Path, parser: str) -> list[list[Sentence]]:
    return parsed([item.text for item in items], cache, parser) if items else []


def features(
    model: Model, items: Sequence[Item], sentences: Sequence[Sequence[Sentence]], path: bool = False
) -> tuple[Features, Floats]:
    """[A B C D] of each item, zero where a marked word has no node; and the share of its marked words not known.

    With `path` each is followed by the same of the bare path between the two words: [A a B b C c D d].
    """
    if isinstance(model.vocabulary, PlainVocabulary):
        return _span_features(model, items, sentences)
    ways = 2 if path else 1
    found, unknown = np.zeros((len(items), 4, ways, model.dim), np.float32), np.ones(len(items))
    ud = bool(model.config.get("forest", {}).get("ud"))
    relations = {
        row: relation
        for row, (item, group) in enumerate(zip(items, sentences, strict=True))
        if (relation := _relation(item, group, ud)) is not None
    }
    for start in range(0, len(relations), AT_ONCE):
        rows = list(relations)[start : start + AT_ONCE]
        for way in range(ways):
            made = relation_features(model, [relations[row][way] for row in rows])
            found[rows, :, way] = made.reshape(len(rows), 4, -1)
        unknown[rows] = [_unknown(model, [tree.word for tree in relations[row][1][:2]]) for row in rows]
    return found.reshape(len(items), -1), unknown


def _relation(item: Item, sentences: Sequence[Sentence], ud: bool) -> tuple[Relation, Relation] | None:
    """How a text joins its two entities, and how the bare path does; none where one has no node."""
    trees = _trees(sentences, ud)
    one, two = (_head(trees, tokens) for tokens in _tokens(item, sentences))
    whole, bare = relation_of(trees, one, two), relation_of(_path(trees, one | two), one, two)
    if whole is None or bare is None:
        return None
    return whole, bare._replace(first=Tree(bare.first.word), second=Tree(bare.second.word))


def _head(trees: Iterable[Sequence[Node]], tokens: set[int]) -> set[int]:
    """The token of an entity that stands for it: of those with a node that hang at none of the others, the last."""
    heads = {
        node.token
        for tree in trees
        for node in tree
        if node.token in tokens and (node.parent < 0 or tree[node.parent].token not in tokens)
    }
    return {max(heads)} if heads else set()


def _path(trees: Iterable[Sequence[Node]], tokens: set[int]) -> list[list[Node]]:
    """The trees cut down to the path between the tokens; to the path to the root where a tree has but one of them."""
    return [_kept(tree, way) for tree in trees if (way := _way(tree, tokens))]


def _way(tree: Sequence[Node], tokens: set[int]) -> set[int]:
    ups = [set(_upward(tree, at)) for at, node in enumerate(tree) if node.token in tokens]
    if len(ups) < 2:
        return ups[0] if ups else set()
    shared = set.intersection(*ups)
    return (set.union(*ups) - shared) | {max(shared)}  # parents precede their children


def _upward(tree: Sequence[Node], at: int) -> Iterator[int]:
    while at >= 0:
        yield at
        at = tree[at].parent


def _kept(tree: Sequence[Node], way: set[int]) -> list[Node]:
    order = sorted(way)
    number = {at: place for place, at in enumerate(order)}
    bare = {"parent": -1, "label": "", "parent_label": "", "group": 0}
    return [
        tree[at]._replace(**{"parent": number[tree[at].parent]} if tree[at].parent in number else bare) for at in order
    ]


def _unknown(model: Model, words: Sequence[str]) -> float:
    return sum(not model.knows(word) for word in words) / len(words)


def _trees(sentences: Iterable[Sentence], ud: bool) -> list[list[Node]]:
    """The trees of all sentences of a text, their tokens numbered through."""
    trees, before = list[list[Node]](), 0
    for sentence in sentences:
        found = convert_ud(sentence) if ud else convert(sentence, single=True)
        trees += [[node._replace(token=node.token + before) for node in tree] for tree in found]
        before += len(sentence.tokens)
    return trees


def _tokens(item: Item, sentences: Sequence[Sentence]) -> list[set[int]]:
    """The numbers of the tokens of both entities, counted through all sentences of the text."""
    before = np.cumsum([0, *(len(sentence.tokens) for sentence in sentences)]).tolist()
    return [{before[s.sentence] + s.token for s in within(item.text, sentences, *span)} for span in item.spans]


def _span_features(
    model: Model, items: Sequence[Item], sentences: Sequence[Sequence[Sentence]]
) -> tuple[Features, Floats]:
    """For vectors alone, as the paper's GloVe row: e1, e2, and the sums over [e1, e2) and (e1, e2]."""
    found, unknown = np.zeros((len(items), 4, model.dim), np.float32), np.ones(len(items))
    for row, (item, group) in enumerate(zip(items, sentences, strict=True)):
        first, second = (sorted(tokens) for tokens in _tokens(item, group))
        if not first or not second:
            continue
        words = _words(model, group)
        vectors = unit(model.query[model.vocabulary.word_ids(words)])
        (one, start), (other, end) = ((tokens[-1] - 1, tokens[0] - 1) for tokens in (first, second))
        spans = (vectors[start:end], vectors[one + 1 : other + 1])
        found[row] = [vectors[one], vectors[other], *(span.sum(0) for span in spans)]
        unknown[row] = _unknown(model, (words[one], words[other]))
    return unit(found).reshape(len(items), -1), unknown


def _words(model: Model, sentences: Sequence[Sentence]) -> list[str]:
    """The words of a text as vectors know them: as they are written, else as their nodes have them (`book/N`)."""
    names = {node.token: node.word for tree in _trees(sentences, False) for node in tree}
    forms = enumerate((token.form for sentence in sentences for token in sentence.tokens), 1)
    return [form if model.knows(form) else names.get(at, form) for at, form in forms]


def exchanged(found: Features) -> Features:
    """The features with the two entities exchanged: [B A D C]."""
    a, b, c, d = np.split(found, 4, axis=1)
    return np.concatenate([b, a, d, c], axis=1)


def _classified(found: Features, labels: Labels, tested: int, c: float, gamma: float, options: Options) -> Labels:
    """The labels given to the test items, or to all training items, each by a machine that has not seen it."""
    if tested:
        return svm.predict(_fit(found[:-tested], labels, c, gamma, options), found[-tested:])
    given = np.empty_like(labels)
    for fitted, left in svm.folds(labels, FOLDS, options.seed):
        given[left] = svm.predict(_fit(found[fitted], labels[fitted], c, gamma, options), found[left])
    return given


def _fit(found: Features, labels: Labels, c: float, gamma: float, options: Options) -> svm.Machine:
    """A machine for items and, if asked for, their mirror images; only what it is fitted to is mirrored."""
    if options.mirror:
        found, labels = np.concatenate([found, exchanged(found)]), np.concatenate([labels, mirrored(labels)])
    return svm.fit(found, labels, c, gamma)


def _chosen(found: Features, labels: Labels, options: Options) -> tuple[float, float]:
    """C and γ: the paper's, or the best of a grid on some of the training items."""
    if not options.tune:
        return PAPER_C, PAPER_GAMMA
    some = np.sort(np.random.default_rng(options.seed).permutation(len(labels))[:SAMPLE])
    scores = {
        (c, gamma): macro_f1(labels[some], _classified(found[some], labels[some], 0, c, gamma, options))
        for c in GRID_C
        for gamma in GRID_GAMMA
    }
    return max(scores, key=lambda pair: scores[pair])


def similar(
    model: Model, data: Path, cache: Path, wanted: int, k: int = 5, parser: str = "english"
) -> list[tuple[float, Item]]:
    """The training items most like one of either file, by the cosine of their features (paper, table 4)."""
    items = read(data / TRAIN)
    others = read(data / TEST) if (data / TEST).is_file() else []
    sentences = _parsed(items, cache, parser) + _parsed(others, cache, parser)
    found = unit(features(model, [*items, *others], sentences)[0])
    place = next((at for at, item in enumerate((*items, *others)) if item.id == wanted), None)
    if place is None:
        raise InputError(f"no item {wanted}", str(data / TRAIN))
    near = found[: len(items)] @ found[place]
    ranked = [int(at) for at in np.argsort(-near, kind="stable") if at != place][:k]
    return [(1.0, [*items, *others][place]), *((float(near[at]), items[at]) for at in ranked)]


def draw_confusion(table: Sequence[Sequence[int]], target: Path) -> None:
    """The confusion matrix as a picture: rows are the gold labels."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("drawing needs matplotlib: pip install 'vecdcs[plot]'") from error
    counts = np.array(table, float)
    axes = (figure := Figure(figsize=(9, 8), layout="constrained")).subplots()
    axes.imshow(np.sqrt(counts / np.maximum(counts.sum(1, keepdims=True), 1)), cmap="Blues", vmin=0, vmax=1)
    for row, column in _filled(counts):
        axes.text(column, row, f"{counts[row, column]:.0f}", ha="center", va="center", fontsize=6)
    axes.set_xticks(range(len(LABELS)), LABELS, rotation=90, fontsize=7)
    axes.set_yticks(range(len(LABELS)), LABELS, fontsize=7)
    axes.set_xlabel("given")
    axes.set_ylabel("gold")
    figure.savefig(target)


def _filled(counts: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    return zip(*(places.tolist() for places in np.nonzero(counts)), strict=True)
