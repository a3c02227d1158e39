"""A small made-up world, to score exact and learned answers on: facts, sentences with UD trees, gold denotations."""

from vecdcs.world.facts import Entity, Fact
from vecdcs.world.files import write_world
from vecdcs.world.queries import Query, make_queries
from vecdcs.world.telling import Statement
from vecdcs.world.world import World

__all__ = ["Entity", "Fact", "Query", "Statement", "World", "make_queries", "write_world"]
