"""The parser in the box: tokeniser, sentence splitter, one network on onnxruntime, lemmas; weights as package data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError, VecdcsError
from vecdcs.text.conllu import NO_SPACE, Sentence, Token
from vecdcs.text.decode import are_trees, mend
from vecdcs.text.features import COLUMNS, affixes, normal, shape
from vecdcs.text.lemma import Lemmatizer, read_lemmas
from vecdcs.text.sentences import boundaries, limited
from vecdcs.text.tokenizer import chunks, joined, words

ENGLISH = Path(__file__).parent / "english"
WINDOW = 4096
"""Sentences read ahead, so that sentences of equal length can share a batch: no padding, and no word sees another's."""

LONGEST_TEXT = 200_000
BATCH_WORDS, BATCH_SENTENCES = 2048, 128
TYPES = 300_000
FREQUENT = 25_000
CLOSED = frozenset("CC DT EX IN MD PDT PRP PRP$ RP TO WDT WP WP$ WRB".split())
"""Tags of function words: no rare word has one, unless the training data says so."""
_token = partial(tuple.__new__, Token)


class Raw(NamedTuple):
    """A sentence before parsing; `glued`: no space before the word."""

    forms: Sequence[str]
    glued: Sequence[bool]
    text: str


class ShippedParser:
    """Texts to UD sentences. `split` counts sentences cut because they were too long."""

    def __init__(self, folder: Path = ENGLISH) -> None:
        if not (folder / "parse.onnx").exists():
            raise VecdcsError(f"no parser weights in {folder}: expected parse.onnx; is the package installed whole?")
        self.split = 0
        self._splitter: dict[str, float] = json.loads((folder / "splitter.json").read_text(encoding="utf-8"))
        self._lemma = Lemmatizer(read_lemmas(folder / "lemmas.tsv"))
        tags = json.loads((folder / "tags.json").read_text(encoding="utf-8"))
        tables = {name: _numbered(folder / f"{name}.txt", rows) for name, rows in tags["rows"].items()}
        self._types = TypeTable(tables["vectors"], tables["words"])
        self._function = {form for form, tag in self._lemma.table if tag in CLOSED}
        self._function.update(word for word, rank in tables["vectors"].items() if rank < FREQUENT)
        self._network = Network(folder, tags)

    def parse(self, texts: Iterable[str]) -> Iterator[Sentence]:
        """The sentences of the texts, in order; a sentence never crosses from one text into the next."""
        return self.annotate(raw for text in texts for piece in pieces(text) for raw in self.sentences(piece))

    def sentences(self, text: str) -> Iterator[Raw]:
        """A text cut into sentences and words."""
        found = chunks(text)
        words_of = joined(found, [words(chunk) for chunk in found])
        start = 0
        for end in [*boundaries(found, self._splitter), len(found) - 1]:
            yield from self._raw(found[start : end + 1], words_of[start : end + 1])
            start = end + 1

    def annotate(self, raws: Iterable[Raw]) -> Iterator[Sentence]:
        """Parse sentences that are cut already."""
        window: list[Raw] = []
        for raw in raws:
            window.append(raw)
            if len(window) == WINDOW:
                yield from self._window(window)
                window = []
        yield from self._window(window)

    def _raw(self, found: Sequence[str], words_of: Sequence[tuple[str, ...]]) -> Iterator[Raw]:
        forms = [word for chunk in words_of for word in chunk]
        glued = [at > 0 for chunk in words_of for at in range(len(chunk))]
        ends = limited(forms)
        if len(ends) == 1:
            if forms:
                yield Raw(forms, glued, " ".join(found))
            return
        self.split += 1
        start = 0
        for end in ends:
            part = Raw(forms[start:end], [False, *glued[start + 1 : end]], "")
            yield part._replace(text=_text(part))
            start = end

    def _window(self, window: list[Raw]) -> list[Sentence]:
        done: list[Sentence] = [None] * len(window)  # type: ignore[list-item]
        by_length: dict[int, list[int]] = {}
        for at, raw in enumerate(window):
            by_length.setdefault(len(raw.forms), []).append(at)
        for length, places in by_length.items():
            size = max(2, min(BATCH_SENTENCES, BATCH_WORDS // length))
            for start in range(0, len(places), size):
                batch = places[start : start + size]
                for at, sentence in zip(batch, self._batch([window[at] for at in batch], length), strict=True):
                    done[at] = sentence
        return done

    def _batch(self, raws: list[Raw], length: int) -> Iterator[Sentence]:
        """Sentences of one length; a lone one is doubled, since libraries add up single rows in another order."""
        padded = raws if len(raws) > 1 else raws * 2
        ids = self._types.ids([form for raw in padded for form in raw.forms])
        glued = np.array([raw.glued for raw in padded], np.int32)
        features = np.concatenate([ids.reshape(len(padded), length, -1), glued[:, :, None]], 2)
        heads, labels, upos, xpos = self._network.run(features)
        for at, raw in enumerate(raws):
            yield self._sentence(raw, heads[at], labels[at], upos[at], xpos[at])

    def _sentence(self, raw: Raw, heads: list[int], labels: list[str], upos: list[str], xpos: list[str]) -> Sentence:
        forms = raw.forms
        self._open_rare_words(forms, upos, xpos)
        lemmas = list(map(self._lemma, forms, xpos))
        if forms[0][:1].isupper():
            lemmas[0] = self._lemma(forms[0] if xpos[0] == "NNP" else forms[0].lower(), xpos[0])
        misc = [NO_SPACE if glue else "_" for glue in raw.glued[1:]]
        misc.append("_")
        rows = zip(
            range(1, len(forms) + 1), forms, lemmas, upos, xpos, repeat("_"), heads, labels, repeat("_"), misc,
            strict=False,
        )  # fmt: skip
        return Sentence(list(map(_token, rows)), [f"# text = {raw.text}"])

    def _open_rare_words(self, forms: Sequence[str], upos: list[str], xpos: list[str]) -> None:
        """Rare words that the network takes for function words are nouns or names."""
        for at, tag in enumerate(xpos):
            if tag in CLOSED and forms[at].isalpha() and forms[at].lower() not in self._function:
                named = at > 0 and forms[at][0].isupper()
                upos[at], xpos[at] = ("PROPN", "NNP") if named else ("NOUN", "NN")


class TypeTable:
    """The features of every distinct form, computed once; emptied when it grows too large."""

    def __init__(self, vectors: dict[str, int], trained: dict[str, int]) -> None:
        self._vectors, self._trained = vectors, trained
        self._numbers: dict[str, int] = {}
        self._rows = np.zeros((4096, len(COLUMNS)), np.int32)

    def ids(self, forms: list[str]) -> NDArray[np.int32]:
        """words x features."""
        if len(self._numbers) > TYPES:
            self._numbers.clear()
        numbers = self._numbers
        try:
            found = [numbers[form] for form in forms]
        except KeyError:
            found = [numbers[form] if form in numbers else self._add(form) for form in forms]
        rows: NDArray[np.int32] = self._rows[found]
        return rows

    def _add(self, form: str) -> int:
        number = self._numbers[form] = len(self._numbers)
        if number >= len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        word = normal(form)
        self._rows[number] = [self._vectors.get(word, 0), self._trained.get(word, 0), shape(form), *affixes(word)]
        return number


class Network:
    """The two ONNX graphs: one for arcs and tags, one for the labels of the chosen arcs."""

    def __init__(self, folder: Path, tags: dict[str, list[str]]) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._parse, self._label = (
            onnxruntime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])
            for name in ("parse.onnx", "label.onnx")
        )
        self._labels, self._upos, self._xpos = (_names(tags[key]) for key in ("labels", "upos", "xpos"))
        self._root, self._loose = tags["labels"].index("root"), tags["labels"].index("parataxis")

    def run(self, features: NDArray[np.int32]) -> tuple[Any, Any, Any, Any]:
        """Heads, labels, UPOS and XPOS of a batch, as nested lists."""
        arcs, dependents, above, best = self._parse.run(None, {"ids": features.transpose(1, 0, 2)})
        heads = best[:, :, 0]
        for at in np.flatnonzero(~are_trees(heads)):
            heads[at] = mend(heads[at], arcs[at])
        labels = self._labelled(dependents, above, heads)
        names = self._labels[labels], self._upos[best[:, :, 1]], self._xpos[best[:, :, 2]]
        return heads.tolist(), *(found.tolist() for found in names)

    def _labelled(self, dependents: Any, above: Any, heads: NDArray[np.int32]) -> NDArray[np.int32]:
        batch, length, width = dependents.shape
        rows = above[np.arange(batch)[:, None], heads].reshape(-1, width)
        (labels,) = self._label.run(None, {"dependents": dependents.reshape(-1, width), "heads": rows})
        labels = labels.reshape(batch, length)
        labels[(labels == self._root) & (heads > 0)] = self._loose
        labels[heads == 0] = self._root
        found: NDArray[np.int32] = labels
        return found


def pieces(text: str) -> Iterator[str]:
    """The text, or parts of it where it is too long to be held as words; cut after a full stop or at a space."""
    start = 0
    while len(text) - start > LONGEST_TEXT:
        end = start + LONGEST_TEXT
        found = (text.rfind(mark, start + LONGEST_TEXT // 2, end) for mark in (". ", " "))
        cut = next((at for at in found if at > 0), end - 1)
        yield text[start : cut + 1]
        start = cut + 1
    yield text[start:]


def _text(raw: Raw) -> str:
    return "".join(form if glue else " " + form for form, glue in zip(raw.forms, raw.glued, strict=True)).strip()


def _names(names: list[str]) -> NDArray[np.object_]:
    return np.array(names, object)


def _numbered(path: Path, rows: int) -> dict[str, int]:
    """The lines of a file and their numbers, from 0: as many as the network has rows for."""
    with path.open(encoding="utf-8") as stream:
        lines = [line[:-1] for line in stream]
    if len(lines) != rows:
        raise InputError(
            f"expected {rows} lines, one for each row of the network's table, found {len(lines)}", str(path)
        )
    return {line: number for number, line in enumerate(lines)}
