"""What a build costs, logged beside the forest shard by shard, so that runs that were killed are in the sum."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

ENDING = ".costs.jsonl"
Cost = dict[str, Any]


def log_file(folder: Path) -> Path:
    """`forest.costs.jsonl` beside `forest/`, whose own bytes do not depend on how it was made."""
    whole = folder.resolve()
    return whole.with_name(whole.name + ENDING)


def forget(folder: Path) -> None:
    """Begin a log anew."""
    with suppress(OSError):
        log_file(folder).unlink(missing_ok=True)


def note(folder: Path, what: str, words: int, seconds: dict[str, float], memory: dict[str, int]) -> None:
    """Add a line: CPU seconds by step, and the most bytes each process had; no reason to stop where it cannot be."""
    cost = {"what": what, "words": words, "seconds": seconds, "memory": memory}
    with suppress(OSError), log_file(folder).open("a", encoding="utf-8") as log:
        log.write(json.dumps(cost) + "\n")


def note_sum(folder: Path) -> None:
    """Add the line of the whole build: words and seconds added up, memory at its most."""
    words, seconds, memory = 0, Counter[str](), Counter[str]()
    for cost in _read(folder):
        if cost["what"] != "all":
            words += cost["words"]
            seconds.update(cost["seconds"])
            memory |= Counter(cost["memory"])
    note(folder, "all", words, {step: round(spent, 3) for step, spent in seconds.items()}, dict(memory))


def _read(folder: Path) -> list[Cost]:
    """The lines that are whole."""
    with suppress(OSError), log_file(folder).open(encoding="utf-8") as log:
        return [json.loads(line) for line in log if line.startswith("{") and line.endswith("}\n")]
    return []
