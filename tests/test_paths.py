"""The random walk samples every path as often as its weight, and the same ones for the same key."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from random_forest import all_paths, random_trees
from scipy.stats import chi2

from vecdcs.corpus.flat import FlatTrees
from vecdcs.learn.chance import number, stream, uniform
from vecdcs.learn.paths import Paths, prepare, sample, starts

Signature = tuple[int, int, tuple[int, ...]]


def signature(trees: FlatTrees, path: tuple[int, ...]) -> Signature:
    """First word, last word and matrices of a path given by its nodes."""
    steps: list[int] = []
    for here, there in pairwise(path):
        up = trees.parent[here] == there
        child = here if up else there
        own, upper = int(trees.label[child]), int(trees.parent_label[child])
        if upper < 0:
            steps.append(2 * own + (not up))
        else:
            steps += [2 * own, 2 * upper + 1] if up else [2 * upper, 2 * own + 1]
    return int(trees.word[path[0]]), int(trees.word[path[-1]]), tuple(steps)


def signatures(paths: Paths) -> list[Signature]:
    return [
        (int(paths.first[i]), int(paths.last[i]), tuple(paths.steps[i, : paths.length[i]].tolist()))
        for i in range(len(paths.first))
    ]


@pytest.mark.parametrize("ud", [False, True])
def test_every_path_is_sampled_as_often_as_its_weight(ud: bool) -> None:
    """χ² of the counts over all paths of a small forest, paths of the same signature taken together."""
    trees = random_trees(np.random.default_rng(5), 4, words=40, fields=6, ud=ud)
    expected: Counter[Signature] = Counter()
    for path, weight in all_paths(trees).items():
        expected[signature(trees, path)] += weight
    walks, epochs = prepare(trees), 4000
    seen: Counter[Signature] = Counter()
    for epoch in range(epochs):
        seen.update(signatures(sample(walks, starts(walks.node["weight"], stream(1, epoch)), stream(2, epoch))))
    assert set(seen) <= set(expected)
    expectation = np.array([expected[key] * epochs for key in expected])
    counts = np.array([seen[key] for key in expected])
    statistic = float(((counts - expectation) ** 2 / expectation).sum())
    assert statistic < chi2.ppf(0.9999, len(expected))
    # Nodes start floor or ceil of their weight, so totals agree far more closely than by chance.
    assert counts.sum() == pytest.approx(expectation.sum(), rel=1e-3)


def test_expected_counts_are_exact_by_conditional_probabilities() -> None:
    """From each node separately: the frequencies of its paths are the weights over the node's weight."""
    trees = random_trees(np.random.default_rng(11), 1, words=1000, largest=9)
    walks, draws = prepare(trees), 40_000
    weights = all_paths(trees)
    for node in range(len(trees.word)):
        mine = {signature(trees, path): weight for path, weight in weights.items() if path[0] == node}
        paths = sample(walks, np.full(draws, node, np.int32), stream(7, node))
        counts = Counter(signatures(paths))
        assert set(counts) <= set(mine)
        total = sum(mine.values())
        assert total == pytest.approx(walks.node["weight"][node])
        for key, weight in mine.items():
            p = weight / total
            assert abs(counts[key] / draws - p) < 5 * np.sqrt(p * (1 - p) / draws) + 1e-9


def test_upward_edges_come_first_and_are_counted() -> None:
    trees = random_trees(np.random.default_rng(2), 20, ud=True)
    walks = prepare(trees)
    paths = sample(walks, starts(walks.node["weight"], stream(3)), stream(4))
    for i in range(len(paths.first)):
        steps = paths.steps[i, : paths.length[i]] % 2
        assert steps.tolist() == sorted(steps.tolist())
        assert paths.ups[i] == (steps == 0).sum()


def test_walks_end_at_the_cap() -> None:
    trees = random_trees(np.random.default_rng(2), 50, largest=30)
    walks = prepare(trees)
    nodes = starts(walks.node["weight"], stream(3))
    assert sample(walks, nodes, stream(4)).length.max() > 4
    assert sample(walks, nodes, stream(4), 2).length.max() == 4


def test_same_key_same_paths_and_shuffled_starts() -> None:
    walks = prepare(random_trees(np.random.default_rng(2), 200))
    nodes = starts(walks.node["weight"], stream(9, 0))
    assert nodes.tolist() == starts(walks.node["weight"], stream(9, 0)).tolist()
    assert nodes.tolist() != starts(walks.node["weight"], stream(9, 1)).tolist()
    assert np.mean(np.diff(nodes) > 0) == pytest.approx(0.5, abs=0.1)
    once, again = (sample(walks, nodes, stream(1)) for _ in range(2))
    assert signatures(once) == signatures(again)
    # The path of a start depends on its place in the batch alone, not on what else is in it.
    assert signatures(sample(walks, nodes[:50], stream(1))) == signatures(once)[:50]


def test_random_numbers_are_uniform_and_streams_differ() -> None:
    keys = {int(stream(seed, epoch)) for seed in range(30) for epoch in range(30)}
    assert len(keys) == 900
    draws = np.array([uniform(stream(1), i) for i in range(20_000)])
    counts, _ = np.histogram(draws, 50, (0, 1))
    assert ((counts - 400) ** 2 / 400).sum() < chi2.ppf(0.9999, 49)
    # Reference values of SplitMix64 started at 1234567.
    assert [int(number(np.uint64(1234567), i)) for i in range(2)] == [6457827717110365317, 3203168211198807973]
