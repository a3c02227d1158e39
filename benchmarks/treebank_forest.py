"""The forest benchmarks run on unless told otherwise: the treebanks of the shared data, built anew."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest


@contextmanager
def open_forest(folder: str | None) -> Iterator[Forest]:
    """The forest in a folder, or that of the treebanks."""
    if folder is not None:
        yield Forest.open(folder)
        return
    shared = Path(os.environ.get("VECDCS_SHARED", Path(__file__).parent.parent.parent / "shared"))
    with tempfile.TemporaryDirectory() as place:
        yield build([shared / "data" / "treebanks"], Path(place) / "forest")
