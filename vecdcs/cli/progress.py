"""How a long build is told: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vecdcs.corpus.build import Progress, Watch

LOG_EVERY = 10.0  # seconds between plain lines


@contextmanager
def build_progress(quiet: bool) -> Iterator[Watch]:
    """What `build` calls after every shard."""
    if quiet:
        yield lambda progress: None
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield _lines()


def _bar() -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    start = monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("building", total=None)

        def watch(progress: Progress) -> None:
            total = progress.total or None
            bar.update(task, completed=progress.read, total=total, description=describe(progress, monotonic() - start))

        yield watch


def _lines() -> Watch:
    start = monotonic()
    last = [start - LOG_EVERY]

    def watch(progress: Progress) -> None:
        now = monotonic()
        if now - last[0] >= LOG_EVERY or progress.stage != "shards":
            last[0] = now
            share = f"{100 * progress.read // progress.total} %, " if progress.total else ""
            print(f"build: {share}{describe(progress, now - start)}", file=sys.stderr, flush=True)

    return watch


def describe(progress: Progress, elapsed: float) -> str:
    """One line: what is done, how fast, how long still."""
    done, fresh = progress.done, progress.fresh
    parts = [f"{done['sentences']:,} sentences"]
    if progress.resumed:
        parts.append(f"{progress.resumed} of {done['shards']} shards from before")
    if fresh["sentences"] and elapsed > 0:
        parts.append(f"{fresh['sentences'] / elapsed:,.0f}/s")
    parts.append(f"{done['skipped']:,} skipped")
    if progress.stage != "shards":
        parts.append(f"writing the {progress.stage}")
    elif left := _left(progress, elapsed):
        parts.append(f"{left} left")
    return ", ".join(parts)


def _left(progress: Progress, elapsed: float) -> str:
    """The time still needed at the speed of this run, as h:mm:ss."""
    read = progress.read - progress.read_before
    if not progress.total or read <= 0:
        return ""
    seconds = int(elapsed * max(0, progress.total - progress.read) / read)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def summary(progress: Progress) -> str:
    """What a finished build did and what it cost."""
    done, fresh = progress.done, progress.fresh
    lines = [
        f"{done['sentences']:,} sentences, {done['words']:,} words, {done['trees']:,} trees, {done['nodes']:,} nodes; "
        f"{done['skipped']:,} skipped"
    ]
    if fresh["words"]:
        spent = (f"{step} {cost:,.1f} ({1e6 * cost / fresh['words']:.1f})" for step, cost in progress.seconds.items())
        lines.append("CPU seconds (µs a word): " + ", ".join(spent))
        memory = {"a worker": progress.worker_memory, "the main process": progress.main_memory}
        lines.append("most memory: " + ", ".join(f"{who} {most >> 20:,} MB" for who, most in memory.items()))
    return "\n".join(lines)
