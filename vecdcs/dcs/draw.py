"""Pictures of trees, for the terminal and as SVG: of each edge, P stands next to the parent and L next to the child."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from vecdcs.dcs.notation import text_width, visible
from vecdcs.dcs.tree import BLANK, Child, Place, Tree

INK, FAINT, LINE, NEGATED = "#1f2933", "#5b6b7b", "#8593a3", "#c0392b"
WORD_FILL, BLANK_FILL, LABEL_FILL = "#e6effa", "#fdf1c7", "#ffffff"
GROUP_FILLS = ("#fbdcb4", "#dccdf7", "#c3ead9", "#f7cfe2", "#cbe5f7")
WORD_SIZE, LABEL_SIZE = 15, 11
BOX, PILL = 30, 17  # heights of a word's box and of a label
FAN, REACH, STEM = 28, 14, 9  # from a box down to P, from P to L, from L to the child's box
LEVEL = BOX + FAN + PILL + REACH + PILL + STEM
GAP, MARGIN = 18, 12
LONGEST = 48  # characters of a word or label that an SVG shows


class Labels(NamedTuple):
    """What is written at the two ends of an edge, and the numbers of its groups there."""

    near: str
    far: str
    near_group: int
    far_group: int


class Spot(NamedTuple):
    """Where the box of a word stands: its middle across, its top edge."""

    x: float
    y: float


def to_text(tree: Tree) -> str:
    """The tree with a node a line: `├─ P ─ L ─ word`. {n} marks the ends of edges in group n, | an alternative."""
    labels = _labels(tree)
    lines: list[str] = []
    margins: list[str] = []
    for at, place in enumerate(tree.places):
        corner, margin = ("└─ ", "   ") if _is_last(tree, place) else ("├─ ", "│  ")
        edge = labels.get(at)
        branch = f"{edge.near} ─ {edge.far} ─ " if edge else "| "
        before = margins[place.parent] if at else ""
        lines.append(f"{before}{corner}{branch}{_name(place.tree)}" if at else _name(place.tree))
        margins.append(before + margin if at else "")
    return "\n".join(lines)


def to_svg(tree: Tree) -> str:
    """The tree as an SVG that brings its own colours, to be read on light and on dark pages."""
    labels = _labels(tree)
    slots = _slots(tree, labels)
    spots = _spots(tree, slots)
    size = slots[0] + 2 * MARGIN, max(spot.y for spot in spots) + BOX + MARGIN
    lines = (_line(spots[place.parent], spots[at], place.edge) for at, place in enumerate(tree.places) if at)
    pills = (pill for at, edge in labels.items() for pill in _pills(spots[at], edge))
    boxes = (_box(place.tree, spot) for place, spot in zip(tree.places, spots, strict=True))
    return "\n".join([*_opening(str(tree), *size), *lines, *pills, *boxes, "</svg>\n"])


def _name(tree: Tree) -> str:
    return "|" if tree.alternatives else visible(tree.word)


def _is_last(tree: Tree, place: Place) -> bool:
    """No sibling follows; the alternatives of a union come before its children."""
    parent = tree.places[place.parent].tree
    if place.edge is None:
        return not parent.children and place.order == len(parent.alternatives) - 1
    return place.order == len(parent.children) - 1


def _labels(tree: Tree) -> dict[int, Labels]:
    """By the position of its child, what is written at an edge; groups are numbered through the whole tree."""
    edges = tree.edges()
    ends = [((parent, edge.group), (at, edge.own_group)) for parent, at, edge in edges]
    sizes = Counter(end for pair in ends for end in pair)
    numbers: dict[tuple[int, int], int] = {}
    labels = {}
    for (_, at, edge), pair in zip(edges, ends, strict=True):
        near, far = (numbers.setdefault(end, len(numbers) + 1) if end[1] and sizes[end] > 1 else 0 for end in pair)
        sign = "~" if edge.negated else ""
        labels[at] = Labels(sign + _marked(edge.parent_label, near), _marked(edge.label, far), near, far)
    return labels


def _marked(label: str, group: int) -> str:
    return visible(label) + (f"{{{group}}}" if group else "")


def _slots(tree: Tree, labels: dict[int, Labels]) -> list[float]:
    """The width that each subtree takes: slots lie side by side and inside their parent's, so nothing overlaps."""
    below = [-float(GAP)] * len(tree)
    slots = [0.0] * len(tree)
    for at in range(len(tree) - 1, -1, -1):
        place = tree.places[at]
        texts = (labels[at].near, labels[at].far) if at in labels else ()
        own = (_box_width(place.tree), *(_pill_width(text) for text in texts))
        slots[at] = max(below[at], *own)
        if at:
            below[place.parent] += slots[at] + GAP
    return slots


def _spots(tree: Tree, slots: list[float]) -> list[Spot]:
    """Every node in the middle of its slot, the slots of its children centred under it."""
    spots = [Spot(MARGIN + slots[0] / 2, MARGIN)]
    total = [-float(GAP)] * len(tree)
    for at, place in enumerate(tree.places[1:], 1):
        total[place.parent] += slots[at] + GAP
    reached = [0.0] * len(tree)  # how much of the children's width is taken
    for at, place in enumerate(tree.places[1:], 1):
        above = spots[place.parent]
        left = above.x - total[place.parent] / 2 + reached[place.parent]
        reached[place.parent] += slots[at] + GAP
        spots.append(Spot(left + slots[at] / 2, above.y + LEVEL))
    return spots


def _opening(name: str, width: float, height: float) -> Iterator[str]:
    title = escape(_short(name, 1000))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%" role="img" aria-label="{title}" '
        f'font-family="Helvetica, Arial, sans-serif" text-anchor="middle">'
    )
    yield f"<title>{title}</title>"


def _line(above: Spot, below: Spot, edge: Child | None) -> str:
    """Out of the parent in a curve, then straight down through both labels; dotted to an alternative."""
    start, bend = above.y + BOX, above.y + BOX + FAN
    curve = f"C {above.x:.1f} {bend:.1f} {below.x:.1f} {start:.1f} {below.x:.1f} {bend:.1f}"
    style = f'stroke="{NEGATED}" stroke-dasharray="6 4"' if edge and edge.negated else f'stroke="{LINE}"'
    dots = "" if edge else ' stroke-dasharray="1.5 4" stroke-linecap="round"'
    path = f"M {above.x:.1f} {start:.1f} {curve} V {below.y:.1f}"
    return f'<path d="{path}" fill="none" stroke-width="1.6" {style}{dots}/>'


def _pills(spot: Spot, edge: Labels) -> Iterator[str]:
    far = spot.y - STEM - PILL
    yield _pill(edge.near, Spot(spot.x, far - REACH - PILL), edge.near_group)
    yield _pill(edge.far, Spot(spot.x, far), edge.far_group)


def _pill(label: str, spot: Spot, group: int) -> str:
    fill = GROUP_FILLS[(group - 1) % len(GROUP_FILLS)] if group else LABEL_FILL
    shape = _rectangle(spot, _pill_width(label), PILL, f'rx="8" fill="{fill}" stroke="{LINE}" stroke-width="0.8"')
    return shape + _text(label, Spot(spot.x, spot.y + 12.5), LABEL_SIZE, FAINT)


def _box(tree: Tree, spot: Spot) -> str:
    """A word; a blank and a union look different."""
    name = _name(tree)
    fill = BLANK_FILL if tree.word == BLANK or tree.alternatives else WORD_FILL
    style = f'rx="{15 if tree.alternatives else 7}" fill="{fill}" stroke="{FAINT}" stroke-width="1.2"'
    dashes = ' stroke-dasharray="4 3"' if tree.word == BLANK else ""
    text = _text(name, Spot(spot.x, spot.y + 20), WORD_SIZE, INK)
    return f"<g><title>{escape(name)}</title>{_rectangle(spot, _box_width(tree), BOX, style + dashes)}{text}</g>"


def _rectangle(spot: Spot, width: float, height: float, style: str) -> str:
    return f'<rect x="{spot.x - width / 2:.1f}" y="{spot.y:.1f}" width="{width:.1f}" height="{height}" {style}/>'


def _text(content: str, spot: Spot, size: int, fill: str) -> str:
    return f'<text x="{spot.x:.1f}" y="{spot.y:.1f}" font-size="{size}" fill="{fill}">{escape(_short(content))}</text>'


def _box_width(tree: Tree) -> float:
    return max(2.0 * BOX - 16 if tree.word == BLANK else BOX, _extent(_name(tree), WORD_SIZE) + 20)


def _pill_width(label: str) -> float:
    return _extent(label, LABEL_SIZE) + 12


def _extent(text: str, size: int) -> float:
    """About the width of a text in a common font, rather too much than too little."""
    shown = _short(text)
    narrow = sum(char in "fijlrtI.,:;'|!()[]{}/-\"~ " for char in shown)
    broad = sum(char.isupper() or char in "mw@%&" for char in shown)
    return size * (0.6 * text_width(shown) - 0.22 * narrow + 0.18 * broad)


def _short(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
