"""Other programs' files: the authors' to the byte, word2vec as gensim reads it."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_models import random_model
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.errors import InputError
from vecdcs.model.ask import load as load_asker
from vecdcs.model.interop import (
    MODEL,
    ROLES,
    WORDS,
    export_model,
    import_reference,
    our_word,
    read_reference,
    their_word,
    write_reference,
    write_word2vec,
)
from vecdcs.model.model import load, save
from vecdcs.model.search import Calibration, write_calibration

THEIR_WORDS = ["ban/VERB", "drug/NOUN", "he_Pr/NOUN", "old/ADJ", "often/ADV", "burn down/VERB", "*UNKNOWN*/NOUN"]
THEIR_ROLES = ["ARG", "SUBJ", "COMP", "because of", "*UNKNOWN*"]


def matrix(values: np.ndarray) -> bytes:
    """As section 5 of the notes on the authors' program says, written here by hand."""
    rows, columns = values.shape
    data = b"".join(struct.pack(">f", values[row, column]) for column in range(columns) for row in range(rows))
    return b"MATf" + struct.pack(">qq", rows, columns) + data


def their_files(
    folder: Path, words: list[str] = THEIR_WORDS, roles: list[str] = THEIR_ROLES, dim: int = 3, norole: bool = False
) -> tuple[Path, Path, Path]:
    """Files as the authors' program leaves them."""
    rng = np.random.default_rng(7)
    folder.mkdir(exist_ok=True)
    for name, items in ((WORDS, words), (ROLES, roles)):
        lines = (f"{1000.5 - at:.3f}\t{item}\n" for at, item in enumerate(items))
        (folder / name).write_text("".join(lines), encoding="utf-8")
    answer, query = rng.normal(size=(dim, len(words))), rng.normal(size=(len(words), dim))
    parts = [struct.pack(">qi", dim, 4), struct.pack(">ff", 0.1, 1e-4)]
    parts += [] if norole else [struct.pack(">ffff", 0.0005, 1e-5, 1e-4, 1e-3)]
    parts += [matrix(answer), matrix(query)]
    if not norole:
        parts += [matrix(rng.normal(size=(dim, dim))) for _ in range(2 * len(roles))]
        counts = [*range(len(words)), *range(len(words)), *range(len(roles))]
        parts += [struct.pack(">q", 10**12 + count) for count in counts]
    (folder / MODEL).write_bytes(b"".join(parts))
    return folder / WORDS, folder / ROLES, folder / MODEL


@pytest.mark.parametrize("norole", [False, True])
@pytest.mark.parametrize("unknown", [True, False])
def test_their_files_come_back_to_the_byte(tmp_path: Path, norole: bool, unknown: bool) -> None:
    words = THEIR_WORDS if unknown else THEIR_WORDS[:-1]
    roles = THEIR_ROLES if unknown else THEIR_ROLES[:-1]
    files = their_files(tmp_path / "theirs", words, roles, norole=norole)
    import_reference(*files, tmp_path / "ours")
    (tmp_path / "back").mkdir()
    write_reference(load(tmp_path / "ours"), tmp_path / "back")
    for file in files:
        assert (tmp_path / "back" / file.name).read_bytes() == file.read_bytes(), file.name


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    files = their_files(tmp_path)
    model = read_reference(*files)
    assert model.vocabulary.words == (
        "ban/V", "drug/N", "he/P", "old/J", "often/R", "burn down/V", "*UNKNOWN*/N"
    )  # fmt: skip
    rng = np.random.default_rng(7)
    answer, query = rng.normal(size=(3, 7)), rng.normal(size=(7, 3))
    np.testing.assert_allclose(model.answer, answer.T, rtol=1e-6)
    np.testing.assert_allclose(model.query, query, rtol=1e-6)
    first = rng.normal(size=(3, 3))
    np.testing.assert_allclose(model.matrices[0], first, rtol=1e-6)
    assert model.config["reference"]["noise"] == 4
    assert model.config["reference"]["counters"]["role"][2] == 10**12 + 2


def test_an_imported_model_answers(tmp_path: Path) -> None:
    import_reference(*their_files(tmp_path / "theirs", THEIR_WORDS[:-1], THEIR_ROLES[:-1]), tmp_path / "ours")
    model = load_asker(tmp_path / "ours")
    answers = {answer.word for answer in model.answers("drug/N & ban/V.COMP", pos="NVJRP")}
    assert answers == {"he/P", "old/J", "often/R", "burn down/V"}
    assert model.ask("quux/N & ban/V.COMP & old/J.never").unknown == ("quux/N", "never:")


@pytest.mark.parametrize("tied, matrices", [(True, True), (False, True), (False, False)])
def test_our_models_go_there_and_back(tmp_path: Path, tied: bool, matrices: bool) -> None:
    model = random_model(tied=tied, matrices=matrices)
    write_reference(model, tmp_path)
    back = read_reference(tmp_path / WORDS, tmp_path / ROLES, tmp_path / MODEL)
    assert back.vocabulary.words == model.vocabulary.words
    assert back.vocabulary.fields == model.vocabulary.fields
    assert back.has_matrices == matrices
    np.testing.assert_array_equal(back.query, model.query)
    np.testing.assert_array_equal(back.answer, model.answer)
    for field in model.vocabulary.fields if matrices else ():
        np.testing.assert_allclose(back.inverse(field), model.inverse(field), atol=1e-5)


@given(
    st.text(st.characters(exclude_characters="\n\t", exclude_categories=["Cs"]), min_size=1), st.sampled_from("NVJRP")
)
@settings(max_examples=50)
def test_words_there_and_back(form: str, part: str) -> None:
    word = f"{form}/{part}"
    if not (part == "N" and form.endswith("_Pr")):
        assert our_word(their_word(word)) == word


def test_damaged_files_are_named(tmp_path: Path) -> None:
    words, roles, model = their_files(tmp_path)
    whole = model.read_bytes()
    for cut in range(0, len(whole), 17):
        model.write_bytes(whole[:cut])
        with pytest.raises(InputError, match=MODEL):
            read_reference(words, roles, model)
    for data, message in (
        (whole + b"x", "goes on"),
        (b"\xff" * 100, "dimension"),
        (whole[:36] + b"x" * 500, "expected a matrix"),
    ):
        model.write_bytes(data)
        with pytest.raises(InputError, match=message):
            read_reference(words, roles, model)
    model.write_bytes(whole)
    words.write_text("1\tban/VERB\n")
    with pytest.raises(InputError, match="expected 3 x 1 answer vectors, found 3 x 7"):
        read_reference(words, roles, model)


@pytest.mark.parametrize(
    "text, message",
    [("ban\n", "weight TAB item"), ("x\tban/VERB\n", "number"), ("", "nothing"), ("1\t\n", "weight TAB item")],
)
def test_bad_lists_are_named(tmp_path: Path, text: str, message: str) -> None:
    words, roles, model = their_files(tmp_path)
    words.write_text(text)
    with pytest.raises(InputError, match=message):
        read_reference(words, roles, model)
    with pytest.raises(InputError, match="cannot be read"):
        read_reference(tmp_path / "none", roles, model)


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_opens_word2vec_files(tmp_path: Path, binary: bool) -> None:
    from gensim.models import KeyedVectors

    model = random_model()
    for path, vectors in zip(write_word2vec(model, tmp_path, binary), (model.query, model.answer), strict=True):
        found = KeyedVectors.load_word2vec_format(str(path), binary=binary)
        assert list(found.index_to_key) == [word.replace(" ", "_") for word in model.vocabulary.words]
        np.testing.assert_array_equal(found.vectors, vectors)


def test_on_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    files = their_files(tmp_path / "theirs")
    ours = tmp_path / "ours"
    assert run(app, ["import", "reference", *map(str, files), "-o", str(ours)]).exit_code == 0
    for form, names in {
        "reference": {WORDS, ROLES, MODEL},
        "word2vec": {"query.txt", "answer.txt"},
        "word2vec-binary": {"query.bin", "answer.bin"},
        "tsv": {"query.tsv", "answer.tsv", "words.tsv"},
    }.items():
        done = run(app, ["export", str(ours), "--format", form, "-o", str(tmp_path / form)])
        assert done.exit_code == 0, done.output
        assert {path.name for path in (tmp_path / form).iterdir()} == names
    assert (tmp_path / "reference" / MODEL).read_bytes() == files[2].read_bytes()
    table = np.loadtxt(tmp_path / "tsv" / "query.tsv", delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(table, load(ours).query)
    again = run(app, ["import", "reference", *map(str, files), "-o", str(ours)])
    assert isinstance(again.exception, InputError)
    wrong = run(app, ["export", str(ours), "--format", "csv", "-o", str(tmp_path / "x")])
    assert isinstance(wrong.exception, InputError)


def test_a_forest_is_still_exported_as_one(tmp_path: Path) -> None:
    save(random_model(), tmp_path / "model", [])
    wrong = CliRunner().invoke(app, ["export", str(tmp_path), "--format", "tsv", "-o", str(tmp_path / "x")])
    assert isinstance(wrong.exception, InputError) and "for a forest" in str(wrong.exception)


@pytest.mark.parametrize("tied", [True, False])
def test_half_precision_answers_the_same(tmp_path: Path, tied: bool) -> None:
    whole = random_model(tied=tied, dim=64)
    save(whole, tmp_path / "model", [])
    write_calibration(Calibration(7.0, 0.5), tmp_path / "model")
    written = export_model(tmp_path / "model", tmp_path / "small", "half")
    assert tmp_path / "small" / "manifest.json" in written
    half = load_asker(tmp_path / "small")
    assert half.query.dtype == np.float16 and half.calibration == Calibration(7.0, 0.5)
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("model", "small")]
    assert sizes[1] < 0.55 * sizes[0]
    for tree in ("drug/N & (ban/V & SUBJ:canada/N).COMP", "_ & about:learn/V"):
        np.testing.assert_allclose(half.ask(tree).vector, whole.ask(tree).vector, atol=2e-3)
        found = {answer.word: answer.score for answer in half.answers(tree, k=20)}
        for answer in whole.answers(tree, k=20):
            assert found[answer.word] == pytest.approx(answer.score, abs=5e-3)
        assert half.explain(tree).to_text()
    assert half.nearest("drug/N") and half.similarity("drug/N", "book/N") is not None
    with pytest.raises(InputError, match="already"):
        export_model(tmp_path / "model", tmp_path / "small", "half")
