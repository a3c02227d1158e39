"""The facts of the small world, drawn at random along its preferences, and their database of denotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from random import Random
from typing import NamedTuple, TypeVar

from vecdcs.world.data import FRAMES, GEOGRAPHY, KINDS, MEN, NOISE, PROPERTIES, WOMEN, Frame

T = TypeVar("T")
CORE = ("ARG", "SUBJ", "COMP")  # fields of the word itself; all others are fields of what fills them, as in DCS trees


class Fact(NamedTuple):
    """A word and who fills its fields: `ban/V` with SUBJ=canada and COMP=thalidomide."""

    word: str
    roles: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """The fact as a DCS tree in notation."""
        return " & ".join([self.word, *(child(field, f"{name}/N") for field, name in self.roles)])

    def field_of(self, name: str) -> str:
        """The field that the name fills."""
        return next(field for field, filler in self.roles if filler == name)

    def thing(self) -> dict[str, str]:
        """The thing that the fact is about; an event with prepositions has a name, by which they refer to it."""
        roles = dict(self.roles)
        if "ARG" not in roles and any(field not in CORE for field in roles):
            roles["ARG"] = ":".join([self.word[:-2], *roles.values()])
        return roles

    @property
    def is_class(self) -> bool:
        """Is it a class membership, such as thalidomide being a drug?"""
        return self.word.endswith("/N") and len(self.roles) == 1


class Entity(NamedTuple):
    """A thing with a name: how it is written, its kind, and its latent group."""

    form: str
    kind: str
    group: int

    @property
    def name(self) -> str:
        """Its name as the words of a forest spell it."""
        return self.form.lower()


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of the items."""
    return items[int(rng.random() * len(items))]


def shuffled(rng: Random, items: Iterable[T]) -> list[T]:
    """The items in random order. (Of a generator, only `random()` is promised to be the same in every Python.)"""
    return [item for _, item in sorted(((rng.random(), item) for item in items), key=lambda pair: pair[0])]


def child(field: str, filler: str) -> str:
    """A filler in notation, as it hangs on the word: SUBJ is a field of the word, `in` is one of the filler."""
    if field in CORE:
        return filler if field == "ARG" else f"{field}:{filler}"
    return f"{filler}.{spelled(field)}"


def spelled(field: str) -> str:
    """A field in notation."""
    return field if field.isalpha() else f'"{field}"'


def make_entities(rng: Random) -> list[Entity]:
    """Every name of every kind, dealt out to the three groups in equal parts."""
    return [
        Entity(form, kind, position % 3)
        for kind, (_, names) in KINDS.items()
        for position, form in enumerate(shuffled(rng, names))
    ]


def make_facts(entities: Sequence[Entity], rng: Random) -> list[Fact]:
    """All that is true in the world."""
    facts = [*_geography(), *_genders(), *_properties(entities, rng)]
    for frame in FRAMES:
        facts.extend(_frame_facts(frame, entities, rng))
    return list(dict.fromkeys(facts))


def hide(facts: Sequence[Fact], share: float, rng: Random) -> set[Fact]:
    """The facts that no sentence will state: a share of all, but never a class membership."""
    return set(shuffled(rng, (fact for fact in facts if not fact.is_class))[: round(share * len(facts))])


def tables(facts: Iterable[Fact], entities: Iterable[Entity]) -> dict[str, list[dict[str, str]]]:
    """The facts as denotations: every word with its things.

    Prepositions are fields of what they introduce, as in DCS trees: that John lives in Tokyo makes an event
    live:john:tokyo, and Tokyo a thing whose `in` is that event. So every word for Tokyo denotes Tokyo as such, and
    once more with each of its fields. "drugs such as Aspirin" is one of them: Aspirin itself is such a drug.
    """
    versions = {e.name: [{"ARG": e.name}, {"ARG": e.name, "such as": e.name}] for e in entities}
    members = [(f"{name}/N", name) for name in versions]
    words: dict[str, list[dict[str, str]]] = {}
    for fact in facts:
        thing = fact.thing()
        for field, name in fact.roles:
            if field == "ARG":
                members.append((fact.word, name))
            elif field not in CORE:
                versions[name].append({"ARG": name, field: thing["ARG"]})
        if not fact.word.endswith("/N"):
            words.setdefault(fact.word, []).append(thing)
    for word, name in members:
        words.setdefault(word, []).extend(versions[name])
    return words


def _geography() -> Iterable[Fact]:
    for country, capital, *others in (tuple(map(str.lower, row)) for row in GEOGRAPHY):
        yield Fact("capital/N", (("ARG", capital), ("of", country)))
        for city in (capital, *others):
            yield Fact("lie/V", (("SUBJ", city), ("in", country)))


def _genders() -> Iterable[Fact]:
    for word, names in (("man/N", MEN), ("woman/N", WOMEN)):
        for name in names:
            yield Fact(word, (("ARG", name.lower()),))


def _properties(entities: Sequence[Entity], rng: Random) -> Iterable[Fact]:
    for kind, word, chances in PROPERTIES:
        for entity in entities:
            if entity.kind == kind and rng.random() < chances[entity.group]:
                yield Fact(word, (("SUBJ" if word.endswith("/J") else "ARG", entity.name),))


def _frame_facts(frame: Frame, entities: Sequence[Entity], rng: Random) -> Iterable[Fact]:
    """A share of the likely pairs, a few of the unlikely; a third role, if any, is filled for each pair."""
    first, second, *third = ([e for e in entities if e.kind == kind] for _, kind in frame.roles)
    thirds = {likely[:2]: likely[2:] for likely in frame.likely}
    pairs = [(a, b, f"{a.group}{b.group}") for a, b in product(first, second) if a != b]
    likely = [pair for pair in pairs if pair[2] in thirds]
    unlikely = [pair for pair in pairs if pair[2] not in thirds]
    count = round(frame.density * len(likely))
    for a, b, groups in [*shuffled(rng, likely)[:count], *shuffled(rng, unlikely)[: round(NOISE * count)]]:
        fillers = [a, b, *(_third(extra, thirds.get(groups, ""), (a, b), rng) for extra in third)]
        yield Fact(frame.word, tuple((field, e.name) for (field, _), e in zip(frame.roles, fillers, strict=True)))


def _third(candidates: Sequence[Entity], group: str, others: tuple[Entity, Entity], rng: Random) -> Entity:
    return pick(rng, [e for e in candidates if e not in others and group in ("", str(e.group))])
