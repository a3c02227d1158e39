"""The exact semantics: the paper's example to the letter, its laws on random databases, and databases from files."""

from __future__ import annotations

import gzip
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import ANY_TEXT, FIELDS, NAMES, databases, dense_databases, things, trees

from vecdcs.dcs.denotation import Database, Thing, UnsafeNegation, denotation, intersect, inverse_image, project
from vecdcs.dcs.tree import ARG, BLANK, COMP, SUBJ, Child, Tree
from vecdcs.errors import InputError, VecdcsError

PAPER = {
    "man/N": ["John", "Mike"],
    "drug/N": ["Aspirin", "Thalidomide", "Cannabis"],
    "ban/V": [
        {"SUBJ": "Canada", "COMP": "Thalidomide"},
        {"SUBJ": "Japan", "COMP": "Cannabis"},
        {"SUBJ": "China", "COMP": "Facebook"},
    ],
    "sell/V": [
        {"SUBJ": "John", "COMP": "Aspirin"},
        {"SUBJ": "Mike", "COMP": "Cannabis"},
        {"SUBJ": "Amazon", "COMP": "Thalidomide"},
    ],
}


@pytest.fixture(scope="module")
def paper() -> Database:
    return Database.of(PAPER)


def event(subject: str, complement: str) -> Thing:
    return Thing.of({SUBJ: subject, COMP: complement})


# The paper's example


def test_the_papers_example_step_by_step(paper: Database) -> None:
    assert project(paper["ban/V"], COMP) == {"Thalidomide", "Cannabis", "Facebook"}
    d1 = inverse_image(project(paper["man/N"], ARG), SUBJ, paper)
    assert intersect(paper["sell/V"], d1) == {event("John", "Aspirin"), event("Mike", "Cannabis")}
    d2 = intersect(paper["drug/N"], inverse_image(project(paper["ban/V"], COMP), ARG, paper))
    assert d2 == {Thing("Thalidomide"), Thing("Cannabis")}
    d3 = intersect(paper["sell/V"], d1, inverse_image(project(d2, ARG), COMP, paper))
    assert d3 == {event("Mike", "Cannabis")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("drug/N & ban/V.COMP", {Thing("Thalidomide"), Thing("Cannabis")}),
        ("sell/V & SUBJ:man/N", {event("John", "Aspirin"), event("Mike", "Cannabis")}),
        ("sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)", {event("Mike", "Cannabis")}),
    ],
)
def test_the_papers_example_as_trees(paper: Database, text: str, expected: set[Thing]) -> None:
    assert denotation(Tree.parse(text), paper) == expected


# Things


def test_equal_tuples_are_equal_things() -> None:
    one, two = Thing.of({COMP: "b", SUBJ: "a"}), Thing.of({SUBJ: "a", "on": "", COMP: "b", "at": None})
    assert one == two
    assert hash(one) == hash(two)
    assert one.name == str(one) == "(SUBJ=a, COMP=b)"
    assert Thing.of({ARG: "e", SUBJ: "a"}) != Thing.of({SUBJ: "a"})
    assert str(Thing.of({"on": "x", SUBJ: "a", ARG: "e"})) == "(ARG=e, SUBJ=a, on=x)"
    assert Thing.of("John") == Thing.of({ARG: "John"}) == Thing("John")
    assert Thing.of({SUBJ: 1, COMP: 2.5}) == Thing.of({SUBJ: "1", COMP: "2.5"})


def test_fields_of_a_thing() -> None:
    thing = Thing.of({SUBJ: "a", "because of": "b"})
    assert [thing.get(field) for field in (ARG, SUBJ, "because of", COMP)] == [thing.name, "a", "b", None]


def test_events_are_values() -> None:
    sale = event("John", "Aspirin")
    seen = Thing.of({SUBJ: "Ann", COMP: sale.name})
    assert str(seen) == "(SUBJ=Ann, COMP=(SUBJ=John, COMP=Aspirin))"
    assert project([seen], COMP) == {sale.name}


@pytest.mark.parametrize(
    "value", ["a, b", "a=b", "(", ")(", " a", 'a"b', "a\\b", "a\nb", "(a))", "\u200b", "\ud800"], ids=repr
)
def test_names_quote_what_could_be_misread(value: str) -> None:
    assert Thing.of({SUBJ: value}).name.startswith('(SUBJ="')


@pytest.mark.parametrize("fields", ["", {}, {SUBJ: ""}, {SUBJ: ["a"]}, {SUBJ: {}}, {SUBJ: b"a"}, {"": "a"}, {1: "a"}])
def test_things_are_checked(fields: object) -> None:
    with pytest.raises(InputError, match="expected"):
        Thing.of(fields)


FEW = st.text('a,=()" ', min_size=1, max_size=4)


@given(st.dictionaries(FEW, FEW, min_size=1), st.dictionaries(FEW, FEW, min_size=1))
def test_names_are_equal_for_equal_tuples_only(one: dict[str, str], two: dict[str, str]) -> None:
    assert (Thing.of(one).name == Thing.of(two).name) == (one == two)


@given(st.dictionaries(ANY_TEXT.filter(bool), ANY_TEXT.filter(bool), min_size=1))
def test_items_make_the_thing_again(fields: dict[str, str]) -> None:
    thing = Thing.of(fields)
    assert Thing.of(dict(thing.items())) == thing
    assert {field: thing.get(field) for field in fields} == fields


# Databases


def test_words_that_are_not_there_denote_nothing(paper: Database) -> None:
    assert paper["unicorn/N"] == frozenset()
    assert paper.unknown(Tree.parse("_ & (man/N | x/N) & y/V & x/N")) == ["x/N", "y/V"]
    assert Database.of({"a": []}) == Database.of({})


def test_things_are_what_is_listed_and_what_is_named(paper: Database) -> None:
    assert paper[BLANK] == paper.things
    assert Thing("Facebook") in paper.things
    assert (
        Thing(event("John", "Aspirin").name)
        not in Database.of(
            {"sell/V": [event("John", "Aspirin")], "see/V": [{COMP: event("John", "Aspirin").name}]}
        ).things
    )


@pytest.mark.parametrize("rows", ["John", {"SUBJ": "a"}, 5, None])
def test_tables_are_lists(rows: object) -> None:
    with pytest.raises(InputError, match="man/N: expected a list of things"):
        Database.of({"man/N": rows})


def test_deep_trees(paper: Database) -> None:
    deep = 5000
    tree = Tree.from_nodes((at + 1, "man/N", at - 1, ARG, ARG, 0) for at in range(deep))
    assert denotation(tree, paper) == paper["man/N"]


def test_the_error_of_an_unsafe_negation_explains_itself(paper: Database) -> None:
    with pytest.raises(UnsafeNegation, match=r"~ needs .* drug/N & ~ban/V.COMP: _ & ~man/N"):
        denotation(Tree.parse("~man/N"), paper)


# Laws


@settings(max_examples=300)
@given(trees(), dense_databases() | databases())
def test_theorem_1(tree: Tree, database: Database) -> None:
    """Where a tree denotes something, the end of every allowed path has an element that the path leads to."""
    assume(denotation(tree, database))
    words = [node.word for node in tree.nodes()]
    for start, end, labels in tree.paths():
        reached = database[words[start]]
        for near, far in zip(labels[::2], labels[1::2], strict=True):
            reached = inverse_image(project(reached, near), far, database)
        assert intersect(database[words[end]], reached)


@given(trees(), dense_databases() | databases(), st.data())
def test_rerooting_keeps_truth(tree: Tree, database: Database, data: st.DataObject) -> None:
    turned = tree.reroot(data.draw(st.integers(0, len(tree) - 1)))
    assert bool(denotation(turned, database)) == bool(denotation(tree, database))
    assert denotation(turned, database) <= database[turned.word]


@given(trees(groups=False), dense_databases() | databases(), st.data())
def test_rerooting_asks_for_the_same_things_elsewhere(tree: Tree, database: Database, data: st.DataObject) -> None:
    """What a re-rooted tree denotes is what keeps the tree true where it alone may stand at that node."""
    at = data.draw(st.integers(0, len(tree) - 1))
    alone = tree.replace(at, "alone")
    kept = {
        thing
        for thing in database[tree.subtree(at).word]
        if denotation(alone, Database({**database.words, "alone": frozenset([thing])}))
    }
    assert denotation(tree.reroot(at), database) == kept


@given(trees(), databases() | dense_databases(), st.randoms(use_true_random=False))
def test_the_order_of_children_changes_nothing(tree: Tree, database: Database, generator: random.Random) -> None:
    children = list(tree.children)
    generator.shuffle(children)
    assert denotation(Tree(tree.word, tuple(children)), database) == denotation(tree, database)


@given(trees(groups=False, max_nodes=4), trees(groups=False, max_nodes=3), databases() | dense_databases())
def test_children_intersect(tree: Tree, more: Tree, database: Database) -> None:
    child = Child(more, COMP, ARG)
    grown = Tree(tree.word, (*tree.children, child))
    assert denotation(grown, database) == denotation(tree, database) & denotation(Tree(BLANK, (child,)), database)


SETS = st.frozensets(things(), max_size=8)


@given(SETS, SETS, st.sampled_from(FIELDS))
def test_projection_of_an_intersection(one: frozenset[Thing], two: frozenset[Thing], field: str) -> None:
    """Equation (2)."""
    assert project(one & two, field) <= project(one, field) & project(two, field)


@given(SETS, SETS, st.sampled_from(FIELDS))
def test_projection_of_an_intersection_is_equal_where_one_to_one(
    one: frozenset[Thing], two: frozenset[Thing], field: str
) -> None:
    by_value = {thing.get(field): thing for thing in one | two if thing.get(field)}
    one, two = (frozenset(by_value[thing.get(field)] for thing in some if thing.get(field)) for some in (one, two))
    assert project(one & two, field) == project(one, field) & project(two, field)


@given(databases(), st.frozensets(st.sampled_from(NAMES)), st.data())
def test_projection_of_an_intersection_is_equal_for_inverse_images(
    database: Database, values: frozenset[str], data: st.DataObject
) -> None:
    field = data.draw(st.sampled_from(FIELDS))
    some = frozenset(data.draw(st.lists(st.sampled_from(sorted(database.things))))) if database.things else frozenset()
    image = inverse_image(values, field, database)
    assert project(image & some, field) == project(image, field) & project(some, field)


@given(databases(), st.sampled_from(FIELDS), st.data())
def test_projection_undoes_the_inverse_image(database: Database, field: str, data: st.DataObject) -> None:
    occurring = sorted(project(database.things, field))
    values = data.draw(st.frozensets(st.sampled_from(occurring))) if occurring else frozenset()
    assert project(inverse_image(values, field, database), field) == values
    assert project(inverse_image(values | {"nowhere"}, field, database), field) == values


@given(databases(), st.sampled_from(FIELDS), st.frozensets(st.sampled_from(NAMES)))
def test_inverse_images_are_what_they_are_defined_to_be(database: Database, field: str, values: frozenset[str]) -> None:
    expected = {thing for thing in database.things if thing.get(field) in values}
    assert inverse_image(values, field, database) == expected


# Files


def test_a_table_for_each_word(tmp_path: Path) -> None:
    (tmp_path / "man.N.tsv").write_text("ARG\nJohn\nMike\n", encoding="utf-8")
    (tmp_path / "burn down.V.csv").write_text('COMP,SUBJ\n"a, ""b""",\n\nc\n', encoding="utf-8-sig")
    (tmp_path / "README.md").write_text("not a table", encoding="utf-8")
    assert Database.read(tmp_path) == Database.of(
        {"man/N": ["John", "Mike"], "burn down/V": [{COMP: 'a, "b"'}, {COMP: "c"}]}
    )


def test_one_table_for_many_words(tmp_path: Path) -> None:
    file = tmp_path / "facts.tsv"
    file.write_text('word\tSUBJ\tARG\nman/N\t\t"John"\nban/V\tCanada\n', encoding="utf-8")
    assert Database.read(file) == Database.of({"man/N": ['"John"'], "ban/V": [{SUBJ: "Canada"}]})


def test_compressed_and_parquet_tables(tmp_path: Path) -> None:
    (tmp_path / "man.N.tsv.gz").write_bytes(gzip.compress(b"ARG\nJohn\n"))
    pq.write_table(pa.table({"SUBJ": ["Canada", None], "in": [1990, 1991]}), tmp_path / "ban.V.parquet")
    pq.write_table(pa.table({"word": ["drug/N"], "ARG": ["Aspirin"]}), tmp_path / "more.parquet")
    assert Database.read(tmp_path) == Database.of(
        {"man/N": ["John"], "ban/V": [{SUBJ: "Canada", "in": "1990"}, {"in": "1991"}], "drug/N": ["Aspirin"]}
    )


BAD_TABLES = {
    "a.N.csv": [
        (b"", 1, "expected the names of the columns"),
        (b"ARG,,SUBJ\n", 1, "expected the names of the columns"),
        (b"ARG,ARG\n", 1, "different names"),
        (b"ARG\nJohn,Mike\n", 2, "at most 1 cells, found 2"),
        (b"ARG,SUBJ\nJohn\n,\n", 3, "a name or at least one field"),
        (b'ARG\n"John\n', 2, "not a table"),
        (b"ARG\nJohn\n\xff\n", 3, "not UTF-8"),
        (b"word,ARG\n,John\n", 2, "expected a word in the column 'word', found ''"),
    ],
    "a.N.tsv": [(b"ARG\nJohn\tMike\n", 2, "at most 1 cells, found 2")],
    "facts.csv": [(b"ARG\nJohn\n", 1, "expected a column 'word', or a file name such as drug.N.tsv")],
    "a.N.parquet": [(b"PAR1", None, "not a Parquet table")],
    "a.txt": [(b"", None, r"expected a folder or a table \(.csv, .tsv, .parquet\)")],
    "a.N.csv.gz": [(b"ARG\nJohn\n", None, "not a valid gzip file")],
}


@pytest.mark.parametrize(
    ("name", "data", "line", "message"), [(name, *case) for name, some in BAD_TABLES.items() for case in some]
)
def test_errors_name_file_and_line(tmp_path: Path, name: str, data: bytes, line: int | None, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        Database.read(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)


def test_parquet_errors_name_the_row(tmp_path: Path) -> None:
    file = tmp_path / "a.N.parquet"
    pq.write_table(pa.table({"SUBJ": [["a"], None]}), file)
    with pytest.raises(InputError, match="SUBJ: expected one value") as caught:
        Database.read(file)
    assert caught.value.line == 1
    pq.write_table(pa.table({"word": pa.array([None], pa.string()), "SUBJ": ["a"]}), file)
    with pytest.raises(InputError, match="expected a word in the column 'word', found None"):
        Database.read(file)


def test_a_folder_needs_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        Database.read(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        Database.read(tmp_path / "nowhere.csv")


def test_writing_leaves_other_tables_alone(tmp_path: Path, paper: Database) -> None:
    folder = tmp_path / "some" / "folder"
    paper.to_folder(folder)
    paper.to_folder(folder)
    assert Database.read(folder) == paper
    assert [file.name for file in folder.iterdir()] == ["things.csv"]
    (folder / "more.N.tsv").write_text("ARG\nx\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a folder without other tables, found more\.N\.tsv"):
        paper.to_folder(folder)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a field called 'word'"):
        Database.of({"a": [{"word": "x"}]}).to_folder(tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        Database.of({"a": ["\ud800"]}).to_folder(tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be written"):
        Database.of({"a": ["x"]}).to_folder(tmp_path / "file")


WRITABLE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
WRITABLE_THING = st.dictionaries(WRITABLE.filter(lambda name: name != "word"), WRITABLE, min_size=1).map(Thing.of)


@given(st.dictionaries(WRITABLE, st.lists(WRITABLE_THING, max_size=4), max_size=4).map(Database.of))
def test_what_is_written_reads_back(database: Database) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database.to_folder(folder)
        assert Database.read(folder) == database


TABLE_TEXT = st.text('aword"\t,\n\r\0é', max_size=30).map(str.encode)


@pytest.mark.parametrize("name", ["a.N.csv", "a.N.tsv", "facts.csv", "facts.tsv", "a.N.csv.gz", "a.N.tsv.xz"])
@settings(max_examples=60)
@given(data=st.binary() | TABLE_TEXT)
def test_any_bytes_are_a_database_or_an_error(name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(data)
        read_or_error(folder)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.binary(min_size=1, max_size=4), st.booleans())
def test_any_damage_to_parquet_is_a_database_or_an_error(place: int, damage: bytes, cut: bool) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"word": ["a/N", "b/V"], "SUBJ": ["x", None], "when": [1, 2]}), sink)
    whole = sink.getvalue().to_pybytes()
    at = place % len(whole)
    data = whole[:at] if cut else whole[:at] + damage + whole[at + len(damage) :]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "facts.parquet").write_bytes(data)
        read_or_error(folder)


def read_or_error(folder: str) -> None:
    try:
        database = Database.read(folder)
    except VecdcsError as error:
        assert str(error).startswith(folder)
    else:
        assert all(database.words.values())


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "a.N.csv").write_text("ARG\n", encoding="utf-8")
    assert Database.read(tmp_path) == Database.of({})
