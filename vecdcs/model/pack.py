"""A model made small enough to ship: the words and fields that matter, in whole numbers of one byte."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.roles import MOST, Roles
from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary, unknown_word
from vecdcs.errors import InputError
from vecdcs.model.card import facts, figures
from vecdcs.model.model import MANIFEST, METRICS, SIDES, Model, load, save, unit
from vecdcs.model.search import CALIBRATION, calibration_of

LARGEST = 127  # of a signed byte
SPARE = 100_000  # bytes for what is neither a number nor a word
WEIGHT_BYTES = 12  # of a word's line beside the word
LENGTH_BYTES = 4  # of the lengths of its two vectors
DIGITS = 7  # of a weight


@dataclass(frozen=True)
class Card:
    """What the card says that the model does not know: figures, what the text was, CPU hours."""

    results: Path | None = None
    row: str = "vecDCS"
    about: Path | None = None
    cpu_hours: float | None = None

    def describe(self, model: Model, digest: str) -> str:
        """The whole card."""
        about = "" if self.about is None else self.about.read_text("utf-8").strip() + "\n\n"
        measured = "" if self.results is None else f"## Figures\n\n{figures(self.results, self.row)}\n"
        return (
            f"# The shipped model\n\n{about}## Facts\n\n{facts(model, digest, self.cpu_hours)}\n{measured}"
            "## Files\n\nVectors are rows of signed bytes, which tell the direction, and lengths; the matrix of a "
            "field is I + step x\nbytes, its inverse its transpose. `manifest.json` has the digest of every file.\n"
        )


BARE = Card()


def pack(
    path: Path,
    output: Path,
    words: int = 0,
    fields: int = 0,
    megabytes: float = 0,
    card: Card = BARE,
) -> Model:
    """Write a model smaller: at most so many words, fields and megabytes (of 1,000,000 bytes), 0 for no limit."""
    model = load(path)
    if model.inverses is not None or model.steps is not None:
        what = "is packed already" if model.steps is not None else "has inverses of its own: try `export --format half`"
        raise InputError(f"expected a model of orthogonal matrices as it was learned, but this one {what}", str(path))
    if output.exists() and not _is_packed(output):
        raise InputError("there is something here already: choose another output, or remove it", str(output))
    rows = [json.loads(row) for row in (path / METRICS).read_text("utf-8").splitlines()]
    small = rounded(cut(model, *_kept(model, words, fields, megabytes)))
    calibration = json.dumps(asdict(calibration_of(model))) + "\n"
    save(small, output, rows, card.describe, {CALIBRATION: calibration})
    return load(output)


def _is_packed(folder: Path) -> bool:
    return (folder / MANIFEST).is_file() and "packed" in load(folder).config


def _kept(model: Model, words: int, fields: int, megabytes: float) -> tuple[list[int], list[int]]:
    """The numbers of the words and fields to keep: the heaviest, and the unknown ones."""
    names = model.vocabulary
    kept_fields = _first(names.fields, fields or len(names.fields))
    limit = words or len(names.words)
    if megabytes:
        limit = min(limit, _fitting(model, len(kept_fields), megabytes))
    return _first(names.words, limit), kept_fields


def _first(items: Sequence[str], count: int) -> list[int]:
    return [at for at, item in enumerate(items) if at < count or item.startswith(UNKNOWN)]


def _fitting(model: Model, fields: int, megabytes: float) -> int:
    """How many words fit beside so many fields."""
    roles = MOST if model.roles else 0
    each = 2 * model.dim + LENGTH_BYTES + roles + WEIGHT_BYTES
    costs = [each + len(word.encode()) for word in model.vocabulary.words]
    room = 1e6 * megabytes - SPARE - fields * model.matrices[:1].size
    count = int(np.searchsorted(np.cumsum(costs), room, side="right"))
    if not count:
        raise InputError(f"{fields} fields leave no room for words in {megabytes:g} MB: keep fewer")
    return count


def cut(model: Model, words: Sequence[int], fields: Sequence[int]) -> Model:
    """The model with some of its words and fields; the weights of the others go to the unknown ones."""
    names = model.vocabulary
    vocabulary = Vocabulary(
        tuple(names.words[at] for at in words),
        _merged(names.words, names.word_weights, words, [unknown_word(word) for word in names.words]),
        tuple(names.fields[at] for at in fields),
        _merged(names.fields, names.field_weights, fields, [UNKNOWN] * len(names.fields)),
    )
    config = {**model.config, "packed": {"words": len(names.words), "fields": len(names.fields)}}
    matrices = model.matrices[list(fields)] if model.has_matrices else model.matrices
    query, answer = (np.asarray(vectors)[list(words)] for vectors in (model.query, model.answer))
    roles = _cut_roles(model.roles, words, fields) if model.roles else None
    made = replace(model, vocabulary=vocabulary, query=query, answer=answer, matrices=matrices, config=config)
    return replace(made, roles=roles)


def _cut_roles(roles: Roles, words: Sequence[int], fields: Sequence[int]) -> Roles:
    """The roles between fields that are kept, of words that are kept."""
    number = {old: new for new, old in enumerate(fields)}
    rows = [row for row, (_, *ends) in enumerate(roles.kinds.tolist()) if all(end in number for end in ends)]
    kinds = [[part, number[near], number[far]] for part, near, far in roles.kinds[rows].tolist()]
    return Roles(np.array(kinds, np.int32).reshape(-1, 3), np.asarray(roles.leanings)[np.ix_(rows, list(words))])


def _merged(
    items: Sequence[str], weights: NDArray[np.float64], kept: Sequence[int], unknown: Sequence[str]
) -> NDArray[np.float64]:
    """The weights of the items kept, in few digits; those of the others added to their unknown items."""
    found = {items[at]: float(weights[at]) for at in kept}
    for at in sorted({*range(len(items))} - {*kept}):
        found[unknown[at]] = found.get(unknown[at], 0.0) + float(weights[at])
    return np.array([float(f"{found[items[at]]:.{DIGITS}g}") for at in kept])


def rounded(model: Model) -> Model:
    """The model in whole numbers: vectors up to length, which is kept beside them, matrices as I + step * them."""
    turns = np.asarray(model.matrices, np.float32) - np.eye(model.matrices.shape[-1], dtype=np.float32)
    steps = np.abs(turns).max(axis=(1, 2), initial=0) / LARGEST
    matrices: Any = _whole(turns, steps[:, None, None])
    sides = [np.asarray(getattr(model, side), np.float32) for side in SIDES]
    lengths = np.stack([np.linalg.norm(side, axis=1) for side in sides]).astype(np.float16)
    vectors = dict(zip(SIDES, map(_whole_rows, sides), strict=True))
    return replace(model, **vectors, matrices=matrices, steps=steps.astype(np.float32), lengths=lengths, path=None)


def _whole_rows(vectors: NDArray[np.float32]) -> Any:
    """Each row times what makes its largest number as large as can be."""
    wide = unit(vectors)
    return _whole(wide, np.abs(wide).max(axis=1, keepdims=True) / LARGEST)


def _whole(values: NDArray[np.float32], step: NDArray[np.float32]) -> NDArray[np.int8]:
    return np.rint(values / np.where(step > 0, step, 1)).astype(np.int8)
