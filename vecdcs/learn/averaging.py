"""Learning in several places at once: actors learn on shards of their own and average what they learned every round.

A round of an actor follows from the averaged parameters before it and the actor's own position alone. So an actor that
died is made anew and does its round again, a run that died goes on from its last average, and both end with the bytes
of an undisturbed run. What was not used in a round did not change and is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from platform import node
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.errors import InputError
from vecdcs.learn import blas
from vecdcs.learn.chance import stream
from vecdcs.learn.recipes import Plan
from vecdcs.learn.trainer import BEGIN, Position, Report, Source, State, Trainer
from vecdcs.learn.update import nearer_orthogonal

ROUND, LEAST_ROUNDS = 1_000_000, 50
ACTOR = 100  # names the streams of actors; the trainer's own have smaller numbers


class Rows(NamedTuple):
    """Rows of a table: which, how often they were used, and their values column by column."""

    rows: IntArray
    uses: NDArray[np.int64]
    values: tuple[NDArray[np.generic], ...]


Change = tuple[Rows, ...]  # of query vectors, answer vectors and fields


class Order(NamedTuple):
    """A round to be done: from where, how many paths, and how many the other actors have behind them."""

    position: Position
    paths: int
    others: int


class Result(NamedTuple):
    """A round done; the uses in its change are those of this round. `seconds` were spent on learning."""

    position: Position
    paths: int
    loss: float
    rate: float
    change: Change
    seconds: float


Work = Callable[[Change, Order], Result]


class Team(Protocol):
    """All actors: each is told the same change and its own order; one that had to be made anew, `whole()` instead."""

    def __call__(self, change: Change, orders: Sequence[Order], whole: Callable[[], Change], /) -> list[Result]: ...


class Engine(Protocol):
    """Where actors live: `make(k)` is called there to make the k-th."""

    def __call__(self, make: Callable[[int], Work], count: int, /) -> AbstractContextManager[Team]: ...


def here(make: Callable[[int], Work], count: int) -> AbstractContextManager[Team]:
    """All actors in this process, one after the other."""
    works = [make(number) for number in range(count)]

    def team(change: Change, orders: Sequence[Order], whole: Callable[[], Change]) -> list[Result]:
        return [work(change, order) for work, order in zip(works, orders, strict=True)]

    return nullcontext(team)


class Averaging(NamedTuple):
    """By whom a model is learned: so many actors of an engine, each learning `round` paths between two averages."""

    name: str
    actors: int
    engine: Engine = here
    round: int | None = None


class Table(NamedTuple):
    """What is learned about words or fields, a row each; a row that was not used in a round has not changed."""

    uses: NDArray[np.int64]
    columns: tuple[NDArray[Any], ...]


def tables(state: State) -> tuple[Table, Table, Table]:
    """The state as tables of query vectors, answer vectors and fields; the very same memory."""
    model, uses = state.parameters, state.uses
    fields = len(uses.field)
    matrices = model.matrix.reshape(fields, model.matrix.size // fields)
    return (
        Table(uses.query, (model.query,)),
        Table(uses.answer, (model.answer,)),
        Table(uses.field, (matrices, uses.drift, uses.due)),
    )


def taken(table: Table, rows: IntArray) -> Rows:
    return Rows(rows, table.uses[rows], tuple(column[rows] for column in table.columns))


def whole(state: State) -> Change:
    """All rows there are."""
    return tuple(taken(table, np.arange(len(table.uses), dtype=np.int32)) for table in tables(state))


def put(state: State, change: Change) -> None:
    """Set the rows that changed."""
    for table, part in zip(tables(state), change, strict=True):
        table.uses[part.rows] = part.uses
        for column, values in zip(table.columns, part.values, strict=True):
            column[part.rows] = values


def average(state: State, changes: Sequence[Change], orthogonal: bool) -> Change:
    """Set every row to its mean over all actors, for whom it is as before if they did not use it; what changed."""
    changed = []
    for table, parts in zip(tables(state), zip(*changes, strict=True), strict=True):
        users, uses = np.zeros(len(table.uses), np.int32), np.zeros_like(table.uses)
        for part in parts:
            users[part.rows] += 1
            uses[part.rows] += part.uses
        rows = np.flatnonzero(users).astype(np.int32)
        for column, values in zip(table.columns, zip(*(part.values for part in parts), strict=True), strict=True):
            others = (len(parts) - users[rows]).reshape(-1, *(1,) * (column.ndim - 1))
            total = others.astype(column.dtype) * column[rows]
            for part, value in zip(parts, values, strict=True):
                total[np.searchsorted(rows, part.rows)] += value
            column[rows] = total / column.dtype.type(len(parts))
        table.uses[rows] += uses[rows]
        changed.append(rows)
    if orthogonal and len(changes) > 1:
        _hold_in_shape(state, changed[-1])
    return tuple(taken(table, rows) for table, rows in zip(tables(state), changed, strict=True))


def _hold_in_shape(state: State, fields: IntArray) -> None:
    """A mean of orthogonal matrices is a little too short: make it orthogonal again."""
    model, each = state.parameters, len(state.parameters.matrix) // len(state.uses.field)
    for field in fields:
        for number in range(each * field, each * (field + 1)):
            model.matrix[number] = nearer_orthogonal(model.matrix[number])
    state.uses.drift[fields] = 0.0


@dataclass(frozen=True)
class Part:
    """The shards of one actor: every `count`-th."""

    source: Source
    number: int
    count: int

    @property
    def shards(self) -> Sequence[int]:
        return self.source.shards[self.number :: self.count]

    def flat(self, shard: int, vocabulary: Vocabulary) -> FlatTrees:
        return self.source.flat(shard, vocabulary)


class Learner(Trainer):
    """A trainer among others: its rate falls with the paths of all."""

    others = 0

    def _rate(self, paths: int) -> float:
        return super()._rate(paths + self.others)


def shared(plan: Plan, paths: int, actors: int) -> Plan:
    """The plan of one of several actors: steps on fewer paths, but longer by as much.

    A step then moves parameters as far as one of a single process, which takes micro-batches of `paths` paths, and the
    mean of all actors' steps moves them as far as a single process does on the paths of all.
    """
    recipe = plan.recipe
    batches = max(1, recipe.batches // actors)
    each = replace(
        recipe,
        batches=batches,
        paths=max(1, paths * recipe.batches // (actors * batches)),
        vector_rate=recipe.vector_rate * actors,
        vector_decay=recipe.vector_decay / actors,  # relative to the rate
        matrix_rate=recipe.matrix_rate * actors,
        matrix_decay=recipe.matrix_decay / actors,
    )
    return replace(plan, recipe=each)


class Actor:
    """Learns a round at a time; holds its parameters and its place in the forest from one round to the next."""

    def __init__(self, plan: Plan, vocabulary: Vocabulary, part: Part) -> None:
        blas.pin()
        seed = int(stream(plan.seed, ACTOR, part.number)) if part.number else plan.seed
        self.learner = Learner(replace(plan, seed=seed), vocabulary, part)
        self.position, self.steps = Position(), self.learner.run()

    def __call__(self, change: Change, order: Order) -> Result:
        begin = perf_counter()
        put(self.learner.state, change)
        if self.position != order.position:
            self.position, self.steps = order.position, self.learner.run(order.position)
        self.learner.others = order.others
        before = [table.uses.copy() for table in tables(self.learner.state)]
        loss, paths, rate = self._learn(order)
        return Result(self.position, paths, loss, rate, self._changed(before), perf_counter() - begin)

    def _learn(self, order: Order) -> tuple[float, int, float]:
        """Do the steps of a round: the sum of the loss, the number of paths, and the last rate."""
        loss, paths, rate = 0.0, 0, 0.0
        for report in self.steps:
            loss, paths, rate = loss + report.loss * report.paths, paths + report.paths, report.rate
            self.position = report.position
            if self.position.paths - order.position.paths >= order.paths:
                break
        return loss, paths, rate

    def _changed(self, before: Sequence[NDArray[np.int64]]) -> Change:
        """The rows that were used since, with how often."""
        change = []
        for table, old in zip(tables(self.learner.state), before, strict=True):
            rows = np.flatnonzero(table.uses != old).astype(np.int32)
            change.append(taken(table, rows)._replace(uses=(table.uses - old)[rows]))
        return tuple(change)


class Cost(NamedTuple):
    """What a round cost: bytes to and from actors, seconds in all, of the slowest actor's learning, of averaging."""

    down: int
    up: int
    seconds: float
    learning: float
    averaging: float


class Averager:
    """A model in training by actors; `costs` are of the rounds of this run."""

    def __init__(self, plan: Plan, vocabulary: Vocabulary, source: Source, averaging: Averaging) -> None:
        count = averaging.actors
        if not 0 < count <= len(source.shards):
            advice = "an actor needs at least one (`vecdcs build --shard-bytes` makes smaller ones)"
            raise InputError(f"{count} actors for the {len(source.shards)} shards of the forest: {advice}")
        alone = Trainer(plan, vocabulary, source)
        self.state, self.total, self.orthogonal = alone.state, alone.total, plan.recipe.orthogonal
        self.averaging = averaging
        self.make = partial(_actor, shared(plan, alone.paths, count), vocabulary, source, count)
        self.round = averaging.round or max(1, min(ROUND, ceil(self.total / count / LEAST_ROUNDS)))
        self.costs: list[Cost] = []

    def as_dict(self) -> dict[str, Any]:
        """What the result depends on, beside the plan and the forest."""
        return {"engine": self.averaging.name, "actors": self.averaging.actors, "round": self.round}

    def run(self, start: Position = BEGIN) -> Iterator[Report]:
        """Train from a position on; yields after each round, when the state is averaged."""
        count = self.averaging.actors
        position = start._replace(parts=tuple(Position(*part[:4]) for part in start.parts) or (Position(),) * count)
        with self.averaging.engine(self.make, count) as team:
            change = whole(self.state)
            while True:
                results, change = self._round(team, change, position)
                paths, rate = sum(result.paths for result in results), max(result.rate for result in results) / count
                if not paths:
                    return
                position = _after(position, [result.position for result in results])
                yield Report(position, paths, sum(result.loss for result in results) / paths, rate)

    def _round(self, team: Team, change: Change, position: Position) -> tuple[list[Result], Change]:
        """Tell the actors what changed, let each do its round, and average: their results, and what changed by them."""
        begin = perf_counter()
        orders = [Order(part, self.round, position.paths - part.paths) for part in position.parts]
        results = team(change, orders, partial(whole, self.state))
        learned = perf_counter()
        averaged = average(self.state, [result.change for result in results], self.orthogonal)
        end = perf_counter()
        cost = Cost(
            down=len(results) * size(change),
            up=sum(size(result.change) for result in results),
            seconds=end - begin,
            learning=max(result.seconds for result in results),
            averaging=end - learned,
        )
        self.costs.append(cost)
        return results, averaged


def size(change: Change) -> int:
    """The bytes of a change."""
    return sum(part.rows.nbytes + part.uses.nbytes + sum(value.nbytes for value in part.values) for part in change)


def _after(position: Position, parts: Sequence[Position]) -> Position:
    """The position one round further."""
    epoch, paths = min(part.epoch for part in parts), sum(part.paths for part in parts)
    return Position(epoch, 0, position.step + 1, paths, tuple(parts))


def _actor(plan: Plan, vocabulary: Vocabulary, source: Source, count: int, number: int) -> Work:
    """Make an actor, where it is to work; the forest must be there too."""
    if isinstance(source, Forest) and Forest.open(source.path).digest != source.digest:
        raise InputError(f"not the same forest on {node()} as where training was started", str(source.path))
    return Actor(plan, vocabulary, Part(source, number, count))
