"""Words as candidates for the blanks of trees: what a model's scores, and its probabilities, say of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.tree import Tree
from vecdcs.model.blank import blank_vectors, from_blank
from vecdcs.model.compose import answer_vectors, word_vectors
from vecdcs.model.leanings import at_roots
from vecdcs.model.model import Model
from vecdcs.model.search import Calibration, calibration_of
from vecdcs.model.steps import Steps

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Words with their unit vectors and the logarithms of their shares of all words; `steps` to go step by step."""

    model: Model
    numbers: NDArray[np.int32]
    answers: NDArray[np.float32]
    asking: NDArray[np.float32]
    log_shares: Floats
    calibration: Calibration
    steps: Steps | None

    @classmethod
    def of(cls, model: Model, words: Sequence[str], shares: Floats, steps: Steps | None = None) -> Candidates:
        """Some words as candidates of a model."""
        vectors = answer_vectors(model, words), word_vectors(model, words)
        log_shares = np.log(np.maximum(shares, 1e-12))
        return cls(model, model.vocabulary.word_ids(words), *vectors, log_shares, calibration_of(model), steps)

    def scores(self, trees: Sequence[Tree]) -> Floats:
        """Surrounding vector . answer vector, as in the paper."""
        return np.asarray(blank_vectors(self.model, trees, self.steps) @ self.answers.T, np.float64)

    def both_ways(self, trees: Sequence[Tree]) -> Floats:
        """What scores are worth, with those of asking back."""
        found = self.calibration.sharpness * self.scores(trees)
        if self.calibration.back:
            backs = blank_vectors(self.model, trees, self.steps, back=True)
            found += self.calibration.back * np.asarray(backs @ self.asking.T, np.float64)
        return found

    def log_odds(self, trees: Sequence[Tree]) -> Floats:
        """The logarithm of probabilities, as `vecdcs ask` ranks by them, up to a constant of each tree."""
        lean = at_roots(self.model, from_blank(self.model, trees).trees)
        edges = self.calibration.role * lean.edges(0, len(trees))[:, self.numbers]
        odds: Floats = self.both_ways(trees) + self.calibration.prior * self.log_shares + edges
        return odds
