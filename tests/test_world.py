"""The small world: the same for a seed, as large as asked, true to its facts in database, sentences and trees."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import pytest
from rich.text import Text

from vecdcs.cli.demo import verdict
from vecdcs.dcs.convert import Node, convert, to_tree
from vecdcs.dcs.database import Thing
from vecdcs.dcs.denotation import Database, denotation
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError
from vecdcs.text.conllu import Sentence, format_sentence, parse_conllu, read_conllu
from vecdcs.world import Fact, Query, World, make_queries, write_world
from vecdcs.world.data import FRAMES, KINDS, PROPERTIES
from vecdcs.world.facts import CORE
from vecdcs.world.files import conllu_text
from vecdcs.world.queries import names_denoted

Sorted = tuple[str, frozenset[tuple[str, str]]]


@pytest.fixture(scope="module")
def world() -> World:
    return World.make()


@pytest.fixture(scope="module")
def queries(world: World) -> list[Query]:
    return make_queries(world, count=60)


def digest(world: World) -> str:
    return hashlib.sha256(conllu_text(world).encode()).hexdigest()


# The same seed, the same bytes


def test_a_seed_gives_the_same_bytes_under_any_hash_seed(world: World) -> None:
    code = (
        "import hashlib; from vecdcs.world import *; from vecdcs.world.files import *;"
        "w = World.make(); print(hashlib.sha256((conllu_text(w) + queries_text(w)).encode()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_another_seed_gives_another_world(world: World) -> None:
    assert World.make(1).facts != world.facts


def test_the_default_world_is_the_one_that_figures_were_measured_on(world: World) -> None:
    """On any machine and Python; a wanted change of the world changes this line, and every figure with it."""
    assert digest(world)[:16] == "e15ec73ad87fa2ab"


# Size and shares


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_world_is_as_large_as_asked(seed: int) -> None:
    world = World.make(seed)
    names = [entity.name for entity in world.entities]
    assert len(set(names)) == len(names) >= 200
    assert len({fact.word for fact in world.facts if fact.word.endswith("/V")}) >= 12
    assert len(world.statements) >= 2000
    assert abs(len(world.stated) / len(world.facts) - 0.7) <= 0.01
    assert not any(fact.is_class for fact in world.hidden)


def test_sentences_can_be_asked_for_by_number(world: World) -> None:
    assert len(World.make(sentences=3000).statements) == 3000
    few = World.make(sentences=0)
    assert {fact for statement in few.statements for fact in statement.facts} == set(few.stated)


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_the_share_of_stated_facts_can_be_chosen(share: float) -> None:
    world = World.make(sentences=0, stated=share)
    assert abs(len(world.stated) / len(world.facts) - share) <= 0.01


def test_classes_cannot_be_hidden() -> None:
    with pytest.raises(InputError, match=r"from 0\.2 to 1, found 0\.1"):
        World.make(stated=0.1)


def test_sentences_state_all_that_is_stated_and_nothing_hidden(world: World) -> None:
    told = {fact for statement in world.statements for fact in statement.facts}
    assert told == set(world.stated)
    assert not told & world.hidden
    assert set(world.stated) | world.hidden == set(world.facts)


def test_every_kind_of_word_is_there(world: World) -> None:
    words = {fact.word for fact in world.facts}
    fields = {field for fact in world.facts for field, _ in fact.roles}
    assert {"drug/N", "medicine/N", "man/N", "woman/N", "writer/N", "illegal/J", "ban/V", "teach/V"} <= words
    assert {"ARG", "SUBJ", "COMP", "in", "to", "from", "about", "for", "on", "of", "'s"} == fields


# Something to learn


def test_most_facts_follow_the_preferences_of_the_groups(world: World) -> None:
    groups = {entity.name: (entity.kind, str(entity.group)) for entity in world.entities}
    likely = {(frame.word, tuple(kind for _, kind in frame.roles)): frame.likely for frame in FRAMES}
    follows: Counter[bool] = Counter()
    for fact in world.hidden:
        kinds, digits = zip(*(groups[name] for _, name in fact.roles), strict=True)
        if (fact.word, kinds) in likely:
            follows["".join(digits)[:2] in {pair[:2] for pair in likely[fact.word, kinds]}] += 1
    assert follows[True] > 0.85 * follows.total() > 500


@pytest.mark.parametrize("verb", ["teach/V", "admire/V", "invade/V", "sue/V", "chase/V"])
def test_only_the_role_tells_who_is_who(world: World, verb: str) -> None:
    """Many are on both sides, but what one does to others is not what is done to it."""
    subjects = set(names_denoted(f"_ & {verb}.SUBJ", world.database))
    objects = set(names_denoted(f"_ & {verb}.COMP", world.database))
    both = subjects & objects
    assert both and subjects - objects and objects - subjects
    overlaps = []
    for name in both:
        done = set(names_denoted(f"_ & ({verb} & SUBJ:{name}/N).COMP", world.database))
        suffered = set(names_denoted(f"_ & ({verb} & COMP:{name}/N).SUBJ", world.database))
        overlaps.append(len(done & suffered) / len(done | suffered))
    assert sum(overlaps) / len(overlaps) < 0.2


# UD trees


def relations(sentence: Sentence) -> set[str]:
    return {token.deprel for token in sentence.tokens}


def dependents(sentence: Sentence, head: int) -> dict[str, str]:
    return {token.deprel: token.lemma for token in sentence.tokens if token.head == head}


def test_trees_are_valid_ud(world: World) -> None:
    for statement in world.statements:
        sentence = statement.sentence
        assert parse_conllu(format_sentence(sentence)) == [sentence]
        assert [token.deprel for token in sentence.tokens if token.head == 0] == ["root"]
        for token in sentence.tokens:
            below = dependents(sentence, token.id)
            assert not below or token.upos not in ("PUNCT", "DET", "CCONJ"), sentence.text
            assert ("nsubj:pass" in below) <= ("aux:pass" in below), sentence.text
            assert ("aux:pass" in below) <= ("Voice=Pass" in token.feats), sentence.text
            assert (token.deprel == "obl:agent") <= (below.get("case") == "by"), sentence.text
            assert (token.deprel in ("obl", "nmod", "nmod:poss")) <= ("case" in below or token.xpos == "WP$")
            assert (token.deprel in ("cc", "conj", "appos", "fixed")) <= (
                token.head != token.id + 1 or token.deprel == "cc"
            )


def test_words_have_the_forms_of_their_tags(world: World) -> None:
    for statement in world.statements:
        for token in statement.sentence.tokens:
            assert (token.xpos == "NNP") == (token.upos == "PROPN" and token.lemma == token.form)
            assert (token.xpos == "VBZ") == ("Number=Sing|Person=3|Tense=Pres" in token.feats)
            assert (token.xpos == "NNS") == (token.upos == "NOUN" and token.form.lower() != token.lemma)


def test_subjects_agree_with_their_verbs(world: World) -> None:
    for sentence in (statement.sentence for statement in world.statements):
        for subject in sentence.tokens:
            if subject.deprel.startswith("nsubj") and subject.xpos not in ("WP", "WDT"):
                plural = subject.xpos == "NNS" or "conj" in dependents(sentence, subject.id)
                verbs = [t for t in sentence.tokens if "VerbForm=Fin" in t.feats and subject.head in (t.id, t.head)]
                assert verbs and all(("Number=Plur" in verb.feats) == plural for verb in verbs), sentence.text


def test_texts_join_back_and_read_well(world: World) -> None:
    for sentence in (statement.sentence for statement in world.statements):
        assert Sentence(sentence.tokens, [], sentence.extras).text == sentence.text
        assert sentence.text[0].isupper() and sentence.text.endswith(".")
        assert not any(
            bad in sentence.text for bad in ("  ", " ,", " .", ",,", ",.", " a a", " a e", " a i", " a o", " an b")
        )


def test_constructions_have_a_fair_share(world: World) -> None:
    shares: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for statement in world.statements:
        shares.update(relations(statement.sentence))
        words.update({token.form.lower() for token in statement.sentence.tokens})
    least = {"nsubj:pass": 400, "obl:agent": 400, "acl:relcl": 250, "acl": 80, "conj": 400, "appos": 60, "obl": 250,
             "nmod:poss": 60, "amod": 60, "cop": 500, "aux": 200, "obj": 500, "fixed": 60}  # fmt: skip
    assert {name: shares[name] for name, count in least.items() if shares[name] < count} == {}
    common = ("who", "whom", "which", "that", "such", "in", "has", "were", "are", "women")
    assert [word for word in common if words[word] < 15] == []
    assert words["whose"] >= 5


# Sentences and facts


def sort_fact(fact: Fact) -> Sorted:
    return fact.word, frozenset(fact.roles)


class Slots:
    """The facts that a DCS tree states: an edge makes the slots at its ends one, and a name fills that of its ARG."""

    def __init__(self, nodes: list[Node], names: set[str]) -> None:
        self.nodes, self.names = nodes, names
        self.one: dict[tuple[int, str], tuple[int, str]] = {}
        self.beside: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for at, node in enumerate(nodes):
            if node.parent >= 0:
                label = "ARG" if node.label == "such as" else node.label
                self.join((at, label), (node.parent, node.parent_label))

    def join(self, first: tuple[int, str], second: tuple[int, str]) -> None:
        self.beside[second[0]].append(first)
        self.beside[first[0]].append(second)
        self.one[self.find(first)] = self.find(second)

    def find(self, slot: tuple[int, str]) -> tuple[int, str]:
        while slot in self.one:
            slot = self.one[slot]
        return slot

    def fillers(self, slot: tuple[int, str]) -> list[str]:
        words = [(at, node.word.removesuffix("/N")) for at, node in enumerate(self.nodes)]
        return [word for at, word in words if word in self.names and self.find((at, "ARG")) == self.find(slot)]

    def facts(self, relational: dict[str, str]) -> set[Sorted]:
        found = set()
        for at, node in enumerate(self.nodes):
            if node.word.removesuffix("/N") not in self.names:
                roles = {field: self.fillers((at, field)) for field in CORE[not node.word.endswith("/N") :]}
                roles |= self.prepositions(at, node.word, relational)
                filled = {field: names for field, names in roles.items() if names}
                found |= {(node.word, frozenset(zip(filled, each, strict=True))) for each in product(*filled.values())}
        return found

    def prepositions(self, at: int, word: str, relational: dict[str, str]) -> dict[str, list[str]]:
        """Prepositions that point at a node; at a noun only that of its own, which *whose* puts on its other name."""
        near = [slot for slot in self.beside[at] if slot[1] not in CORE]
        if word.endswith("/N"):
            own = relational.get(word, "")
            near = [slot for slot in near if slot[1] == own] or [
                (other, own)
                for other in range(len(self.nodes))
                if own and self.find((other, own)) == self.find((at, "ARG"))
            ]
        roles: dict[str, list[str]] = {}
        for other, field in near:
            roles.setdefault(field, []).extend(self.fillers((other, "ARG")))
        return roles


def test_trees_state_exactly_the_recorded_facts(world: World) -> None:
    names = {entity.name for entity in world.entities}
    relational = {frame.word: frame.roles[1][0] for frame in FRAMES if frame.word.endswith("/N")} | {"capital/N": "of"}
    for statement in world.statements:
        trees = convert(statement.sentence)
        assert len(trees) == 1, statement.sentence.text
        read = Slots(trees[0], names).facts(relational)
        assert read == {sort_fact(fact) for fact in statement.facts}, statement.sentence.text


def test_every_sentence_is_true(world: World) -> None:
    """The tree of a statement denotes something, by what the sentences say."""
    for statement in world.statements:
        for nodes in convert(statement.sentence):
            assert denotation(to_tree(nodes), world.stated_database), statement.sentence.text


def direct_edges(sentence: Sentence) -> set[tuple[str, str, str, str]]:
    edges = set()
    for nodes in convert(sentence):
        for node in nodes:
            if node.parent >= 0:
                parent = nodes[node.parent].word
                edges |= {
                    (node.word, node.label, parent, node.parent_label),
                    (parent, node.parent_label, node.word, node.label),
                }
    return edges


def test_every_stated_fact_is_stated_directly_somewhere(world: World) -> None:
    """Its names hang on its word themselves, not by way of a class noun; *whose* may stand between."""
    edges = set().union(*(direct_edges(statement.sentence) for statement in world.statements))
    for fact in world.stated:
        for field, name in fact.roles:
            ends = (field, "ARG") if field in CORE else ("ARG", field)
            direct = (fact.word, ends[0], f"{name}/N", ends[1]) in edges
            assert direct or (f"{dict(fact.roles).get('ARG')}/N", "ARG", f"{name}/N", "'s") in edges, fact


def test_facts_are_trees_in_notation(world: World) -> None:
    for fact in world.facts:
        assert denotation(parse(str(fact)), world.database), fact
    assert not any(denotation(parse(str(fact)), world.stated_database) for fact in world.hidden)


# Questions


def brute_force(tree: Tree, database: Database) -> list[Thing]:
    """Equation (1) as it stands."""
    things = list(database[tree.word])
    for child in tree.children:
        values = {thing.get(child.label) for thing in brute_force(child.tree, database)} - {None}
        things = [thing for thing in things if thing.get(child.parent_label) in values]
    return things


def test_gold_answers_are_those_of_brute_force(world: World, queries: list[Query]) -> None:
    for query in queries[::6]:
        tree = parse(query.tree)
        assert query.answers == tuple(sorted({thing.name for thing in brute_force(tree, world.database)}))
        assert query.stated == tuple(sorted({thing.name for thing in brute_force(tree, world.stated_database)}))


def test_answers_are_what_the_facts_say(world: World) -> None:
    def who(word: str, field: str, **known: str) -> tuple[str, ...]:
        found = (dict(fact.roles) for fact in world.facts if fact.word == word)
        return tuple(sorted({r[field] for r in found if field in r and known.items() <= r.items()}))

    for tree, expected in {
        "_ & ban/V.SUBJ": who("ban/V", "SUBJ"),
        "_ & (ban/V & SUBJ:canada/N).COMP": who("ban/V", "COMP", SUBJ="canada"),
        "_ & (live/V & tokyo/N.in).SUBJ": who("live/V", "SUBJ", **{"in": "tokyo"}),
        "_ & in:(live/V & SUBJ:john/N)": who("live/V", "in", SUBJ="john"),
        '_ & pet/N & john/N."\'s"': who("pet/N", "ARG", **{"'s": "john"}),
        "_ & drug/N & illegal/J.SUBJ": who("illegal/J", "SUBJ"),
    }.items():
        assert names_denoted(tree, world.database) == expected
    sold = set(who("sell/V", "COMP", SUBJ="zentrix")) & set(who("ban/V", "COMP"))
    assert set(names_denoted("_ & ban/V.COMP & (sell/V & SUBJ:zentrix/N).COMP", world.database)) == sold


def test_questions_of_every_kind_are_worth_asking(world: World, queries: list[Query]) -> None:
    names = {entity.name for entity in world.entities}
    assert Counter(query.kind for query in queries) == {"1-step": 60, "2-step": 60, "intersection": 60}
    assert len({query.tree for query in queries}) == len(queries)
    for query in queries:
        assert query.tree.startswith("_ & ") and str(parse(query.tree)) == query.tree
        assert 2 <= len(query.answers) <= 40 and set(query.answers) <= names
        assert query.stated and set(query.stated) <= set(query.answers)
    assert sum(len(query.stated) < len(query.answers) for query in queries) > len(queries) / 2


def test_questions_do_not_run_on_when_there_are_no_more(world: World) -> None:
    men = [fact for fact in world.facts if fact.word == "man/N"]
    facts = (*men, Fact("teach/V", (("SUBJ", "john"), ("COMP", "peter"))))
    tiny = World(0, world.entities, facts, frozenset(), ())
    assert make_queries(tiny, count=3) == []


# On disk


def test_a_world_is_written_whole(world: World, tmp_path: Path) -> None:
    write_world(world, tmp_path / "world")
    manifest = json.loads((tmp_path / "world/manifest.json").read_text())
    assert {name: manifest[name] for name in ("format", "seed", "facts")} == {
        "format": "vecdcs-world", "seed": 0, "facts": len(world.facts)
    }  # fmt: skip
    for name, expected in manifest["files"].items():
        data = (tmp_path / "world" / name).read_bytes()
        assert expected == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    files = {path.relative_to(tmp_path / "world").as_posix() for path in (tmp_path / "world").rglob("*.*")}
    assert files == {*manifest["files"], "manifest.json"}


def test_what_is_written_reads_back(world: World, tmp_path: Path) -> None:
    write_world(world, tmp_path)
    write_world(world, tmp_path)
    assert list(read_conllu(tmp_path / "sentences.conllu")) == [statement.sentence for statement in world.statements]
    assert Database.read(tmp_path / "database") == world.database
    assert Database.read(tmp_path / "stated") == world.stated_database
    lines = (tmp_path / "text.txt").read_text().splitlines()
    assert " ".join(lines) == " ".join(statement.sentence.text for statement in world.statements)
    asked = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert [query["tree"] for query in asked] == [query.tree for query in make_queries(world)]


def test_a_folder_that_cannot_be_written_is_named(world: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        write_world(world, tmp_path / "file")


# Tables


def test_tables_hold_together() -> None:
    kinds = {kind for frame in FRAMES for _, kind in frame.roles} | {kind for kind, _, _ in PROPERTIES}
    assert kinds == set(KINDS)
    names = [name for kind in KINDS.values() for name in kind.names]
    assert len({name.lower() for name in names}) == len(names)
    assert not any(name.endswith("s") for name in names)
    assert all(len(likely) == len(frame.roles) for frame in FRAMES for likely in frame.likely)


def test_the_demo_tells_names_from_other_words() -> None:
    names, stated, true = (
        frozenset({"norvane", "drexon", "solvane"}),
        frozenset({"norvane"}),
        frozenset({"norvane", "drexon"}),
    )
    verdicts = [verdict(name, names, stated, true) for name in ("norvane", "drexon", "solvane", "company")]
    assert [Text.from_markup(told).plain for told in verdicts] == ["stated", "true, unsaid", "not true", "not a name"]
