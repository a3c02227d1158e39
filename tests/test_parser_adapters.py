"""Parsers of others, by stand-ins that answer as the libraries do."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from vecdcs.errors import VecdcsError
from vecdcs.text.conllu import Sentence
from vecdcs.text.parser import load_parser

TEXT = "He isn't here."
WORDS = [("He", 4, "nsubj"), ("is", 4, "cop"), ("n't", 4, "advmod"), ("here", 0, "root"), (".", 4, "punct")]


def check(sentences: list[Sentence]) -> None:
    (sentence,) = sentences
    assert sentence.text == TEXT
    assert [(token.form, token.head, token.deprel) for token in sentence.tokens] == WORDS
    assert [token.misc == "SpaceAfter=No" for token in sentence.tokens] == [False, True, False, True, False]


def stanza_word(number: int, text: str, head: int, deprel: str) -> SimpleNamespace:
    return SimpleNamespace(id=number, text=text, lemma=None, upos="X", xpos="X", feats=None, head=head, deprel=deprel)


def stanza(language: str, **_: Any) -> Any:
    if language != "en":
        raise ValueError("no such model")
    words = [stanza_word(number, *word) for number, word in enumerate(WORDS, 1)]
    spans = [(words[:1], 0, 2), (words[1:3], 3, 8), (words[3:4], 9, 13), (words[4:], 13, 14)]
    tokens = [SimpleNamespace(words=part, start_char=start, end_char=end) for part, start, end in spans]
    return lambda text: SimpleNamespace(sentences=[SimpleNamespace(text=text, tokens=tokens)])


def test_stanza(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("stanza")
    module.Pipeline = stanza  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stanza", module)
    check(list(load_parser("stanza:en").parse([TEXT, "  "])))
    with pytest.raises(VecdcsError, match="xx"):
        load_parser("stanza:xx")


class SpacyWord(SimpleNamespace):
    is_space = False
    lemma_, pos_, tag_, morph = "", "X", "X", ""


def spacy(name: str) -> Any:
    if name != "ud":
        raise OSError("no such pipeline")
    starts = [0, 3, 5, 9, 13]
    words = [
        SpacyWord(i=at, text=form, idx=start, dep_=deprel, text_with_ws=form + (" " if at in (0, 2) else ""))
        for at, ((form, _, deprel), start) in enumerate(zip(WORDS, starts, strict=True))
    ]
    for word, (_, head, _) in zip(words, WORDS, strict=True):
        word.head = words[head - 1] if head else word
    words.insert(1, SpacyWord(i=9, text=" ", is_space=True))
    return lambda text: SimpleNamespace(sents=[words])


def test_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("spacy")
    module.load = spacy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    check(list(load_parser("spacy:ud").parse([TEXT])))
    with pytest.raises(VecdcsError, match="other"):
        load_parser("spacy:other")


class Pipeline:
    DEFAULT = ""

    def __init__(self, *_: Any) -> None:
        pass

    def process(self, text: str, error: Any) -> str:
        error.message = "broken" if "break" in text else ""
        rows = [
            f"{n}\t{form}\t_\tX\tX\t_\t{head}\t{deprel}\t_\t{'SpaceAfter=No' if n in (2, 4) else '_'}"
            for n, (form, head, deprel) in enumerate(WORDS, 1)
        ]
        return "\n".join([f"# text = {text}", *rows, "", ""])


class ProcessingError:
    message = ""

    def occurred(self) -> bool:
        return bool(self.message)


def test_udpipe(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("ufal.udpipe")
    module.Pipeline, module.ProcessingError = Pipeline, ProcessingError  # type: ignore[attr-defined]
    module.Model = SimpleNamespace(load=lambda file: file if file == "model" else None)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ufal", ModuleType("ufal"))
    monkeypatch.setitem(sys.modules, "ufal.udpipe", module)
    parser = load_parser("udpipe:model")
    check(list(parser.parse([TEXT])))
    with pytest.raises(VecdcsError, match="broken"):
        list(parser.parse(["break"]))
    with pytest.raises(VecdcsError, match="nothing"):
        load_parser("udpipe:nothing")
