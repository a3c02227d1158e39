"""Models in other programs' files: those of the paper's authors, read and written to the byte, word2vec and TSV.

Their model file is big-endian: d (int64), k (int32), the step sizes eta, lambda, eta_r, lambda_r, kappa, gamma
(float32); then matrices, each with the tag MATf, rows and columns (int64) and float32 by columns: answer vectors
(d x V), query vectors (V x d), every M, every M^-1; then counters (int64) of answer vectors, query vectors and roles. A
file without roles ends after the two vector matrices and has only eta and lambda. Words and roles are lists of
`weight TAB item`. What a model of ours has no place for is kept in its configuration, under "reference".
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary
from vecdcs.errors import InputError
from vecdcs.model.model import FORMAT, MANIFEST, METRICS, SIDES, Model, load, save
from vecdcs.model.search import CALIBRATION, calibration_of, write_calibration

FORMATS = ("word2vec", "word2vec-binary", "tsv", "reference", "half")
TAG, HEAD = b"MATf", ">qq"
START, RATES, ROLE_RATES = ">qi", ("eta", "lambda"), ("eta_r", "lambda_r", "kappa", "gamma")
PAPER_RATES = {"eta": 0.1, "lambda": 1e-4, "eta_r": 0.0005, "lambda_r": 1e-5, "kappa": 1e-4, "gamma": 1e-3}
PARTS = {"NOUN": "N", "VERB": "V", "ADJ": "J", "ADV": "R"}
PRONOUN = "_Pr"
WORDS, ROLES, MODEL = "words.txt", "roles.txt", "model.bin"
MOST_DIM = 1 << 16

Floats = NDArray[np.float32]


def our_word(word: str) -> str:
    """`he_Pr/NOUN` is he/P here, `ban/VERB` is ban/V."""
    form, slash, part = word.rpartition("/")
    if part == "NOUN" and form.endswith(PRONOUN):
        return f"{form.removesuffix(PRONOUN)}/P"
    return f"{form}{slash}{PARTS.get(part, part)}"


def their_word(word: str) -> str:
    """he/P is `he_Pr/NOUN` there, ban/V is `ban/VERB`."""
    form, slash, part = word.rpartition("/")
    if part == "P":
        return f"{form}{PRONOUN}/NOUN"
    return f"{form}{slash}{next((theirs for theirs, ours in PARTS.items() if ours == part), part)}"


@dataclass
class Reader:
    """A binary file read from its start; says where it ends too early."""

    stream: IO[bytes]
    name: str

    def numbers(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def take(self, count: int) -> bytes:
        data = self.stream.read(count)
        if len(data) != count:
            raise InputError(f"the file ends {count - len(data)} bytes too early", self.name)
        return data

    def at_matrix(self) -> bool:
        """Whether a matrix comes next."""
        here = self.stream.tell()
        found = self.stream.read(len(TAG)) == TAG
        self.stream.seek(here)
        return found

    def matrix(self, rows: int, columns: int, what: str) -> Floats:
        """A matrix of this shape."""
        at = self.stream.tell()
        if self.take(len(TAG)) != TAG:
            raise InputError(f"expected a matrix ({what}) at byte {at}", self.name)
        shape = self.numbers(HEAD)
        if shape != (rows, columns):
            raise InputError(f"expected {rows} x {columns} {what}, found {shape[0]} x {shape[1]}", self.name)
        values = np.frombuffer(self.take(4 * rows * columns), ">f4")
        return np.ascontiguousarray(values.reshape((rows, columns), order="F"), np.float32)

    def counters(self, count: int) -> list[int]:
        found: list[int] = np.frombuffer(self.take(8 * count), ">i8").tolist()
        return found


def import_reference(words: Path, roles: Path, model: Path, output: Path) -> Model:
    """Make a model folder from the authors' files."""
    if output.exists():
        raise InputError("there is something here already: choose another output, or remove it", str(output))
    save(read_reference(words, roles, model), output, [])
    return load(output)


def read_reference(words: Path, roles: Path, model: Path) -> Model:
    """The authors' files as a model."""
    (texts, names), (role_texts, role_names) = _read_list(words), _read_list(roles)
    weights = _weights(texts, words), _weights(role_texts, roles)
    with _opened(model) as stream:
        reader = Reader(stream, str(model))
        dim, noise = reader.numbers(START)
        if not 0 < dim <= MOST_DIM:
            raise InputError(f"expected a model file of the paper's authors, found dimension {dim}", str(model))
        rates = dict(zip(RATES, reader.numbers(">2f"), strict=True))
        has_roles = not reader.at_matrix()
        if has_roles:
            rates |= dict(zip(ROLE_RATES, reader.numbers(">4f"), strict=True))
        answer = reader.matrix(dim, len(names), "answer vectors").T
        query = reader.matrix(len(names), dim, "query vectors")
        count = len(role_names) if has_roles else 0
        pairs = [[reader.matrix(dim, dim, what) for _ in range(count)] for what in ("M", "inverses of M")]
        sizes = {"answer": len(names), "query": len(names), "role": count} if has_roles else {}
        counters = {name: reader.counters(size) for name, size in sizes.items()}
        if stream.read(1):
            raise InputError("the file goes on after its end: do the lists belong to it?", str(model))
    matrices, inverses = (np.array(some, np.float32).reshape(count, dim, dim) for some in pairs)
    kept = {"noise": noise, "rates": rates, "counters": counters, **_spelled(texts, role_texts)}
    vocabulary = Vocabulary(tuple(map(our_word, names)), weights[0], tuple(role_names), weights[1])
    made = Model(vocabulary, query, np.ascontiguousarray(answer), matrices, inverses if has_roles else None, {})
    return _with_unknown(made, kept)


def _with_unknown(model: Model, kept: dict[str, Any]) -> Model:
    """The model with the unknown entries that ours need at the end; what was added is written down."""
    known = model.vocabulary
    words = [word for word in (f"{UNKNOWN}/N",) if word not in known.word_index]
    fields = [UNKNOWN] if UNKNOWN not in known.field_index else []
    added = {"words": len(words), "fields": len(fields)}
    vocabulary = Vocabulary(
        (*known.words, *words),
        np.append(known.word_weights, np.zeros(len(words))),
        (*known.fields, *fields),
        np.append(known.field_weights, np.zeros(len(fields))),
    )
    query, answer = (
        np.concatenate([v, np.zeros((len(words), model.dim), np.float32)]) for v in (model.query, model.answer)
    )
    matrices, inverses = model.matrices, model.inverses
    if inverses is not None and fields:
        matrices, inverses = (
            np.concatenate([m, np.eye(model.dim, dtype=np.float32)[None]]) for m in (matrices, inverses)
        )
    return Model(vocabulary, query, answer, matrices, inverses, {"reference": {**kept, "added": added}})


def write_reference(model: Model, folder: Path) -> list[Path]:
    """Write words.txt, roles.txt and model.bin as the authors' program reads them."""
    kept = model.config.get("reference", {})
    added = kept.get("added", {"words": 0, "fields": 0})
    vocabulary = model.vocabulary
    count, fields = len(vocabulary.words) - added["words"], len(vocabulary.fields) - added["fields"]
    words = map(their_word, vocabulary.words[:count])
    spelled = kept.get("word_weights") or list(map(repr, vocabulary.word_weights.tolist()))
    role_spelled = kept.get("role_weights") or list(map(repr, vocabulary.field_weights.tolist()))
    return [
        _write_lines(folder / WORDS, (f"{weight}\t{word}\n" for weight, word in zip(spelled, words, strict=False))),
        _write_lines(
            folder / ROLES,
            (f"{weight}\t{role}\n" for weight, role in zip(role_spelled, vocabulary.fields[:fields], strict=False)),
        ),
        _written(folder / MODEL, lambda stream: _write_model(model, kept, count, fields, stream)),
    ]


def _write_model(model: Model, kept: dict[str, Any], words: int, fields: int, stream: IO[bytes]) -> None:
    noise = kept.get("noise", model.config.get("plan", {}).get("recipe", {}).get("noise", 4))
    rates = {**PAPER_RATES, **kept.get("rates", {})}
    names = (*RATES, *ROLE_RATES) if model.has_matrices else RATES
    stream.write(struct.pack(START, model.dim, noise))
    stream.write(struct.pack(f">{len(names)}f", *(rates[name] for name in names)))
    _write_matrix(stream, model.as_learned("answer")[:words].T)
    _write_matrix(stream, model.as_learned("query")[:words])
    if not model.has_matrices:
        return
    for inverse in (False, True):
        for field in range(fields):
            _write_matrix(stream, model.learned(field, inverse))
    counters = kept.get("counters", {})
    for name, size in (("answer", words), ("query", words), ("role", fields)):
        stream.write(np.array(counters.get(name, [0] * size), ">i8").tobytes())


def _write_matrix(stream: IO[bytes], matrix: NDArray[np.floating[Any]]) -> None:
    stream.write(TAG + struct.pack(HEAD, *matrix.shape))
    stream.write(np.asarray(matrix, ">f4").tobytes(order="F"))


def write_word2vec(model: Model, folder: Path, binary: bool = False) -> list[Path]:
    """Write query and answer vectors as word2vec does; spaces in words become underscores."""
    words = [word.replace(" ", "_") for word in model.vocabulary.words]
    parts = {side: model.as_learned(side) for side in SIDES}
    if binary:
        return [_written(folder / f"{name}.bin", _binary(words, v)) for name, v in parts.items()]
    return [_write_lines(folder / f"{name}.txt", _text(words, v)) for name, v in parts.items()]


def _text(words: Sequence[str], vectors: NDArray[np.floating[Any]]) -> Iterable[str]:
    yield f"{len(words)} {vectors.shape[1]}\n"
    for word, vector in zip(words, vectors, strict=True):
        yield f"{word} {' '.join(map(str, np.asarray(vector, np.float32)))}\n"


def _binary(words: Sequence[str], vectors: NDArray[np.floating[Any]]) -> Callable[[IO[bytes]], None]:
    def write(stream: IO[bytes]) -> None:
        stream.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors, strict=True):
            stream.write(word.encode() + b" " + np.asarray(vector, "<f4").tobytes() + b"\n")

    return write


def write_tsv(model: Model, folder: Path) -> list[Path]:
    """Write query.tsv and answer.tsv (a vector a line), and words.tsv with the words and weights of these lines."""
    words = ["word\tweight\n"]
    words += [
        f"{w}\t{x!r}\n" for w, x in zip(model.vocabulary.words, model.vocabulary.word_weights.tolist(), strict=True)
    ]
    written = [_write_lines(folder / "words.tsv", words)]
    for side in SIDES:
        lines = ("\t".join(map(str, vector)) + "\n" for vector in model.as_learned(side))
        written.append(_write_lines(folder / f"{side}.tsv", lines))
    return written


def write_half(model: Model, folder: Path) -> list[Path]:
    """A model folder with numbers of half precision: half the size; they are widened when they are used."""
    if folder.exists():
        raise InputError("there is something here already: choose another output, or remove it", str(folder))
    small: Any = {name: _half(getattr(model, name)) for name in ("query", "answer", "matrices", "inverses")}
    rows = (model.path / METRICS).read_text("utf-8").splitlines() if model.path else []
    save(replace(model, **small), folder, [json.loads(row) for row in rows])
    if model.path and (model.path / CALIBRATION).is_file():
        write_calibration(calibration_of(model), folder)
    return sorted(folder.iterdir())


def _half(array: NDArray[np.float32] | None) -> NDArray[np.float16] | None:
    return None if array is None else array.astype(np.float16)


def is_model(path: Path) -> bool:
    """Whether a folder holds a model."""
    manifest = path / MANIFEST
    return manifest.is_file() and f'"{FORMAT}"' in manifest.read_text("utf-8", "replace")


def export_model(path: Path, output: Path, format: str) -> list[Path]:
    """Write a model folder in another program's files."""
    if format not in FORMATS:
        raise InputError(f"--format {format}: expected one of {', '.join(FORMATS)} for a model")
    model = load(path)
    if format == "half":
        return write_half(model, output)
    output.mkdir(parents=True, exist_ok=True)
    if format == "reference":
        return write_reference(model, output)
    return write_tsv(model, output) if format == "tsv" else write_word2vec(model, output, format == "word2vec-binary")


def _read_list(path: Path) -> tuple[list[str], list[str]]:
    """The weights, as they are written, and the items of a list."""
    weights, items = [], []
    with _opened(path) as stream:
        for number, line in enumerate(stream, 1):
            weight, tab, item = line.decode("utf-8", "replace").rstrip("\n").partition("\t")
            if not tab or not item or "\ufffd" in item:
                raise InputError("expected `weight TAB item` in UTF-8", str(path), number)
            weights.append(weight)
            items.append(item)
    if not items:
        raise InputError("expected a list of `weight TAB item`, found nothing", str(path))
    return weights, items


def _weights(texts: Sequence[str], path: Path) -> NDArray[np.float64]:
    found = []
    for number, text in enumerate(texts, 1):
        try:
            found.append(float(text))
        except ValueError as error:
            raise InputError(f"expected a number before the tab, found {text!r}", str(path), number) from error
    return np.array(found)


def _spelled(words: Sequence[str], roles: Sequence[str]) -> dict[str, list[str]]:
    """Weights whose spelling is not ours, to be written as they were."""
    lists = {"word_weights": list(words), "role_weights": list(roles)}
    return {name: texts for name, texts in lists.items() if any(repr(float(text)) != text for text in texts)}


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", str(path)) from error


def _write_lines(path: Path, lines: Iterable[str]) -> Path:
    return _written(path, lambda stream: stream.writelines(line.encode() for line in lines))


def _written(path: Path, write: Callable[[IO[bytes]], None]) -> Path:
    """Aside first, so that a file is whole or not there."""
    aside = path.with_name(path.name + ".part")
    with aside.open("wb") as stream:
        write(stream)
    return aside.replace(path)
