"""Train the parser: seeded, resumable after every epoch, the average of the weights kept and scored on dev."""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

from runs.parser.augment import augmented
from runs.parser.data import Inventory, Numbers, Record, inventory, treebanks
from runs.parser.network import Encoder, Network

SIZE = {
    "word": 64, "shape": 16, "affix": 24, "join": 192, "first": 200, "second": 200, "arc": 128, "rel": 96, "drop": 33,
}  # fmt: skip
"""Widths of the tables and layers; `drop` is the dropout in per cent."""

QUANTUM = 24
PLAIN = 2
"""Epochs on the treebanks alone, before anything is added."""

MICRO, STEP = 800, 750
"""Words in one batch of sentences of equal length, and least words in one step."""

SCHEDULE = 680
"""Words of the treebanks to one step of the learning-rate schedule."""


def quantised(vectors: np.ndarray) -> np.ndarray:
    """Vectors as int8, QUANTUM to a column's standard deviation; first the rows of the unknown word and the blank."""
    table = np.clip(np.round(vectors / vectors.std(0) * QUANTUM), -127, 127).astype(np.int8)
    return np.concatenate([np.zeros((2, table.shape[1]), np.int8), table])


def batches(records: list[Record], rng: random.Random) -> list[list[Record]]:
    """Batches of equal length, in random order."""
    order = list(records)
    rng.shuffle(order)
    waiting: dict[int, list[Record]] = {}
    found = []
    for record in order:
        same = waiting.setdefault(len(record), [])
        same.append(record)
        if len(same) * len(record) >= MICRO:
            found.append(waiting.pop(len(record)))
    found += [waiting[length] for length in sorted(waiting)]
    rng.shuffle(found)
    return found


def tensors(batch: list[Record], numbers: Numbers) -> tuple[torch.Tensor, torch.Tensor]:
    """ids (time x batch x features) and targets (batch x time x 4)."""
    ids = torch.from_numpy(np.stack([numbers.features(r) for r in batch], 1))
    return ids, torch.from_numpy(np.stack([numbers.targets(r) for r in batch]))


def loss(network: Network, ids: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    """Summed cross-entropy of arcs, labels and tags."""
    arcs, dependent, head, upos, xpos = network(ids)
    flat = gold.reshape(-1, 4)
    at = gold[:, :, :1].expand(-1, -1, head.shape[2])
    labels = network.label(dependent, head.gather(1, at))
    total = F.cross_entropy(arcs.reshape(-1, arcs.shape[2]), flat[:, 0], reduction="sum")
    for scores, column, weight in ((labels, 1, 1.0), (upos, 2, 0.3), (xpos, 3, 0.3)):
        total = total + weight * F.cross_entropy(
            scores.reshape(-1, scores.shape[2]), flat[:, column], ignore_index=-1, reduction="sum"
        )
    return total


@torch.no_grad()
def score(network: Network, records: list[Record], numbers: Numbers) -> dict[str, float]:
    """UPOS, XPOS, UAS and LAS (relation subtypes ignored) with gold words, greedy heads."""
    network.eval()
    bases = sorted({name.split(":")[0] for name in numbers.numbering.labels})
    main = torch.tensor([bases.index(name.split(":")[0]) for name in numbers.numbering.labels])
    hits = np.zeros(4)
    words = 0
    for batch in batches(records, random.Random(0)):
        ids, gold = tensors(batch, numbers)
        arcs, dependent, head, upos, xpos = network(ids)
        heads = arcs.argmax(2)
        labels = network.label(dependent, head.gather(1, heads[:, :, None].expand(-1, -1, head.shape[2]))).argmax(2)
        right = heads == gold[:, :, 0]
        same = main[labels] == main[gold[:, :, 1].clamp(min=0)]
        parts = (upos.argmax(2) == gold[:, :, 2], xpos.argmax(2) == gold[:, :, 3], right, right & same)
        hits += [int(part.sum()) for part in parts]
        words += gold.shape[0] * gold.shape[1]
    return dict(zip(("upos", "xpos", "uas", "las"), (100 * hits / words).round(2).tolist(), strict=True))


def word_dropout(ids: torch.Tensor, rate: float) -> torch.Tensor:
    """Forget trained words, and more rarely vectors, so that affixes learn to stand in."""
    ids = ids.clone()
    drop = torch.rand(ids.shape[:2])
    ids[:, :, 1][(drop < rate) & (ids[:, :, 1] > 1)] = 0
    ids[:, :, 0][(drop < rate / 3) & (ids[:, :, 0] > 1)] = 0
    return ids


def build(numbering: Inventory, table: np.ndarray, size: dict[str, int]) -> Network:
    """A fresh network for an inventory."""
    vectors = torch.from_numpy(table.astype(np.float32) / QUANTUM)
    encoder = Encoder(vectors, len(numbering.words), size)
    return Network(encoder, size, len(numbering.labels), len(numbering.upos), len(numbering.xpos))


def epoch(state: dict[str, Any], records: list[Record], numbers: Numbers, rng: random.Random, steps: int) -> float:
    """One pass: accumulate to STEP words, step, average."""
    network, mean, optimizer = state["network"], state["mean"], state["optimizer"]
    network.train()
    words, total, seen = 0, 0.0, 0
    for batch in batches(records, rng):
        ids, gold = tensors(batch, numbers)
        value = loss(network, word_dropout(ids, 0.2), gold)
        (value / STEP).backward()
        size = gold.shape[0] * gold.shape[1]
        words, seen, total = words + size, seen + size, total + float(value.detach())
        if words >= STEP:
            words = 0
            step(state, network, mean, optimizer, steps)
    return total / seen


def step(state: dict[str, Any], network: Network, mean: Network, optimizer: torch.optim.Optimizer, steps: int) -> None:
    """One optimiser step under warm-up and cosine decay; the average follows."""
    done = state["steps"] = state["steps"] + 1
    rate = state["rate"] * min(1.0, done / 100) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, done / steps)) + 0.01)
    for group in optimizer.param_groups:
        group["lr"] = rate
    torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
    optimizer.step()
    optimizer.zero_grad()
    decay = min(0.998, 1 - 1 / (1 + done / 10))
    with torch.no_grad():
        for kept, value in zip(mean.parameters(), network.parameters(), strict=True):
            kept.lerp_(value, 1 - decay)


def save(path: Path, state: dict[str, Any], epoch: int) -> None:
    """A checkpoint, written aside and renamed."""
    parts = {f"{key}.{name}": value for key in ("network", "mean") for name, value in state[key].state_dict().items()}
    for number, moments in state["optimizer"].state_dict()["state"].items():
        parts |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
    parts |= {"random": torch.get_rng_state(), "steps": torch.tensor(state["steps"]), "epoch": torch.tensor(epoch)}
    aside = path.with_suffix(".part")
    save_file({name: value.contiguous() for name, value in parts.items()}, aside)
    aside.rename(path)


def weights(kept: dict[str, torch.Tensor], key: str) -> dict[str, torch.Tensor]:
    """The part of a checkpoint under a key."""
    return {name.removeprefix(f"{key}."): value for name, value in kept.items() if name.startswith(f"{key}.")}


def resume(path: Path, state: dict[str, Any]) -> int:
    """Take up a checkpoint; the number of the next epoch."""
    kept = load_file(path)
    for key in ("network", "mean"):
        state[key].load_state_dict(weights(kept, key))
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in weights(kept, "optimizer").items():
        number, part = name.split(".")
        moments.setdefault(int(number), {})[part] = value
    state["optimizer"].load_state_dict(state["optimizer"].state_dict() | {"state": moments})
    state["steps"] = int(kept["steps"])
    torch.set_rng_state(kept["random"])
    return int(kept["epoch"]) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="the non-commercial genres of GUM too (not for shipping)")
    parser.add_argument("--augment", type=float, default=1.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    train = treebanks(options.treebanks, "train", free=not options.all)
    dev = {name: treebanks(options.treebanks, "dev", [name], free=False) for name in ("ewt", "gum")}
    loaded = np.load(options.vectors)
    numbering = inventory(train, loaded["words"].tolist())
    numbers = Numbers(numbering)
    table = quantised(loaded["vectors"])
    network, mean = build(numbering, table, SIZE), build(numbering, table, SIZE)
    mean.load_state_dict(network.state_dict())
    trained = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, options.rate, betas=(0.9, 0.95), eps=1e-6)
    state = {"network": network, "mean": mean, "optimizer": optimizer, "steps": 0, "rate": options.rate}
    last = options.out / "last.safetensors"
    first = resume(last, state) if last.exists() else 0
    steps = options.epochs * sum(map(len, train)) // SCHEDULE
    for number in range(first, options.epochs):
        started = time.process_time()
        rng = random.Random(options.seed * 1000 + number)
        records = augmented(train, rng, options.augment) if number >= PLAIN else train
        words = sum(map(len, records))
        value = epoch(state, records, numbers, rng, steps)
        report = {"epoch": number, "loss": round(value, 4), "words": words, "steps": state["steps"], "of": steps}
        report |= {name: score(mean, part, numbers) for name, part in dev.items()}
        report["cpu"] = round(time.process_time() - started, 1)
        with (options.out / "log.jsonl").open("a") as log:
            log.write(json.dumps(report) + "\n")
        save(last, state, number)
    done = {"size": SIZE, "labels": numbering.labels, "upos": numbering.upos, "xpos": numbering.xpos}
    (options.out / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main()
