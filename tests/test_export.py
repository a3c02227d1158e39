"""The authors' files: trees, words and roles in their layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import sentence, sentences
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.build import build
from vecdcs.corpus.export import export_reference, reference_word
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options
from vecdcs.dcs.convert import convert
from vecdcs.errors import InputError
from vecdcs.text.conllu import Sentence, format_sentence

SHE_PAINTS = sentence(
    [
        ("She", "she", "PRON", "PRP", 2, "nsubj"),
        ("paints", "paint", "VERB", "VBZ", 0, "root"),
        ("cats", "cat", "NOUN", "NNS", 2, "obj"),
        ("and", "and", "CCONJ", "CC", 5, "cc"),
        ("dogs", "dog", "NOUN", "NNS", 3, "conj"),
        (".", ".", "PUNCT", ".", 2, "punct"),
    ]
)


def forest_of(told: list[Sentence], folder: Path, options: Options = Options()) -> Forest:  # noqa: B008
    folder.mkdir()
    (folder / "corpus.conllu").write_text("".join(map(format_sentence, told)))
    return build([folder / "corpus.conllu"], folder / "forest", options)


def test_a_tree_in_their_layout(tmp_path: Path) -> None:
    export_reference(forest_of([SHE_PAINTS], tmp_path / "in"), tmp_path / "out")
    assert (tmp_path / "out/trees/000000.dcs").read_text() == (
        "4\n"
        "0\t0\tpaint/VERB\tNull\tNull\t-1\n"
        "1\t0\tshe_Pr/NOUN\tARG\tSUBJ\t0\n"
        "2\t1\tcat/NOUN\tARG\tCOMP\t0\n"
        "3\t1\tdog/NOUN\tARG\tCOMP\t0\n"
        "\n"
    )


def test_every_tree_is_there(tmp_path: Path) -> None:
    told = sentences(200)
    forest = forest_of(told, tmp_path / "in", Options(shard_bytes=2000))
    written = export_reference(forest, tmp_path / "out", min_word=0, min_field=0)
    assert len(written) == len(forest.shards) + 2
    text = "".join(path.read_text() for path in sorted((tmp_path / "out/trees").iterdir()))
    trees = [block.split("\n")[1:] for block in text.removesuffix("\n\n").split("\n\n")]
    rows = [[tuple(line.split("\t")) for line in tree] for tree in trees]
    assert rows == [
        [
            (str(at), str(node.group), reference_word(node.word), node.label or "Null", node.parent_label or "Null",
             str(node.parent))
            for at, node in enumerate(tree)
        ]
        for item in told
        for tree in convert(item)
    ]  # fmt: skip


def test_lists_fall_in_weight_and_hold_all_that_occurs(tmp_path: Path) -> None:
    forest = forest_of([*sentences(100), SHE_PAINTS], tmp_path / "in")
    export_reference(forest, tmp_path / "out", min_word=0, min_field=0)
    weights = {reference_word(word): weight for word, weight in forest.word_weights().items()}
    for name, expected in (("words.txt", weights), ("roles.txt", forest.field_weights())):
        rows = [line.split("\t") for line in (tmp_path / "out" / name).read_text().splitlines()]
        assert {item: float(weight) for weight, item in rows} == expected
        assert [float(weight) for weight, _ in rows] == sorted(expected.values(), reverse=True)


def test_rare_words_become_unknown_by_part_of_speech(tmp_path: Path) -> None:
    forest = forest_of([SHE_PAINTS], tmp_path / "in")
    export_reference(forest, tmp_path / "out", min_word=1e9, min_field=0)
    items = {line.split("\t")[1] for line in (tmp_path / "out/words.txt").read_text().splitlines()}
    assert items == {"*UNKNOWN*/NOUN", "*UNKNOWN*/VERB"}


def test_words() -> None:
    assert reference_word("burn down/V") == "burn down/VERB"
    assert reference_word("and/or/N") == "and/or/NOUN"
    assert reference_word("he/P") == "he_Pr/NOUN"
    assert reference_word("*NUMERAL*/N") == "*NUMERAL*/NOUN"


def test_ud_forests_have_no_such_form(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a DCS forest"):
        export_reference(forest_of([SHE_PAINTS], tmp_path / "in", Options(ud=True)), tmp_path / "out")


def test_command(tmp_path: Path) -> None:
    forest = forest_of([SHE_PAINTS], tmp_path / "in")
    result = CliRunner().invoke(app, ["export", str(forest.path), "--format", "reference", "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out/roles.txt").exists()
    result = CliRunner().invoke(app, ["export", str(forest.path), "--format", "other", "-o", str(tmp_path / "out")])
    assert isinstance(result.exception, InputError)
