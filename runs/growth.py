"""Scores against words of text, and what the last step implies for as much text as the paper had: a picture.

    python runs/growth.py [results/growth.svg]

Reads what is committed: general text of about 1 and 10 million words (results/growth.json) and all of it
(results/one-pass); novels of results/small, base and full. Dashed: a line through the last two points, which is too
high where steps shrink.
"""

from __future__ import annotations

import json
import sys
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parent.parent / "results"
COMPLETION = "MSR completion"
PAPER_WORDS = 2e9
GENERAL = 83_228_466
NOVELS = {"small": 0.6e6, "base": 3.4e6, "full": 42e6}  # nine tenths of the words of each
PAPER_NOVELS = 44e6  # 534 texts, by the mean length of the 357 that are ours as well


class Curve(NamedTuple):
    """A line of a panel: words of text and scores, and the paper's figure, if it has one."""

    name: str
    words: list[float]
    scores: list[float]
    paper: float | None = None


def read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text("utf-8"))


def general() -> dict[str, list[Curve]]:
    """One panel a set: the full model on 1, 10 and 92 million words, of which it learns from nine tenths."""
    rows = read("growth.json")["rows"]
    whole = read("one-pass/general/results.json")["models"]["vecDCS"]
    last = {one["set"]: one for task in ("phrase-similarity", "preference") for one in whole[task]["sets"]}
    last["SemEval-2010-8"] = whole["relations"]
    words = [0.9 * row["words"] for row in rows] + [GENERAL]

    def curve(name: str, one: str, key: str, paper: float | None = None) -> Curve:
        return Curve(name, words, [row["figures"][one][key] for row in rows] + [last[one][key]], paper)

    panels = {
        one: [curve("by likeness", one, "spearman_tie_corrected"), curve("plain", one, "plain_tie_corrected", paper)]
        for one, paper in (("AN", 0.494), ("VO", 0.397), ("GS11", 0.279))
    }
    panels["SP-10K"] = [curve(one, one, "spearman") for one in ("amod", "dobj")]
    panels["SemEval-2010-8"] = [curve("macro-F1", "SemEval-2010-8", "macro_f1", 0.812)]
    return panels


def completion() -> list[Curve]:
    """Novels: 0.6, 3.4 and 42 million words, d = 50, 100, 200, four passes."""
    curves = []
    for model, name, paper in (("vecDCS", "full", 0.50), ("no matrix", "no matrix", 0.60)):
        found = [read(f"{size}/novels/results.json")["models"][model]["completion"] for size in NOVELS]
        words = list(NOVELS.values())
        curves.append(Curve(f"{name}, asking", words, [one["candidate_asks"][0]["accuracy"] for one in found]))
        curves.append(Curve(f"{name}, paper's way", words, [one["sets"][0]["accuracy"] for one in found], paper))
    return curves


def paper_words(panel: str) -> float:
    """How much text the paper had."""
    return PAPER_NOVELS if panel == COMPLETION else PAPER_WORDS


def implied(curve: Curve, words: float) -> float:
    """The score at so many words, by a line through the last two points against the logarithm of words."""
    (x, y), (z, w) = ((log10(curve.words[at]), curve.scores[at]) for at in (-2, -1))
    return w + (w - y) / (z - x) * (log10(words) - z)


def draw(panels: dict[str, list[Curve]], target: Path) -> None:
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams["svg.hashsalt"] = "vecdcs"
    figure = Figure(figsize=(11, 6), layout="constrained")
    for axes, (name, curves) in zip(figure.subplots(2, 3).flat, panels.items(), strict=True):
        end = paper_words(name)
        for curve in curves:
            (line,) = axes.semilogx(curve.words, curve.scores, marker=".", label=curve.name)
            dashed = (curve.words[-1], end), (curve.scores[-1], implied(curve, end))
            axes.semilogx(*dashed, "--", color=line.get_color(), linewidth=0.8)
            if curve.paper is not None:
                axes.plot(end, curve.paper, "*", color=line.get_color())
        axes.set_title(name)
        axes.legend(fontsize="small")
    for axes in figure.axes[3:]:
        axes.set_xlabel("words of text (star: the paper)")
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    panels = {**general(), COMPLETION: completion()}
    for name, curves in panels.items():
        for curve in curves:
            points, end = " ".join(f"{score:.3f}" for score in curve.scores), paper_words(name)
            print(f"{name}, {curve.name}: {points}; at {end / 1e6:,.0f} million words {implied(curve, end):.3f}")
    draw(panels, Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS / "growth.svg")


if __name__ == "__main__":
    main()
