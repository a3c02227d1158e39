"""The official score of SemEval-2010 task 8: nine relations and Other, direction taken into account."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.errors import InputError

RELATIONS = (
    "Cause-Effect",
    "Instrument-Agency",
    "Product-Producer",
    "Content-Container",
    "Entity-Origin",
    "Entity-Destination",
    "Component-Whole",
    "Member-Collection",
    "Message-Topic",
)
DIRECTED = len(RELATIONS)  # the label of relation r is r for (e1,e2), r + DIRECTED for (e2,e1)
OTHER = 2 * DIRECTED
LABELS = (*(f"{name}(e1,e2)" for name in RELATIONS), *(f"{name}(e2,e1)" for name in RELATIONS), "Other")

Labels = NDArray[np.int64]

_ITEM = re.compile(r'\s*(\d+)\t"(.*)"\s*')
_FORM = '`id TAB "… <e1>…</e1> … <e2>…</e2> …"`'
_MARKS = re.compile(r"(.*?)<e1>(.*?)</e1>(.*?)<e2>(.*?)</e2>(.*)")


class Item(NamedTuple):
    """A sentence without its marks, where its two entities stand in it, and the label of their relation."""

    id: int
    text: str
    spans: tuple[tuple[int, int], tuple[int, int]]
    label: int


def read(path: Path) -> list[Item]:
    """The items of a file: `id TAB "sentence"`, the label, a comment, a blank line."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        lines = [line.rstrip("\r\n") for line in stream]
    starts = [at for at, line in enumerate(lines) if line.strip() and (at == 0 or not lines[at - 1].strip())]
    if not starts:
        raise InputError(f"expected items, {_FORM}", str(path), 1)
    ends = [*starts[1:], len(lines)]
    return [_item(lines[start:end], str(path), start + 1) for start, end in zip(starts, ends, strict=True)]


def _item(lines: list[str], name: str, number: int) -> Item:
    """An item from its lines, of which the first has this number."""
    whole = _ITEM.fullmatch(lines[0])
    parts = _MARKS.fullmatch(whole[2]) if whole else None
    if whole is None or parts is None:
        raise InputError(f"expected {_FORM}", name, number)
    label, comment = (lines[at].strip() if at < len(lines) else "" for at in (1, 2))
    if label not in LABELS:
        raise InputError(f"expected a label such as {LABELS[0]} or Other, found {label!r}", name, number + 1)
    if comment and not comment.startswith("Comment"):
        raise InputError("expected a line `Comment:`, then a blank line", name, number + 2)
    for at, line in enumerate(lines[3:], number + 3):
        if _ITEM.fullmatch(line):
            raise InputError("expected a blank line before the next item", name, at)
    ends = np.cumsum([len(part) for part in parts.groups()]).tolist()
    return Item(int(whole[1]), "".join(parts.groups()), ((ends[0], ends[1]), (ends[2], ends[3])), LABELS.index(label))


def mirrored(labels: Labels) -> Labels:
    """The labels with the two entities exchanged."""
    return np.where(labels == OTHER, OTHER, (labels + DIRECTED) % (2 * DIRECTED))


def macro_f1(gold: Labels, given: Labels) -> float:
    """The official score: the mean F1 of the nine relations; a wrong direction is an error, Other is no relation."""
    return _macro(confusion(gold, given))


def score(gold: Labels, given: Labels) -> dict[str, Any]:
    """The official score, right relations with the wrong direction, accuracy, and F1 by relation."""
    table = confusion(gold, given)
    f1 = _f1(table)
    return {
        "macro_f1": _macro(table),
        "direction_errors": int(np.sum((gold != given) & (mirrored(gold) == given))),
        "accuracy": float(np.mean(gold == given)),
        "f1": {name: float(f1[r]) for r, name in enumerate(RELATIONS)},
    }


def confusion(gold: Labels, given: Labels) -> NDArray[np.int64]:
    """How often each label (row) was given each label (column)."""
    size = len(LABELS)
    return np.bincount(gold * size + given, minlength=size * size).reshape(size, size)


def _macro(table: NDArray[np.int64]) -> float:
    """The mean over the relations that occur."""
    occurs = _both(table.sum(0)) + _both(table.sum(1)) > 0
    return float(_f1(table)[occurs].mean()) if occurs.any() else 0.0


def _f1(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each relation: right ones (with direction) against all given and all true ones of either direction."""
    right = _both(np.diag(table)).astype(float)
    return np.asarray(2 * right / np.maximum(_both(table.sum(0)) + _both(table.sum(1)), 1))


def _both(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Both directions of each relation together."""
    return counts[:DIRECTED] + counts[DIRECTED : 2 * DIRECTED]
