"""How well vectors rank the answers of small worlds: the full model against none of its matrices, and against counting.

    python runs/world.py OUT [--seeds 1 2 3] [--dim 200] [--epochs 100] [--recipe dense] [--results results/world.json]

For every seed a world of its own is written, parsed and learned, with and without matrices; what is there is kept.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from vecdcs.corpus.build import build
from vecdcs.corpus.forest import Forest
from vecdcs.learn.recipes import plan
from vecdcs.model.fit import fit
from vecdcs.model.model import Model, load
from vecdcs.tasks import small_world
from vecdcs.tasks.result import against
from vecdcs.world import World, write_world

VARIANTS = ("full", "no-matrix")


def forest(folder: Path, seed: int) -> Forest:
    """The parsed sentences of a world, which is written first."""
    if not (folder / "world").exists():
        write_world(World.make(seed), folder / "world")
    return build([folder / "world" / "text.txt"], folder / "forest")


def model(folder: Path, learned: Forest, variant: str, options: argparse.Namespace, seed: int) -> Model:
    """A model of a world."""
    target = folder / f"{variant}-{options.recipe}-{options.dim}-{options.epochs}"
    if not (target / "manifest.json").exists():
        chosen = plan(options.recipe, variant, options.dim, options.epochs, seed=seed)
        fit(learned, target, chosen)
    return load(target)


def figures(folder: Path, options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """The figures of one world, and the lead of the full model over the other."""
    learned = forest(folder, seed)
    models = [model(folder, learned, variant, options, seed) for variant in VARIANTS]
    plain, steps = (compared(models, folder, learned, seed, stepwise) for stepwise in (False, True))
    return {"seed": seed, **plain, "stepwise": steps}


def compared(models: list[Model], folder: Path, learned: Forest, seed: int, stepwise: bool) -> dict[str, Any]:
    """The full model, and its lead, by equation (4) or step by step."""
    full, other = (small_world.evaluate(one, folder / "world", seed, learned, stepwise) for one in models)
    return {**full.figures, "no_matrix": other.figures["map"], "over_no_matrix": against(full, other, seed)}


def table(found: list[dict[str, Any]]) -> str:
    """Mean average precision by kind of question, a row a world."""
    header = "| seed | questions | full | step by step | no matrix | step by step | PMI | counts "
    lines = [header + "| unsaid: full | step by step | PMI | counts |", "|---" * 12 + "|"]
    for world in found:
        for row, after in zip(world["sets"], world["stepwise"]["sets"], strict=True):
            rivals = [row["by"][name] for name in ("pmi", "counts")]
            others = [one["map"] - _lead(way, row["set"]) for one, way in ((row, world), (after, world["stepwise"]))]
            said = [row["map"], after["map"], *others, *(rival["map"] for rival in rivals)]
            unsaid = [row["map_unsaid"], after["map_unsaid"], *(rival["map_unsaid"] for rival in rivals)]
            cells = [str(world["seed"]), row["set"], *(f"{value:.3f}" for value in said + unsaid)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _lead(way: dict[str, Any], kind: str) -> float:
    (lead,) = (lead["difference"] for lead in way["over_no_matrix"] if lead["name"] == kind)
    return float(lead)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--recipe", default="dense")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    found = []
    for seed in options.seeds:
        folder = options.out / f"seed-{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        found.append(figures(folder, options, seed))
    print(table(found))
    if options.results:
        how = {"recipe": options.recipe, "dim": options.dim, "epochs": options.epochs}
        options.results.write_text(json.dumps({**how, "worlds": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
