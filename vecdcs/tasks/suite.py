"""All benchmarks by name, each a function of a model and of the settings of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vecdcs.corpus.forest import Forest
from vecdcs.corpus.split import Split
from vecdcs.model.model import Model
from vecdcs.tasks import completion, execution, intrinsic, rated, relations, small_world
from vecdcs.tasks.parses import default_cache
from vecdcs.tasks.questions import COUNT
from vecdcs.tasks.result import Result


@dataclass(frozen=True)
class Settings:
    """Where the data is and how a run is run."""

    data: Path = Path()
    cache: Path = field(default_factory=default_cache)
    split: Path | None = None
    world: Path | None = None
    pmi: Path | None = None
    parser: str = "english"
    seed: int = 1
    plain_sum: bool = False
    mirror: bool = True
    path: bool = False
    tune: bool = False
    unknown_last: bool = False
    questions: int = COUNT
    stepwise: bool | None = None
    words: tuple[str, ...] = intrinsic.WORDS


def _execution(model: Model, settings: Settings) -> Result:
    if settings.world is not None:
        counted = Forest.open(settings.pmi) if settings.pmi else None
        return small_world.evaluate(model, settings.world, settings.seed, counted, settings.stepwise)
    if settings.split is None:
        return Result("execution", str(model.path), "", {}, ("a split forest (`vecdcs split`)",))
    return execution.evaluate(model, Split.open(settings.split), settings.questions, settings.seed, settings.stepwise)


def _relations(model: Model, settings: Settings) -> Result:
    options = relations.Options(settings.mirror, settings.path, settings.tune, settings.parser, settings.seed)
    return relations.evaluate(model, settings.data, settings.cache, options)


TASKS: dict[str, Callable[[Model, Settings], Result]] = {
    "phrase-similarity": lambda model, s: rated.phrases(model, s.data, s.seed, s.plain_sum),
    "relations": _relations,
    "completion": lambda model, s: completion.evaluate(model, s.data, s.cache, s.parser, s.seed, s.unknown_last),
    "preference": lambda model, s: rated.preferences(model, s.data, s.seed),
    "execution": _execution,
    "intrinsic": lambda model, s: intrinsic.evaluate(model, s.words),
}
