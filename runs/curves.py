"""Scores against paths seen, for every variant on one text: models, a table of snapshots and a picture.

    python runs/curves.py FOREST UD_FOREST EVAL OUT [--dim 100] [--workers 2] [--only NAME ...]

A model that is there is not trained again; the curve of one whose training was cut off begins anew.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from vecdcs.corpus.forest import Forest
from vecdcs.learn import blas
from vecdcs.learn.recipes import Plan, plan
from vecdcs.learn.session import Outcome, finished, vocabulary_of
from vecdcs.learn.trainer import Trainer
from vecdcs.model.fit import as_model
from vecdcs.model.inspect import same_pos_share
from vecdcs.model.model import Model, save
from vecdcs.tasks.rated import phrases, preferences

SETS = ("AN", "VO", "GS11", "amod", "dobj")
VARIANTS = {
    "full": ("default", "full"),
    "no-matrix": ("default", "no-matrix"),
    "no-inverse": ("default", "no-inverse"),
    "ud": ("default", "ud"),
    "paper": ("paper", "full"),
}
"""Recipe and variant of every model."""


def scores(model: Model, data: Path) -> dict[str, float]:
    """Tie-corrected correlations, phrases by plain query vectors, and the share of same parts of speech nearby."""
    found = {one["set"]: one["plain_tie_corrected"] for one in phrases(model, data).figures["sets"]}
    found |= {one["set"]: one["spearman"] for one in preferences(model, data).figures["sets"]}
    return {name: round(found[name], 4) for name in SETS if name in found} | {"pos": round(same_pos_share(model), 4)}


def train(name: str, plan: Plan, forest: Forest, data: Path, out: Path, workers: int, marks: int) -> None:
    """Train one model, scoring it at even distances."""
    vocabulary = vocabulary_of(forest)
    trainer = Trainer(plan, vocabulary, forest, workers)
    rows: list[dict[str, Any]] = []
    loss, paths, cpu = 0.0, 0, 0.0
    position, started = None, time.process_time()
    for report in trainer.run():
        position, loss, paths = report.position, loss + report.loss * report.paths, paths + report.paths
        if position.paths >= trainer.total * (len(rows) + 1) / marks and len(rows) + 1 < marks:
            cpu += time.process_time() - started
            model = as_model(Outcome(finished(trainer.state, plan), vocabulary, [], position, False), plan, forest)
            rows.append(row(name, position.paths, loss / paths, cpu, scores(model, data)))
            loss, paths, started = 0.0, 0, time.process_time()
    assert position is not None, "a forest has paths"
    cpu += time.process_time() - started
    model = as_model(Outcome(finished(trainer.state, plan), vocabulary, [], position, True), plan, forest)
    rows.append(row(name, position.paths, loss / max(paths, 1), cpu, scores(model, data)))
    (out / f"{name}.curve.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    save(model, out / name, [])


def row(name: str, paths: int, loss: float, cpu: float, found: dict[str, float]) -> dict[str, Any]:
    one = {"model": name, "paths": paths, "loss": round(loss, 4), "cpu_seconds": round(cpu, 1), **found}
    print(json.dumps(one), flush=True)
    return one


def draw(out: Path, target: Path) -> None:
    """One panel for the loss and for each set, one line for each model."""
    from matplotlib.figure import Figure

    curves = {name: out / f"{name}.curve.jsonl" for name in VARIANTS}
    figure = Figure(figsize=(11, 6), layout="constrained")
    panels = figure.subplots(2, 3)
    for axes, what in zip(panels.flat, ("loss", *SETS), strict=True):
        for name, file in curves.items():
            rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []
            if rows and (what != "loss" or name != "paper"):  # another noise: its loss cannot be compared
                axes.plot([one["paths"] / 1e6 for one in rows], [one[what] for one in rows], marker=".", label=name)
        axes.set_title(what)
    for axes in panels[1]:
        axes.set_xlabel("million paths")
    panels[0, 1].legend()
    figure.savefig(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("forest", "ud_forest", "eval", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--marks", type=int, default=6, help="snapshots of each training")
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    options = parser.parse_args()
    blas.pin()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        recipe, variant = VARIANTS[name]
        if not (options.out / name).exists():
            chosen = plan(variant=variant, recipe=recipe, dim=options.dim)
            forest = Forest.open(options.ud_forest if variant == "ud" else options.forest)
            train(name, chosen, forest, options.eval, options.out, options.workers, options.marks)
    draw(options.out, options.out / "curves.svg")


if __name__ == "__main__":
    main()
