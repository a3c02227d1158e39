"""What a model's README.md says: what it was learned from and how, how good it is, and what it is bad at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecdcs import __version__
from vecdcs.corpus.vocabulary import UNKNOWN
from vecdcs.errors import InputError

if TYPE_CHECKING:
    from vecdcs.model.model import Model

# The figures of each task that a card shows; the interval is of the first.
FIGURES = {
    "phrase-similarity": ("spearman_tie_corrected",),
    "preference": ("spearman",),
    "relations": ("macro_f1", "direction_errors"),
    "completion": ("accuracy",),
    "execution": ("mrr", "hits10"),
    "intrinsic": ("same_pos_share",),
}
WAYS = ("model", "calibrated")  # rankings of execution by the model alone


def card(model: Model, digest: str) -> str:
    """The card of any model."""
    return (
        "# A vecdcs model\n\nQuery vectors, answer vectors and field matrices of vector-based DCS, learned by "
        f"`vecdcs train` ({__version__}).\n\n{facts(model, digest)}\n"
        "The licence of the text travels with what was learned from it. Load it with `vecdcs.load(folder)`; look at it "
        "with\n`vecdcs inspect folder`.\n"
    )


def _beside(joined: Mapping[str, Any]) -> str:
    """What a joined model says of the part without matrices."""
    plan = joined["plan"] or {}
    rate = plan.get("recipe", {}).get("vector_rate")
    return (
        f", of them {plan.get('dim')} of a model without matrices ({plan.get('epochs')} passes, seed "
        f"{plan.get('seed')}, vector_rate {rate}), {joined['share']:g} times as long"
    )


def facts(model: Model, digest: str, cpu_hours: float | None = None) -> str:
    """A table of what the model itself knows about itself."""
    config = model.config
    plan, forest, packed = (config.get(part, {}) for part in ("plan", "forest", "packed"))
    known = sum(not word.startswith(UNKNOWN) for word in model.vocabulary.words)
    recipe = dict(plan.get("recipe", {}))
    rows = {
        "variant, recipe": f"{plan.get('variant')}, {recipe.pop('name', None)}",
        "dimension": f"{model.dim}" + (_beside(config["joined"]) if "joined" in config else ""),
        "words, fields": f"{known:,}, {len(model.vocabulary.fields):,}",
        "cut and rounded": f"from {packed['words']:,} words, {packed['fields']:,} fields" if packed else "",
        "text": f"{forest.get('words', 0):,} words in {forest.get('sentences', 0):,} sentences",
        "paths seen": f"{config.get('paths', 0):,} in {plan.get('epochs')} passes, seed {plan.get('seed')}",
        "trained to the end": "yes" if config.get("finished") else "no: stopped by a time limit",
        "files of the text": ", ".join(config.get("sources", [])),
        "settings of the recipe": ", ".join(f"{name} {value}" for name, value in recipe.items()),
        "CPU hours of training": "" if cpu_hours is None else f"{cpu_hours:.2f}",
        "SHA-256 of the numbers": digest,
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items() if value]
    return "\n".join(["| | |", "|---|---|", *lines]) + "\n"


def figures(results: Path, name: str) -> str:
    """What `vecdcs evaluate all -o` wrote about a model, as a table with protocols."""
    tasks = _read(results, name)
    lines = ["| task | set | figure | value | 95 % |", "|---|---|---|---|---|"]
    for task, found in tasks.items():
        for row in _rows(found):
            for figure in FIGURES.get(task, ()):
                if figure in row:
                    ends = row.get("interval95", ()) if figure == FIGURES[task][0] else ()
                    span = "–".join(f"{end:.3f}" for end in ends)
                    cells = (task, row.get("set", ""), figure.replace("_", " "), _number(row[figure]), span)
                    lines.append(f"| {' | '.join(cells)} |")
    protocols = [f"- **{task}**: {found['protocol']}." for task, found in tasks.items() if found.get("protocol")]
    return "\n".join([*lines, "", *protocols]) + "\n"


def _read(results: Path, name: str) -> Mapping[str, Any]:
    try:
        models: Mapping[str, Any] = json.loads(results.read_text("utf-8"))["models"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("expected the results.json of `vecdcs evaluate all -o`", str(results)) from error
    if name not in models:
        raise InputError(f"no figures of {name!r}: expected one of {', '.join(models)}", str(results))
    found: Mapping[str, Any] = models[name]
    return found


def _rows(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The sets of a task; of execution, its rankings by the model; of a task without sets, itself."""
    for row in found.get("sets", ()) or [found]:
        if "by" in row:
            for way in WAYS:
                yield {**row["by"].get(way, {}), "set": f"{row['set']}, {way}"}
        else:
            yield row


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"
