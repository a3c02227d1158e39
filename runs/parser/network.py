"""The network in torch: features, a two-layer BiLSTM, biaffine arcs, a small labeller, two taggers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vecdcs.text.features import AFFIXES, BUCKETS, SHAPES


class Encoder(nn.Module):
    """Words to states."""

    def __init__(self, vectors: Tensor, words: int, size: dict[str, int]) -> None:
        super().__init__()
        self.vectors = nn.Embedding.from_pretrained(vectors, freeze=True)
        self.words = nn.Embedding(words, size["word"])
        self.shapes = nn.Embedding(SHAPES, size["shape"])
        self.affixes = nn.ModuleList(nn.Embedding(BUCKETS, size["affix"]) for _ in AFFIXES)
        self.glue = nn.Embedding(2, size["shape"])
        width = vectors.shape[1] + size["word"] + 2 * size["shape"] + len(AFFIXES) * size["affix"]
        self.join = nn.Linear(width, size["join"])
        self.first = nn.LSTM(size["join"], size["first"], bidirectional=True)
        self.second = nn.LSTM(2 * size["first"], size["second"], bidirectional=True)
        for table in (self.words, self.shapes, self.glue, *self.affixes):
            nn.init.normal_(table.weight, std=0.3)
        self.drop = size["drop"] / 100

    def forward(self, ids: Tensor) -> Tensor:
        """ids: time x batch x features (COLUMNS and the glue bit)."""
        tables = [self.vectors, self.words, self.shapes, *self.affixes, self.glue]
        x = torch.cat([table(ids[:, :, at]) for at, table in enumerate(tables)], 2)
        x = F.leaky_relu(self.join(self.dropout(x)), 0.1)
        x = self.first(self.dropout(x))[0]
        return self.second(self.dropout(x))[0]

    def dropout(self, x: Tensor) -> Tensor:
        """One mask for all time steps of a sentence."""
        if not self.training:
            return x
        keep = 1 - self.drop
        return x * torch.bernoulli(torch.full((1, *x.shape[1:]), keep)) / keep


class Network(nn.Module):
    """States to arcs, tags and what the labeller needs."""

    def __init__(self, encoder: Encoder, size: dict[str, int], labels: int, upos: int, xpos: int) -> None:
        super().__init__()
        self.encoder, self.size = encoder, size
        arc, rel, state = size["arc"], size["rel"], 2 * size["second"]
        self.project = nn.Linear(state, 2 * arc + 2 * rel)
        self.root_arc = nn.Parameter(torch.randn(arc) * 0.1)
        self.root_rel = nn.Parameter(torch.randn(rel) * 0.1)
        self.biaffine = nn.Linear(arc, arc)
        self.prior = nn.Linear(arc, 1)
        self.labels = nn.Linear(2 * rel, labels)
        self.upos, self.xpos = nn.Linear(state, upos), nn.Linear(state, xpos)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Arc scores (batch x word x head, 0 is the root), dependents and heads for labels, UPOS and XPOS scores."""
        arc, rel = self.size["arc"], self.size["rel"]
        h = self.encoder.dropout(self.encoder(ids)).transpose(0, 1)
        p = F.leaky_relu(self.project(h), 0.1)
        if self.training:
            p = F.dropout(p, self.encoder.drop)
        dependent, head, rel_dependent, rel_head = p.split([arc, arc, rel, rel], 2)
        batch = h.shape[0]
        head = torch.cat([self.root_arc.expand(batch, 1, -1), head], 1)
        rel_head = torch.cat([self.root_rel.expand(batch, 1, -1), rel_head], 1)
        arcs = self.biaffine(dependent) @ head.transpose(1, 2) + self.prior(head).transpose(1, 2)
        return arcs, rel_dependent, rel_head, self.upos(h), self.xpos(h)

    def label(self, dependent: Tensor, head: Tensor) -> Tensor:
        """Label scores of (dependent, head) pairs, rows aligned."""
        return self.labels(torch.cat([F.leaky_relu(dependent + head, 0.1), dependent * head], -1))
