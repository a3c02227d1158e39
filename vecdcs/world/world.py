"""A small made-up world: facts, sentences that state most of them, and the database of what is true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

from vecdcs.dcs.denotation import Database
from vecdcs.errors import InputError
from vecdcs.world.facts import Entity, Fact, hide, make_entities, make_facts, tables
from vecdcs.world.telling import Statement, tell

SENTENCES = 3000
STATED, LEAST_STATED = 0.7, 0.2


@dataclass(frozen=True)
class World:
    """Its entities, its facts, those that no sentence states, and the statements: sentences with their facts."""

    seed: int
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    hidden: frozenset[Fact]
    statements: tuple[Statement, ...]

    @classmethod
    def make(cls, seed: int = 0, sentences: int = SENTENCES, stated: float = STATED) -> World:
        """The world of a seed, the same for ever to the byte, with a share of its facts stated."""
        if not LEAST_STATED <= stated <= 1:
            raise InputError(
                f"stated: expected a share from {LEAST_STATED} to 1, found {stated}: classes are always stated"
            )
        rng = Random(seed)
        entities = make_entities(rng)
        facts = make_facts(entities, rng)
        hidden = hide(facts, 1 - stated, rng)
        told = tell([fact for fact in facts if fact not in hidden], entities, sentences, rng)
        return cls(seed, tuple(entities), tuple(facts), frozenset(hidden), tuple(told))

    @cached_property
    def stated(self) -> tuple[Fact, ...]:
        """The facts that the sentences state."""
        return tuple(fact for fact in self.facts if fact not in self.hidden)

    @cached_property
    def database(self) -> Database:
        """What is true."""
        return Database.of(tables(self.facts, self.entities))

    @cached_property
    def stated_database(self) -> Database:
        """What the sentences say."""
        return Database.of(tables(self.stated, self.entities))
