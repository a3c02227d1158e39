"""A trained model: a folder of safetensors, JSON and word lists, mapped into memory when loaded."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.roles import Roles
from vecdcs.corpus.vocabulary import PARTS_OF_SPEECH, Vocabulary
from vecdcs.errors import InputError
from vecdcs.learn import tensors
from vecdcs.model.card import card

FORMAT, VERSION = "vecdcs-model", 1
TENSORS, CONFIG, METRICS = "model.safetensors", "config.json", "metrics.jsonl"
CARD, MANIFEST = "README.md", "manifest.json"
SIDES = ("query", "answer")
ARRAYS = (*SIDES, "matrices", "inverses", "steps", "lengths")
NO_TEXTS: Mapping[str, str] = MappingProxyType({})

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Model:
    """Query and answer vectors of words, and a matrix M with its inverse for each field.

    `matrices` is empty without matrices; narrower than vectors, they turn the first dimensions and leave the others as
    they are. `inverses` is None where M is orthogonal, its inverse being M^T. In a packed
    model all are whole numbers: of a vector they tell the direction, its length is in `lengths` (a row for query
    vectors, one for answer vectors), and M is I + whole numbers times its `steps`. `roles` tells which words stand
    where, counted in the text.
    """

    vocabulary: Vocabulary
    query: NDArray[np.float32] = field(repr=False)
    answer: NDArray[np.float32] = field(repr=False)
    matrices: NDArray[np.float32] = field(repr=False)
    inverses: NDArray[np.float32] | None = field(repr=False)
    config: Mapping[str, Any] = field(repr=False)
    path: Path | None = None
    steps: NDArray[np.float32] | None = field(default=None, repr=False)
    roles: Roles | None = field(default=None, repr=False)
    lengths: NDArray[np.float16] | None = field(default=None, repr=False)

    @property
    def dim(self) -> int:
        return int(self.query.shape[1])

    @property
    def has_matrices(self) -> bool:
        return len(self.matrices) > 0

    def knows(self, word: str) -> bool:
        """Whether the word has vectors of its own; others have those of the unknown word of their part of speech."""
        return self.vocabulary.knows(word)

    def query_vector(self, word: str) -> Vector:
        """v of a word, of length 1."""
        return unit(self.query[self.vocabulary.word_id(word)])

    def answer_vector(self, word: str) -> Vector:
        """u of a word, of length 1."""
        return unit(self.answer[self.vocabulary.word_id(word)])

    @cached_property
    def mean_answers(self) -> NDArray[np.float32]:
        """The mean answer vector of every part of speech; the last is that of words that have none."""
        parts, vectors = self.vocabulary.parts, unit(self.answer)
        means = np.zeros((len(PARTS_OF_SPEECH) + 1, self.dim), np.float32)
        for part in np.unique(parts):
            means[part] = vectors[parts == part].mean(axis=0)
        return means

    def as_learned(self, side: str, rows: Any = slice(None)) -> Vector:
        """Query or answer vectors of words by number, as long as they were learned (or 1, where that was not kept)."""
        vectors = np.asarray(getattr(self, side)[rows], np.float32)
        if self.steps is None:
            return vectors
        lengths = 1 if self.lengths is None else self.lengths[SIDES.index(side)][rows, None]
        return np.asarray(unit(vectors) * lengths, np.float32)

    def matrix(self, name: str) -> Matrix:
        """M of a field, of the Frobenius norm of an orthogonal matrix."""
        return self._scaled(self.learned(self.vocabulary.field_id(name)))

    def inverse(self, name: str) -> Matrix:
        """The inverse of M of a field, of the same norm."""
        return self._scaled(self.learned(self.vocabulary.field_id(name), inverse=True))

    def learned(self, number: int, inverse: bool = False) -> Matrix:
        """M of a field, or its inverse, as it was learned."""
        if inverse and self.inverses is not None:
            return self._widened(np.asarray(self.inverses[number], np.float32))
        matrix = np.asarray(self.matrices[number], np.float32)
        if self.steps is not None:
            matrix = np.eye(len(matrix), dtype=np.float32) + self.steps[number] * matrix
        return self._widened(matrix.T if inverse else matrix)

    def _widened(self, matrix: Matrix) -> Matrix:
        if len(matrix) == self.dim:
            return matrix
        whole = np.eye(self.dim, dtype=np.float32)
        whole[: len(matrix), : len(matrix)] = matrix
        return whole

    def _scaled(self, matrix: Matrix) -> Matrix:
        if self.inverses is None:
            return matrix
        return np.asarray(matrix * (np.sqrt(self.dim) / np.linalg.norm(matrix)), np.float32)


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors (along the last axis) scaled to length 1; zero stays zero."""
    wide = np.asarray(vectors, np.float32)
    length = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.asarray(wide / np.where(length > 0, length, 1), np.float32)


def load(path: str | Path) -> Model:
    """Load a model folder; its vectors and matrices are mapped, not read."""
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        raise InputError("no model here: `vecdcs train` makes one", str(folder))
    manifest = _json(folder / MANIFEST)
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        found = f"{manifest.get('format')} {manifest.get('version')}"
        raise InputError(f"expected a model of format {FORMAT} {VERSION}, found {found}", str(folder / MANIFEST))
    arrays: dict[str, Any] = dict(tensors.mapped(folder / TENSORS))
    parts = (arrays["query"], arrays["answer"], arrays["matrices"], arrays.get("inverses"))
    roles = Roles(arrays["role_kinds"], arrays["role_leanings"]) if "role_kinds" in arrays else None
    more = (arrays.get("steps"), roles, arrays.get("lengths"))
    model = Model(Vocabulary.load(folder), *parts, _json(folder / CONFIG), folder, *more)
    _check_shapes(model, folder)
    return model


def check(path: str | Path) -> None:
    """Compare every file of a model with its digest in the manifest."""
    folder = Path(path)
    for name, expected in _json(folder / MANIFEST)["files"].items():
        if not (folder / name).is_file():
            raise InputError("the file is missing from the model", str(folder / name))
        if _digest(folder / name) != expected["sha256"]:
            raise InputError("the file is not what the manifest says: it was changed or damaged", str(folder / name))


def save(
    model: Model,
    folder: Path,
    metrics: list[dict[str, float]],
    describe: Callable[[Model, str], str] = card,
    texts: Mapping[str, str] = NO_TEXTS,
) -> None:
    """Write a model folder aside, its manifest last, and put it in place.

    `describe` makes the card from the model and the digest of its numbers; `texts` are more files.
    """
    aside = folder.with_name(folder.name + ".partial")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    tensors.write(aside / TENSORS, _arrays(model))
    model.vocabulary.save(aside)
    (aside / CONFIG).write_text(_dump(model.config), "utf-8")
    (aside / METRICS).write_text("".join(json.dumps(line) + "\n" for line in metrics), "utf-8")
    (aside / CARD).write_text(describe(model, _digest(aside / TENSORS)), "utf-8")
    for name, text in texts.items():
        (aside / name).write_text(text, "utf-8")
    files = sorted(path.name for path in aside.iterdir())
    listed = {name: _listed(aside / name) for name in files}
    manifest = {"format": FORMAT, "version": VERSION, "sources": model.config.get("sources", []), "files": listed}
    (aside / MANIFEST).write_text(_dump(manifest), "utf-8")
    if folder.exists():
        shutil.rmtree(folder)
    aside.rename(folder)


def put(folder: Path, name: str, text: str) -> None:
    """Write a file of a model folder anew, and its digest into a manifest that lists it."""
    _replace(folder / name, text)
    manifest = _json(folder / MANIFEST) if (folder / MANIFEST).is_file() else {"files": {}}
    if name in manifest["files"]:
        manifest["files"][name] = _listed(folder / name)
        _replace(folder / MANIFEST, _dump(manifest))


def _replace(path: Path, text: str) -> None:
    aside = path.with_name(path.name + ".part")
    aside.write_text(text, "utf-8")
    aside.replace(path)


def _listed(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": _digest(path)}


def _arrays(model: Model) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any] | None] = {name: getattr(model, name) for name in ARRAYS}
    if model.roles is not None:
        arrays |= {"role_kinds": model.roles.kinds, "role_leanings": model.roles.leanings}
    return {name: array for name, array in arrays.items() if array is not None}


def _check_shapes(model: Model, folder: Path) -> None:
    words, fields, dim = len(model.vocabulary.words), len(model.vocabulary.fields), model.dim
    shapes: dict[str, tuple[int, ...]] = {"query": (words, dim), "answer": (words, dim)}
    if model.has_matrices:
        turned = min(model.matrices.shape[-1], dim)
        shapes["matrices"] = (fields, turned, turned)
    if model.steps is not None:
        shapes["steps"] = (fields if model.has_matrices else 0,)
    if model.lengths is not None:
        shapes["lengths"] = (len(SIDES), words)
    for name, shape in shapes.items():
        if getattr(model, name).shape != shape:
            raise InputError(f"{name} has shape {getattr(model, name).shape}, expected {shape}", str(folder / TENSORS))
    if model.roles is not None and model.roles.leanings.shape != (len(model.roles.kinds), words):
        found, expected = model.roles.leanings.shape, (len(model.roles.kinds), words)
        raise InputError(f"role_leanings has shape {found}, expected {expected}", str(folder / TENSORS))


def _json(path: Path) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"not a readable JSON file: {error}", str(path)) from error
    return value


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
