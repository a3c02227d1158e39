"""Questions about the small world, with their exact answers as gold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

from vecdcs.dcs.denotation import Database, denotation, project
from vecdcs.dcs.notation import parse
from vecdcs.world.facts import CORE, Fact, child, pick, spelled
from vecdcs.world.world import World

FEWEST, MOST = 2, 40  # answers to a question worth asking
ATTEMPTS = 100  # draws for each question asked for

About = dict[str, list[Fact]]


class Query(NamedTuple):
    """A tree in notation with the names of what it denotes: by all facts, and by those that the sentences state."""

    kind: str
    tree: str
    answers: tuple[str, ...]
    stated: tuple[str, ...]


class Candidate(NamedTuple):
    """A question with weaker ones: where one of them has the same answers, the question is trivial."""

    tree: str
    weaker: tuple[str, ...] = ()


def make_queries(world: World, count: int = 100, seed: int = 0) -> list[Query]:
    """Up to `count` different questions of each kind, drawn from the facts."""
    rng = Random(seed)
    return [query for kind in KINDS for query in islice(_ask(world, kind, count * ATTEMPTS, rng), count)]


def names_denoted(tree: str, database: Database) -> tuple[str, ...]:
    """The names of what a tree in notation denotes, in order."""
    return tuple(sorted(project(denotation(parse(tree), database), "ARG")))


def _ask(world: World, kind: str, attempts: int, rng: Random) -> Iterator[Query]:
    """The questions that come out of so many draws."""
    about: About = {entity.name: [] for entity in world.entities}
    for fact in world.facts:
        for _, name in fact.roles:
            about[name].append(fact)
    seen: set[Candidate | None] = set()
    for _ in range(attempts):
        candidate = KINDS[kind](rng, pick(rng, world.facts), about)
        query = _query(world, kind, candidate) if candidate and candidate not in seen else None
        seen.add(candidate)
        if query:
            yield query


def _query(world: World, kind: str, candidate: Candidate) -> Query | None:
    """The question with its answers, unless there are too few or too many, or it is trivial."""
    answers = names_denoted(candidate.tree, world.database)
    if not FEWEST <= len(answers) <= MOST:
        return None
    if any(names_denoted(weaker, world.database) == answers for weaker in candidate.weaker):
        return None
    stated = names_denoted(candidate.tree, world.stated_database)
    return Query(kind, candidate.tree, answers, stated) if stated else None


def _gap(fact: Fact, field: str, *children: str) -> str:
    """What hangs on the blank that fills a field of the fact's word: `(ban/V & SUBJ:canada/N).COMP`, `in:live/V`."""
    word = f"({' & '.join([fact.word, *children])})" if children else fact.word
    if field not in CORE:
        return f"{spelled(field)}:{word}"
    return word if field == "ARG" else f"{word}.{field}"


def _others(fact: Fact, field: str) -> list[str]:
    return [child(other, f"{name}/N") for other, name in fact.roles if other != field]


def _gap_at(rng: Random, fact: Fact, field: str) -> str:
    """A gap with the other fields of the fact, or without."""
    return _gap(fact, field, *pick(rng, (_others(fact, field), [])))


def one_step(rng: Random, fact: Fact, about: About) -> Candidate | None:
    """Who bans things? Who bans Thalidomide? Where does John live?"""
    field, _ = pick(rng, fact.roles)
    if fact.is_class:
        return None
    weaker = f"_ & {_gap(fact, field)}"
    tree = f"_ & {_gap_at(rng, fact, field)}"
    return Candidate(tree, (weaker,) if tree != weaker else ())


def two_step(rng: Random, fact: Fact, about: About) -> Candidate | None:
    """Who sells drugs that Canada bans?"""
    field, _ = pick(rng, fact.roles)
    pivots = [role for role in fact.roles if role[0] != field]
    if not pivots:
        return None
    pivot, name = pick(rng, pivots)
    word, second = _class_and_relation(rng, fact, about[name])
    if word is None or second is None:
        return None
    restricted = f"({word} & {_gap_at(rng, second, second.field_of(name))})"
    weaker = (_gap(fact, field), _gap(fact, field, child(pivot, word)))
    return Candidate(f"_ & {_gap(fact, field, child(pivot, restricted))}", tuple(f"_ & {part}" for part in weaker))


def intersection(rng: Random, fact: Fact, about: About) -> Candidate | None:
    """Which drugs does Canada ban? What does Canada ban and Zentrix sell?"""
    if fact.is_class:
        return None
    field, name = pick(rng, fact.roles)
    word, second = _class_and_relation(rng, fact, about[name])
    first = _gap_at(rng, fact, field)
    others = [word, second and _gap_at(rng, second, second.field_of(name))]
    other = pick(rng, [each for each in others if each] or [""])
    return Candidate(f"_ & {other} & {first}", (f"_ & {other}", f"_ & {first}")) if other else None


def _class_and_relation(rng: Random, fact: Fact, facts: list[Fact]) -> tuple[str | None, Fact | None]:
    """A class from the facts, and another fact that is none."""
    classes = [each.word for each in facts if each.is_class]
    relations = [each for each in facts if not each.is_class and each != fact]
    return pick(rng, classes) if classes else None, pick(rng, relations) if relations else None


KINDS: dict[str, Callable[[Random, Fact, About], Candidate | None]] = {
    "1-step": one_step,
    "2-step": two_step,
    "intersection": intersection,
}
