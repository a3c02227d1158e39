"""Models made for tests: random ones, and one learned from the small world."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH, UNKNOWN, Vocabulary
from vecdcs.model.ask import Asker
from vecdcs.model.model import Model

WORDS = ("man/N", "drug/N", "old/J", "sell/V", "ban/V", "book/N", "learn/V", "canada/N", "he/P", "burn down/V")
FIELDS = ("ARG", "SUBJ", "COMP", "on", "about", "in")


def random_model(
    seed: int = 0,
    dim: int = 8,
    words: Sequence[str] = WORDS,
    fields: Sequence[str] = FIELDS,
    tied: bool = False,
    matrices: bool = True,
) -> Asker:
    """A model of random numbers; `tied` ones have orthogonal matrices."""
    rng = np.random.default_rng(seed)
    names = (*words, *(f"{UNKNOWN}/{pos}" for pos in PARTS_OF_SPEECH))
    fields = (*fields, UNKNOWN)
    weights = np.arange(len(names), 0, -1).astype(np.float64)
    vocabulary = Vocabulary(names, weights, tuple(fields), np.ones(len(fields)))
    shape = (len(fields) if matrices else 0, dim, dim)
    some, other = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    if tied:
        some = np.array([np.linalg.qr(matrix)[0] for matrix in some], np.float32).reshape(shape)
    vectors = (rng.normal(size=(len(names), dim)).astype(np.float32) for _ in range(2))
    return Asker(vocabulary, *vectors, some, None if tied or not matrices else other, {})


def its_own(made: Model, word: str) -> NDArray[np.float32]:
    """An answer vector less half of the mean one of words of its part of speech."""
    pos = word.rpartition("/")[2]
    alike = [made.answer_vector(other) for other in made.vocabulary.words if other.endswith(f"/{pos}")]
    return np.asarray(made.answer_vector(word) - np.mean(alike, axis=0) / 2, np.float32)


@lru_cache(maxsize=1)
def world_folder() -> Path:
    """The small world with a forest of its sentences and a model learned from it, made once a process."""
    from vecdcs.corpus.build import build
    from vecdcs.corpus.forest import Forest
    from vecdcs.corpus.shard import Options
    from vecdcs.engines import local
    from vecdcs.learn.recipes import plan
    from vecdcs.model.fit import fit
    from vecdcs.world import World, write_world

    folder = Path(tempfile.mkdtemp(prefix="vecdcs-world-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_world(World.make(0, 1500), folder / "world")
    build([str(folder / "world/sentences.conllu")], folder / "forest", Options(), local.run)
    made = plan(recipe="paper", dim=32, epochs=8)
    fit(Forest.open(folder / "forest"), folder / "model", made, min_word=1, min_field=1)
    return folder
