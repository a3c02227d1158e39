"""Why an answer is one: what each node of the question adds to its score, in numbers, in the terminal and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecdcs.dcs.notation import text_width, visible
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.model.query import compose, contributions

if TYPE_CHECKING:
    from vecdcs.model.ask import Question

INK, FAINT, FOR, AGAINST = "#1f2933", "#5b6b7b", "#2f7d6b", "#c0563b"
BARS = " ▏▎▍▌▋▊▉█"
LENGTH = 24  # characters of the longest bar
ROW, TITLE, BAR, MARGIN = 22, 30, 220, 12  # sizes in the SVG
FONT = 'font-family="Helvetica, Arial, sans-serif"'


class Part(NamedTuple):
    """A node of the question: its position in the tree hung up at what is asked, its word, the labels of its edge."""

    position: int
    word: str
    parent_label: str
    label: str

    def __str__(self) -> str:
        return f"{self.parent_label} ─ {self.label} ─ {visible(self.word)}" if self.label else visible(self.word)


@dataclass(frozen=True)
class Explanation:
    """The tree hung up at what is asked, and for each answer its score as a sum over the parts of the tree."""

    tree: Tree
    parts: tuple[Part, ...]
    answers: tuple[str, ...]
    scores: tuple[float, ...]
    contributions: tuple[tuple[float, ...], ...]  # of each answer, by parts

    def to_text(self) -> str:
        """The tree, and a small bar chart for each answer."""
        blocks = [self.tree.to_text()]
        for at, answer in enumerate(self.answers):
            lines = [f"{visible(answer)}  {self.scores[at]:.4f}"]
            lines += [self._line(part, value) for part, value in zip(self.parts, self.contributions[at], strict=True)]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)

    def _line(self, part: Part, value: float) -> str:
        width = max(text_width(str(each)) for each in self.parts)
        name = str(part) + " " * (width - text_width(str(part)))
        return f"  {name} {value:+.4f} {_bar(abs(value) / self._longest(), value < 0)}".rstrip()

    def _longest(self) -> float:
        return max([abs(value) for row in self.contributions for value in row] + [1e-9])

    def to_svg(self) -> str:
        """The bar charts as SVG."""
        return _svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        parts = [{**part._asdict(), "text": str(part)} for part in self.parts]
        rows = zip(self.answers, self.scores, self.contributions, strict=True)
        answers = [{"word": word, "score": score, "contributions": list(row)} for word, score, row in rows]
        return {"tree": str(self.tree), "parts": parts, "answers": answers}


def explain(question: Question, words: Sequence[str]) -> Explanation:
    """What each node of a question adds to the scores of some words; the sums are the scores."""
    asker = question.asker
    unknown = [word for word in words if not asker.knows(word)]
    if unknown:
        raise InputError(f"the model does not know {unknown[0]!r}: expected a word with its part of speech, as ban/V")
    laid = asker.laid([question])
    vectors = asker.node_vectors([question], laid)
    length = float(np.linalg.norm(compose(asker, laid.trees, vectors).astype(np.float64)))
    if not length:
        raise InputError(f"there is nothing to ask with in {question.tree}: expected a word beside the blank")
    answers = np.array([asker.answer_vector(word) for word in words], np.float64).reshape(1, len(words), asker.dim)
    added = contributions(asker, laid.trees, vectors, answers / length)
    named = [at for at, word in enumerate(laid.trees.word) if word >= 0]
    parts = tuple(_part(question.hung, laid.position[at]) for at in named)
    return Explanation(question.hung, parts, tuple(words), _row(added.sum(0)), tuple(map(_row, added[named].T)))


def _part(tree: Tree, position: int) -> Part:
    place = tree.places[position]
    labels = (place.edge.parent_label, place.edge.label) if place.edge else ("", "")
    return Part(position, place.tree.word, *labels)


def _row(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(values.tolist())


def _bar(share: float, negative: bool) -> str:
    """A bar in eighths of a character; what speaks against an answer is shaded."""
    eighths = round(8 * LENGTH * share)
    if negative:
        return "░" * round(eighths / 8)
    return (BARS[-1] * (eighths // 8) + BARS[eighths % 8]).rstrip()


def _svg(explanation: Explanation) -> str:
    names = [str(part) for part in explanation.parts]
    left = MARGIN + max(7.5 * text_width(name) for name in [*names, ""]) + 10
    middle = left + BAR / 2
    width = left + BAR + 70
    rows: list[str] = []
    y = float(MARGIN)
    for answer, score, row in zip(explanation.answers, explanation.scores, explanation.contributions, strict=True):
        title = f"{escape(visible(answer))}  {score:.3f}"
        rows.append(
            f'<text x="{MARGIN}" y="{y + 16:.0f}" font-size="15" font-weight="bold" fill="{INK}">{title}</text>'
        )
        y += TITLE
        for name, value in zip(names, row, strict=True):
            rows += _svg_row(name, value, value / explanation._longest() * BAR / 2, middle, y)
            y += ROW
        y += MARGIN
    title = escape(f"What each part of {explanation.tree} adds to the scores of its answers")
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y:.0f}" '
        f'viewBox="0 0 {width:.0f} {y:.0f}" style="max-width:100%" role="img" aria-label="{title}" {FONT}>'
    )
    return "\n".join([opening, f"<title>{title}</title>", *rows, "</svg>\n"])


def _svg_row(name: str, value: float, length: float, middle: float, y: float) -> list[str]:
    fill, start = (FOR, middle) if value >= 0 else (AGAINST, middle + length)
    end = middle + BAR / 2 + 8
    return [
        f'<text x="{MARGIN + 8}" y="{y + 14:.0f}" font-size="13" fill="{FAINT}">{escape(name)}</text>',
        f'<rect x="{start:.1f}" y="{y + 3:.0f}" width="{abs(length):.1f}" height="{ROW - 8}" rx="2" fill="{fill}"/>',
        f'<text x="{end:.1f}" y="{y + 14:.0f}" font-size="12" fill="{FAINT}">{value:+.3f}</text>',
    ]
