"""Learning a model from a forest: steps of micro-batches in a fixed order, whoever computes them.

A step samples `batches` micro-batches, computes their gradients on the same parameters, and applies the sums word by
word and field by field. What each micro-batch draws depends on (seed, epoch, window, number) alone and every sum has
one owner and a fixed order, so the result does not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.flat import FlatTrees, IntArray
from vecdcs.corpus.vocabulary import Vocabulary
from vecdcs.dcs.tree import ARG
from vecdcs.errors import VecdcsError
from vecdcs.learn import batches, kernel, objective, update
from vecdcs.learn.chance import stream
from vecdcs.learn.objective import Gradient, Objective
from vecdcs.learn.paths import Walks, prepare, sample, starts, thinned
from vecdcs.learn.recipes import Plan
from vecdcs.learn.rows import NONE, Rows, Sorted, sort
from vecdcs.learn.walks import Parameters

SHARDS_AT_ONCE = 8
LEAST_STEPS, LEAST_PATHS = 2000, 32
ORDER, STARTS, WALKS, BOUNDARIES, NOISE, QUERY, ANSWER, MATRIX, THINNING = range(9)


Each = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


class Source(Protocol):
    """Where trees come from: a forest on disk, or one in memory."""

    @property
    def shards(self) -> Sequence[int]: ...

    def flat(self, shard: int, vocabulary: Vocabulary) -> FlatTrees: ...


class Position(NamedTuple):
    """How far training is: steps done in a window of an epoch, paths begun in all, how far each actor is, if any."""

    epoch: int = 0
    window: int = 0
    step: int = 0
    paths: int = 0
    parts: tuple[Any, ...] = ()


BEGIN = Position()


class Report(NamedTuple):
    """What a step leaves to be told."""

    position: Position
    paths: int
    loss: float
    rate: float


@dataclass(frozen=True)
class State:
    """All that training changes, beside its position."""

    parameters: Parameters
    uses: update.Uses

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The arrays by name, as a checkpoint keeps them."""
        named: dict[str, NDArray[np.generic]] = {}
        for kind, part in (("parameters", self.parameters), ("uses", self.uses)):
            arrays = {name: value for name, value in part._asdict().items() if isinstance(value, np.ndarray)}
            named |= {f"{kind}.{name}": value for name, value in arrays.items()}
        return named


def initial_state(plan: Plan, vocabulary: Vocabulary) -> State:
    """Vectors start G with G Gaussian of variance 1/d, matrices (I + spread G)/2, inverses their transposes."""
    words, fields, dim = len(vocabulary.words), len(vocabulary.fields), plan.dim
    start = np.float32(plan.recipe.start)
    query, answer = (start * _gaussian(plan.seed, kind, (words, dim)) for kind in (QUERY, ANSWER))
    uses = update.Uses(
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
        np.zeros(fields, np.int64),
        np.zeros(fields),
        np.zeros(fields, np.int64),
    )
    matrices, still = _initial_matrices(plan, fields), still_matrix(plan, vocabulary)
    if still != NONE:
        matrices[still] = np.eye(dim)
    return State(Parameters(query, answer, matrices, plan.tied, still), uses)


def still_matrix(plan: Plan, vocabulary: Vocabulary) -> int:
    """The number of the matrix that is I and stays so, if any.

    Every M_P is followed by an M_L^-1, so scores are the same if all M are M G and all M^-1 are G^-1 M^-1: one matrix
    can be chosen, and that of ARG, the most frequent field, is.
    """
    if not plan.recipe.still_arg or plan.variant in ("no-matrix", "ud"):
        return NONE
    arg = vocabulary.field_index.get(ARG, NONE)
    return arg if plan.tied or arg == NONE else 2 * arg


def _initial_matrices(plan: Plan, fields: int) -> NDArray[np.float32]:
    dim = plan.dim
    if plan.variant == "no-matrix":
        return np.empty((0, dim, dim), np.float32)
    matrices = _gaussian(plan.seed, MATRIX, (fields, dim, dim)) * np.float32(plan.recipe.spread / 2)
    matrices += np.eye(dim, dtype=np.float32) / 2
    if plan.recipe.orthogonal:
        matrices = orthogonal(matrices)
    if not plan.tied:
        matrices = np.stack([matrices, matrices.transpose(0, 2, 1)], 1).reshape(-1, dim, dim)
    return np.ascontiguousarray(matrices)


def _gaussian(seed: int, kind: int, shape: tuple[int, ...]) -> NDArray[np.float32]:
    generator = np.random.Generator(np.random.Philox(key=int(stream(seed, kind))))
    return generator.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[-1]))


def orthogonal(matrices: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest orthogonal matrices, exact to the last bits of single precision."""
    exact = np.empty_like(matrices)
    for k, matrix in enumerate(matrices):
        left, _, right = np.linalg.svd(matrix.astype(np.float64))
        exact[k] = left @ right
    return exact


class Window(NamedTuple):
    """A part of an epoch that is shuffled as a whole: some shards, and the nodes its paths start from."""

    walks: Walks
    starts: IntArray


class Trainer:
    """A model in training."""

    def __init__(self, plan: Plan, vocabulary: Vocabulary, source: Source, workers: int = 1) -> None:
        self.plan, self.vocabulary, self.source, self.workers = plan, vocabulary, source, workers
        self.state = initial_state(plan, vocabulary)
        recipe = plan.recipe
        self.private, self.shared = (recipe.noise, 0) if recipe.private else (0, recipe.noise)
        self.objective = Objective(recipe.shift, 1.0, recipe.noise_mass / recipe.noise, recipe.clip)
        self.shares = batches.marginals(
            vocabulary.word_weights, vocabulary.field_weights, recipe.word_power, recipe.field_power
        )
        drift, every = 0.02, 4096
        self.binding = update.Binding(recipe.orthogonal, drift, plan.gamma, recipe.kappa, every)

    @cached_property
    def kinds(self) -> batches.Kinds:
        """The kinds of noise; small micro-batches have fewer sets of it, each for as many paths."""
        recipe = self.plan.recipe
        words, chains = (max(sets * self.paths // recipe.paths, 1) for sets in (recipe.word_sets, recipe.chain_sets))
        match self.plan.variant:
            case "no-matrix":
                return batches.no_kinds(words)
            case "ud":
                return batches.ud_kinds(recipe.longest, words, chains)
            case _:
                return batches.dcs_kinds(recipe.longest, words, chains)

    @cached_property
    def room(self) -> Gradient:
        """Room for a whole step's gradient; each micro-batch has an equal share of every array."""
        recipe = self.plan.recipe
        words, chains = self.kinds.roots, len(self.kinds.parent) - self.kinds.roots
        one = objective.room(self.paths, self.private, self.shared * words, self.shared * chains, self.plan.dim)
        return Gradient._make(np.concatenate([array] * recipe.batches) for array in one)

    def share(self, batch: int) -> Gradient:
        count = self.plan.recipe.batches
        parts = (slice(len(array) // count * batch, len(array) // count * (batch + 1)) for array in self.room)
        return Gradient._make(array[part] for array, part in zip(self.room, parts, strict=True))

    def run(self, start: Position = BEGIN) -> Iterator[Report]:
        """Train from a position on; yields after each step, when the state is whole."""
        position = start
        with ThreadPoolExecutor(self.workers) as pool:
            each = self._each(pool)
            for epoch in range(start.epoch, self.plan.epochs):
                for number in range(position.window, self.windows):
                    for report in self._window(epoch, number, position, each):
                        position = report.position
                        yield report
                    position = Position(epoch, number + 1, 0, position.paths)
                position = Position(epoch + 1, 0, 0, position.paths)

    @property
    def windows(self) -> int:
        return -(-len(self.source.shards) // SHARDS_AT_ONCE)

    def _each(self, pool: ThreadPoolExecutor) -> Each:
        """Call a function for every item, by all workers, of which this thread is one: who is free takes the next."""

        def each(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
            results: list[Any] = [None] * len(items)
            places = iter(range(len(items)))

            def work() -> None:
                for place in places:
                    results[place] = function(items[place])

            others = [pool.submit(work) for _ in range(self.workers - 1)]
            work()
            for other in others:
                other.result()
            return results

        return each

    def _window(self, epoch: int, number: int, position: Position, each: Each) -> Iterator[Report]:
        window = self.open_window(epoch, number)
        recipe = self.plan.recipe
        size = self.paths * recipe.batches
        for step in range(position.step, -(-len(window.starts) // size)):
            rate = self._rate(position.paths)
            loss, paths = self._step(window, (epoch, number, step), rate, each)
            if not np.isfinite(loss):
                raise VecdcsError(f"the loss is {loss} after {position.paths:,} paths: training has diverged")
            started = len(window.starts[step * size : (step + 1) * size])
            position = Position(epoch, number, step + 1, position.paths + started)
            yield Report(position, paths, loss / max(paths, 1), rate * recipe.vector_rate)

    def open_window(self, epoch: int, number: int) -> Window:
        """Load the shards of a window, in this epoch's order, and draw where its paths start."""
        order = np.random.Generator(np.random.Philox(key=int(stream(self.plan.seed, ORDER, epoch))))
        shards = order.permutation(np.array(self.source.shards))
        some = shards[number * SHARDS_AT_ONCE : (number + 1) * SHARDS_AT_ONCE]
        walks = prepare(joined([self.source.flat(int(shard), self.vocabulary) for shard in some]))
        weight = walks.node["weight"] * self.keep[walks.node["word"]]
        return Window(walks, starts(weight, stream(self.plan.seed, STARTS, epoch, number)))

    @cached_property
    def keep(self) -> NDArray[np.float64]:
        """The chance of each word that a path from it, or to it, is kept."""
        weights = self.vocabulary.word_weights
        if not self.plan.recipe.subsample:
            return np.ones_like(weights)
        share = np.maximum(weights / weights.sum(), 1e-300)
        return np.asarray(np.minimum(1.0, np.sqrt(self.plan.recipe.subsample / share)), np.float64)

    @cached_property
    def paths(self) -> int:
        """Paths in a micro-batch: as the recipe says, but fewer where that would make too few steps to learn by."""
        recipe = self.plan.recipe
        return min(recipe.paths, max(LEAST_PATHS, int(self.total / (recipe.batches * LEAST_STEPS))))

    @cached_property
    def total(self) -> float:
        """The expected number of path starts of the whole training."""
        return float(self.vocabulary.word_weights @ self.keep) * self.plan.epochs

    def _rate(self, paths: int) -> float:
        """The share of the first step size that is left."""
        if not self.plan.recipe.linear:
            return 1.0
        return max(1.0 - paths / self.total, 1e-4)

    def _step(self, window: Window, place: tuple[int, int, int], rate: float, each: Each) -> tuple[float, int]:
        """Compute the gradients of a step's micro-batches, and apply them; the sum of the loss, and of the paths."""
        recipe = self.plan.recipe
        epoch, number, step = place

        def compute(batch: int) -> tuple[float, int]:
            nth = step * recipe.batches + batch
            nodes = window.starts[nth * self.paths : (nth + 1) * self.paths]
            return self._gradient(window.walks, nodes, (epoch, number, nth), self.share(batch))

        results = each(compute, range(recipe.batches))
        self._apply(rate, each)
        return sum(loss for loss, _ in results), sum(paths for _, paths in results)

    def _gradient(self, walks: Walks, nodes: IntArray, place: tuple[int, int, int], out: Gradient) -> tuple[float, int]:
        """Sample the paths of a micro-batch and fill its share of the room; its loss and the number of its paths."""
        recipe, seed = self.plan.recipe, self.plan.seed
        paths = sample(walks, nodes, stream(seed, WALKS, *place), recipe.longest)
        if recipe.subsample:
            paths = thinned(paths, self.keep, stream(seed, THINNING, *place))
        key = stream(seed, BOUNDARIES, *place)
        chains = batches.with_noise(paths, self.kinds, self.shares, self.private, key, recipe.whole)
        noise = batches.shared_noise(self.kinds, self.shares, self.shared, stream(seed, NOISE, *place))
        return float(kernel.gradient(self.state.parameters, chains, noise, self.objective, out)), len(paths.first)

    def _apply(self, rate: float, each: Each) -> None:
        """Apply the gradients in the room: every word and every field is one worker's alone."""
        recipe, model, uses, room = self.plan.recipe, self.state.parameters, self.state.uses, self.room
        vector = update.Rate(recipe.vector_rate * rate, recipe.vector_rate * recipe.vector_decay, recipe.vector_cap)
        # An answer vector is used by noise as well, so its steps shrink more slowly with its uses.
        answer = vector._replace(decay=vector.decay / (1 + self.private))
        cap = recipe.matrix_cap * np.sqrt(self.plan.dim)
        matrix = update.Rate(recipe.matrix_rate * rate, recipe.matrix_rate * recipe.matrix_decay, cap)
        tasks: list[Field | Words] = []
        by_step = sort(room.step, 2 * len(self.vocabulary.fields))
        sizes = np.add.reduceat(np.diff(by_step.begin), np.arange(0, len(by_step.begin) - 1, 2))
        for field in np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)] if len(model.matrix) else []:
            tasks.append(Field(model, uses, room, by_step, int(field), matrix, self.binding))
        for table, used, rows, words, step in (
            (model.query, uses.query, room.query, room.query_word, vector),
            (model.answer, uses.answer, room.answer, room.answer_word, answer),
        ):
            by_word = sort(words, len(table))
            for begin, end in self._parts(by_word):
                tasks.append(Words(table, used, rows, by_word, begin, end, step))
        each(lambda task: task(), tasks)

    def _parts(self, by_word: Sorted) -> list[tuple[int, int]]:
        """Ranges of words with about equal numbers of rows, one a worker."""
        aims = np.linspace(0, by_word.begin[-1], self.workers + 1)
        ends = np.searchsorted(by_word.begin, aims, side="left")
        ends[0], ends[-1] = 0, len(by_word.begin) - 1
        return [(int(begin), int(end)) for begin, end in pairwise(ends)]


class Field(NamedTuple):
    """The task of updating one field."""

    model: Parameters
    uses: update.Uses
    room: Gradient
    by_step: Sorted
    field: int
    rate: update.Rate
    binding: update.Binding

    def __call__(self) -> None:
        update.update_field(*self)


class Words(NamedTuple):
    """The task of updating a range of words."""

    table: Rows
    uses: NDArray[np.int64]
    rows: Rows
    by_word: Sorted
    first: int
    last: int
    rate: update.Rate

    def __call__(self) -> None:
        update.update_words(*self)


def joined(parts: Sequence[FlatTrees]) -> FlatTrees:
    """Several forests laid end to end."""
    offsets = np.cumsum([0, *(len(part.word) for part in parts)])
    shifted = [
        replace(part, parent=np.where(part.parent < 0, -1, part.parent + offset).astype(np.int32))
        for part, offset in zip(parts, offsets, strict=False)
    ]
    ends = [part.start[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
    names = ("word", "parent", "label", "parent_label", "group")
    columns = {name: np.concatenate([getattr(part, name) for part in shifted]) for name in names}
    return FlatTrees(**columns, start=np.concatenate([*ends, offsets[-1:]]).astype(np.int64))
