"""A trained model: a folder of safetensors, JSON and word lists, mapped into memory when loaded."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecdcs import __version__
from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary
from vecdcs.errors import InputError
from vecdcs.learn import tensors

FORMAT, VERSION = "vecdcs-model", 1
TENSORS, CONFIG, METRICS = "model.safetensors", "config.json", "metrics.jsonl"
CARD, MANIFEST = "README.md", "manifest.json"

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Model:
    """Query and answer vectors of words, and a matrix M with its inverse for each field.

    `matrices` is empty without matrices; `inverses` is None where M is orthogonal, its inverse being M^T.
    """

    vocabulary: Vocabulary
    query: NDArray[np.float32] = field(repr=False)
    answer: NDArray[np.float32] = field(repr=False)
    matrices: NDArray[np.float32] = field(repr=False)
    inverses: NDArray[np.float32] | None = field(repr=False)
    config: Mapping[str, Any] = field(repr=False)
    path: Path | None = None

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

    def matrix(self, name: str) -> Matrix:
        """M of a field, of the Frobenius norm of an orthogonal matrix."""
        return self._scaled(self.matrices[self.vocabulary.field_id(name)])

    def inverse(self, name: str) -> Matrix:
        """The inverse of M of a field, as it was learned."""
        number = self.vocabulary.field_id(name)
        return self._scaled(self.matrices[number].T if self.inverses is None else self.inverses[number])

    def _scaled(self, matrix: Matrix) -> Matrix:
        if self.inverses is None:
            return np.asarray(matrix, np.float32)
        wide = np.asarray(matrix, np.float32)
        return np.asarray(wide * (np.sqrt(self.dim) / np.linalg.norm(wide)), np.float32)


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
    model = Model(Vocabulary.load(folder), *parts, _json(folder / CONFIG), folder)
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


def save(model: Model, folder: Path, metrics: list[dict[str, float]]) -> None:
    """Write a model folder aside, its manifest last, and put it in place."""
    aside = folder.with_name(folder.name + ".partial")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    arrays = {"query": model.query, "answer": model.answer, "matrices": model.matrices}
    if model.inverses is not None:
        arrays["inverses"] = model.inverses
    tensors.write(aside / TENSORS, arrays)
    model.vocabulary.save(aside)
    (aside / CONFIG).write_text(_dump(model.config), "utf-8")
    (aside / METRICS).write_text("".join(json.dumps(line) + "\n" for line in metrics), "utf-8")
    (aside / CARD).write_text(card(model), "utf-8")
    files = sorted(path.name for path in aside.iterdir())
    listed = {name: {"bytes": (aside / name).stat().st_size, "sha256": _digest(aside / name)} for name in files}
    manifest = {"format": FORMAT, "version": VERSION, "sources": model.config.get("sources", []), "files": listed}
    (aside / MANIFEST).write_text(_dump(manifest), "utf-8")
    if folder.exists():
        shutil.rmtree(folder)
    aside.rename(folder)


def card(model: Model) -> str:
    """The model card."""
    config = model.config
    plan, forest = config.get("plan", {}), config.get("forest", {})
    known = sum(not word.startswith(UNKNOWN) for word in model.vocabulary.words)
    recipe = plan.get("recipe", {}).get("name")
    return f"""# A vecdcs model

Query vectors, answer vectors and field matrices of vector-based DCS, learned by `vecdcs train` ({__version__}).

| | |
|---|---|
| variant, recipe | {plan.get("variant")}, {recipe} |
| dimension | {model.dim} |
| words, fields | {known:,}, {len(model.vocabulary.fields):,} |
| text | {forest.get("words", 0):,} words in {forest.get("sentences", 0):,} sentences |
| paths seen | {config.get("paths", 0):,} in {plan.get("epochs")} passes, seed {plan.get("seed")} |
| trained to the end | {"yes" if config.get("finished") else "no: stopped by a time limit"} |
| files of the text | {", ".join(config.get("sources", []))} |

The licence of the text travels with what was learned from it. Load it with `vecdcs.load(folder)`; look at it with
`vecdcs inspect folder`.
"""


def _check_shapes(model: Model, folder: Path) -> None:
    words, fields, dim = len(model.vocabulary.words), len(model.vocabulary.fields), model.dim
    shapes: dict[str, tuple[int, ...]] = {"query": (words, dim), "answer": (words, dim)}
    if model.has_matrices:
        shapes["matrices"] = (fields, dim, dim)
    for name, shape in shapes.items():
        if getattr(model, name).shape != shape:
            raise InputError(f"{name} has shape {getattr(model, name).shape}, expected {shape}", str(folder / TENSORS))


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
