"""What training on Ray costs beside learning, and how good its model is: actors that average against one process.

    python benchmarks/ray_averaging.py [--actors 2] [--seeds 3] [--forest FOLDER --rounds 10]

On a Ray cluster on this machine, which needs a core an actor. Bytes are counted for each actor and round: what it is
told (the rows that anyone used in the round before) and what it tells (the rows that it used). The share of time is
that part of a round in which even the slowest actor was not learning: sending, waiting, averaging. By default on the
small world, where the quality is the mean average precision of its questions; on another forest only costs are taken,
of the first rounds. Prints a table, then one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.shard import Options
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.engines.ray import actors
from vecdcs.learn import blas
from vecdcs.learn.averaging import Averager, Averaging, Cost, size, whole
from vecdcs.learn.recipes import Plan, plan
from vecdcs.learn.session import Outcome, finished, vocabulary_of
from vecdcs.learn.trainer import Position, Trainer
from vecdcs.model.fit import as_model
from vecdcs.tasks import small_world
from vecdcs.world import World, write_world

STARTING = 2  # rounds in which actors are still loading code and shards

Figures = dict[str, float]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--actors", type=int, default=2)
    arguments.add_argument("--dim", type=int, default=32)
    arguments.add_argument("--epochs", type=int, default=20)
    arguments.add_argument("--seeds", type=int, default=3, help="runs, of which the mean is taken")
    arguments.add_argument("--round", type=int, help="paths an actor learns between two averages")
    arguments.add_argument("--rounds", type=int, default=10, help="of another forest")
    arguments.add_argument("--forest", type=Path, help="a folder made by `vecdcs build`")
    options = arguments.parse_args()
    blas.pin()
    by = Averaging("ray", options.actors, actors, options.round)
    if options.forest:
        forest = Forest.open(options.forest)
        chosen = plan(dim=options.dim, epochs=options.epochs)
        figures = first_rounds(forest, chosen, vocabulary_of(forest), by, options.rounds)
    else:
        with tempfile.TemporaryDirectory() as folder:
            forest = make_world(Path(folder))
            plans = [plan(dim=options.dim, epochs=options.epochs, seed=seed) for seed in range(1, options.seeds + 1)]
            figures = against_one_process(forest, plans, by, Path(folder) / "world")
    for name, value in figures.items():
        print(f"{name:40}{value:14,.4f}")
    print(json.dumps(figures))


def make_world(folder: Path) -> Forest:
    """The small world in a folder, and its forest of about ten shards."""
    write_world(World.make(), folder / "world")
    return build([folder / "world/sentences.conllu"], folder / "forest", Options(shard_bytes=20_000))


def against_one_process(forest: Forest, plans: Sequence[Plan], by: Averaging, world: Path) -> Figures:
    """Costs of the last plan's run, and the mean quality of all, with actors and without."""
    vocabulary = vocabulary_of(forest, 1, 1)
    one, several = [], []
    for chosen in plans:
        averager = Averager(chosen, vocabulary, forest, by)
        several.append(learned(averager, chosen, forest, vocabulary, world))
        one.append(learned(Trainer(chosen, vocabulary, forest), chosen, forest, vocabulary, world))
        print(
            f"seed {chosen.seed}: MAP of {by.actors} actors {several[-1]:.4f}, of one process {one[-1]:.4f}", flush=True
        )
    difference = np.subtract(several, one)
    quality = {"map_actors": float(np.mean(several)), "map_one_process": float(np.mean(one))}
    spread = {"difference": float(difference.mean()), "most_difference": float(np.abs(difference).max())}
    return costs(averager) | quality | spread


def learned(trainer: Trainer | Averager, chosen: Plan, forest: Forest, vocabulary: Vocabulary, world: Path) -> float:
    """Train to the end: the mean average precision of the small world's questions."""
    for _ in trainer.run():
        pass
    outcome = Outcome(finished(trainer.state, chosen), vocabulary, [], Position(), True)
    return float(small_world.evaluate(as_model(outcome, chosen, forest), world).figures["map"])


def first_rounds(forest: Forest, chosen: Plan, vocabulary: Vocabulary, by: Averaging, rounds: int) -> Figures:
    averager = Averager(chosen, vocabulary, forest, by)
    for _ in islice(averager.run(), STARTING + rounds):
        pass
    return costs(averager)


def costs(averager: Averager) -> Figures:
    """Means over the rounds, without the first ones and the last, in which nothing is left to learn."""
    rounds = [cost for cost in averager.costs[STARTING:] if cost.up]
    count, seconds = averager.averaging.actors, total(rounds, "seconds")
    return {
        "actors": count,
        "rounds": len(rounds),
        "paths_an_actor_and_round": averager.round,
        "bytes_told_an_actor_and_round": total(rounds, "down") / count / len(rounds),
        "bytes_from_an_actor_and_round": total(rounds, "up") / count / len(rounds),
        "bytes_of_all_parameters": size(whole(averager.state)),
        "seconds_a_round": seconds / len(rounds),
        "share_of_time_not_learning": 1 - total(rounds, "learning") / seconds,
        "share_of_time_averaging": total(rounds, "averaging") / seconds,
    }


def total(rounds: Sequence[Cost], name: str) -> float:
    return float(sum(getattr(cost, name) for cost in rounds))


if __name__ == "__main__":
    main()
