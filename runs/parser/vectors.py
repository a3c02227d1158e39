"""Word vectors from plain text: positional PPMI and a seeded truncated SVD."""

from __future__ import annotations

import argparse
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from vecdcs.text.features import normal
from vecdcs.text.tokenizer import tokenize

POSITIONS = (-2, -1, 1, 2)
SHIFT, SMOOTH, OVERSAMPLE, PASSES = 1.0, 0.75, 20, 3


def lines(folder: Path, words: int) -> Iterator[str]:
    """The first paragraphs of every file of the corpus, `words` in all."""
    files = sorted(folder.rglob("*.txt.xz"))
    for file in files:
        left = words // len(files)
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            for line in stream:
                left -= line.count(" ") + 1
                if left < 0:
                    break
                yield line


def encode(texts: Iterator[str], size: int) -> tuple[list[str], NDArray[np.int32]]:
    """The most frequent words, and the text as their numbers, -1 elsewhere."""
    first: dict[str, int] = {}
    stream: list[NDArray[np.int32]] = []
    for text in texts:
        ids = [first.setdefault(normal(word), len(first)) for chunk in tokenize(text) for word in chunk]
        stream.append(np.array([*ids, -1], np.int32))
    flat = np.concatenate(stream)
    counts = np.bincount(flat[flat >= 0], minlength=len(first))
    best = np.lexsort((np.arange(len(counts)), -counts))[:size]
    rank = np.full(len(first) + 1, -1, np.int32)
    rank[best] = np.arange(len(best))
    names = list(first)
    return [names[i] for i in best], rank[flat]


def cooccurrence(ids: NDArray[np.int32], size: int, contexts: int) -> sp.csr_matrix:
    """Shifted positive PMI of words and (position, context word)."""
    blocks = []
    for position in POSITIONS:
        word, context = (ids[:-position], ids[position:]) if position > 0 else (ids[-position:], ids[:position])
        keep = (word >= 0) & (context >= 0) & (context < contexts)
        ones = np.ones(int(keep.sum()), np.float32)
        blocks.append(sp.csr_matrix((ones, (word[keep], context[keep])), shape=(size, contexts)))
    counts = sp.hstack(blocks).tocoo()
    total = counts.data.sum()
    rows = np.asarray(counts.sum(1)).ravel()
    columns = np.asarray(counts.sum(0)).ravel() ** SMOOTH
    columns *= total / columns.sum()
    pmi = np.log(counts.data * total / (rows[counts.row] * columns[counts.col])) - np.log(SHIFT)
    keep = pmi > 0
    return sp.csr_matrix((pmi[keep].astype(np.float32), (counts.row[keep], counts.col[keep])), shape=counts.shape)


def decompose(matrix: sp.csr_matrix, dim: int, seed: int) -> NDArray[np.float32]:
    """Left singular vectors times the root of the singular values, by randomised power passes."""
    random = np.random.default_rng(seed)
    basis = matrix @ random.standard_normal((matrix.shape[1], dim + OVERSAMPLE)).astype(np.float32)
    transposed = matrix.T.tocsr()
    for _ in range(PASSES):
        basis = matrix @ (transposed @ np.linalg.qr(basis)[0])
    basis = np.linalg.qr(basis)[0]
    left, values, _ = np.linalg.svd((transposed @ basis).T, full_matrices=False)
    vectors = (basis @ left)[:, :dim] * np.sqrt(values[:dim])
    return (vectors / vectors.std()).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=90_000_000)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--contexts", type=int, default=10_000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    vocabulary, ids = encode(lines(options.corpus, options.words), options.size)
    vectors = decompose(cooccurrence(ids, options.size, options.contexts), options.dim, options.seed)
    aside = options.out.with_suffix(".part.npz")
    np.savez(aside, words=np.array(vocabulary), vectors=vectors)
    aside.rename(options.out)


if __name__ == "__main__":
    main()
