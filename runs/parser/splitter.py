"""Train the sentence splitter on the paragraphs of the treebanks: logistic regression, weights as JSON."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from runs.parser.data import FREE_GUM
from vecdcs.text.conllu import read_conllu
from vecdcs.text.sentences import boundaries, candidates, features
from vecdcs.text.tokenizer import chunks

PENALTY, LEAST, SMALLEST = 0.3, 2, 0.02


def paragraphs(path: Path, free: bool = True) -> list[list[str]]:
    """The treebank's paragraphs, each a list of sentence texts."""
    found: list[list[str]] = []
    genre = ""
    for sentence in read_conllu(path):
        document = sentence.meta("newdoc id")
        if document:
            genre = document.split("_")[1] if document.startswith("GUM_") else ""
        if document or not found or any(comment.startswith("# newpar") for comment in sentence.comments):
            found.append([])
        if not (free and genre and genre not in FREE_GUM):
            found[-1].append(sentence.text)
    return [paragraph for paragraph in found if paragraph]


def examples(found: list[list[str]]) -> tuple[list[list[str]], list[bool]]:
    """Features and truth of every candidate place."""
    rows, truth = [], []
    for sentences in found:
        pieces = [chunks(sentence) for sentence in sentences]
        flat = [chunk for piece in pieces for chunk in piece]
        ends = set(np.cumsum([len(piece) for piece in pieces]) - 1)
        start = 0
        for at in candidates(flat):
            while any(start <= end < at for end in ends if end >= start):
                start = min(end for end in ends if end >= start) + 1
            rows.append(features(flat, at, start))
            truth.append(at in ends)
    return rows, truth


def fit(rows: list[list[str]], truth: list[bool]) -> dict[str, float]:
    """Penalised logistic regression by L-BFGS."""
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    place = {name: at for at, name in enumerate(names)}
    pairs = [(r, place[name]) for r, row in enumerate(rows) for name in row if name in place]
    x = sp.csr_matrix((np.ones(len(pairs)), tuple(np.array(pairs).T)), shape=(len(rows), len(names)))
    y = np.where(truth, 1.0, -1.0)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (x @ w)
        slope = -y / (1 + np.exp(margin))
        return np.logaddexp(0, -margin).sum() + PENALTY * w @ w, x.T @ slope + 2 * PENALTY * w

    w = scipy.optimize.minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return {name: round(float(value), 3) for name, value in zip(names, w, strict=True) if abs(value) > SMALLEST}


def measure(found: list[list[str]], weights: dict[str, float]) -> tuple[float, float]:
    """Precision and recall of the boundaries inside paragraphs."""
    right = guessed = gold = 0
    for sentences in found:
        pieces = [chunks(sentence) for sentence in sentences]
        flat = [chunk for piece in pieces for chunk in piece]
        ends = set((np.cumsum([len(piece) for piece in pieces]) - 1)[:-1].tolist())
        cut = set(boundaries(flat, weights))
        right, guessed, gold = right + len(ends & cut), guessed + len(cut), gold + len(ends)
    return right / guessed, right / gold


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    train = [p for name in ("ewt", "gum") for p in paragraphs(options.treebanks / f"en_{name}-ud-train.conllu.xz")]
    weights = fit(*examples(train))
    for name in ("ewt", "gum"):
        dev = paragraphs(options.treebanks / f"en_{name}-ud-dev.conllu.xz", free=False)
        precision, recall = measure(dev, weights)
        print(f"{name}: precision {precision:.3f}, recall {recall:.3f}")
    options.out.write_text(json.dumps(weights, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
