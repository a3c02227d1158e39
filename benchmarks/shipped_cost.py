"""What packing a model costs on every development figure: all tasks before and after.

    python benchmarks/shipped_cost.py MODEL vecdcs/model/english --data ../shared/data/eval -o results/shipped_cost.json

Writes {"digest": of the packed numbers, "figures": {"task set figure": [before, after]}}, which
tests/test_pack.py holds to less than 0.01 each; exits with 1 where one costs more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from vecdcs.model.model import MANIFEST, TENSORS, load
from vecdcs.tasks.result import Result
from vecdcs.tasks.suite import TASKS, Settings

COST = 0.01
FIGURES = {
    "phrase-similarity": ("plain_paper", "plain_tie_corrected", "plain_pair_means", "spearman_tie_corrected"),
    "preference": ("spearman",),
    "relations": ("macro_f1",),
    "completion": ("accuracy",),
    "intrinsic": ("same_pos_share",),
}


def figures(result: Result) -> Iterator[tuple[str, float]]:
    """The figures of a task, by name."""
    asking = [{**row, "set": f"{row['set']}, asking"} for row in result.figures.get("candidate_asks", ())]
    for row in [*(result.figures.get("sets") or [result.figures]), *asking]:
        for name in FIGURES[result.task]:
            if name in row:
                yield " ".join(part for part in (result.task, str(row.get("set", "")), name) if part), float(row[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="The model before it was packed.")
    parser.add_argument("packed", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="Where parses are kept.")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--task", action="append", choices=FIGURES, help="Only this task; repeatable.")
    options = parser.parse_args()
    settings = Settings(data=options.data)
    settings = replace(settings, cache=options.cache) if options.cache else settings
    found: dict[str, list[float]] = {}
    for task in options.task or FIGURES:
        before, after = (dict(figures(TASKS[task](load(path), settings))) for path in (options.model, options.packed))
        for name, value in before.items():
            found[name] = [value, after[name]]
            print(f"{name:<50} {value:.4f} {after[name]:.4f} {after[name] - value:+.4f}", file=sys.stderr, flush=True)
    digest = json.loads((options.packed / MANIFEST).read_text("utf-8"))["files"][TENSORS]["sha256"]
    text = json.dumps({"digest": digest, "figures": found}, indent=1) + "\n"
    if options.output:
        options.output.write_text(text, "utf-8")
    else:
        print(text, end="")
    sys.exit(any(abs(after - before) >= COST for before, after in found.values()))


if __name__ == "__main__":
    main()
