"""Trained weights to package data: two ONNX graphs, the inventory, the lemma table."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import lemminflect
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import load_file

from runs.parser.data import Record, inventory, treebanks
from runs.parser.network import Network
from runs.parser.train import QUANTUM, SIZE, build, quantised, weights
from vecdcs.text.lemma import INFLECTED

OPSET = 17
HALF = 4096
"""Initialisers with at least so many numbers are kept as float16 and cast when the session starts."""


class Label(torch.nn.Module):
    """The labeller alone, on rows; the scores' argmax."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, dependent: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        return self.network.label(dependent, head).argmax(1).to(torch.int32)


class Parse(torch.nn.Module):
    """The whole network; best heads and tags rather than scores where no more is needed."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        arcs, dependent, head, upos, xpos = self.network(ids)
        tags = torch.stack([arcs.argmax(2), upos.argmax(2), xpos.argmax(2)], 2).to(torch.int32)
        return arcs, dependent, head, tags


def halved(model: onnx.ModelProto, table: np.ndarray) -> onnx.ModelProto:
    """Large weights as float16, the word vectors as int8; cast back inside the graph."""
    graph = model.graph
    kept, nodes = [], []
    for weight in graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.dtype != np.float32 or array.size < HALF:
            kept.append(weight)
        elif array.shape == table.shape:
            kept.append(numpy_helper.from_array(table, weight.name))
        else:
            kept.append(numpy_helper.from_array(array.astype(np.float16), weight.name + ".half"))
            nodes.append(helper.make_node("Cast", [weight.name + ".half"], [weight.name], to=TensorProto.FLOAT))
    names = {w.name for w in kept if w.data_type == TensorProto.INT8}
    for node in graph.node:
        if node.op_type == "Gather" and node.input[0] in names:
            nodes_after = widen(node)
            graph.initializer.append(numpy_helper.from_array(np.array(1 / QUANTUM, np.float32), "quantum"))
            kept.append(graph.initializer[-1])
            at = list(graph.node).index(node)
            for offset, extra in enumerate(nodes_after, 1):
                graph.node.insert(at + offset, extra)
            break
    del graph.initializer[:]
    graph.initializer.extend(kept)
    for node in reversed(nodes):
        graph.node.insert(0, node)
    onnx.checker.check_model(model)
    return model


def widen(gather: onnx.NodeProto) -> list[onnx.NodeProto]:
    """int8 rows to floats: cast and scale."""
    out = gather.output[0]
    gather.output[0] = out + ".int8"
    return [
        helper.make_node("Cast", [out + ".int8"], [out + ".float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [out + ".float", "quantum"], [out]),
    ]


def export(network: Network, table: np.ndarray, out: Path) -> None:
    """parse.onnx and label.onnx."""
    network.eval()
    ids = torch.zeros((5, 3, len(network.encoder.affixes) + 4), dtype=torch.int32)
    axes = {0: "batch", 1: "words"}
    torch.onnx.export(
        Parse(network), (ids,), out / "parse.onnx", dynamo=False, opset_version=OPSET, input_names=["ids"],
        output_names=["arcs", "dependents", "heads", "best"],
        dynamic_axes={"ids": {0: "words", 1: "batch"}, "arcs": {**axes, 2: "heads"}, "dependents": axes,
                      "heads": {0: "batch", 1: "heads"}, "best": axes},
    )  # fmt: skip
    onnx.save(halved(onnx.load(out / "parse.onnx"), table), out / "parse.onnx")
    pair = torch.zeros((4, SIZE["rel"]))
    torch.onnx.export(
        Label(network), (pair, pair), out / "label.onnx", dynamo=False, opset_version=OPSET,
        input_names=["dependents", "heads"], output_names=["labels"],
        dynamic_axes={name: {0: "rows"} for name in ("dependents", "heads", "labels")},
    )  # fmt: skip


def lemmas(records: list[Record], vocabulary: dict[str, int]) -> dict[tuple[str, str], str]:
    """(form, tag) to lemma: the most frequent one of the training data, then a dictionary's for other known words."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in records:
        for word in record:
            if word.lemma != "_":
                counts.setdefault((word.form.lower(), word.xpos), Counter())[word.lemma] += 1
    best = {key: min(found.items(), key=lambda item: (-item[1], item[0]))[0] for key, found in counts.items()}
    for (form, tag), lemma in list(best.items()):
        if tag in ("VBD", "VBN"):
            best.setdefault((form, "VBN" if tag == "VBD" else "VBD"), lemma)
    for form in vocabulary:
        for tag, lemma in inflected(form, vocabulary):
            best.setdefault((form, tag), lemma)
    return best


def inflected(form: str, vocabulary: dict[str, int]) -> Iterator[tuple[str, str]]:
    """The tags a dictionary form may have, with its lemma; only lemmas that are known words themselves."""
    if not form.isalpha() or not form.isascii():
        return
    found = lemminflect.getAllLemmas(form)
    for tag, kind in INFLECTED.items():
        choices = [lemma for lemma in found.get(kind, ()) if lemma != form and lemma in vocabulary]
        if choices and fits(form, tag, kind):
            yield tag, choices[0]


def fits(form: str, tag: str, kind: str) -> bool:
    """Could the form have this tag, by its ending?"""
    ending = {"VBG": "ing", "VBZ": "s", "JJR": "r", "RBR": "r", "JJS": "st", "RBS": "st"}.get(tag, "")
    return form.endswith(ending) and not (tag in ("VBD", "VBN") and form.endswith(("ing", "s")))


def by_row(rows: dict[str, int]) -> list[str]:
    """The words of a table, each on the line of its row; a row that no word leads to is an empty line."""
    found = [""] * (1 + max(rows.values()))
    for word, row in rows.items():
        found[row] = word
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    train = treebanks(options.treebanks, "train", free=not options.all)
    loaded = np.load(options.vectors)
    numbering = inventory(train, loaded["words"].tolist())
    table = quantised(loaded["vectors"])
    network = build(numbering, table, SIZE)
    network.load_state_dict(weights(load_file(options.checkpoint), "mean"))
    export(network, table, options.out)
    found = sorted(lemmas(train, numbering.vectors).items())
    lines = [f"{form}\t{tag}\t{lemma}\n" for (form, tag), lemma in found]
    (options.out / "lemmas.tsv").write_text("".join(lines), encoding="utf-8")
    for name, rows in (("vectors", numbering.vectors), ("words", numbering.words)):
        (options.out / f"{name}.txt").write_text("".join(f"{word}\n" for word in by_row(rows)), encoding="utf-8")
    encoder = network.encoder
    rows = {"vectors": encoder.vectors.num_embeddings, "words": encoder.words.num_embeddings}
    tags = {"labels": numbering.labels, "upos": numbering.upos, "xpos": numbering.xpos, "rows": rows}
    (options.out / "tags.json").write_text(json.dumps(tags, indent=1) + "\n")


if __name__ == "__main__":
    main()
