"""The paper's figures, and tables that set ours beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vecdcs.tasks.result import Result

# What the paper calls a model, by the variant it was trained as.
NAMES = {
    "full": "vecDCS",
    "no-matrix": "no matrix",
    "no-inverse": "no inverse",
    "ud": "vecUD",
    "vectors": "GloVe",
}
SETS = ("AN", "NN", "VO", "SVO", "GS11", "GS12")
PHRASES = {
    "vecDCS": (0.51, 0.49, 0.41, 0.62, 0.29, 0.33),
    "no matrix": (0.52, 0.46, 0.42, 0.62, 0.29, 0.33),
    "no inverse": (0.47, 0.43, 0.38, 0.58, 0.28, 0.33),
    "vecUD": (0.44, 0.46, 0.41, 0.58, 0.25, 0.25),
    "GloVe": (0.41, 0.47, 0.41, 0.60, 0.23, 0.17),
}
RELATIONS = {  # F1, direction errors, both on the test file
    "vecDCS": (81.2, 16),
    "no matrix": (69.2, 144),
    "no inverse": (79.7, 23),
    "vecUD": (69.2, 30),
    "GloVe": (74.1, 161),
}
COMPLETION = {"vecDCS": 50, "no matrix": 60, "no inverse": 46, "vecUD": 31}  # all questions
OWN = {
    "model": "{}",
    "calibrated": "{}, calibrated",
    "hybrid": "{} + counts",
}  # rankings of execution that need a model
PREFERENCES = ("amod", "dobj", "nsubj", "dobj_amod", "nsubj_amod")

Results = Mapping[str, Mapping[str, Result]]  # by the name of the model, then by task


class Table(NamedTuple):
    """A table of figures as text, a row for each model; what the paper has stands in a row below its namesake."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def tables(results: Results) -> list[Table]:
    """All tables of which there is a figure."""
    made = (
        phrase_table(results, "plain_paper", "Phrase similarity, plain query vectors, the paper's formula"),
        phrase_table(results, "plain_tie_corrected", "Phrase similarity, plain query vectors, ties corrected"),
        phrase_table(results, "spearman_tie_corrected", "Phrase similarity by likeness, ties corrected"),
        phrase_table(results, "spearman_pair_means", "Phrase similarity by likeness, over the mean ratings of pairs"),
        relation_table(results),
        completion_table(results),
        preference_table(results),
        execution_table(results),
        intrinsic_table(results),
        neighbour_table(results),
    )
    return [table for table in made if table.rows]


def paper_name(name: str) -> str:
    """The row of the paper that a model's own name stands for: `vecDCS, d=100` is vecDCS."""
    return next((row for row in PHRASES if name.lower().startswith(row.lower())), name)


def _figures(results: Results, task: str) -> dict[str, Mapping[str, Any]]:
    return {name: done[task].figures for name, done in results.items() if task in done and done[task].figures}


def _sets(figures: Mapping[str, Any], key: str = "sets") -> dict[str, Mapping[str, Any]]:
    return {row["set"]: row for row in figures.get(key, ())}


def _with_paper(rows: Sequence[tuple[str, ...]], paper: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows, with the paper's below the first of its name."""
    found: list[tuple[str, ...]] = []
    left = dict(paper)
    for row in rows:
        found.append(row)
        name = paper_name(row[0])
        if name in left:
            found.append((f"{name}, paper", *left.pop(name)))
    return found


def phrase_table(results: Results, figure: str, title: str) -> Table:
    rows = [
        (name, *(_cell(_sets(figures).get(one), figure, ".3f") for one in SETS))
        for name, figures in _figures(results, "phrase-similarity").items()
        if figures["sets"]
    ]
    paper = {name: [f"{value:.2f}" for value in values] for name, values in PHRASES.items()}
    return Table(title, ("", *SETS), _with_paper(rows, paper) if figure == "plain_paper" else rows)


def relation_table(results: Results) -> Table:
    rows = []
    for name, figures in _figures(results, "relations").items():
        missing = results[name]["relations"].missing
        scored = "5-fold, training file" if missing else "test file"
        f1, (low, high) = 100 * figures["macro_f1"], (100 * end for end in figures["interval95"])
        rows.append((name, f"{f1:.1f}", f"{low:.1f}–{high:.1f}", f"{figures['direction_errors']}", scored))
    paper = {name: [f"{f1:.1f}", "", f"{errors}", "test file"] for name, (f1, errors) in RELATIONS.items()}
    header = ("", "macro-F1", "95 %", "direction errors", "scored on")
    return Table("Relation classification", header, _with_paper(rows, paper))


def completion_table(results: Results) -> Table:
    parts = ("development", "test", "all")
    rows = []
    for name, figures in _figures(results, "completion").items():
        both = (_sets(figures), _sets(figures, "candidate_asks"))
        rows.append((name, *(_cell(sets.get(part), "accuracy", ".1f", 100) for sets in both for part in parts)))
    paper = {name: ["", "", f"{value}", "", "", ""] for name, value in COMPLETION.items()}
    header = ("", *parts, *(f"{part}, candidate asks" for part in parts))
    return Table("Sentence completion, accuracy (%)", header, _with_paper(rows, paper))


def preference_table(results: Results) -> Table:
    rows = [
        (name, *(_cell(_sets(figures).get(one), "spearman", ".3f") for one in PREFERENCES))
        for name, figures in _figures(results, "preference").items()
        if figures["sets"]
    ]
    return Table("Selectional preference, Spearman's ρ", ("", *PREFERENCES), rows)


def execution_table(results: Results) -> Table:
    """MRR and hits@10 of each kind of question; what needs no model is the same for all, so it is told once."""
    rows: list[tuple[str, ...]] = []
    kinds: tuple[str, ...] = ()
    for name, figures in _figures(results, "execution").items():
        sets = [row for row in figures["sets"] if "by" in row]
        kinds = kinds or tuple(row["set"] for row in sets)
        ways = list(sets[0]["by"]) if sets else []
        for way in ways if not rows else [way for way in ways if way in OWN]:
            cells = (f"{row['by'][way]['mrr']:.3f} / {row['by'][way]['hits10']:.2f}" for row in sets)
            rows.append((OWN[way].format(name) if way in OWN else way, *cells))
    return Table("Query execution, MRR / hits@10 of answers only hidden sentences support", ("", *kinds), rows)


def intrinsic_table(results: Results) -> Table:
    rows = []
    for name, figures in _figures(results, "intrinsic").items():
        share = figures["same_pos_share"]
        errors = [max((row[what] for row in figures["matrices"]), default=None) for what in _ERRORS]
        rows.append((name, *("" if value is None else f"{value:.3f}" for value in (share, *errors))))
    header = ("", "same POS among 10 nearest", "largest |MtM-cI|/|cI|", "largest |M-1M-cI|/|cI|")
    return Table("The space itself", header, rows)


_ERRORS = ("orthogonality_error", "inverse_error")


def neighbour_table(results: Results) -> Table:
    """The paper's table 1: a column for each model."""
    found = {
        name: figures["neighbours"]["book/N"]
        for name, figures in _figures(results, "intrinsic").items()
        if "book/N" in figures["neighbours"]
    }
    rows = [(str(at), *row) for at, row in enumerate(zip(*found.values(), strict=False), 1)] if found else []
    return Table("Words most similar to book/N", ("", *found), rows)


def _cell(row: Mapping[str, Any] | None, figure: str, form: str, scale: float = 1.0) -> str:
    return "" if row is None else format(scale * row[figure], form)


def markdown(table: Table) -> str:
    """The table as Markdown."""
    lines = [f"**{table.title}**", "", _line(table.header), _line(["---"] * len(table.header))]
    return "\n".join([*lines, *map(_line, table.rows)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
