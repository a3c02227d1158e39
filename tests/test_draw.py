"""Drawings show every word, both labels of every edge and every group, and nothing overlaps."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given
from strategies import ANY_TEXT, logic_trees, trees

from vecdcs.dcs.draw import to_svg, to_text
from vecdcs.dcs.notation import visible
from vecdcs.dcs.tree import ARG, COMP, Tree

SVG = "{http://www.w3.org/2000/svg}"
DEEP = 2000


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of every box and label."""
    found = []
    for element in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        x, y, width, height = (float(element.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


def test_text() -> None:
    tree = Tree.parse("sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP) & (shop/N & old/J.SUBJ).at")
    assert tree.to_text() == (
        "sell/V\n"
        "├─ SUBJ ─ ARG ─ man/N\n"
        "├─ COMP ─ ARG ─ drug/N\n"
        "│  └─ ARG ─ COMP ─ ban/V\n"
        "└─ ARG ─ at ─ shop/N\n"
        "   └─ ARG ─ SUBJ ─ old/J"
    )


def test_text_of_one_node() -> None:
    assert to_text(Tree("drug/N")) == "drug/N"


def test_text_shows_groups_at_the_ends_they_are_at() -> None:
    tree = Tree.parse("sell/V & SUBJ:{man/N, woman/N} & COMP:{drug/N, book/N} & {old/J}")
    assert tree.to_text() == (
        "sell/V\n"
        "├─ SUBJ{1} ─ ARG ─ man/N\n"
        "├─ SUBJ{1} ─ ARG ─ woman/N\n"
        "├─ COMP{2} ─ ARG ─ drug/N\n"
        "├─ COMP{2} ─ ARG ─ book/N\n"
        "└─ ARG ─ ARG ─ old/J"
    )
    assert tree.reroot(3).to_text() == (
        "drug/N\n"
        "└─ ARG ─ COMP{1} ─ sell/V\n"
        "   ├─ SUBJ{2} ─ ARG ─ man/N\n"
        "   ├─ SUBJ{2} ─ ARG ─ woman/N\n"
        "   ├─ COMP{1} ─ ARG ─ book/N\n"
        "   └─ ARG ─ ARG ─ old/J"
    )


def test_text_shows_unions_and_negations() -> None:
    assert to_text(Tree.parse("(a | b & c) & ~P:d.L")) == "|\n├─ | a\n├─ | b\n│  └─ ARG ─ ARG ─ c\n└─ ~P ─ L ─ d"
    assert to_text(Tree.parse("a | b")) == "|\n├─ | a\n└─ | b"


def test_text_escapes_what_cannot_be_seen() -> None:
    assert to_text(Tree.parse(r'"a\nb" & "":"c d"')) == 'a\\nb\n└─ "" ─ ARG ─ c d'


def test_svg_shows_words_and_labels() -> None:
    tree = Tree.parse("drug/N & ban/V.COMP")
    svg = tree.to_svg()
    assert sorted(texts(svg)) == ["ARG", "COMP", "ban/V", "drug/N"]
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"] == root.findtext(f"{SVG}title") == "drug/N & ban/V.COMP"
    assert root.attrib["role"] == "img"
    assert tree._repr_svg_() == svg


def test_svg_places_p_near_the_parent_and_l_near_the_child() -> None:
    root = ElementTree.fromstring(to_svg(Tree.parse("x & P:y.L")))
    height = {element.text: float(element.attrib["y"]) for element in root.iter(f"{SVG}text")}
    assert height["x"] < height["P"] < height["L"] < height["y"]


def test_svg_tells_apart_blanks_groups_unions_and_negations() -> None:
    svg = to_svg(Tree.parse("a & COMP:{b, _} & ~(c | d)"))
    root = ElementTree.fromstring(svg)
    dashed = [element for element in root.iter() if "stroke-dasharray" in element.attrib]
    assert [element.tag for element in dashed] == [f"{SVG}path"] * 3 + [f"{SVG}rect"]
    assert {"COMP{1}", "~ARG", "|"} <= set(texts(svg))
    fills = [element.attrib["fill"] for element in root.iter(f"{SVG}rect")]
    assert len(set(fills)) == 4


def test_svg_shortens_long_words_but_keeps_them_in_the_title() -> None:
    svg = to_svg(Tree("x" * 2000))
    root = ElementTree.fromstring(svg)
    assert texts(svg) == ["x" * 47 + "…"]
    assert root.findtext(f"{SVG}g/{SVG}title") == "x" * 2000
    assert float(root.attrib["width"]) < 1000


def test_deep_and_wide_trees() -> None:
    deep = Tree.from_nodes((at + 1, f"w{at}", at - 1, ARG, COMP, 0) for at in range(DEEP))
    wide = Tree.from_nodes((at + 1, f"w{at}", -1 if at == 0 else 0, ARG, COMP, 0) for at in range(DEEP))
    for tree in (deep, wide):
        assert len(tree.to_text().split("\n")) == DEEP
        assert len(texts(tree.to_svg())) == DEEP + 2 * (DEEP - 1)


@given(trees(words=ANY_TEXT, fields=ANY_TEXT) | logic_trees(words=ANY_TEXT, fields=ANY_TEXT))
def test_svg_is_valid_and_nothing_overlaps(tree: Tree) -> None:
    svg = to_svg(tree)
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    drawn = boxes(svg)
    assert len(drawn) == len(tree) + 2 * len(tree.edges())
    for left, top, right, bottom in drawn:
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    for one, two in combinations(drawn, 2):
        assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]


@given(trees(words=ANY_TEXT, fields=ANY_TEXT))
def test_text_has_a_line_for_every_node(tree: Tree) -> None:
    lines = tree.to_text().split("\n")
    assert len(lines) == len(tree)
    assert all(line.endswith(visible(node.word)) for line, node in zip(lines, tree.nodes(), strict=True))
    for _, at, edge in tree.edges():
        assert visible(edge.parent_label) in lines[at]
        assert visible(edge.label) in lines[at]
