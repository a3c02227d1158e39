"""The gradient of a batch of paths: at each place of the path one matrix product for all that need the same matrix.

The model gives a path the score v_x A_1 ... A_p · u_y. Noise replaces everything after the boundary b, so the score is
reached · onward with reached = v_x A_1 ... A_b and onward = A_b+1 ... A_p u_y. Only v_x, u_y, the noise words' u_z,
A_b, A_b+1 and the first matrix of each noise chain have gradients, as in section 4 of the paper. `reference.py` says
the same for one path at a time.

Under an objective with own logits every factor is normalised, vectors to length 1 and matrices to the norm √d of an
orthogonal one, and a parameter that is updated takes the score times its own size. Sizes are then temperatures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vecdcs.corpus.flat import IntArray

Rows = NDArray[np.float32]
Floats = NDArray[np.float32]

NONE = -1
LOSS_CHAINS = 8
FEW = 10
LEAST = 1e-12


class Parameters(NamedTuple):
    """Query and answer vectors, and matrices: one a field if tied (its transpose is the inverse), else M, M^-1."""

    query: Rows
    answer: Rows
    matrix: Rows
    tied: bool


class Chains(NamedTuple):
    """Paths to learn from, and the private noise of each.

    Path i runs from `first[i]` over the matrices `steps[i, :length[i]]`, of which the first `boundary[i]` are the
    target. Chain j goes on from the target of path `owner[j]` over `steps[j, boundary:length]` to `last[j]`; chains 0,
    1, 2 ... are the paths themselves, those from len(first) on are noise. `kind[i]` is the kind of shared noise.
    """

    first: IntArray
    length: IntArray
    boundary: IntArray
    kind: IntArray
    last: IntArray
    owner: IntArray
    steps: IntArray


class Noise(NamedTuple):
    """Noise chains shared by all paths of a kind, each kind one matrix longer than the kind `parent` it goes on from.

    The first kinds have no matrix, only the words `word[kind]`; of the others, `steps[kind]` are the first matrices of
    the chains. Parents precede.
    """

    word: IntArray
    parent: IntArray
    steps: IntArray


class Objective(NamedTuple):
    """What is maximised: log σ(s - shift) + weight * sum over noise of log σ(shift - s).

    With a `clip` above 0 every parameter has its own logit s (all noise is private then), and what is on either side of
    it in a chain is cut to that length.
    """

    shift: float
    private_weight: float
    shared_weight: float
    clip: float


class Gradient(NamedTuple):
    """Where a batch leaves its gradient: rows for words, and pairs of rows whose outer products are for matrices.

    A word or step of -1 marks a row without meaning; a pair counts as so many `uses` of its matrix.
    """

    query_word: IntArray
    query: Rows
    answer_word: IntArray
    answer: Rows
    step: IntArray
    left: Rows
    right: Rows
    uses: IntArray


class Sizes(NamedTuple):
    """What factors are divided by: the length of each row's vector, and |M|/√d; empty to take them as they are."""

    vector: Floats
    matrix: Floats


@njit(cache=True, nogil=True)
def _as_they_are() -> Sizes:
    return Sizes(np.empty(0, np.float32), np.empty(0, np.float32))


def room(paths: int, private: int, words: int, pairs: int, dim: int) -> Gradient:
    """Room for the gradient of so many paths, each with private noise, and of the words and pairs of shared noise."""
    chains = paths * (1 + private)
    pairs += paths + chains
    words += chains
    return Gradient(
        np.full(paths, NONE, np.int32),
        np.empty((paths, dim), np.float32),
        np.full(words, NONE, np.int32),
        np.empty((words, dim), np.float32),
        np.full(pairs, NONE, np.int32),
        np.empty((pairs, dim), np.float32),
        np.empty((pairs, dim), np.float32),
        np.ones(pairs, np.int32),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def gradient(model: Parameters, chains: Chains, noise: Noise, objective: Objective, out: Gradient) -> float:
    """Fill `out` with the gradient of a batch; returns (an estimate of) the loss, summed over its paths."""
    paths = len(chains.first)
    out.query_word[:], out.answer_word[:], out.step[:] = NONE, NONE, NONE
    if paths == 0:
        return 0.0
    if objective.clip > 0.0:
        return _gradient_by_own_logits(model, chains, objective, out)
    sizes = _as_they_are()
    rows, before = _meet(model, chains, sizes)
    pull = np.empty_like(rows)
    loss = 0.0
    if noise.word.size:
        loss += _against_shared(model, chains, noise, objective, rows[:paths], pull[:paths], out)
    else:
        pull[:paths] = 0.0
    loss += _against_private(chains, objective, rows, before, pull)
    _keep_pairs(chains, rows, before, pull, out)
    _part(model, chains, pull, sizes)
    _keep_words(chains, pull, out)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _gradient_by_own_logits(model: Parameters, chains: Chains, objective: Objective, out: Gradient) -> float:
    """`gradient`, each parameter by its own logit; the loss is that by the logits of the query vectors."""
    paths = len(chains.first)
    sizes = _sizes(model, chains)
    rows, before = _meet(model, chains, sizes)
    pull, turn, share = np.zeros_like(rows), np.zeros_like(rows[:paths]), np.zeros(len(rows), np.float32)
    loss = _own_words(chains, objective, sizes, rows, pull, share)
    _own_matrices(model, chains, objective, sizes, rows, before, turn)
    _keep_pairs(chains, rows, before, turn, out)
    out.uses[:paths] = len(chains.last) // paths
    _shorten_pairs(chains, objective.clip, out)
    _part(model, chains, pull, sizes)
    for r in range(len(rows)):
        if r < paths:
            _shorten(pull, r, objective.clip * share[r])
        else:
            _shorten(pull, r, objective.clip)
            _scale(pull, r, share[r])
    _keep_words(chains, pull, out)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _sizes(model: Parameters, chains: Chains) -> Sizes:
    """The lengths of all vectors, and the sizes of all matrices, that the chains need."""
    paths = len(chains.first)
    vector = np.empty(paths + len(chains.last), np.float32)
    for i in range(paths):
        vector[i] = _length(model.query, chains.first[i])
    matrix = np.zeros(len(model.matrix), np.float32)
    for j in range(len(chains.last)):
        vector[paths + j] = _length(model.answer, chains.last[j])
        for place in range(chains.length[chains.owner[j]]):
            if j < paths or place >= chains.boundary[chains.owner[j]]:
                matrix[_matrix(model, chains.steps[j, place])] = 1.0
    for m in range(len(matrix)):
        if matrix[m] > 0.0:
            flat = model.matrix[m].ravel()
            matrix[m] = max(np.sqrt(np.dot(flat, flat) / model.matrix.shape[1]), LEAST)
    return Sizes(vector, matrix)


@njit(cache=True, nogil=True, error_model="numpy")
def _own_words(chains: Chains, objective: Objective, sizes: Sizes, rows: Rows, pull: Rows, share: Floats) -> float:
    """Fill `pull` with the gradients of words at the boundary; what is left to do for them is in `share`.

    For the query vector of a path that is the sum of its chains' weights, as each of them may be no longer than the
    clip; for the answer vector of a chain it is the weight itself.
    """
    loss, paths = 0.0, len(chains.first)
    for j in range(len(chains.last)):
        i, r = chains.owner[j], paths + j
        score = _dot(rows, i, r)
        logit = sizes.vector[i] * score - objective.shift
        weight = _weight(logit, j == i, objective)
        share[i] += abs(weight)
        share[r] = _weight(sizes.vector[r] * score - objective.shift, j == i, objective)
        for k in range(rows.shape[1]):
            pull[i, k] += weight * rows[r, k]
            pull[r, k] = rows[i, k]
        above = -logit if j == i else logit
        loss += (1.0 if j == i else objective.private_weight) * (np.log1p(np.exp(-abs(above))) + max(above, 0.0))
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _own_matrices(
    model: Parameters, chains: Chains, objective: Objective, sizes: Sizes, rows: Rows, before: Rows, turn: Rows
) -> None:
    """Sum up in `turn` the right side of A_b's gradient, and make of `before` the right sides of all A_b+1."""
    paths = len(chains.first)
    for j in range(len(chains.last)):
        i, r = chains.owner[j], paths + j
        begin, score = chains.boundary[i], _dot(rows, i, r)
        if begin > 0:
            size = sizes.matrix[_matrix(model, chains.steps[i, begin - 1])]
            weight = _weight(size * score - objective.shift, j == i, objective)
            weight *= np.float32(min(1.0, objective.clip / max(_length(rows, r), LEAST)))
            for k in range(rows.shape[1]):
                turn[i, k] += weight * rows[r, k]
        if chains.length[i] > begin:
            size = sizes.matrix[_matrix(model, chains.steps[j, begin])]
            _shorten(before, r, objective.clip)
            _scale(before, r, float(_weight(size * score - objective.shift, j == i, objective)))


@njit(cache=True, nogil=True, inline="always")
def _weight(logit: float, own: bool, objective: Objective) -> np.float32:
    """The derivative of the objective by a logit: 1 - σ for the path itself, -σ for noise."""
    if own:
        return np.float32(1.0 / (1.0 + np.exp(logit)))
    return np.float32(-objective.private_weight / (1.0 + np.exp(-logit)))


@njit(cache=True, nogil=True, error_model="numpy")
def _shorten_pairs(chains: Chains, limit: float, out: Gradient) -> None:
    """Cut what is left of a matrix; `_own_matrices` has cut what is right of it."""
    for row in range(len(chains.first) + len(chains.last)):
        if out.step[row] != NONE:
            _shorten(out.left, row, limit)


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_words(chains: Chains, pull: Rows, out: Gradient) -> None:
    paths, count = len(chains.first), len(chains.last)
    out.query_word[:paths], out.answer_word[:count] = chains.first, chains.last
    out.query[:paths], out.answer[:count] = pull[:paths], pull[paths:]


@njit(cache=True, nogil=True, error_model="numpy")
def _meet(model: Parameters, chains: Chains, sizes: Sizes) -> tuple[Rows, Rows]:
    """From both ends to the boundary: first v_x A_1 ... A_b for every path, then A_b+1 ... A_p u_y for every chain.

    Also returned: the same rows one product earlier, without A_b or A_b+1.
    """
    paths, count = len(chains.first), len(chains.first) + len(chains.last)
    rows = np.empty((count, model.query.shape[1]), np.float32)
    rows[:paths], rows[paths:] = _take(model.query, chains.first), _take(model.answer, chains.last)
    for r in range(len(sizes.vector)):
        _scale(rows, r, 1.0 / max(sizes.vector[r], LEAST))
    before = np.empty_like(rows)
    which, keys = np.empty(count, np.int32), np.empty(count, np.int32)
    for place in range(_longest_side(chains)):
        active = 0
        for r in range(count):
            side, path = _side(chains, r)
            if side > place:
                end = chains.length[path] - 1 - place
                step = chains.steps[r, place] if r < paths else chains.steps[r - paths, end]
                which[active], keys[active] = r, _key(model, step, r >= paths)
                active += 1
            if side == place + 1:
                copy_row(rows, r, before, r)
        _multiply(model, sizes, rows, which[:active], keys[:active])
    return rows, before


@njit(cache=True, nogil=True, error_model="numpy")
def _part(model: Parameters, chains: Chains, rows: Rows, sizes: Sizes) -> None:
    """From the boundary to both ends: back through A_b ... A_1 for every path, on by A_b+1 ... A_p for every chain."""
    paths, count = len(chains.first), len(chains.first) + len(chains.last)
    which, keys = np.empty(count, np.int32), np.empty(count, np.int32)
    for place in range(_longest_side(chains)):
        active = 0
        for r in range(count):
            side, path = _side(chains, r)
            if side > place:
                begin = chains.boundary[path]
                step = chains.steps[r, begin - 1 - place] if r < paths else chains.steps[r - paths, begin + place]
                which[active], keys[active] = r, _key(model, step, r < paths)
                active += 1
        _multiply(model, sizes, rows, which[:active], keys[:active])


@njit(cache=True, nogil=True, error_model="numpy")
def _longest_side(chains: Chains) -> int:
    return int(max(chains.boundary.max(), (chains.length - chains.boundary).max()))


@njit(cache=True, nogil=True, inline="always")
def _side(chains: Chains, r: int) -> tuple[int, int]:
    """The number of matrices between row r and the boundary, and its path: first all targets, then all contexts."""
    if r < len(chains.first):
        return chains.boundary[r], r
    path = chains.owner[r - len(chains.first)]
    return chains.length[path] - chains.boundary[path], path


@njit(cache=True, nogil=True, inline="always")
def _key(model: Parameters, step: int, back: bool) -> int:
    """Twice the number of a step's matrix, plus 1 if it is to be transposed: if an inverse, or going back, not both."""
    if model.tied:
        return step ^ int(back)
    return 2 * step + int(back)


@njit(cache=True, nogil=True, inline="always")
def _matrix(model: Parameters, step: int) -> int:
    """The number of a step's matrix."""
    return step // 2 if model.tied else step


@njit(cache=True, nogil=True, error_model="numpy")
def _against_private(chains: Chains, objective: Objective, rows: Rows, before: Rows, pull: Rows) -> float:
    """Scores of the paths and of their private noise; `pull` gets the gradients at the boundary.

    The rows before A_b+1 are scaled to give the gradient of that matrix.
    """
    loss, shift, paths = 0.0, np.float32(objective.shift), len(chains.first)
    for j in range(len(chains.last)):
        i, r = chains.owner[j], paths + j
        score = -shift
        for k in range(rows.shape[1]):
            score += rows[i, k] * rows[r, k]
        if j == i:
            share = 1.0 / (1.0 + np.exp(score))
            loss += np.log1p(np.exp(-abs(score))) + max(-score, 0.0)
        else:
            share = -objective.private_weight / (1.0 + np.exp(-score))
            loss += objective.private_weight * (np.log1p(np.exp(-abs(score))) + max(score, 0.0))
        factor = np.float32(share)
        for k in range(rows.shape[1]):
            pull[i, k] += factor * rows[r, k]
            pull[r, k] = factor * rows[i, k]
            before[r, k] *= factor
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _against_shared(
    model: Parameters, chains: Chains, noise: Noise, objective: Objective, reached: Rows, back: Rows, out: Gradient
) -> float:
    """Scores against shared noise: per kind one product for the scores and one for each side of the gradient."""
    chain, needed = _noise_chains(model, chains, noise)
    grown = np.zeros_like(chain)
    order, begin = _sorted(chains.kind, len(noise.parent))
    rows = _take(reached, order)
    pulled = np.empty_like(rows)
    score = np.empty((len(order), noise.word.shape[1]), np.float32)
    for kind in range(len(noise.parent)):
        some = slice(begin[kind], begin[kind + 1])
        if begin[kind] < begin[kind + 1]:
            np.dot(rows[some], chain[kind].T, score[some])
    loss = _noise_shares(score, objective)
    for kind in range(len(noise.parent)):
        some = slice(begin[kind], begin[kind + 1])
        if begin[kind] < begin[kind + 1]:
            np.dot(score[some], chain[kind], pulled[some])
            np.dot(score[some].T, rows[some], grown[kind])
    for j in range(len(order)):
        copy_row(pulled, j, back, order[j])
    _keep_noise(model, chains, noise, chain, grown, needed, begin, out)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _noise_chains(model: Parameters, chains: Chains, noise: Noise) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The noise chains of every kind in use, each one product from its parent's."""
    kinds, (roots, count) = len(noise.parent), noise.word.shape
    needed = np.zeros(kinds, np.bool_)
    for i in range(len(chains.kind)):
        needed[chains.kind[i]] = True
    for kind in range(kinds - 1, roots - 1, -1):
        needed[noise.parent[kind]] |= needed[kind]
    everyone, keys = np.arange(count).astype(np.int32), np.empty(count, np.int32)
    chain = np.empty((kinds, count, model.query.shape[1]), np.float32)
    for root in range(roots):
        chain[root] = _take(model.answer, noise.word[root])
    for kind in range(roots, kinds):
        if needed[kind]:
            chain[kind] = chain[noise.parent[kind]]
            for k in range(count):
                keys[k] = _key(model, noise.steps[kind, k], True)
            _multiply(model, _as_they_are(), chain[kind], everyone, keys)
    return chain, needed


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_noise(
    model: Parameters,
    chains: Chains,
    noise: Noise,
    chain: NDArray[np.float32],
    grown: NDArray[np.float32],
    needed: NDArray[np.bool_],
    begin: NDArray[np.int64],
    out: Gradient,
) -> None:
    """Gradients of the first noise matrix of each kind, and through all of them those of the noise words."""
    kinds, (roots, count) = len(noise.parent), noise.word.shape
    everyone, keys = np.arange(count).astype(np.int32), np.empty(count, np.int32)
    at = len(chains.first) + len(chains.last)
    for kind in range(kinds - 1, roots - 1, -1):
        if begin[kind] < begin[kind + 1]:
            place = at + (kind - roots) * count
            out.step[place : place + count] = noise.steps[kind]
            out.right[place : place + count] = chain[noise.parent[kind]]
    # `grown` becomes the sum over a kind and its descendants, but only its own part is the matrix's.
    for kind in range(kinds - 1, roots - 1, -1):
        if needed[kind]:
            place = at + (kind - roots) * count
            out.left[place : place + count] = grown[kind]
    for kind in range(kinds - 1, roots - 1, -1):
        if needed[kind]:
            for k in range(count):
                keys[k] = _key(model, noise.steps[kind, k], False)
            _multiply(model, _as_they_are(), grown[kind], everyone, keys)
            grown[noise.parent[kind]] += grown[kind]
    place = len(chains.last)
    out.answer_word[place : place + roots * count] = noise.word.ravel()
    out.answer[place : place + roots * count] = grown[:roots].reshape(-1, grown.shape[2])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "arcp", "nsz", "reassoc"})
def _noise_shares(score: Rows, objective: Objective) -> float:
    """Turn scores in place into -weight σ(s - shift); the loss is estimated from the first few chains of each path."""
    shift, weight = np.float32(objective.shift), np.float32(objective.shared_weight)
    log2e, one = np.float32(1.4426950408889634), np.float32(1.0)
    power = np.empty(score.shape[1], np.int32)
    scale = power.view(np.float32)
    seen = min(LOSS_CHAINS, score.shape[1])
    loss = 0.0
    for i in range(score.shape[0]):
        row = score[i]
        for j in range(seen):
            above = float(row[j] - shift)
            loss += np.log1p(np.exp(-abs(above))) + max(above, 0.0)
        for j in range(len(row)):
            # exp(shift - s) as 2^whole * 2^part, the first by its bits, the second by its Taylor series around 1/2.
            exponent = min(max((shift - row[j]) * log2e, np.float32(-126.0)), np.float32(126.0))
            whole = np.floor(exponent)
            t = (exponent - whole - np.float32(0.5)) * np.float32(0.6931471805599453)
            t2 = t * t
            even = one + t2 * (np.float32(1 / 2) + t2 * (np.float32(1 / 24) + t2 * np.float32(1 / 720)))
            odd = t * (one + t2 * (np.float32(1 / 6) + t2 * np.float32(1 / 120)))
            power[j] = (np.int32(whole) + np.int32(127)) << np.int32(23)
            row[j] = (even + odd) * np.float32(1.4142135623730951)
        for j in range(len(row)):
            row[j] = one / (one + row[j] * scale[j])
        for j in range(len(row)):
            row[j] *= -weight
    return float(loss * objective.shared_weight * score.shape[1] / seen)


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_pairs(chains: Chains, rows: Rows, before: Rows, pull: Rows, out: Gradient) -> None:
    """The two rows whose outer product is the gradient of A_b, and those of every chain's A_b+1."""
    paths = len(chains.first)
    for i in range(paths):
        if chains.boundary[i] > 0:
            out.step[i] = chains.steps[i, chains.boundary[i] - 1]
            copy_row(before, i, out.left, i)
            copy_row(pull, i, out.right, i)
    for j in range(len(chains.last)):
        i = chains.owner[j]
        if chains.length[i] > chains.boundary[i]:
            out.step[paths + j] = chains.steps[j, chains.boundary[i]]
            copy_row(rows, i, out.left, paths + j)
            copy_row(before, paths + j, out.right, paths + j)


@njit(cache=True, nogil=True, error_model="numpy")
def _dot(rows: Rows, i: int, j: int) -> float:
    total = np.float32(0.0)
    for k in range(rows.shape[1]):
        total += rows[i, k] * rows[j, k]
    return float(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _length(rows: Rows, i: int) -> float:
    return float(np.sqrt(_dot(rows, i, i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _shorten(rows: Rows, i: int, limit: float) -> None:
    length = _length(rows, i)
    if length > limit:
        _scale(rows, i, limit / length)


@njit(cache=True, nogil=True, error_model="numpy")
def _scale(rows: Rows, i: int, factor: float) -> None:
    for k in range(rows.shape[1]):
        rows[i, k] *= np.float32(factor)


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply(model: Parameters, sizes: Sizes, rows: Rows, which: IntArray, keys: IntArray) -> None:
    """rows[which[j]] times the matrix of keys[j], over its size if given: grouped by matrix, one product each."""
    kinds = 2 * model.matrix.shape[0]
    order, begin = _sorted(keys, kinds)
    gathered = np.empty((len(which), rows.shape[1]), np.float32)
    product = np.empty_like(gathered)
    for j in range(len(which)):
        copy_row(rows, which[order[j]], gathered, j)
    for key in range(kinds):
        # A product of few rows takes longer to set up than row by row.
        size = begin[key + 1] - begin[key]
        stride = 1 if size < FEW else max(size, 1)
        for start in range(begin[key], begin[key + 1], stride):
            some = slice(start, start + stride)
            if key % 2 == 1:
                np.dot(gathered[some], model.matrix[key // 2].T, product[some])
            else:
                np.dot(gathered[some], model.matrix[key // 2], product[some])
        if len(sizes.matrix) and size:
            product[begin[key] : begin[key + 1]] /= sizes.matrix[key // 2]
    for j in range(len(which)):
        copy_row(product, j, rows, which[order[j]])


@njit(cache=True, nogil=True, error_model="numpy")
def _sorted(keys: IntArray, kinds: int) -> tuple[IntArray, NDArray[np.int64]]:
    """Stable counting sort: places in order of their key, and where each key begins."""
    begin = np.zeros(kinds + 1, np.int64)
    for key in keys:
        begin[key + 1] += 1
    for key in range(kinds):
        begin[key + 1] += begin[key]
    place = begin[:-1].copy()
    order = np.empty(len(keys), np.int32)
    for i in range(len(keys)):
        order[place[keys[i]]] = i
        place[keys[i]] += 1
    return order, begin


@njit(cache=True, nogil=True, error_model="numpy")
def _take(rows: Rows, which: IntArray) -> Rows:
    taken = np.empty((len(which), rows.shape[1]), np.float32)
    for i in range(len(which)):
        copy_row(rows, which[i], taken, i)
    return taken


@njit(cache=True, nogil=True, inline="always")
def copy_row(source: Rows, i: int, target: Rows, j: int) -> None:
    for k in range(source.shape[1]):
        target[j, k] = source[i, k]
