"""Statistics: path lengths against all paths one by one, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from corpora import write_conllu
from random_forest import all_paths, random_trees
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.stats import LONGEST, statistics, tree_path_lengths


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Forest:
    folder = tmp_path_factory.mktemp("stats")
    return build([write_conllu(folder / "corpus.conllu", 100)], folder / "forest")


@pytest.mark.parametrize("seed", range(5))
def test_path_lengths_are_those_of_all_paths(seed: int) -> None:
    trees = random_trees(np.random.default_rng(seed), 30)
    expected = np.zeros(LONGEST)
    for path, weight in all_paths(trees).items():
        expected[len(path) - 2] += weight
    np.testing.assert_allclose(tree_path_lengths(trees), expected, atol=1e-9)


def test_paths_longer_than_told_apart_count_as_the_longest() -> None:
    chain = random_trees(np.random.default_rng(0), 1)
    size = LONGEST + 6
    parent = np.arange(-1, size - 1, dtype=np.int32)
    zeros = np.zeros(size, np.int32)
    trees = type(chain)(zeros, parent, zeros, zeros, zeros, np.array([0, size], np.int64))
    lengths = tree_path_lengths(trees)
    assert lengths.sum() == pytest.approx(sum(all_paths(trees).values()))
    assert lengths[-1] == pytest.approx(2 * sum(size - length for length in range(LONGEST, size)))


def test_figures(forest: Forest) -> None:
    figures = statistics(forest, top=3, min_word=0, min_field=0)
    assert figures["sentences"] == 100
    assert figures["paths"] == pytest.approx(sum(forest.word_weights().values()), rel=1e-6)
    assert sum(figures["path_lengths"]) == pytest.approx(figures["paths"])
    assert figures["unknown"] == {"words": 0.0, "fields": 0.0}
    assert [field for field, _ in figures["top_fields"]] == ["ARG", "SUBJ", "COMP"]
    weights = forest.word_weights()
    assert figures["top_words"] == [[word, weights[word]] for word in sorted(weights, key=weights.__getitem__)[:-4:-1]]


def test_a_cut_makes_unknown(forest: Forest) -> None:
    figures = statistics(forest, min_word=1e9, min_field=1e9)
    assert figures["unknown"] == {"words": 1.0, "fields": 1.0}


def test_command(forest: Forest, tmp_path: Path) -> None:
    picture = tmp_path / "stats.png"
    result = CliRunner().invoke(app, ["stats", str(forest.path), "--json", "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["sentences"] == 100
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = CliRunner().invoke(app, ["stats", str(forest.path)]).stdout
    assert "paths of  1 edges" in shown and "unknown" in shown
