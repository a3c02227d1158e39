"""Searching a forest: SQL joins against brute force on random forests, and against the oracle on the small world."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest
from corpora import sentence, sentences
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import logic_trees, trees
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.across import explain_across, find_across
from vecdcs.corpus.build import build
from vecdcs.corpus.evidence import MOST_BRANCHES, MOST_NODES, Evidence, Found, QueryError, plain
from vecdcs.corpus.instances import (
    BARE,
    CHILD_IN_PARENT,
    PARENT_IF_NAME,
    PARENT_IN_CHILD,
    dressed_tokens,
    instances,
    resolved,
)
from vecdcs.corpus.shard import Options
from vecdcs.dcs.convert import Node, convert, convert_ud
from vecdcs.dcs.denotation import Database, denotation, project
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import ARG, BLANK, Tree
from vecdcs.errors import VecdcsError
from vecdcs.text.conllu import Sentence, format_sentence
from vecdcs.world import World, make_queries

WORDS = ("cat/N", "dog/N", "old/J", "see/V", "run/V")
FIELDS = (ARG, "SUBJ", "COMP", "such as")
COMMON = {"a", "and", "are", "as", "been", "by", "has", "is", "such", "the", "was", "were", "which", "that", "who"}
SENTENCES = 60

Nodes = list[Node]


def random_tree(rng: random.Random) -> Nodes:
    nodes = [Node(1, rng.choice(WORDS), -1, "", "", 0)]
    for at in range(1, rng.randrange(2, 7)):
        fields = rng.choice(FIELDS), rng.choice((ARG, *FIELDS))
        nodes.append(Node(at + 1, rng.choice(WORDS), rng.randrange(at), *fields, rng.choice((0, 0, 1))))
    return nodes


@pytest.fixture(scope="module", params=[0, 1, 2])
def wood(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Nodes], Evidence]:
    """A random forest, as lists and ready to be searched."""
    rng = random.Random(request.param)
    made = [random_tree(rng) for _ in range(SENTENCES)]
    folder = tmp_path_factory.mktemp("wood")
    rows = [("x", "x", "NOUN", "NN", at, "appos" if at else "root") for at in range(7)]
    (folder / "dummy.conllu").write_text("".join(format_sentence(sentence(rows)) for _ in made))
    waiting = iter(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vecdcs.corpus.shard.convert", lambda _: [next(waiting)])
        forest = build([folder / "dummy.conllu"], folder / "it's [a] forest*", Options(shard_bytes=500))
    assert len(forest.shards) > 1
    return made, Evidence(forest)


QUIET = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


# Many at once


@pytest.mark.parametrize("in_memory", [False, True])
def test_many_threads_find_what_one_does(world: tuple[World, Evidence], in_memory: bool) -> None:
    evidence = Evidence(world[1].forest, in_memory=in_memory)
    queries = [parse(query.tree) for query in make_queries(world[0], 2)]

    def ask(tree: Tree) -> tuple[Found, Found]:
        return evidence.find(tree), find_across(evidence, tree)

    expected = [(world[1].find(tree), find_across(world[1], tree)) for tree in queries]
    assert any(across.answers for _, across in expected)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, queries * 5)) == expected * 5


# Within sentences


def neighbours(nodes: Nodes, at: int) -> Iterator[tuple[int, str, str]]:
    """Every node next to one, with the labels of the near and the far end."""
    for other, node in enumerate(nodes):
        if node.parent == at:
            yield other, node.parent_label, node.label
    if nodes[at].parent >= 0:
        yield nodes[at].parent, nodes[at].label, nodes[at].parent_label


def fillings(tree: Tree, nodes: Nodes, at: int) -> set[tuple[int, ...]]:
    """All ways to fill the blanks of a tree whose root is at a node."""
    if tree.alternatives:
        own = set().union(*(fillings(part, nodes, at) for part in tree.alternatives))
    elif tree.word == BLANK:
        own = {(at,)}
    else:
        own = {()} if nodes[at].word == tree.word else set()
    for child in tree.children:
        ends = [other for other, near, far in neighbours(nodes, at) if (near, far) == (child.parent_label, child.label)]
        below = set().union(*(fillings(child.tree, nodes, other) for other in ends))
        if child.negated:
            own = set() if below else own
        else:
            own = {one + other for one, other in product(own, below)}
    return own


def brute_force(tree: Tree, forest: list[Nodes]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for nodes in forest:
        matches = {(at, way) for at in range(len(nodes)) for way in fillings(tree, nodes, at)}
        for asked in {way or (at,) for at, way in matches}:
            found[tuple(nodes[place].word for place in asked)] += 1
    return found


@QUIET
@given(tree=trees((*WORDS, BLANK), FIELDS, max_nodes=4), among=st.sets(st.sampled_from((*WORDS, "new/N")), min_size=1))
def test_answers_among_some_words(wood: tuple[list[Nodes], Evidence], tree: Tree, among: set[str]) -> None:
    if len(tree) == 1 and tree.word == BLANK:
        return
    found = wood[1].find(tree, k=10_000, among=among)
    every = wood[1].find(tree, k=10_000)
    assert found.answers == tuple(answer for answer in every.answers if answer.words[0] in among)


def counted(found: Found) -> Counter[tuple[str, ...]]:
    return Counter({answer.words: answer.count for answer in found.answers})


@QUIET
@given(tree=trees((*WORDS, BLANK), FIELDS, max_nodes=5))
def test_joins_equal_brute_force(wood: tuple[list[Nodes], Evidence], tree: Tree) -> None:
    forest, evidence = wood
    if len(tree) == 1 and tree.word == BLANK:
        return
    found = evidence.find(tree, k=10_000)
    assert counted(found) == brute_force(tree, forest)
    assert found.matches == sum(answer.count for answer in found.answers)
    assert found.different == len(found.answers)


@QUIET
@given(tree=logic_trees(WORDS, FIELDS))
def test_unions_and_negations_equal_brute_force(wood: tuple[list[Nodes], Evidence], tree: Tree) -> None:
    forest, evidence = wood
    try:
        found = evidence.find(tree, k=10_000)
    except QueryError as error:
        assert "at most" in str(error)
        return
    assert counted(found) == brute_force(tree, forest)


def test_sentences_are_those_of_the_matches(wood: tuple[list[Nodes], Evidence]) -> None:
    forest, evidence = wood
    tree = parse("see/V & SUBJ:_")
    for answer in evidence.find(tree, k=100, examples=1000).answers:
        expected = [number for number, nodes in enumerate(forest) if answer.words in brute_force(tree, [nodes])]
        assert list(answer.sentences) == expected
    assert all(len(answer.sentences) <= 1 for answer in evidence.find(tree, examples=1).answers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("_", "nothing to search for"),
        ("_ & ~see/V.SUBJ", "nothing to search for"),
        ("(cat/N & SUBJ:_) | dog/N & SUBJ:_ & COMP:_", "same number of blanks"),
        (" & ".join(["cat/N"] * (MOST_NODES + 1)), "at most"),
        (" & ".join(["cat/N", *["(cat/N | dog/N)"] * 8]), "unions multiply"),
    ],
)
def test_what_cannot_be_searched_for(wood: tuple[list[Nodes], Evidence], text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        wood[1].find(parse(text))


def test_unknown_words_and_fields_are_not_found(wood: tuple[list[Nodes], Evidence]) -> None:
    for text in ("unicorn/N", "cat/N & unicorn/N", "_ & see/V.beyond", '"x\'; DROP VIEW edges; --/N" & see/V.SUBJ'):
        assert wood[1].find(parse(text)) == Found((), 0, 0)
    assert wood[1].find(parse("see/V")).matches > 0


def test_the_sql_holds_no_text_of_the_user(wood: tuple[list[Nodes], Evidence]) -> None:
    tree = parse('_ & (see/V & "such as":cat/N).COMP')
    for query in (wood[1].explain(tree), explain_across(wood[1], tree)):
        assert not any(text in query.sql for text in ("see", "cat", "such", "COMP"))
        assert "see/V" in str(query) and "FROM edges" in str(query)


def test_plain_trees_stay_as_they_are() -> None:
    tree = parse("sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)")
    assert plain(tree) == [tree]
    assert plain(parse("(a/N | b/N) & ~(c/N | d/N)")) == [parse("a/N & ~c/N & ~d/N"), parse("b/N & ~c/N & ~d/N")]


# Across sentences


def values(nodes: Nodes, at: int, members: dict[int, list[int]], number: int) -> list[str]:
    if not nodes[at].word.endswith("/N"):
        return [f"{number}:{at}"]
    return [nodes[member].word for member in members.get(at, [at])]


def members_of(nodes: Nodes) -> dict[int, list[int]]:
    """The classes and members that a dummy sentence of common nouns gives: appositions, and `such as`."""
    pairs = []
    for at, node in enumerate(nodes):
        if node.parent < 0 or not (node.word.endswith("/N") and nodes[node.parent].word.endswith("/N")):
            continue
        if (node.label, node.parent_label) == (ARG, ARG):
            pairs.append((at, node.parent))
        elif (node.label, node.parent_label) == ("such as", ARG):
            pairs.append((node.parent, at))
    found: dict[int, list[int]] = defaultdict(list)

    def leaves(at: int) -> list[int]:
        below = [member for one, member in pairs if one == at]
        return [leaf for member in below for leaf in leaves(member)] or [at]

    for one, _ in pairs:
        found[one] = leaves(one)
    return found


def database_of(forest: list[Nodes]) -> Database:
    """The things that a forest speaks of, a tuple for every choice of the values of their fields."""
    events: dict[str, list[dict[str, str]]] = defaultdict(list)
    mentions: list[dict[str, str]] = []
    names: dict[str, set[str]] = defaultdict(set)
    for number, nodes in enumerate(forest):
        members = members_of(nodes)
        for at, node in enumerate(nodes):
            slots: dict[str, set[str]] = defaultdict(set)
            for other, near, far in neighbours(nodes, at):
                if near != ARG and far == ARG:
                    slots[near].update(values(nodes, other, members, number))
                elif near != ARG:
                    shared = [third for third, label, end in neighbours(nodes, other) if (label, end) == (far, ARG)]
                    slots[near].update(*(values(nodes, third, members, number) for third in shared))
            filled = {field: sorted(options) for field, options in slots.items() if options}
            for name, *choice in product(values(nodes, at, members, number), *filled.values()):
                thing = {ARG: name, **dict(zip(filled, choice, strict=True))}
                (mentions if node.word.endswith("/N") else events[node.word]).append(thing)
                if node.word.endswith("/N"):
                    names[node.word].add(name)
    nouns = {word: [thing for thing in mentions if thing[ARG] in names[word]] for word in names}
    return Database.of({**events, **nouns})


@pytest.fixture(scope="module")
def things(wood: tuple[list[Nodes], Evidence]) -> Database:
    return database_of(wood[0])


@QUIET
@given(
    tree=trees(WORDS, FIELDS, 4, groups=False) | trees(WORDS, FIELDS, 5) | logic_trees(WORDS, FIELDS),
    asked=st.booleans(),
)
@example(tree=parse("_ & (cat/N & {^, cat/N}) & ~cat/N"), asked=True)
def test_across_equals_the_oracle_on_random_forests(
    wood: tuple[list[Nodes], Evidence], things: Database, tree: Tree, asked: bool
) -> None:
    forest, evidence = wood
    if asked and not tree.alternatives and any(not child.negated for child in tree.children):
        tree = Tree(BLANK, tree.children)
    if len(tree) > MOST_NODES or len(plain(tree)) > MOST_BRANCHES:
        return
    expected = project(denotation(tree, things), ARG)
    try:
        found = find_across(evidence, tree, k=10_000)
    except QueryError as error:
        assert "coordination within | or ~" in str(error)
        return
    events = (map(int, name.split(":")) for name in expected if ":" in name)
    words = Counter(forest[number][at].word for number, at in events)
    words.update(name for name in expected if ":" not in name)
    assert Counter(answer.words[0] for answer in found.answers) == words


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Evidence]:
    world = World.make(seed=7)
    folder = tmp_path_factory.mktemp("world")
    (folder / "world.conllu").write_text("".join(format_sentence(told.sentence) for told in world.statements))
    return world, Evidence(build([folder / "world.conllu"], folder / "forest"))


def test_across_equals_the_oracle_on_the_small_world(world: tuple[World, Evidence]) -> None:
    queries = make_queries(world[0], 12)
    assert len(queries) >= 36
    for query in queries:
        found = find_across(world[1], parse(query.tree), k=1000)
        assert {answer.words[0].removesuffix("/N") for answer in found.answers} == set(query.stated), query.tree


def test_conjuncts_are_joined_across_one_by_one(world: tuple[World, Evidence]) -> None:
    """Each must be sold by somebody, not all by the same; where one is not, nothing is said."""

    def sellers(what: str) -> set[str]:
        found = find_across(world[1], parse(f"_ & (sell/V & COMP:{what}).SUBJ"), k=1000)
        return {answer.words[0] for answer in found.answers}

    drugs, books = sellers("drug/N"), sellers("book/N")
    assert drugs and books and drugs != books
    assert sellers("{drug/N, book/N}") == drugs | books
    assert sellers("{drug/N, nonsense/N}") == set()


def test_answers_carry_the_sentences_used(world: tuple[World, Evidence]) -> None:
    """Every sentence mentions the answer or states a fact about what is asked."""
    _, evidence = world
    found = find_across(evidence, parse("_ & drug/N & ban/V.COMP"), k=100)
    assert found.answers
    for answer in found.answers:
        texts = [evidence.forest.sentence(number).text.lower() for number in answer.sentences]
        name = answer.words[0].removesuffix("/N")
        assert all(name in text for text in texts)
        assert any("drug" in text for text in texts) and any(" ban" in text for text in texts)


def test_the_first_sentences_are_enough(world: tuple[World, Evidence]) -> None:
    """Of two steps: what is sold and banned, and who sells it, in three sentences at most."""
    _, evidence = world
    found = find_across(evidence, parse("_ & (sell/V & COMP:(drug/N & ban/V.COMP)).SUBJ"), k=100)
    assert found.answers
    for answer in found.answers:
        assert 1 <= answer.enough <= 3
        texts = [evidence.forest.sentence(number).text.lower() for number in answer.sentences[: answer.enough]]
        name = answer.words[0].removesuffix("/N")
        (sold, *_) = [text for text in texts if name in text and (" sell" in text or "sold" in text)]
        (banned, *_) = [text for text in texts if " ban" in text]
        assert any(word in banned for word in sold.strip(".").replace(",", "").split() if word not in COMMON)
        assert any("drug" in text for text in texts)


def test_events_are_answers_too(world: tuple[World, Evidence]) -> None:
    (country,) = find_across(world[1], parse("_ & ban/V.SUBJ"), k=1).answers
    found = find_across(world[1], parse(f"ban/V & SUBJ:{country.words[0]}"), k=1000)
    assert {answer.words for answer in found.answers} == {("ban/V",)}
    assert {number for answer in found.answers for number in answer.sentences} <= set(country.sentences)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sell/V & SUBJ:_ & COMP:_", "at most one blank"),
        ("sell/V | (sell/V & COMP:{drug/N, book/N})", "coordination within"),
        ("sell/V & ~COMP:(man/N & {old/J.SUBJ, sell/V.SUBJ})", "coordination within"),
        ("a/N & " + " & ".join("{b/N, c/N}" for _ in range(7)), "coordinations multiply"),
        ("_", "nothing to search for"),
        ("_ & ~drug/N", "needs a word or another child"),
        ("drug/N & ~_", "cannot be re-rooted"),
    ],
)
def test_what_cannot_be_joined_across(world: tuple[World, Evidence], text: str, message: str) -> None:
    with pytest.raises(VecdcsError, match=message):
        find_across(world[1], parse(text))


# Which nouns name members of which classes


def flags(rows: list[tuple[str, str, str, str, int, str]]) -> dict[str, int]:
    told = sentence(rows)
    (tree,) = convert(told)
    found = zip(tree, instances(tree, told.tokens, dressed_tokens(told.tokens)), strict=True)
    return {node.word: flag % BARE for node, flag in found if flag % BARE}


def test_a_copula_says_so() -> None:
    rows = [
        ("Thalidomide", "thalidomide", "NOUN", "NN", 4, "nsubj"),
        ("is", "be", "AUX", "VBZ", 4, "cop"),
        ("a", "a", "DET", "DT", 4, "det"),
        ("drug", "drug", "NOUN", "NN", 0, "root"),
        (".", ".", "PUNCT", ".", 4, "punct"),
    ]
    assert flags(rows) == {"thalidomide/N": CHILD_IN_PARENT}
    turned = [
        ("The", "the", "DET", "DT", 2, "det"),
        ("drug", "drug", "NOUN", "NN", 4, "nsubj"),
        ("is", "be", "AUX", "VBZ", 4, "cop"),
        ("thalidomide", "thalidomide", "NOUN", "NN", 0, "root"),
        (".", ".", "PUNCT", ".", 4, "punct"),
    ]
    assert flags(turned) == {"drug/N": PARENT_IN_CHILD}


@pytest.mark.parametrize(
    ("relation", "upos", "expected"),
    [
        ("appos", ("NOUN", "NOUN"), {"thalidomide/N": CHILD_IN_PARENT}),
        ("appos", ("NOUN", "PROPN"), {"thalidomide/N": CHILD_IN_PARENT}),
        ("appos", ("PROPN", "PROPN"), {}),
    ],
)
def test_an_apposition_says_so(relation: str, upos: tuple[str, str], expected: dict[str, int]) -> None:
    rows = [
        ("They", "they", "PRON", "PRP", 2, "nsubj"),
        ("ban", "ban", "VERB", "VBP", 0, "root"),
        ("the", "the", "DET", "DT", 4, "det"),
        ("drug", "drug", upos[0], "NN", 2, "obj"),
        ("thalidomide", "thalidomide", upos[1], "NN", 4, relation),
        (".", ".", "PUNCT", ".", 2, "punct"),
    ]
    assert flags(rows) == expected


@pytest.mark.parametrize(
    ("upos", "expected"), [("PROPN", {"drug/N": PARENT_IN_CHILD}), ("NOUN", {"drug/N": PARENT_IF_NAME})]
)
def test_a_compound_says_so_of_a_name(upos: str, expected: dict[str, int]) -> None:
    rows = [
        ("They", "they", "PRON", "PRP", 2, "nsubj"),
        ("ban", "ban", "VERB", "VBP", 0, "root"),
        ("the", "the", "DET", "DT", 5, "det"),
        ("drug", "drug", "NOUN", "NN", 5, "compound"),
        ("Thalidomide", "thalidomide", upos, "NN", 2, "obj"),
        (".", ".", "PUNCT", ".", 2, "punct"),
    ]
    assert flags(rows) == expected


def drug_compound(noun: str) -> Sentence:
    return sentence(
        [
            ("They", "they", "PRON", "PRP", 2, "nsubj"),
            ("know", "know", "VERB", "VBP", 0, "root"),
            ("the", "the", "DET", "DT", 5, "det"),
            ("drug", "drug", "NOUN", "NN", 5, "compound"),
            (noun, noun, "NOUN", "NN", 2, "obj"),
            (".", ".", "PUNCT", ".", 2, "punct"),
        ]
    )


def banned(noun: str, *determiner: str) -> Sentence:
    dets = [(word, word, "DET", "DT", 3 + len(determiner), "det") for word in determiner]
    return sentence(
        [
            ("They", "they", "PRON", "PRP", 2, "nsubj"),
            ("ban", "ban", "VERB", "VBP", 0, "root"),
            *dets,
            (noun, noun, "NOUN", "NN", 2, "obj"),
            (".", ".", "PUNCT", ".", 2, "punct"),
        ]
    )


def test_a_noun_that_is_used_like_a_name_is_one(tmp_path: Path) -> None:
    """The drug thalidomide is a drug, the drug company is none: one bans thalidomide, but a company."""
    told = [drug_compound("thalidomide"), banned("thalidomide"), drug_compound("company"), banned("company", "a")]
    (tmp_path / "corpus.conllu").write_text("".join(map(format_sentence, told)))
    evidence = Evidence(build([tmp_path / "corpus.conllu"], tmp_path / "forest"))
    found = find_across(evidence, parse("drug/N & ban/V.COMP"))
    assert [(answer.words, answer.sentences) for answer in found.answers] == [(("thalidomide/N",), (0, 1))]


def test_such_as_says_so_of_every_conjunct() -> None:
    rows = [
        ("They", "they", "PRON", "PRP", 2, "nsubj"),
        ("ban", "ban", "VERB", "VBP", 0, "root"),
        ("drugs", "drug", "NOUN", "NNS", 2, "obj"),
        ("such", "such", "ADJ", "JJ", 6, "case"),
        ("as", "as", "ADP", "IN", 4, "fixed"),
        ("thalidomide", "thalidomide", "NOUN", "NN", 3, "nmod"),
        ("and", "and", "CCONJ", "CC", 8, "cc"),
        ("opium", "opium", "NOUN", "NN", 6, "conj"),
        (".", ".", "PUNCT", ".", 2, "punct"),
    ]
    assert flags(rows) == {"thalidomide/N": CHILD_IN_PARENT, "opium/N": CHILD_IN_PARENT}


def test_chains_of_classes_end_in_names() -> None:
    assert sorted(resolved([(1, 2), (2, 3), (2, 4), (5, 6)])) == [(1, 3), (1, 4), (2, 3), (2, 4), (5, 6)]
    assert resolved([]) == []


# The command


def test_command(world: tuple[World, Evidence]) -> None:
    forest = str(world[1].forest.path)
    shown = CliRunner().invoke(app, ["find", forest, "_ & ban/V.COMP", "-k", "2", "--examples", "1"])
    assert shown.exit_code == 0, shown.output
    assert len(shown.stdout.splitlines()) == 4 and "world.conllu:" in shown.stdout
    found = json.loads(CliRunner().invoke(app, ["find", forest, "drug/N & ban/V.COMP", "--across", "--json"]).stdout)
    assert found["answers"] and all(answer["sentences"] for answer in found["answers"])
    assert found["answers"][0]["sentences"][0].keys() == {"id", "text", "source", "line"}
    sql = CliRunner().invoke(app, ["find", forest, "_ & ban/V.COMP", "--explain"]).stdout
    assert "= (ban/V)" not in sql and "(ban/V)" in sql and "FROM edges" in sql
    nothing = CliRunner().invoke(app, ["find", forest, "drug & ban/V.onto"])
    assert nothing.exit_code == 0 and nothing.stdout == ""
    assert nothing.stderr.splitlines() == [
        "no match",
        "drug is not in the forest; there is drug/N",
        "onto is not in the forest",
    ]


def test_without_a_blank_the_sentences_are_the_answer(world: tuple[World, Evidence]) -> None:
    shown = CliRunner().invoke(app, ["find", str(world[1].forest.path), "ban/V & SUBJ:country/N", "-k", "3"])
    assert len(shown.stdout.splitlines()) == 4


def test_ud_forests_are_searched_by_relation(tmp_path: Path) -> None:
    (tmp_path / "corpus.conllu").write_text("".join(map(format_sentence, sentences(50))))
    evidence = Evidence(build([tmp_path / "corpus.conllu"], tmp_path / "forest", Options(ud=True)))
    found = evidence.find(parse("see/V & _.obj"), k=100)
    expected = Counter(
        (node.word,)
        for told in sentences(50)
        for tree in convert_ud(told)
        for node in tree
        if node.label == "obj" and tree[node.parent].word == "see/V"
    )
    assert expected and counted(found) == expected
    with pytest.raises(QueryError, match="vecUD"):
        find_across(evidence, parse("see/V"))
