"""The shipped parser: constructions the rules need, phrases, blanks, odd input, and the same parse in any company."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.dcs.convert import sentence_trees
from vecdcs.dcs.notation import parse as parse_notation
from vecdcs.errors import InputError, VecdcsError
from vecdcs.text import lemma, shipped
from vecdcs.text.conllu import Sentence, format_sentence, parse_conllu
from vecdcs.text.decode import are_trees, mend
from vecdcs.text.lemma import Lemmatizer
from vecdcs.text.parser import LONGEST_READ, Parser, load_parser, read_texts
from vecdcs.text.sentences import LONGEST
from vecdcs.text.shipped import ENGLISH, ShippedParser, TypeTable
from vecdcs.text.tokenizer import LONGEST_CHUNK, chunks

PHRASES = Path(__file__).parent / "phrases.tsv"


@pytest.fixture(scope="session")
def english() -> ShippedParser:
    return ShippedParser()


def only(parser: Parser, text: str) -> Sentence:
    (sentence,) = parser.parse([text])
    return sentence


def arcs(sentence: Sentence) -> set[str]:
    """`word relation head` for every word."""
    forms = ["ROOT", *(token.form for token in sentence.tokens)]
    return {f"{token.form} {token.deprel} {forms[token.head]}" for token in sentence.tokens}


CONSTRUCTIONS = {
    "passive": ("The bridge was destroyed in 1944.", "bridge nsubj:pass destroyed", "was aux:pass destroyed"),
    "agent": ("The novel was written by a young woman.", "woman obl:agent written", "by case woman"),
    "relative clause with wh-word": ("The man who sold the car left town.", "sold acl:relcl man", "who nsubj sold"),
    "relative clause without": ("The car that he bought was old.", "bought acl:relcl car", "he nsubj bought"),
    "reduced relative clause": (
        "Drugs banned by Canada are still sold.",
        "banned acl Drugs",
        "Canada obl:agent banned",
    ),
    "subject control": ("John wants to sell his house.", "sell xcomp wants", "house obj sell", "John nsubj wants"),
    "object control": ("She forced John to leave.", "leave xcomp forced", "John obj forced"),
    "copula": ("The drug is illegal in Canada.", "drug nsubj illegal", "is cop illegal", "illegal root ROOT"),
    "nominal copula": (
        "Paris is the capital of France.",
        "Paris nsubj capital",
        "France nmod capital",
        "is cop capital",
    ),
    "coordination": ("The men came and took the money.", "took conj came", "and cc took", "money obj took"),
    "noun coordination": ("Cats and dogs chase mice.", "dogs conj Cats", "Cats nsubj chase"),
    "phrasal verb": ("He gave up the search.", "up compound:prt gave", "search obj gave"),
    "possessive": ("The king's daughter died.", "king nmod:poss daughter", "'s case king"),
    "question": ("What did Canada ban?", "What obj ban", "did aux ban", "Canada nsubj ban"),
    "clause complement": ("He said that the train was late.", "late ccomp said", "that mark late"),
    "adverbial clause": ("They left because it rained.", "rained advcl left", "because mark rained"),
    "indirect object": ("She gave him a book.", "him iobj gave", "book obj gave"),
    "preposition": ("The students live in a small house.", "house obl live", "in case house", "small amod house"),
}


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_constructions(english: ShippedParser, name: str) -> None:
    text, *expected = CONSTRUCTIONS[name]
    found = arcs(only(english, text))
    assert set(expected) <= found, found


def test_frozen_phrases(english: ShippedParser) -> None:
    """The hundred phrases were written before training and are in no training data; whole trees must be equal."""
    right: Counter[str] = Counter()
    wrong = []
    for line in PHRASES.read_text(encoding="utf-8").splitlines():
        kind, text, notation = line.split("\t")
        trees = [tree for sentence in english.parse([text]) for tree in sentence_trees(sentence)]
        right[kind] += trees == [parse_notation(notation)]
        if trees != [parse_notation(notation)]:
            wrong.append((text, list(map(str, trees))))
    assert sum(right.values()) >= 90, (right, wrong)


def test_columns(english: ShippedParser) -> None:
    sentence = only(english, "The children weren't sleeping.")
    assert sentence.meta("text") == "The children weren't sleeping."
    assert [token.form for token in sentence.tokens] == ["The", "children", "were", "n't", "sleeping", "."]
    assert [token.lemma for token in sentence.tokens] == ["the", "child", "be", "not", "sleep", "."]
    assert [token.upos for token in sentence.tokens] == ["DET", "NOUN", "AUX", "PART", "VERB", "PUNCT"]
    assert [token.xpos for token in sentence.tokens] == ["DT", "NNS", "VBD", "RB", "VBG", "."]
    assert [token.misc for token in sentence.tokens] == ["_", "_", "SpaceAfter=No", "_", "SpaceAfter=No", "_"]
    assert parse_conllu(format_sentence(sentence)) == [sentence]


def test_blank_is_a_name(english: ShippedParser) -> None:
    token = only(english, "Canada banned _.").tokens[2]
    assert (token.form, token.lemma, token.upos, token.xpos, token.deprel) == ("_", "_", "PROPN", "NNP", "obj")


TEXTS = [
    "Drugs were banned by Canada.", "He sold them.", "Who sells drugs?", "No!", "a very old and very ugly house",
    "The teacher, who came from a small town near the sea, gave the book that he had written to his oldest student.",
    "Yes", "It rained all day; nobody went out.", "In 1902 the town had three mills and one church.",
]  # fmt: skip


def test_same_parse_in_any_company(english: ShippedParser) -> None:
    alone = [list(english.parse([text])) for text in TEXTS]
    rng = random.Random(1)
    for _ in range(5):
        order = [rng.randrange(len(TEXTS)) for _ in range(rng.randrange(2, 300))]
        together = list(english.parse(TEXTS[at] for at in order))
        assert together == [sentence for at in order for sentence in alone[at]]


def test_scores_do_not_depend_on_the_batch(english: ShippedParser) -> None:
    """Bit by bit: any number of rows from two up gives the same arc scores."""
    raws = [raw for text in TEXTS for raw in english.sentences(text)]
    for raw in raws:
        ids = english._types.ids(list(raw.forms))
        row = np.concatenate([ids, np.array(raw.glued, np.int32)[:, None]], 1)[:, None]
        results = [english._network._parse.run(["arcs"], {"ids": np.repeat(row, size, 1)})[0] for size in (2, 3, 7, 64)]
        assert all(np.array_equal(result[at], results[0][0]) for result in results for at in range(len(result)))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=80), max_size=6))
def test_anything_gives_trees(texts: list[str]) -> None:
    sentences = list(_english().parse(texts))
    for sentence in sentences:
        assert sum(token.head == 0 for token in sentence.tokens) == 1
        assert all((token.head == 0) == (token.deprel == "root") for token in sentence.tokens)
    written = "".join(map(format_sentence, sentences))
    assert parse_conllu(written) == sentences


_loaded: list[ShippedParser] = []


def _english() -> ShippedParser:
    if not _loaded:
        _loaded.append(ShippedParser())
    return _loaded[0]


@pytest.mark.parametrize(
    "text",
    ["", " \t\n", "\x00\x01\x02", "\u200b", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "中文没有空格的句子。" * 50, "नमस्ते दुनिया", "مرحبا بالعالم",
     "ประโยคภาษาไทยไม่มีช่องว่าง" * 50, "Он ушёл. Она осталась.", "שָׁלוֹם עולם", "안녕하세요", "e\u0301\u0323",
     "\u202eabc\u202c", "a" * 50_000, "a.b,c;d'e-" * 2000, "\ud800x", "." * 5000, "_ _ _ _", "( ( ( (", "'s", "n't",
     "😀😀", "👩\u200d👩\u200d👧"],
)  # fmt: skip
def test_odd_input(english: ShippedParser, text: str) -> None:
    """Control characters, no spaces, other scripts: sentences and words are bounded, and no letter is lost."""
    sentences = list(english.parse([text]))
    forms = [token.form for sentence in sentences for token in sentence.tokens]
    assert "".join(forms) == "".join(chunks(text))
    assert all(0 < len(form) <= LONGEST_CHUNK for form in forms)
    for sentence in sentences:
        assert 0 < len(sentence.tokens) <= LONGEST
        assert parse_conllu(format_sentence(sentence)) == [sentence]


def test_control_characters_count_as_spaces(english: ShippedParser) -> None:
    """No cell of CoNLL-U may hold one: C0 and C1, tabs and line ends, zero-width space, byte order mark, surrogates."""
    codes = [*range(0x20), *range(0x7F, 0xA0), 0x200B, 0xFEFF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF]
    sentences = english.parse(["a".join(["", *map(chr, codes), ""])])
    assert [token.form for sentence in sentences for token in sentence.tokens] == ["a"] * (len(codes) + 1)


@pytest.mark.parametrize("unit", ["x", "中", "The cat sat on the mat. ", "and then, ", "x,"])
def test_ten_megabytes_without_a_newline(
    english: ShippedParser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, unit: str
) -> None:
    """However long the line: only what the next few sentences need is read, and cut into words in bounded parts."""
    file = tmp_path / "line.txt"
    file.write_text(unit * (10_000_000 // len(unit.encode())), encoding="utf-8")
    handed: list[int] = []

    def counted(text: str) -> list[str]:
        handed.append(len(text))
        assert sum(handed) < 4 * LONGEST_READ
        return chunks(text)

    monkeypatch.setattr(shipped, "WINDOW", 4)
    monkeypatch.setattr(shipped, "chunks", counted)
    first = next(english.parse(read_texts(file)))
    assert 0 < len(first.tokens) <= LONGEST
    assert max(len(token.form) for token in first.tokens) <= LONGEST_CHUNK
    assert 0 < max(handed) <= shipped.LONGEST_TEXT


@pytest.mark.parametrize("sentence", ["He left the old house. ", "and the rest, "])
def test_long_texts_are_cut_between_sentences_or_words(sentence: str) -> None:
    found = list(shipped.pieces(sentence * 50_000))
    assert len(found) > 2
    assert [word for piece in found for word in piece.split()] == sentence.split() * 50_000
    assert all(piece.strip().endswith(sentence.strip()[-1]) for piece in found) or "." not in sentence


def test_batches_are_bounded(english: ShippedParser, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the network sees at once: so many sentences, so many words, or two sentences of any length."""
    sizes: list[tuple[int, int]] = []
    run = english._network.run

    def counted(features: NDArray[np.int32]) -> tuple[Any, Any, Any, Any]:
        sizes.append((features.shape[0], features.shape[1]))
        return run(features)

    monkeypatch.setattr(english._network, "run", counted)
    monkeypatch.setattr(shipped, "BATCH_WORDS", 20)
    monkeypatch.setattr(shipped, "BATCH_SENTENCES", 4)
    list(english.parse(["No!"] * 9 + ["He left the house."] * 9 + ["the old house and " * 8] * 3))
    assert max(batch for batch, _ in sizes) == 4
    assert all(batch * length <= 20 or batch == 2 for batch, length in sizes)


def test_the_table_of_types_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "TYPES", 50)
    types = TypeTable({"word7": 7}, {})
    before = types.ids(["word7", "Word8"])
    for number in range(100):
        types.ids([f"word{number}", f"form{number}", "word7"])
        assert len(types._numbers) < 60
    assert (types.ids(["word7", "Word8"]) == before).all()


def test_the_cache_of_lemmas_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemma, "CACHE_SIZE", 10)
    lemmatizer = Lemmatizer({})
    assert [lemmatizer(f"Word{number}", "RB") for number in range(100)] == [f"word{number}" for number in range(100)]
    assert len(lemmatizer._cache) <= 10


def test_long_sentences_are_cut_and_counted() -> None:
    parser = ShippedParser()
    sentences = list(parser.parse(["the house and " * 200 + "the end."]))
    assert parser.split == 1
    assert sum(len(sentence.tokens) for sentence in sentences) == 603
    assert max(len(sentence.tokens) for sentence in sentences) <= LONGEST


def test_the_command_tells_how_many_were_cut() -> None:
    result = CliRunner().invoke(app, ["parse"], input="He left.\n" + "the house and " * 200 + "the end.\n")
    assert result.stderr == "vecdcs: 1 sentences were too long and were cut\n"
    assert CliRunner().invoke(app, ["parse"], input="He left.\n").stderr == ""


def test_texts_are_streamed(english: ShippedParser, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield "He left. She stayed."

    monkeypatch.setattr(shipped, "WINDOW", 40)
    next(english.parse(texts()))
    assert taken == 20


@settings(max_examples=200)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_mend_makes_trees(words: int, seed: int) -> None:
    scores = np.random.default_rng(seed).standard_normal((words, words + 1))
    heads = scores.argmax(1)
    mended = mend(heads, scores)
    assert are_trees(mended[None])[0] and _is_tree(mended.tolist())
    assert bool(are_trees(heads[None])[0]) == _is_tree(heads.tolist())
    if _is_tree(heads.tolist()):
        assert (mended == heads).all()


def _is_tree(heads: list[int]) -> bool:
    """The definition: one root, and every word reaches it."""
    for at in range(len(heads)):
        for _ in heads:
            at = heads[at] - 1
            if at < 0:
                break
        else:
            return False
    return heads.count(0) == 1


def test_lemmas() -> None:
    lemmatizer = Lemmatizer({("sold", "VBD"): "sell", ("french", "JJ"): "French", ("states", "NNS"): "state"})
    cases = [
        ("sold", "VBD", "sell"), ("Sold", "VBN", "sell"), ("French", "JJ", "French"), ("House", "VB", "house"),
        ("Paris", "NNP", "Paris"), ("paris", "NNP", "Paris"), ("States", "NNPS", "State"), ("1,200", "CD", "1200"),
        ("blorped", "VBD", "blorp"), ("IBM", "NNP", "IBM"), ("_", "NNS", "_"),
    ]  # fmt: skip
    for form, tag, expected in cases:
        assert lemmatizer(form, tag) == expected


def test_weights_that_are_not_there_are_named() -> None:
    with pytest.raises(VecdcsError, match="no parser weights in /nowhere"):
        load_parser("english:/nowhere")


def test_read_texts_cuts_long_lines_at_spaces(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    text = "wörd " * 200_000
    file.write_text(text + "\nlast line", encoding="utf-8")
    found = list(read_texts(file))
    assert " ".join(" ".join(found).split()) == " ".join((text + " last line").split())
    assert max(map(len, found)) < 300_000


@pytest.mark.parametrize("start", ["", "two words"])
def test_read_texts_cuts_lines_without_spaces(tmp_path: Path, start: str) -> None:
    file = tmp_path / "long.txt"
    text = start + "é" * 1_000_000
    file.write_text(text, encoding="utf-8")
    found = list(read_texts(file))
    assert "".join(found) == text.replace(" ", "")
    assert max(map(len, found)) <= 2 * LONGEST_READ


def test_read_texts_reads_what_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"a caf\xe9 \xff\xfe\nclosed\xc3")
    assert list(read_texts(file)) == ["a caf\ufffd \ufffd\ufffd\n", "closed\ufffd", ""]


def test_read_texts_keeps_a_last_line_whole(tmp_path: Path) -> None:
    file = tmp_path / "short.txt"
    file.write_text("one line\nthe last line", encoding="utf-8")
    assert [text for text in read_texts(file) if text] == ["one line\n", "the last line"]


def test_command_line(tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.conllu"
    source.write_text("Drugs were banned. Who sold them?\n\nNobody.\n", encoding="utf-8")
    run = subprocess.run([sys.executable, "-m", "vecdcs", "parse", str(source), "-o", str(target)], capture_output=True)
    assert run.returncode == 0, run.stderr
    texts = [sentence.text for sentence in parse_conllu(target.read_text(encoding="utf-8"))]
    assert texts == ["Drugs were banned.", "Who sold them?", "Nobody."]
    piped = subprocess.run([sys.executable, "-m", "vecdcs", "parse"], input=source.read_bytes(), capture_output=True)
    assert piped.stdout == target.read_bytes()
    bad = subprocess.run([sys.executable, "-m", "vecdcs", "parse", str(tmp_path / "no.txt")], capture_output=True)
    assert bad.returncode == 1 and b"no.txt" in bad.stderr


def test_importing_the_command_line_loads_no_network() -> None:
    code = "import sys, vecdcs.cli; print(sorted({'onnxruntime', 'lemminflect', 'torch'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_word_tables_must_fit_the_network(tmp_path: Path) -> None:
    for file in ENGLISH.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "vectors.txt").unlink()
    (tmp_path / "vectors.txt").write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"vectors.txt: expected \d+ lines"):
        load_parser(f"english:{tmp_path}")


def test_model_card_names_these_weights() -> None:
    card = (ENGLISH / "MODEL_CARD.md").read_text(encoding="utf-8")
    for file in sorted(ENGLISH.iterdir()):
        if file.suffix != ".md":
            assert f"`{file.name}` {hashlib.sha256(file.read_bytes()).hexdigest()}" in card


def test_weights_are_small_and_open() -> None:
    files = [file for file in ENGLISH.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 25_000_000
    assert {file.suffix for file in files} <= {".onnx", ".json", ".tsv", ".txt", ".md"}


@pytest.mark.parametrize("text", ["Canada banned thalidomide.", "Thalidomide is a drug.", "drugs such as thalidomide"])
def test_rare_words_are_no_function_words(text: str) -> None:
    """A tagger may take an unseen word in th- for a pronoun; then it would have no node."""
    (sentence,) = load_parser().parse([text])
    assert {token.xpos for token in sentence.tokens if token.form.lower() == "thalidomide"} <= {"NN", "NNP"}
