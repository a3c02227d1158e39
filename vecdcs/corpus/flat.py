"""Many trees as flat arrays: the form in which weights, walks and training see a forest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class FlatTrees:
    """Trees laid end to end; tree t is the slice start[t]:start[t+1], its root first.

    `word`, `label` and `parent_label` are indices into a vocabulary. `parent` is a position in these same
    arrays (always smaller than the child's own), -1 at a root. `label` is L, the label at the child's end of the edge
    to the parent, `parent_label` is P, the one at the parent's end; both -1 at a root. In a vecUD forest an edge has
    one relation: it is in `label`, and `parent_label` is -1. `group` is the coordination group of the node among its
    siblings (numbers > 0 are unique within a tree), 0 for none.
    """

    word: IntArray
    parent: IntArray
    label: IntArray
    parent_label: IntArray
    group: IntArray
    start: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start) - 1
