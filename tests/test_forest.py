"""Reading a forest: flat trees, weights and sentences are what the nodes say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from corpora import sentences, write_conllu
from random_forest import all_paths

from vecdcs.corpus.build import build
from vecdcs.corpus.evidence import Evidence
from vecdcs.corpus.forest import Forest, read_table
from vecdcs.corpus.shard import Options
from vecdcs.corpus.vocabulary import UNKNOWN, cut
from vecdcs.dcs.convert import convert
from vecdcs.errors import InputError


@pytest.fixture(scope="module", params=[False, True])
def forest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Forest:
    folder = tmp_path_factory.mktemp("forest")
    write_conllu(folder / "corpus.conllu", 60)
    (folder / "empty.conllu").write_text("1\t!\t!\tPUNCT\t.\t_\t0\troot\t_\t_\n\n" * 300)
    build([folder], folder / "forest", Options(shard_bytes=1000, ud=request.param))
    return Forest.open(folder / "forest")


def test_flat_trees_are_the_nodes_numbered(forest: Forest) -> None:
    vocabulary = cut(forest.word_weights(), forest.field_weights(), 0, 0)
    for shard in forest.shards:
        flat = forest.flat(shard, vocabulary)
        nodes = forest.nodes(shard).to_pylist()
        assert [vocabulary.words[number] for number in flat.word] == [node["word"] for node in nodes]
        for name in ("label", "parent_label"):
            labels = ["" if number < 0 else vocabulary.fields[number] for number in getattr(flat, name)]
            assert labels == [node[name] for node in nodes]
        assert len(flat) == sum(node["parent"] < 0 for node in nodes) == forest.manifest["shards"][shard]["trees"]
        start = np.repeat(flat.start[:-1], np.diff(flat.start))
        own = np.where(flat.parent < 0, -1, flat.parent - start)
        assert own.tolist() == [node["parent"] for node in nodes]
        assert flat.group.tolist() == [node["group"] for node in nodes]
        assert {array.dtype for array in (flat.word, flat.parent, flat.label, flat.parent_label, flat.group)} == {
            np.dtype(np.int32)
        }


def test_a_shard_without_trees_is_empty(forest: Forest) -> None:
    vocabulary = cut(forest.word_weights(), forest.field_weights())
    empty = [shard for shard in forest.shards if not forest.manifest["shards"][shard]["nodes"]]
    assert empty
    flat = forest.flat(empty[0], vocabulary)
    assert len(flat) == 0 and len(flat.word) == 0


def test_weights_are_those_of_all_paths(forest: Forest) -> None:
    vocabulary = cut(forest.word_weights(), forest.field_weights(), 0, 0)
    words = np.zeros(len(vocabulary.words))
    for shard in forest.shards:
        flat = forest.flat(shard, vocabulary)
        for path, weight in all_paths(flat).items():
            words[flat.word[path[0]]] += weight
    np.testing.assert_allclose(words, vocabulary.word_weights, atol=1e-3)


def test_what_a_vocabulary_cuts_is_unknown(forest: Forest) -> None:
    vocabulary = cut(forest.word_weights(), forest.field_weights(), 1e9, 1e9)
    flat = forest.flat(0, vocabulary)
    assert {vocabulary.words[number].partition("/")[0] for number in flat.word} == {UNKNOWN}
    assert {vocabulary.fields[number] for number in flat.label if number >= 0} == {UNKNOWN}


def test_sentences(forest: Forest) -> None:
    told = sentences(60)
    assert [forest.sentence(number).text for number in range(60)] == [item.text for item in told]
    assert forest.totals["sentences"] == 360
    for number in (-1, 360):
        with pytest.raises(InputError, match=f"no sentence {number}: the forest has 360"):
            forest.sentence(number)


def test_lists_are_sorted_and_count_nodes(forest: Forest) -> None:
    words = list(forest.word_weights())
    assert words == sorted(words)
    if not forest.ud:
        assert set(words) == {node.word for item in sentences(60) for tree in convert(item) for node in tree}


def test_digest_tells_forests_apart(forest: Forest, tmp_path: Path) -> None:
    other = build([write_conllu(tmp_path / "corpus.conllu", 60, seed=1)], tmp_path / "forest")
    assert forest.digest == Forest.open(forest.path).digest != other.digest


def test_tables_are_sorted_in_row_groups_of_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_conllu(tmp_path / "corpus.conllu", 100)
    build([source], tmp_path / "one")
    monkeypatch.setattr("vecdcs.corpus.index.ROW_GROUP", 64)
    build([source], tmp_path / "many")
    file = pq.ParquetFile(tmp_path / "many" / "edges.parquet")
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    assert len(sizes) > 5 and set(sizes[:-1]) == {64} and 0 < sizes[-1] <= 64
    table = file.read()
    assert table.equals(read_table(tmp_path / "one" / "edges.parquet"))
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert rows == sorted(rows)


def test_files_that_are_none_of_a_forest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        Forest.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "other"}')
    with pytest.raises(InputError, match="expected the manifest of a forest"):
        Forest.open(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    forest = build([write_conllu(tmp_path / "corpus.conllu", 5)], tmp_path / "forest")
    (forest.path / "shared.parquet").unlink()
    for use in (forest.check, lambda: Evidence(forest)):
        with pytest.raises(InputError, match=r"shared\.parquet: the file is missing"):
            use()
