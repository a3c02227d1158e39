"""A forest cut in two by sentence, so that what is asked of the hidden part cannot be learned from the other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vecdcs.corpus.build import put_index
from vecdcs.corpus.forest import ASIDE, MANIFEST, SHARDS, Digest, Forest, digest, read_table, shard_file
from vecdcs.corpus.shard import json_bytes, parquet_bytes
from vecdcs.errors import InputError
from vecdcs.text.tokenizer import chunks, words

FORMAT, VERSION = "vecdcs-split", 1
SPLIT, TRAIN, HIDDEN = "split.json", "train", "hidden"
SHARE = 0.1

Mask = NDArray[np.bool_]
Report = dict[str, Any]


@dataclass(frozen=True)
class Split:
    """Two forests of the sentences of one: to learn from, and hidden."""

    path: Path
    train: Forest
    hidden: Forest
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> Split:
        """The split in a folder."""
        path = Path(folder)
        if not (path / SPLIT).is_file():
            raise InputError("no split forest here: `vecdcs split` makes one", str(path))
        manifest = json.loads((path / SPLIT).read_text(encoding="utf-8"))
        if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
            raise InputError(f"expected {FORMAT} {VERSION}", str(path / SPLIT))
        return cls(path, Forest.open(path / TRAIN), Forest.open(path / HIDDEN), manifest)


def split(forest: Forest, folder: str | Path, share: float = SHARE, seed: int = 1) -> Split:
    """Write both parts of a forest into a folder: `train` and `hidden`."""
    if not 0 < share < 1:
        raise InputError(f"--share {share}: expected a share between 0 and 1")
    target = Path(folder)
    if target.exists():
        raise InputError("there is something here already: choose another folder, or remove it", str(target))
    aside = target.with_name(target.name + ".partial")
    shutil.rmtree(aside, ignore_errors=True)
    parts = {}
    for name, wanted in ((TRAIN, False), (HIDDEN, True)):
        _write_part(forest, aside / name, share, seed, wanted)
        parts[name] = Forest.open(aside / name).digest
    manifest = {"format": FORMAT, "version": VERSION, "share": share, "seed": seed, "forest": forest.digest, **parts}
    (aside / SPLIT).write_bytes(json_bytes(manifest))
    aside.rename(target)
    return Split.open(target)


def is_hidden(text: str, share: float, seed: int) -> bool:
    """Whether a sentence is in the hidden part: by its words alone, so that copies of it go the same way."""
    bare = " ".join(text.lower().split())
    state = blake2b(bare.encode("utf-8", "surrogatepass"), digest_size=8, key=str(seed).encode())
    return int.from_bytes(state.digest(), "big") < share * 2**64


def _write_part(forest: Forest, folder: Path, share: float, seed: int, wanted: bool) -> None:
    """The sentences of a forest that are hidden, or those that are not, as a forest."""
    (folder / SHARDS).mkdir(parents=True)
    reports, digests = list[Report](), dict[str, Digest]()
    for shard in forest.shards:
        sentences = read_table(forest.path / shard_file(shard, "sentences"))
        texts = sentences["text"].to_pylist()
        kept = np.array([is_hidden(text, share, seed) == wanted for text in texts], bool)
        nodes = _kept_nodes(forest.nodes(shard), kept)
        for what, table in (("sentences", sentences.filter(pa.array(kept))), ("nodes", nodes)):
            data = parquet_bytes(table)
            (folder / shard_file(shard, what)).write_bytes(data)
            digests[shard_file(shard, what)] = digest(data)
        reports.append(_report([text for text, keep in zip(texts, kept, strict=True) if keep], nodes))
    digests |= put_index(folder, [report["sentences"] for report in reports])
    shutil.rmtree(folder / ASIDE)
    (folder / MANIFEST).write_bytes(json_bytes(_manifest(forest, reports, digests)))


def _kept_nodes(nodes: pa.Table, kept: Mask) -> pa.Table:
    """The nodes of the sentences that are kept, which are numbered anew."""
    sentence = nodes["sentence"].to_numpy()
    number = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    rows = kept[sentence]
    table = nodes.filter(pa.array(rows))
    place = table.schema.get_field_index("sentence")
    table = table.set_column(place, nodes.schema.field(place), pa.array(number[sentence[rows]], pa.int32()))
    for name in ("word", "label", "parent_label"):  # the dictionary must not name what only the other part has
        at = table.schema.get_field_index(name)
        plain = pc.cast(table[name], pa.string()).combine_chunks().dictionary_encode()
        table = table.set_column(at, nodes.schema.field(at), plain.cast(nodes.schema.field(at).type))
    return table


def _report(texts: Sequence[str], nodes: pa.Table) -> Report:
    trees = int(pc.sum(pc.less(nodes["parent"], 0)).as_py() or 0)
    count = sum(len(words(chunk)) for text in texts for chunk in chunks(text))
    return {"sentences": len(texts), "words": count, "trees": trees, "nodes": len(nodes), "skipped": 0}


def _manifest(forest: Forest, reports: Sequence[Report], digests: dict[str, Digest]) -> Report:
    totals = {name: sum(report[name] for report in reports) for name in reports[0]}
    return {
        **{name: forest.manifest[name] for name in ("format", "version", "options", "sources", "errors")},
        "totals": {"shards": len(reports), **totals},
        "shards": list(reports),
        "files": digests,
    }
