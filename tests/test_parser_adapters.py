"""Parsers of others: the real libraries with small models made here, from sentences written for this test."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.errors import VecdcsError
from vecdcs.text import adapters
from vecdcs.text.conllu import Sentence, Token, format_sentence, parse_conllu
from vecdcs.text.parser import load_parser

WORDS = """
Canada|PROPN|NNP|2|nsubj banned=ban|VERB|VBD|0|root drugs=drug|NOUN|NNS|2|obj .|PUNCT|.|2|punct
He=he|PRON|PRP|4|nsubj is=be|AUX|VBZ|4|cop n't=not|PART|RB|4|advmod here|ADV|RB|0|root .|PUNCT|.|4|punct
The=the|DET|DT|2|det drugs=drug|NOUN|NNS|4|nsubj:pass were=be|AUX|VBD|4|aux:pass sold=sell|VERB|VBN|0|root .|PUNCT|.|4|punct
She=she|PRON|PRP|2|nsubj sold=sell|VERB|VBD|0|root the|DET|DT|4|det car|NOUN|NN|2|obj .|PUNCT|.|2|punct
The=the|DET|DT|3|det old|ADJ|JJ|3|amod man|NOUN|NN|4|nsubj slept=sleep|VERB|VBD|0|root .|PUNCT|.|4|punct
A=a|DET|DT|2|det dog|NOUN|NN|3|nsubj barked=bark|VERB|VBD|0|root .|PUNCT|.|3|punct
They=they|PRON|PRP|2|nsubj live|VERB|VBP|0|root in|ADP|IN|4|case Paris|PROPN|NNP|2|obl .|PUNCT|.|2|punct
The=the|DET|DT|2|det house|NOUN|NN|4|nsubj is=be|AUX|VBZ|4|cop old|ADJ|JJ|0|root .|PUNCT|.|4|punct
John|PROPN|NNP|2|nsubj gave=give|VERB|VBD|0|root her=she|PRON|PRP|2|iobj a|DET|DT|5|det book|NOUN|NN|2|obj .|PUNCT|.|2|punct
It=it|PRON|PRP|4|nsubj is=be|AUX|VBZ|4|cop n't=not|PART|RB|4|advmod old|ADJ|JJ|0|root .|PUNCT|.|4|punct
Dogs=dog|NOUN|NNS|2|nsubj chase|VERB|VBP|0|root cats=cat|NOUN|NNS|2|obj .|PUNCT|.|2|punct
The=the|DET|DT|2|det king|NOUN|NN|3|nsubj died=die|VERB|VBD|0|root .|PUNCT|.|3|punct
"""  # noqa: E501


def written(line: str) -> Sentence:
    """A sentence of `form=lemma|UPOS|XPOS|head|relation`; full stops and n't are glued to the word before."""
    rows = [word.split("|") for word in line.split()]
    glued = [form[0] in ".n=" and form[:3] in (".", "n't") for form, *_ in rows[1:]] + [False]
    tokens = []
    for number, ((word, upos, xpos, head, deprel), near) in enumerate(zip(rows, glued, strict=True), 1):
        form, _, lemma = word.partition("=")
        misc = "SpaceAfter=No" if near else "_"
        tokens.append(Token(number, form, lemma or form, upos, xpos, "_", int(head), deprel, "_", misc))
    return Sentence(tokens)


SENTENCES = [written(line) for line in WORDS.strip().splitlines()]
TEXT = "Canada banned drugs. He isn't here. The drugs were sold."


def columns(sentences: Iterable[Sentence], *names: str) -> list[list[Any]]:
    return [[tuple(getattr(token, name) for name in names) for token in sentence.tokens] for sentence in sentences]


def check(found: Sequence[Sentence]) -> None:
    """What every parser must give for TEXT, which all of them have learned by heart."""
    assert [sentence.comments for sentence in found] == [
        ["# text = Canada banned drugs."], ["# text = He isn't here."], ["# text = The drugs were sold."],
    ]  # fmt: skip
    names = ("id", "form", "lemma", "xpos", "head", "deprel")
    assert columns(found, *names) == columns(SENTENCES[:3], *names)
    for sentence in found:
        sentence.comments.clear()
        assert sentence.text in TEXT
        assert parse_conllu(format_sentence(sentence)) == [sentence]


def check_commands(parser: str, tmp_path: Path) -> None:
    """The commands that take a parser."""
    source = tmp_path / "text.txt"
    source.write_text(f"{TEXT}\n\n\x07 \u200b\nDogs chase cats.\n", encoding="utf-8")
    parsed = CliRunner().invoke(app, ["parse", "--parser", parser, str(source)], catch_exceptions=False)
    texts = [sentence.text for sentence in parse_conllu(parsed.stdout)]
    assert texts == ["Canada banned drugs.", "He isn't here.", "The drugs were sold.", "Dogs chase cats."]
    arguments = ["tree", "--parser", parser, "--format", "notation", "Canada banned drugs."]
    assert CliRunner().invoke(app, arguments).stdout == "ban/V & SUBJ:Canada/N & COMP:drug/N\n".replace("C", "c", 1)
    arguments = ["parse", "--parser", parser]
    (asked,) = parse_conllu(CliRunner().invoke(app, arguments, input="Canada banned _.").stdout)
    assert (asked.text, [token.form for token in asked.tokens]) == ("Canada banned _.", ["Canada", "banned", "_", "."])
    forest = tmp_path / "forest"
    arguments = ["build", "--parser", parser, "--workers", "1", str(source), "-o", str(forest)]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    assert (forest / "manifest.json").is_file()


# UDPipe


def with_ranges(sentence: Sentence) -> str:
    """CoNLL-U with `isn't` as one token of two words."""
    at = next((token.id for token in sentence.tokens if token.form == "n't"), 0)
    if at:
        form = sentence.tokens[at - 2].form + "n't"
        sentence = Sentence(sentence.tokens, [], [(at - 2, f"{at - 1}-{at}\t{form}" + "\t_" * 8)])
    return format_sentence(sentence)


def train_udpipe(udpipe: Any, tokenizer: str, parser: str) -> bytes:
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText("".join(map(with_ranges, SENTENCES * 4)))
    training, error = udpipe.Sentences(), udpipe.ProcessingError()
    while reader.nextSentence(sentence := udpipe.Sentence(), error):
        training.push_back(sentence)
    options = tokenizer, "models=1;iterations=2", parser
    model: bytes = udpipe.Trainer.train("morphodita_parsito", training, udpipe.Sentences(), *options, error)
    assert not error.occurred(), error.message
    return model


@pytest.fixture(scope="module")
def udpipe_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    udpipe = pytest.importorskip("ufal.udpipe")
    file = tmp_path_factory.mktemp("udpipe") / "small.udpipe"
    tokenizer = "dimension=16;epochs=2;early_stopping=0;batch_size=1;segment_size=20"
    parser = "iterations=20;l2=0.001;hidden_layer=32;embedding_upostag=8;embedding_form=8;embedding_deprel=8"
    file.write_bytes(train_udpipe(udpipe, tokenizer, f"{parser};structured_interval=0;single_root=1"))
    return str(file)


def test_udpipe(udpipe_model: str, tmp_path: Path) -> None:
    parser = load_parser(f"udpipe:{udpipe_model}")
    found = list(parser.parse([TEXT]))
    ((before, row),) = found[1].extras
    assert (before, row.split("\t")[:2]) == (1, ["2-3", "isn't"])
    check(found)
    assert list(parser.parse(["", " \t\n"])) == []
    check(list(parser.parse([f"  {TEXT[:20]}\x00 \n", TEXT[21:35], "\x07", TEXT[36:]])))
    check_commands(f"udpipe:{udpipe_model}", tmp_path)


def test_udpipe_without_model_or_a_whole_one(tmp_path: Path) -> None:
    udpipe = pytest.importorskip("ufal.udpipe")
    file = tmp_path / "broken.udpipe"
    file.write_bytes(b"this is no model")
    for name in (tmp_path / "nothing", tmp_path, file):
        with pytest.raises(VecdcsError, match=f"{name}: expected a model of UDPipe"):
            load_parser(f"udpipe:{name}")
    file.write_bytes(train_udpipe(udpipe, udpipe.Trainer.NONE, udpipe.Trainer.NONE))
    with pytest.raises(VecdcsError, match=r"broken.udpipe: UDPipe failed: .*tokenizer"):
        list(load_parser(f"udpipe:{file}").parse([TEXT]))


# spaCy

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2", "width": 32, "depth": 1, "embed_size": 500, "window_size": 1,
    "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None,
}  # fmt: skip
TAGGER = {"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": TOK2VEC}}
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "extra_state_tokens": False,
    "hidden_width": 32, "maxout_pieces": 2, "use_upper": True, "tok2vec": TOK2VEC,
}  # fmt: skip
CONFIGS = {"tagger": TAGGER, "morphologizer": TAGGER, "parser": {"model": PARSER, "min_action_freq": 1}}


def spacy_document(vocab: Any, sentences: Sequence[Sentence]) -> Any:
    from spacy.tokens import Doc

    tokens = [token for sentence in sentences for token in sentence.tokens]
    starts = [at for at, token in enumerate(tokens) if token.id == 1]
    offset = [max(start for start in starts if start <= at) for at in range(len(tokens))]
    return Doc(
        vocab,
        words=[token.form for token in tokens],
        spaces=[token.misc == "_" for token in tokens],
        tags=[token.xpos for token in tokens],
        pos=[token.upos for token in tokens],
        heads=[start + (token.head or token.id) - 1 for start, token in zip(offset, tokens, strict=True)],
        deps=["ROOT" if token.deprel == "root" else token.deprel for token in tokens],
    )


def train_spacy(folder: Path, *pipes: str) -> str:
    """A pipeline of the given parts that knows SENTENCES by heart, three to a document."""
    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    pipeline = spacy.blank("en")
    for pipe in pipes:
        pipeline.add_pipe(pipe, config=CONFIGS[pipe])
    documents = [spacy_document(pipeline.vocab, SENTENCES[at : at + 3]) for at in range(0, len(SENTENCES), 3)]
    examples = [Example(pipeline.make_doc(document.text), document) for document in documents]
    optimizer = pipeline.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    rng = random.Random(0)
    for _ in range(25):
        rng.shuffle(examples)
        pipeline.update(examples, sgd=optimizer)
    pipeline.to_disk(folder)
    return str(folder)


def save_spacy(folder: Path, pipe: str, *labels: str) -> str:
    """A pipeline of one part that has learned nothing."""
    import spacy

    pipeline = spacy.blank("en")
    part = pipeline.add_pipe(pipe, config=CONFIGS.get(pipe, {}))
    for label in labels:
        part.add_label(label)
    pipeline.initialize()
    pipeline.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def spacy_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("spacy")
    return train_spacy(tmp_path_factory.mktemp("spacy"), "tagger", "morphologizer", "parser")


def test_spacy(spacy_model: str, tmp_path: Path) -> None:
    """The pipeline has no lemmatizer: lemmas are those of the parser in the box."""
    parser = load_parser(f"spacy:{spacy_model}")
    found = list(parser.parse([TEXT]))
    assert [[token.form for token in sentence.tokens if token.misc != "_"] for sentence in found] == [
        ["drugs"], ["is", "here"], ["sold"],
    ]  # fmt: skip
    assert columns(found, "upos") == columns(SENTENCES[:3], "upos")
    check(found)
    assert list(parser.parse(["", " \t\n"])) == []
    check(list(parser.parse([f"  {TEXT[:7]}\x00 \t {TEXT[7:]}\n", "\x07"])))
    check_commands(f"spacy:{spacy_model}", tmp_path)


def test_spacy_labels_must_be_those_of_ud(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    name = save_spacy(tmp_path / "other", "parser", "nsubj", "dobj", "pobj", "prep", "nsubj:pass")
    with pytest.raises(VecdcsError, match=r"spacy:.*expected relations of Universal Dep.*, found 'pobj', 'prep'$"):
        load_parser(f"spacy:{name}")


def test_spacy_needs_a_parser_and_tags(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    name = save_spacy(tmp_path / "sentences", "sentencizer")
    with pytest.raises(VecdcsError, match="expected a pipeline with a parser, found sentencizer"):
        list(load_parser(f"spacy:{name}").parse([TEXT]))
    name = train_spacy(tmp_path / "untagged", "parser")
    with pytest.raises(VecdcsError, match=r"expected parts of speech .*, found none in 'Canada banned drugs.'"):
        list(load_parser(f"spacy:{name}").parse([TEXT]))


def test_spacy_without_model(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    for name in (tmp_path / "nothing", tmp_path, "no_such_pipeline"):
        with pytest.raises(VecdcsError, match=f"spaCy cannot load '{name}'"):
            load_parser(f"spacy:{name}")


# stanza


class StanzaPipeline:
    """Gives stanza's own documents, annotated by hand: its models cannot be made in a moment."""

    def __init__(self, relations: dict[str, str]) -> None:
        self.relations = relations

    def __call__(self, text: str) -> Any:
        from stanza.models.common.doc import Document

        starts = [text.index(sentence.text) for sentence in SENTENCES[:3]]
        pairs = zip(SENTENCES, starts, strict=False)
        return Document([list(self.entries(sentence, start)) for sentence, start in pairs], text=text)

    def entries(self, sentence: Sentence, start: int) -> Iterator[dict[str, Any]]:
        for token, after in zip(sentence.tokens, [*sentence.tokens[1:], None], strict=True):
            place = {"start_char": start, "end_char": start + len(token.form)}
            if after and after.form == "n't":
                both = {"start_char": start, "end_char": start + len(token.form) + 3}
                yield {"id": (token.id, after.id), "text": token.form + "n't", **both}
            tags = {"upos": token.upos, "xpos": token.xpos, "lemma": token.lemma}
            relation = self.relations.get(token.deprel, token.deprel)
            yield {"id": (token.id,), "text": token.form, **tags, "head": token.head, "deprel": relation, **place}
            start += len(token.form) + (token.misc == "_")


def test_stanza(monkeypatch: pytest.MonkeyPatch) -> None:
    stanza = pytest.importorskip("stanza")
    monkeypatch.setattr(stanza, "Pipeline", lambda *_, **__: StanzaPipeline({}))
    found = list(load_parser("stanza:en").parse([f"{TEXT[:20]}\n\x00{TEXT[20:]}"]))
    ((before, row),) = found[1].extras
    assert (before, row.split("\t")[:2]) == (1, ["2-3", "isn't"])
    assert "SpaceAfter=No" in found[0].tokens[2].misc and "SpaceAfter" not in found[0].tokens[1].misc
    check(found)
    monkeypatch.setattr(stanza, "Pipeline", lambda *_, **__: StanzaPipeline({"nsubj": "SBJ"}))
    with pytest.raises(VecdcsError, match=r"stanza:en: expected relations .*, found 'SBJ'"):
        list(load_parser("stanza:en").parse([TEXT]))


def test_stanza_without_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is looked for elsewhere than on this machine."""
    stanza = pytest.importorskip("stanza")
    monkeypatch.setattr("stanza.pipeline.core.download_resources_json", lambda *_, **__: pytest.fail("downloads"))
    monkeypatch.setattr(stanza.Pipeline.__init__, "__defaults__", _in(stanza.Pipeline.__init__.__defaults__, tmp_path))
    with pytest.raises(VecdcsError, match=r"no whole model for 'en' here \(stanza.download\('en'\) fetches one\)"):
        load_parser("stanza:en")


def _in(defaults: tuple[Any, ...], folder: Path) -> tuple[Any, ...]:
    """The defaults with another folder of models."""
    return (defaults[0], str(folder), *defaults[2:])


# What all have in common, by a stand-in


def parser_giving(monkeypatch: pytest.MonkeyPatch, conllu: str) -> tuple[adapters.Adapter, list[str]]:
    """A UDPipe whose every answer is the same, and the list of texts it was asked for."""
    asked: list[str] = []

    def process(text: str, _: object) -> str:
        asked.append(text)
        return conllu

    module: Any = ModuleType("ufal.udpipe")
    module.Model = SimpleNamespace(load=lambda file: file)
    module.ProcessingError = lambda: SimpleNamespace(occurred=lambda: False)
    module.Pipeline = lambda *_: SimpleNamespace(process=process)
    module.Pipeline.DEFAULT = ""
    monkeypatch.setitem(sys.modules, "ufal", ModuleType("ufal"))
    monkeypatch.setitem(sys.modules, "ufal.udpipe", module)
    return adapters.load("udpipe", "model"), asked


def test_texts_are_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library is given control characters, empty texts, very long texts, or very long runs without a space."""
    parser, asked = parser_giving(monkeypatch, "")
    texts = ["a\x00b\x85\ud800 \t c\u200b\n", "", "\x07", "x" * 500, "word " * 100_000]
    assert list(parser.parse(texts)) == []
    assert asked[:2] == ["a b c", f"{'x' * 200} {'x' * 200} {'x' * 100}"]
    assert " ".join(asked[2:]).split() == ["word"] * 100_000
    assert max(map(len, asked)) <= 200_000


def test_missing_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas are looked up, by UPOS where there is no Penn tag; empty nodes and other comments do no harm."""
    rows = [
        "# sent_id = 1", "1\tDrugs\t_\tNOUN\t_\t_\t3\tnsubj:pass\t_\t_", "2\twere\t_\tAUX\t_\t_\t3\taux:pass\t_\t_",
        "3\tsold\t_\t_\tVBN\t_\t0\troot\t_\tSpaceAfter=No", "3.1\tsold\tsell\tVERB\tVBN\t_\t_\t_\t0:root\t_",
        "4\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_", "", "",
    ]  # fmt: skip
    parser, _ = parser_giving(monkeypatch, "\n".join(rows))
    (sentence,) = parser.parse(["x"])
    assert [token.lemma for token in sentence.tokens] == ["drug", "be", "sell", "."]
    assert sentence.comments == ["# text = Drugs were sold."]
    assert len(sentence.extras) == 1


def test_blanks_are_names_to_other_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    name = adapters.STAND_IN
    rows = [
        f"# text = {name}'s dog barked", f"1-2\t{name}'s" + "\t_" * 8, f"1\t{name}\tx\tX\t_\t_\t3\tnmod:poss\t_\t_",
        "2\t's\t's\tPART\tPOS\t_\t1\tcase\t_\t_", "3\tdog\tdog\tNOUN\tNN\t_\t4\tnsubj\t_\t_",
        "4\tbarked\tbark\tVERB\tVBD\t_\t0\troot\t_\t_", "", "",
    ]  # fmt: skip
    parser, asked = parser_giving(monkeypatch, "\n".join(rows))
    (sentence,) = parser.parse(["_'s dog barked"])
    assert sentence.tokens[0] == Token(1, "_", "_", "PROPN", "NNP", "_", 3, "nmod:poss")
    assert sentence.text == "_'s dog barked" and sentence.extras == [(0, "1-2\t_'s" + "\t_" * 8)]
    list(parser.parse(['"_", or_ _so_ snake_case (_)_ _']))
    assert asked == [f"{name}'s dog barked", f'"{name}", or_ _so_ snake_case ({name}){name} {name}']


def test_relations_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for relation in ("SBJ", "_", "pobj"):
        parser, _ = parser_giving(monkeypatch, f"1\tHe\the\tPRON\tPRP\t_\t0\t{relation}\t_\t_\n\n")
        with pytest.raises(VecdcsError, match=f"udpipe:model: expected relations .*, found '{relation}'$"):
            list(parser.parse(["He"]))
    for relation in ("root", "nsubj:pass", "nsubjpass", "ROOT"):
        parser, _ = parser_giving(monkeypatch, f"1\tHe\the\tPRON\tPRP\t_\t0\t{relation}\t_\t_\n\n")
        assert len(list(parser.parse(["He"]))) == 1


def test_texts_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    parser, asked = parser_giving(monkeypatch, "1\tHe\the\tPRON\tPRP\t_\t0\troot\t_\t_\n\n")
    next(parser.parse(f"text {number}" for number in range(1000)))
    assert asked == ["text 0"]


@pytest.mark.parametrize("name", ["malt:en", "nonsense", "stanza", "stanza:", "spacy", "spacy:", "udpipe:", ""])
def test_unknown_names(name: str) -> None:
    with pytest.raises(VecdcsError, match=f"unknown parser '{name}': expected english, stanza:LANGUAGE"):
        load_parser(name)


@pytest.mark.parametrize("kind", adapters.PACKAGES)
def test_missing_libraries(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    package = adapters.PACKAGES[kind]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(VecdcsError, match=f"the parser {kind}:en needs the package {package}: pip install {package}"):
        load_parser(f"{kind}:en")
