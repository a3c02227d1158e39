"""Parsers of others, where the user has them: stanza, spaCy pipelines with UD labels, UDPipe models."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from vecdcs.errors import VecdcsError
from vecdcs.text.conllu import NO_SPACE, Sentence, Token, parse_conllu
from vecdcs.text.features import BLANK
from vecdcs.text.lemma import Lemmatizer, read_lemmas
from vecdcs.text.shipped import ENGLISH, pieces
from vecdcs.text.tokenizer import chunks

ParseTexts = Callable[[Iterable[str]], Iterator[Sentence]]

PACKAGES = {"stanza": "stanza", "spacy": "spacy", "udpipe": "ufal.udpipe"}
RELATIONS = frozenset(
    """acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed
    flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
    auxpass csubjpass dobj mwe name neg nsubjpass""".split()
)
"""UD v2, and in the last line the names of v1 that the rules know."""

LEMMA_TAGS = {"NOUN": "NNS", "VERB": "VBD", "AUX": "VBD", "ADJ": "JJR", "ADV": "RBR", "PROPN": "NNP", "NUM": "CD"}
"""By which Penn tag the lemma of a word without one is looked up: as inflected, since a bare form is its own lemma."""

STAND_IN = "Blankovia"
"""Others take a blank for punctuation: they are given a name that no text has, which is made a blank again after."""

_ALONE = re.compile(rf"\b{BLANK}\b")


class Adapter:
    """A parser of others: its texts are cleaned as for the parser in the box, and what it gives is checked."""

    def __init__(self, name: str, parse_texts: ParseTexts) -> None:
        self._name, self._parse_texts = name, parse_texts

    def parse(self, texts: Iterable[str]) -> Iterator[Sentence]:
        """The sentences of the texts, in order."""
        for sentence in self._parse_texts(_cleaned(texts)):
            yield _checked(sentence, self._name)


def load(kind: str, argument: str) -> Adapter:
    """A parser by the name of its library and of its model."""
    package, name = PACKAGES[kind], f"{kind}:{argument}"
    try:
        library = importlib.import_module(package)
    except ImportError as error:
        raise VecdcsError(f"the parser {name} needs the package {package}: pip install {package} ({error})") from error
    return Adapter(name, {"stanza": _stanza, "spacy": _spacy, "udpipe": _udpipe}[kind](library, argument))


def _stanza(library: Any, language: str) -> ParseTexts:
    """Models are never downloaded behind the user's back; stanza turns its own objects into CoNLL-U."""
    try:
        pipeline = library.Pipeline(
            language, processors="tokenize,mwt,pos,lemma,depparse", download_method=None, verbose=False
        )
    except Exception as error:
        advice = f"stanza.download({language!r}) fetches one"
        raise VecdcsError(f"stanza has no whole model for {language!r} here ({advice}): {error}") from error

    def parse_texts(texts: Iterable[str]) -> Iterator[Sentence]:
        for text in texts:
            yield from parse_conllu(f"{pipeline(text):C}", f"stanza:{language}")

    return parse_texts


def _spacy(library: Any, pipeline_name: str) -> ParseTexts:
    name = f"spacy:{pipeline_name}"
    try:
        pipeline = library.load(pipeline_name)
    except (OSError, ValueError, ImportError) as error:
        raise VecdcsError(f"spaCy cannot load {pipeline_name!r}: {error}") from error
    _check_relations(pipeline.pipe_labels.get("parser", []), name)

    def parse_texts(texts: Iterable[str]) -> Iterator[Sentence]:
        for document in pipeline.pipe(texts):
            if not document.has_annotation("DEP"):
                raise VecdcsError(f"{name}: expected a pipeline with a parser, found {', '.join(pipeline.pipe_names)}")
            yield from map(_from_spacy, document.sents)

    return parse_texts


def _from_spacy(span: Any) -> Sentence:
    """A sentence; spaCy has no multiword tokens, and after cleaning no tokens of spaces."""
    tokens = []
    for at, word in enumerate(span, 1):
        head = 0 if word.head.i == word.i else word.head.i - span.start + 1
        lemma, upos, xpos, feats = (cell or "_" for cell in (word.lemma_, word.pos_, word.tag_, str(word.morph)))
        misc = "_" if word.whitespace_ or word.i + 1 == len(word.doc) else NO_SPACE
        tokens.append(Token(at, word.text, lemma, upos, xpos, feats, head, word.dep_ if head else "root", "_", misc))
    return Sentence(tokens, [f"# text = {span.text}"])


def _udpipe(library: Any, file: str) -> ParseTexts:
    model = library.Model.load(file)
    if model is None:
        raise VecdcsError(f"{file}: expected a model of UDPipe 1, found none")

    def parse_texts(texts: Iterable[str]) -> Iterator[Sentence]:
        # Made here, where `model` lives on: UDPipe's pipeline does not keep its model alive.
        pipeline = library.Pipeline(model, "tokenize", library.Pipeline.DEFAULT, library.Pipeline.DEFAULT, "conllu")
        for text in texts:
            error = library.ProcessingError()
            output = pipeline.process(text, error)
            if error.occurred():
                raise VecdcsError(f"{file}: UDPipe failed: {error.message}")
            yield from parse_conllu(output, f"udpipe:{file}")

    return parse_texts


def _cleaned(texts: Iterable[str]) -> Iterator[str]:
    """Texts with single spaces and names for blanks, without control characters, long ones and long words cut."""
    for text in texts:
        for piece in pieces(text):
            if found := chunks(piece):
                yield _ALONE.sub(STAND_IN, " ".join(found))


def _checked(sentence: Sentence, name: str) -> Sentence:
    """The sentence with `# text` as its one comment and with lemmas, if its labels are UD's."""
    _check_relations((token.deprel for token in sentence.tokens), name)
    if all(token.upos == token.xpos == "_" for token in sentence.tokens):
        raise VecdcsError(f"{name}: expected parts of speech (UPOS or Penn tags), found none in {sentence.text!r}")
    extras = [(before, row.replace(STAND_IN, BLANK)) for before, row in sentence.extras]
    return Sentence(list(map(_mended, sentence.tokens)), [f"# text = {sentence.text.replace(STAND_IN, BLANK)}"], extras)


def _check_relations(found: Iterable[str], name: str) -> None:
    strange = {label for label in found if label.partition(":")[0].lower() not in RELATIONS}
    if strange:
        listed = ", ".join(sorted(map(repr, strange)))
        raise VecdcsError(f"{name}: expected relations of Universal Dependencies (nsubj, obj, obl...), found {listed}")


def _mended(token: Token) -> Token:
    """The token as a blank if it stands for one; with a lemma if it has none."""
    if token.form == STAND_IN:
        return token._replace(form=BLANK, lemma=BLANK, upos="PROPN", xpos="NNP")
    if token.lemma != "_":
        return token
    tag = token.xpos if token.xpos != "_" else LEMMA_TAGS.get(token.upos, "_")
    return token._replace(lemma=lemmatizer()(token.form, tag))


@cache
def lemmatizer() -> Lemmatizer:
    """The lemmatiser in the box."""
    return Lemmatizer(read_lemmas(ENGLISH / "lemmas.tsv"))
