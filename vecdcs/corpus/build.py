"""From a pile of text to a forest: plan, work, index, manifest; interrupted anywhere, it goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from time import process_time
from typing import Any, Protocol

from vecdcs.corpus import costs
from vecdcs.corpus.forest import (
    ASIDE,
    FORMAT,
    MANIFEST,
    PARSES,
    PLAN,
    SHARDS,
    VERSION,
    Digest,
    Forest,
    file_digest,
    shard_file,
)
from vecdcs.corpus.pieces import Bad, Job, find_sources, is_conllu, jobs, size_on_disk
from vecdcs.corpus.shard import KEPT_ERRORS, Options, ShardFiles, build_shard, json_bytes, peak_memory
from vecdcs.engines import local
from vecdcs.errors import InputError

COUNTED = ("sentences", "words", "trees", "nodes", "skipped")
AS_USUAL = Options()


class Engine(Protocol):
    """Where the work runs: gives the results of the tasks in any order."""

    def __call__(self, function: Callable[[Job], ShardFiles], tasks: Iterable[Job]) -> Iterator[ShardFiles]: ...


@dataclass
class Progress:
    """How far a build is: what was counted, how much of the input lies behind, CPU seconds by step."""

    total: int = 0
    read: int = 0
    read_before: int = 0  # of `read`, what earlier runs had done
    resumed: int = 0
    stage: str = "shards"
    worker_memory: int = 0  # the most bytes a worker had
    main_memory: int = 0
    done: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)  # of what this run did itself
    fresh: Counter[str] = field(default_factory=Counter)  # counted by what this run did itself


Report = dict[str, Any]
Watch = Callable[[Progress], None]


def build(
    sources: Sequence[str | Path],
    folder: str | Path,
    options: Options = AS_USUAL,
    engine: Engine = local.run,
    watch: Watch = lambda _: None,
    progress: Progress | None = None,
) -> Forest:
    """Build a forest, or go on with one begun by the same command; `watch` sees the progress after every shard."""
    bad = Bad(options.skip_bad)
    files = find_sources(sources, bad)
    progress = progress or Progress()
    progress.total = sum(map(size_on_disk, files))
    with _writing(Path(folder)) as target:
        _build(files, target, options, engine, watch, progress, bad)
    return Forest.open(folder)


@contextmanager
def _writing(folder: Path) -> Iterator[Path]:
    """Whatever keeps files from being written is named with their folder."""
    try:
        yield folder
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(folder)) from error


def _build(
    files: list[str], target: Path, options: Options, engine: Engine, watch: Watch, progress: Progress, bad: Bad
) -> None:
    _begin(target, _plan(files, options))
    reports = _work(target, jobs(files, options.format, options.shard_bytes, bad), options, engine, progress, watch)
    _no_more_shards(target, len(reports))
    if progress.resumed == len(reports) and (target / MANIFEST).is_file():
        return
    manifest = _manifest(target, reports, files, options, bad, progress, watch)
    _put(target, {MANIFEST: json_bytes(manifest)})
    costs.note_sum(target)
    shutil.rmtree(target / ASIDE, ignore_errors=True)


def _plan(files: list[str], options: Options) -> Report:
    """What must be the same when a build goes on."""
    known = [{"path": file, "bytes": size_on_disk(file)} for file in files]
    weights = None if all(is_conllu(file, options.format) for file in files) else _weights_digest(options.parser)
    return {
        "format": FORMAT,
        "version": VERSION,
        "options": asdict(options),
        "parser_weights": weights,
        "sources": known,
    }


def _weights_digest(parser: str) -> str | None:
    """What tells one set of weights of the shipped parser from another; other parsers answer for themselves."""
    kind, _, folder = parser.partition(":")
    if kind != "english":
        return None
    from vecdcs.text.shipped import ENGLISH

    files = sorted(path for path in Path(folder or ENGLISH).glob("*") if path.is_file())
    return hashlib.sha256("".join(str(file_digest(path)["sha256"]) for path in files).encode()).hexdigest()


def _begin(folder: Path, plan: Report) -> None:
    """Write the plan, or see that it is the one this forest was begun with."""
    (folder / SHARDS).mkdir(parents=True, exist_ok=True)
    if plan["options"]["keep_parses"]:
        (folder / PARSES).mkdir(exist_ok=True)
    path = folder / PLAN
    if path.is_file():
        _compare_plans(_read_json(path), plan, str(folder))
    elif {item.name for item in folder.iterdir()} - {SHARDS, PARSES, ASIDE}:
        raise InputError("the folder holds other files; expected a new one, or a forest begun before", str(folder))
    else:
        costs.forget(folder)
        _put(folder, {PLAN: json_bytes(plan)})


def _compare_plans(old: Report, new: Report, folder: str) -> None:
    def changed(what: str, was: object, now: object) -> InputError:
        advice = "use the same command to go on, or another folder"
        return InputError(f"this forest was begun with {what} {was!r}, now it is {now!r}; {advice}", folder)

    if old.get("version") != new["version"]:
        raise changed("format version", old.get("version"), new["version"])
    begun_with = asdict(Options()) | old["options"]
    for name, now in new["options"].items():
        if (was := begun_with[name]) != now:
            raise changed(f"option {name} =", was, now)
    if (was := old.get("parser_weights")) != (now := new["parser_weights"]):
        raise changed("parser weights of digest", was, now)
    before, after = ([source["path"] for source in plan["sources"]] for plan in (old, new))
    for was, now in zip(before, after, strict=False):
        if was != now:
            raise changed("the input file", was, now)
    if len(before) != len(after):
        longer = max(before, after, key=len)[min(len(before), len(after)) :]
        raise changed(f"{len(before)} input files, without or with", longer[0], f"{len(after)} files")
    for was, now in zip(old["sources"], new["sources"], strict=True):
        if was["bytes"] != now["bytes"]:
            raise changed(f"{was['path']} of bytes", was["bytes"], now["bytes"])


def _work(
    folder: Path, all_jobs: Iterable[Job], options: Options, engine: Engine, progress: Progress, watch: Watch
) -> list[Report]:
    """Do the shards that are not there yet; the reports of all, in order."""
    behind: dict[int, int] = {}

    def unfinished() -> Iterator[Job]:
        for job in all_jobs:
            behind[job.shard] = job.read
            path = folder / shard_file(job.shard, "report")
            if not path.is_file():
                yield job
                continue
            report = _read_json(path)
            _check_unchanged(report, job)
            progress.resumed += 1
            progress.read_before = job.read
            _advance(progress, report, job.read)

    for result in engine(partial(build_shard, options), unfinished()):
        _put(folder, result.files)
        report = json.loads(list(result.files.values())[-1])
        _advance(progress, report, behind[report["shard"]])
        _spend(progress, result.seconds)
        progress.worker_memory = max(progress.worker_memory, result.peak_memory)
        progress.fresh.update({name: report[name] for name in COUNTED})
        memory = {"worker": result.peak_memory, "main": peak_memory()}
        costs.note(folder, f"shard {report['shard']}", report["words"], result.seconds, memory)
        watch(progress)
    return [_read_json(folder / shard_file(shard, "report")) for shard in sorted(behind)]


def _advance(progress: Progress, report: Report, read: int) -> None:
    progress.done.update({"shards": 1, **{name: report[name] for name in COUNTED}})
    progress.read = max(progress.read, read)


def _spend(progress: Progress, seconds: dict[str, float]) -> None:
    for step, spent in seconds.items():
        progress.seconds[step] = progress.seconds.get(step, 0.0) + spent


def _check_unchanged(report: Report, job: Job) -> None:
    """A finished shard must have been made of the same text."""
    now: list[Report] = [piece.fingerprint() for piece in job.pieces]
    for old, new in zip_longest(report["pieces"], now):
        if old != new:
            where: Report = old or new
            message = "the input has changed here since the build was begun: use another folder"
            raise InputError(message, where["source"], where["line"])


def _no_more_shards(folder: Path, count: int) -> None:
    if (folder / shard_file(count, "report")).exists():
        raise InputError("the input is shorter than when this forest was begun: use another folder", str(folder))


def _manifest(
    folder: Path, reports: list[Report], files: list[str], options: Options, bad: Bad, progress: Progress, watch: Watch
) -> Report:
    """Write the index, and say what the forest holds."""
    if not sum(report["nodes"] for report in reports):
        raise InputError("no trees in the input: expected sentences with at least two content words", ", ".join(files))
    digests: dict[str, Digest] = {}
    for report in reports:
        digests.update(report["files"])
    progress.stage = "index"
    watch(progress)
    digests |= _index(folder, reports, progress)
    errors = [str(error) for error in bad.errors] + [error for report in reports for error in report["errors"]]
    totals = {name: sum(report[name] for report in reports) for name in COUNTED}
    totals["skipped"] += len(bad.errors)
    return {
        "format": FORMAT,
        "version": VERSION,
        "options": asdict(options),
        "parser_weights": _read_json(folder / PLAN)["parser_weights"],
        "sources": files,
        "totals": {"shards": len(reports), **totals},
        "errors": errors[:KEPT_ERRORS],
        "shards": [{name: report[name] for name in COUNTED} for report in reports],
        "files": digests,
    }


def _index(folder: Path, reports: list[Report], progress: Progress) -> dict[str, Digest]:
    start = process_time()
    digests = put_index(folder, [report["sentences"] for report in reports])
    seconds, progress.main_memory = {"index": process_time() - start}, peak_memory()
    _spend(progress, seconds)
    costs.note(folder, "index", 0, seconds, {"main": progress.main_memory})
    return digests


def put_index(folder: Path, sentences: Sequence[int]) -> dict[str, Digest]:
    """Write the lists and tables of shards with so many sentences each, aside and then renamed; their digests."""
    import duckdb  # these two take half a second, which a build that goes on may not need to spend

    from vecdcs.corpus.index import write_index

    aside = folder / ASIDE
    aside.mkdir(exist_ok=True)
    try:
        names = write_index(folder, sentences, aside)
    except duckdb.Error as error:
        raise InputError(f"the index cannot be written: {error}", str(folder)) from error
    for name in names:
        (aside / name).replace(folder / name)
    return {name: file_digest(folder / name) for name in names}


def _put(folder: Path, files: dict[str, bytes]) -> None:
    """Write files aside, then rename them into place, in their order."""
    aside = folder / ASIDE
    aside.mkdir(exist_ok=True)
    for name, data in files.items():
        path = aside / f"{os.getpid()}.{Path(name).name}"
        with path.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        path.replace(folder / name)


def _read_json(path: Path) -> Report:
    try:
        value: Report = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", str(path)) from error
    return value
