"""What is written parses, what is parsed prints, and a bad string gets an error that points at the column."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import ANY_TEXT, logic_trees, trees

from vecdcs.dcs.notation import NotationError, format, parse, quote, text_width, visible
from vecdcs.dcs.tree import ARG, COMP, SUBJ, Child, Tree

DEEP = 5000


def leaf(word: str, parent_label: str = ARG, label: str = ARG, group: int = 0) -> Child:
    return Child(Tree(word), parent_label, label, group)


READ = {
    "drug/N & ban/V.COMP": Tree("drug/N", (leaf("ban/V", ARG, COMP),)),
    "sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)": Tree(
        "sell/V", (leaf("man/N", SUBJ), Child(Tree("drug/N", (leaf("ban/V", ARG, COMP),)), COMP))
    ),
    "play/V & grass/N.on": Tree("play/V", (leaf("grass/N", ARG, "on"),)),
    "_ & about:learn/V": Tree("_", (leaf("learn/V", "about"),)),
    '"burn down/V"': Tree("burn down/V"),
    'x/N & "because of":x/N': Tree("x/N", (leaf("x/N", "because of"),)),
    'dog/N & john/N."\'s"': Tree("dog/N", (leaf("john/N", ARG, "'s"),)),
    "sell/V & COMP:{drug/N, book/N}": Tree("sell/V", (leaf("drug/N", COMP, group=1), leaf("book/N", COMP, group=1))),
    "go/V & {rome/N.to, oslo/N.via}": Tree("go/V", (leaf("rome/N", ARG, "to", 1), leaf("oslo/N", ARG, "via", 1))),
    "a & {SUBJ:b, c.X}": Tree("a", (leaf("b", SUBJ, group=1), leaf("c", ARG, "X", 1))),
    "*UNKNOWN*/N & *NUMERAL*/N": Tree("*UNKNOWN*/N", (leaf("*NUMERAL*/N"),)),
    "self-expression/N & 19th-century/J & café/N": Tree("self-expression/N", (leaf("19th-century/J"), leaf("café/N"))),
    "o'clock/R & he_Pr/N": Tree("o'clock/R", (leaf("he_Pr/N"),)),
    '"u.s./N"': Tree("u.s./N"),
    '""': Tree(""),
    'a & "":b.""': Tree("a", (leaf("b", "", ""),)),
    r'"a\"\\\n\t\r\u{d800}"': Tree('a"\\\n\t\r\ud800'),
    "a | b & c": Tree("", (), (Tree("a"), Tree("b", (leaf("c"),)))),
    "(a | b) & c": Tree("", (leaf("c"),), (Tree("a"), Tree("b"))),
    "a | (b | c)": Tree("", (), (Tree("a"), Tree("", (), (Tree("b"), Tree("c"))))),
    "(a | b) & c | d": Tree("", (), (Tree("", (leaf("c"),), (Tree("a"), Tree("b"))), Tree("d"))),
    "a & P:(b | c).L": Tree("a", (Child(Tree("", (), (Tree("b"), Tree("c"))), "P", "L"),)),
    "a & ~COMP:b.X": Tree("a", (Child(Tree("b"), COMP, "X", negated=True),)),
    "_ & ~b": Tree("_", (Child(Tree("b"), negated=True),)),
    "a & (b & {^, c}).X": Tree("a", (Child(Tree("b", (leaf("c", group=1),)), ARG, "X", 0, 1),)),
    "a & {(b & COMP:{^, c, d}), e}": Tree(
        "a",
        (Child(Tree("b", (leaf("c", COMP, ARG, 1), leaf("d", COMP, ARG, 1))), ARG, ARG, 1, 1), leaf("e", group=1)),
    ),
}

ALSO_READ = {
    " drug/N&ban/V .\tCOMP\n": "drug/N & ban/V.COMP",
    '"drug/N"': "drug/N",
    "((a))": "a",
    "(a & b) & c": "a & b & c",
    "(a & {b, c}) & {d, e}": "a & {b, c} & {d, e}",
    "x & ((a & {^, b}) & {c, d})": "x & (a & {^, b} & {c, d})",
    "x & (a & {c, d} & {b, ^})": "x & (a & {c, d} & {^, b})",
    "x & (a & {^} & b)": "x & (a & b)",
    "~a": "_ & ~a",
    "~a & b": "_ & ~a & b",
    "a & (~b & c)": "a & (_ & ~b & c)",
    "a & ARG:b.ARG": "a & b",
    "a & {COMP:b, COMP:c}": "a & COMP:{b, c}",
    "a & {b}": "a & b",
    "a & john/N.'s": 'a & john/N."\'s"',
    r'"\u{63}af\u{E9}"': "café",
}

BAD = {
    "": (1, "a word, '_' or '('"),
    "  ": (3, "a word, '_' or '('"),
    "a &": (4, "a word, '_' or '('"),
    "a b": (3, "'&', '|' or the end"),
    "a & (b": (7, "'&', '|' or ')'"),
    "a & b)": (6, "'&', '|' or the end"),
    "(a | b": (7, "'&', '|' or ')'"),
    "a |": (4, "a word, '_' or '('"),
    "a.COMP": (2, "'&', '|' or the end; a label"),
    "a & (b.X)": (7, "'&', '|' or ')'; a label"),
    "COMP:a": (5, "'&', '|' or the end"),
    "a & COMP:": (10, "a word, '_' or '('"),
    "a & b.": (7, "a field after '.'"),
    "a & b.(c)": (7, "a field after '.'"),
    "a & ^": (5, "a word, '_' or '('"),
    "a & {b, ^}": (9, "no '^' at the root"),
    "a & (b & {^, c} | d)": (11, "no '^' at an alternative"),
    "a & (d | b & {^, c})": (15, "no '^' at an alternative"),
    "a & ~(b & {^, c})": (12, "no '^' under '~'"),
    "a & (b & {^, c} & {d, ^})": (23, "one '^' in a node"),
    "a & (b & {^, ^})": (14, "one '^' in a group"),
    "a & {}": (6, "a word, '_' or '('"),
    "a & {b c}": (8, "',' or '}'"),
    "a & {b, ~c}": (9, "a word, '_', '(' or '^'; a member of a group cannot be negated"),
    "a & ~{b, c}": (6, "one child after '~'"),
    "a & COMP:{SUBJ:b, c}": (11, "no field here, since 'COMP'"),
    '"abc': (5, "a closing quote for the one in column 1"),
    r'"a\x"': (3, "an escape"),
    r'"\u{110000}"': (2, "an escape"),
    '"a\\': (3, "an escape"),
    "a\\b": (2, "a word; a backslash stands only between double quotes"),
}


@pytest.mark.parametrize("text", READ)
def test_reads_and_prints(text: str) -> None:
    tree = parse(text)
    assert tree == READ[text]
    assert str(tree) == str(READ[text]) == text


@pytest.mark.parametrize("text", ALSO_READ)
def test_reads_more_than_it_prints(text: str) -> None:
    assert str(parse(text)) == ALSO_READ[text]


@pytest.mark.parametrize("text", BAD)
def test_errors_point_at_the_column(text: str) -> None:
    column, expected = BAD[text]
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert caught.value.column == column
    assert caught.value.expected.startswith(expected)
    headline, shown, caret = str(caught.value).split("\n")
    assert headline.startswith(f"column {column}: expected {expected}")
    assert shown == "  " + text
    assert caret == " " * (column + 1) + "^"


def test_errors_in_long_and_odd_text() -> None:
    with pytest.raises(NotationError) as caught:
        parse("日本\n & " + "x" * 100 + " y & " + "z" * 100)
    _, shown, caret = str(caught.value).split("\n")
    assert shown.startswith("  …xxx")
    assert shown.endswith("zzz…")
    assert shown[caret.index("^")] == "y"
    with pytest.raises(NotationError) as caught:
        parse("日本\n & &")
    assert str(caught.value).split("\n")[1:] == ["  日本· & &", " " * 10 + "^"]


def test_text_width_counts_columns() -> None:
    assert text_width("a日e\u0301") == 4


def test_quotes_only_where_needed() -> None:
    assert [quote(word) for word in ("a/N", "é", "o'k", "a-b", "$5", "#1", "_")] == [
        "a/N",
        "é",
        "o'k",
        "a-b",
        "$5",
        "#1",
        "_",
    ]
    for word in ("", " ", "'s", "a b", "a&b", "a.b", "a:b", "a,b", "{", "^", "~a", "a\u200bb", "\u00a0"):
        assert quote(word).startswith('"'), word


def test_visible_hides_nothing() -> None:
    assert visible("a b") == "a b"
    assert visible("") == '""'
    assert visible("a\n\x00") == r"a\n\u{0}"


def test_nesting_has_no_limit() -> None:
    text = "a" + " & COMP:(b" * DEEP + ")" * DEEP
    tree = parse(text)
    assert len(tree) == DEEP + 1
    assert parse(str(tree)) == tree
    assert parse("(" * DEEP + "a" + ")" * DEEP) == Tree("a")
    with pytest.raises(NotationError) as caught:
        parse("(" * DEEP)
    assert caught.value.column == DEEP + 1


@given(trees(words=ANY_TEXT, fields=ANY_TEXT) | logic_trees(words=ANY_TEXT, fields=ANY_TEXT))
def test_what_is_printed_parses_back(tree: Tree) -> None:
    assert parse(format(tree)) == tree
    assert format(tree).isprintable()


@given(logic_trees())
def test_printing_is_stable(tree: Tree) -> None:
    assert str(parse(str(tree))) == str(tree)


@given(
    st.text()
    | st.text('ab& |~(){},:."^_\\u1')
    | st.lists(st.sampled_from("a b & | ~ ( ) { } , : . ^ _".split())).map(" ".join)
)
@example("a & {^, {")
@example("\x00")
def test_any_text_is_a_tree_or_an_error(text: str) -> None:
    try:
        tree = parse(text)
    except NotationError as error:
        assert 1 <= error.column <= len(text) + 1
        assert str(error).count("\n") == 2
    else:
        assert parse(str(tree)) == tree
