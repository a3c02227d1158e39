"""Running many benchmarks for many models, and what is kept of it: figures, commit, and the digests of the data."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import vecdcs
from vecdcs.corpus.forest import Forest
from vecdcs.errors import InputError, VecdcsError
from vecdcs.model.model import Model
from vecdcs.tasks.completion import evaluate_counts
from vecdcs.tasks.paper import Results, Table, markdown, tables
from vecdcs.tasks.parses import parser_digest
from vecdcs.tasks.result import Result, against, data_digests
from vecdcs.tasks.suite import TASKS, Settings

RESULTS, README = "results.json", "README.md"
PMI = "PMI"  # the row of what counting alone can do
PAIRS = {"MRR / hits@10": ("mrr", "hits10"), "MAP / of what no sentence states": ("map", "map_unsaid")}


def run(
    models: Mapping[str, Model],
    settings: Settings,
    only: Collection[str] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, dict[str, Result]]:
    """Every task for every model; a task that a model cannot do is told, not fatal."""
    for name in only:
        if name not in TASKS:
            raise InputError(f"--task {name}: expected one of {', '.join(TASKS)}")
    chosen = [task for task in TASKS if not only or task in only]
    done: dict[str, dict[str, Result]] = {}
    for name, model in models.items():
        done[name] = {task: _told(name, task, partial(TASKS[task], model, settings), tell) for task in chosen}
    if settings.pmi is not None and "completion" in chosen:
        counted = partial(_counted, settings.pmi, settings)
        done[PMI] = {"completion": _told(PMI, "completion", counted, tell)}
    return done


def _reason(error: VecdcsError) -> str:
    """Why a task cannot be done; the folder of a model that is refused is left out, as it has a name here."""
    return error.message if isinstance(error, InputError) and error.line is None else str(error)


def _told(name: str, task: str, evaluate: Callable[[], Result], tell: Callable[[str], None]) -> Result:
    """A result, or why there is none."""
    try:
        result = evaluate()
    except VecdcsError as error:
        result = Result(task, name, "", {}, (_reason(error),))
    missing = f"; missing: {', '.join(result.missing)}" if result.missing else ""
    tell(f"{name}: {task}, {sum(result.seconds.values()):.0f} CPU s{missing}")
    return result


def _counted(forest: Path, settings: Settings) -> Result:
    return evaluate_counts(Forest.open(forest), settings.data, settings.cache, settings.parser, settings.seed)


def differences(results: Results, seed: int) -> list[dict[str, Any]]:
    """How much better the first model is than each other one, set by set, on the same bootstrap draws."""
    first, *others = results
    return [
        {"task": task, "set": gap["name"], "model": first, "against": other, **_gap(gap)}
        for other in others
        for task, result in results[first].items()
        if task in results[other]
        for gap in against(result, results[other][task], seed)
    ]


def _gap(gap: Mapping[str, Any]) -> dict[str, Any]:
    return {key: gap[key] for key in ("difference", "interval95")}


def difference_table(gaps: Sequence[Mapping[str, Any]]) -> Table:
    """The differences as a table; those whose interval leaves out 0 end with a star."""
    rows: list[tuple[str, ...]] = []
    for gap in gaps:
        low, high = gap["interval95"]
        sure = " *" if low > 0 or high < 0 else ""
        cells = (gap["task"], gap["set"], f"{gap['difference']:+.3f}{sure}", f"{low:+.3f} to {high:+.3f}")
        rows.append((f"{gap['model']} – {gap['against']}", *cells))
    return Table("Paired differences", ("", "task", "set", "difference", "95 %"), rows)


def account(results: Results, settings: Settings) -> dict[str, Any]:
    """The figures without what changes from run to run: the same for the same commit, data and models."""
    return {
        "version": vecdcs.__version__,
        "commit": commit(),
        "parser": parser_digest(settings.parser)[:16],
        "data": data_digests(settings.data),
        "seed": settings.seed,
        "models": {
            name: {task: _lasting(name, result) for task, result in done.items()} for name, done in results.items()
        },
        "differences": differences(results, settings.seed),
    }


def _lasting(name: str, result: Result) -> dict[str, Any]:
    kept = result.as_dict() | {"model": name}
    kept.pop("cpu_seconds")
    return kept


def commit() -> str:
    """The commit of the code, as far as it is known."""
    try:
        found = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()


def write_report(results: Results, told: Mapping[str, Any], folder: Path) -> None:
    """results.json (what `account` tells) and README.md, each written aside and renamed."""
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / RESULTS, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    _put(folder / README, readme(results, told))


def readme(results: Results, told: Mapping[str, Any]) -> str:
    """The tables as a page."""
    made = [table for table in tables(results) if not table.title.startswith("Words most similar")]
    made += [table for table in [difference_table(told["differences"])] if table.rows]
    head = (
        "# Results\n\nWritten by `vecdcs evaluate all` (docs/evaluation.md says what is measured); every figure with "
        f"its interval is in `{RESULTS}`.\n\n"
        f"Commit {told['commit']}, parser {told['parser']}, seed {told['seed']}. Data:\n"
    )
    digests = "".join(f"\n- `{name}` {digest}" for name, digest in told["data"].items())
    return "\n".join([head + digests + "\n", *map(markdown, made)])


def _put(path: Path, text: str) -> None:
    aside = path.with_name(path.name + ".part")
    aside.write_text(text, encoding="utf-8", newline="\n")
    aside.replace(path)


def result_tables(result: Result, gaps: Sequence[Mapping[str, Any]] = ()) -> list[Table]:
    """One result as tables to read: every figure of its sets, then the rest, then the differences to another model."""
    figures = dict(result.figures)
    sets = figures.pop("sets", [])
    back = _sets("the candidate asks", figures.get("candidate_asks", []))
    made = [table for table in (_sets(result.task, sets), _ways(sets), back, _single(figures)) if table.rows]
    for name in ("neighbours", "transformed", "matrices"):
        made += _lists(name, figures.get(name))
    if gaps:
        rows: list[tuple[str, ...]] = [
            (gap["name"], f"{gap['difference']:+.4f}", _text(gap["interval95"])) for gap in gaps
        ]
        made.append(Table("difference to the other model", ("", "difference", "95 %"), rows))
    return made


def _sets(task: str, sets: Sequence[Mapping[str, Any]]) -> Table:
    plain = [{key: value for key, value in row.items() if key != "by"} for row in sets]
    return Table(task, _header(plain), [tuple(_text(value) for value in row.values()) for row in plain])


def _ways(sets: Sequence[Mapping[str, Any]]) -> Table:
    """By what answers were ranked, a row each; a column for each set."""
    by = [row["by"] for row in sets if "by" in row]
    names = list(by[0]) if by else []
    title, pair = next((item for item in PAIRS.items() if names and item[1][0] in by[0][names[0]]), ("", ()))
    rows = [(name, *(" / ".join(_text(one[name][figure]) for figure in pair) for one in by)) for name in names]
    return Table(title, ("", *(row["set"] for row in sets)), rows)


def _single(figures: Mapping[str, Any]) -> Table:
    plain = {key: value for key, value in figures.items() if not isinstance(value, list | dict)}
    return Table("figures", ("", ""), [(key, _text(value)) for key, value in plain.items()])


def _lists(name: str, value: Any) -> list[Table]:
    if not value:
        return []
    if isinstance(value, dict):
        return [Table(name, ("", ""), [(key, ", ".join(words)) for key, words in value.items()])]
    return [Table(name, _header(value), [tuple(_text(cell) for cell in row.values()) for row in value])]


def _header(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(key.replace("_", " ") for key in rows[0]) if rows else ()


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) if value and isinstance(value[0], str) else "–".join(map(_text, value))
    return "" if value is None else str(value)
