"""Tells facts in English sentences of many shapes, and keeps count of which sentence states which facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from vecdcs.text.conllu import Sentence
from vecdcs.world import grammar as g
from vecdcs.world.data import KINDS, TENSES
from vecdcs.world.facts import CORE, Entity, Fact, pick, shuffled
from vecdcs.world.grammar import Phrase
from vecdcs.world.wording import Bundle, Wording


class Statement(NamedTuple):
    """A sentence and the facts it states."""

    sentence: Sentence
    facts: tuple[Fact, ...]


def tell(facts: Sequence[Fact], entities: Sequence[Entity], count: int, rng: Random) -> list[Statement]:
    """`count` sentences (more, if the facts need more) that state every fact, in random order.

    Each fact is stated directly at least once: its names themselves fill its fields. Other sentences go round by a
    class noun, such as *Canada is a country that bans Thalidomide*.
    """
    teller = _Teller(facts, entities, rng)
    told = []
    for fact in shuffled(rng, facts):
        if fact in teller.pool:
            told.append(teller.tell(fact, DIRECT))
            teller.pool.difference_update(teller.told)
    teller.pool = set(facts)
    relations = [fact for fact in facts if not fact.is_class]  # the classes come with them
    while len(told) < count:
        told.append(teller.tell(pick(rng, relations), INDIRECT))
    return [_statement(number, *each) for number, each in enumerate(shuffled(rng, told), 1)]


def _statement(number: int, phrase: Phrase, facts: tuple[Fact, ...]) -> Statement:
    comments = [f"# sent_id = world-{number:05}", *(f"# states = {fact}" for fact in facts)]
    return Statement(g.sentence(phrase, comments), facts)


class _Teller:
    """The facts that may still go into sentences (`pool`), and those of the sentence under way (`told`)."""

    def __init__(self, facts: Sequence[Fact], entities: Sequence[Entity], rng: Random) -> None:
        self.rng, self.pool = rng, set(facts)
        self.told: dict[Fact, None] = {}
        self.words = Wording({entity.name: entity for entity in entities}, rng, "present")
        self.about: dict[str, list[Fact]] = {entity.name: [] for entity in entities}
        self.of_word: dict[str, list[Fact]] = {fact.word: [] for fact in facts}
        for fact in facts:
            self.of_word[fact.word].append(fact)
            for _, name in fact.roles:
                self.about[name].append(fact)

    def tell(self, fact: Fact, shapes: Sequence[Shape]) -> tuple[Phrase, tuple[Fact, ...]]:
        """The fact in one of the shapes; plainly, where it does not fit the shape."""
        self.words = Wording(self.words.entities, self.rng, pick(self.rng, TENSES))
        self.told = {fact: None}
        phrase = pick(self.rng, shapes)(self, fact)
        if phrase is None:
            self.told = {fact: None}
            phrase = plain(self, fact)
        return phrase, tuple(self.told)

    def free(self, facts: Iterable[Fact]) -> list[Fact]:
        """Those of the facts that this sentence may state too."""
        return [fact for fact in facts if fact in self.pool and fact not in self.told]

    def kind(self, name: str) -> str:
        """The kind of what has the name."""
        return self.words.entities[name].kind

    def focus(self, fact: Fact) -> str:
        """The field whose filler becomes the subject: active or passive."""
        return pick(self.rng, [field for field, _ in fact.roles if field in CORE])

    def class_of(self, names: Iterable[str]) -> str | None:
        """A class that all the names are in; from now on told."""
        first, *rest = ({f.word: f for f in self.about[name] if f.is_class and f not in self.told} for name in names)
        words = [word for word in first if all(word in other for other in rest)]
        if not words:
            return None
        word = pick(self.rng, words)
        self.told.update({classes[word]: None for classes in (first, *rest)})
        return word[:-2]

    def with_aside(self, name: str, field: str) -> Phrase | None:
        """The name, which fills a field, with another fact about it between commas."""
        # A thing has one preposition at a time, so the name must not get a second one.
        facts = [f for f in self.free(self.about[name]) if field in CORE or f.field_of(name) in CORE]
        ways = [(fact, way) for fact in facts for way in self.words.modifiers(name, fact, aside=True)]
        if not ways:
            return None
        fact, (relation, modifier) = pick(self.rng, ways)
        self.told[fact] = None
        return self.words.names([name]).post(relation, g.between_commas(modifier))


Shape = Callable[[_Teller, Fact], Phrase | None]


def plain(teller: _Teller, fact: Fact) -> Phrase:
    """Canada bans Thalidomide. Thalidomide is a drug."""
    return teller.words.clause(Bundle.of(fact), teller.focus(fact))


def inverted(teller: _Teller, fact: Fact) -> Phrase | None:
    """The capital of Canada is Ottawa. John's pet is Rex."""
    if fact.word != "capital/N" and "'s" not in dict(fact.roles):
        return None
    name = g.copular(teller.words.names([fact.roles[0][1]]), plural=False)
    return name.pre("nsubj", teller.words.nominal(Bundle.of(fact)))


def several(teller: _Teller, fact: Fact) -> Phrase | None:
    """Canada bans Thalidomide, Morphine and Opium. Canada and Japan ban Thalidomide."""
    bundle = _widened(teller, fact)
    return bundle and teller.words.clause(bundle, teller.focus(fact))


def aside_on_subject(teller: _Teller, fact: Fact) -> Phrase | None:
    """Canada, which invaded Japan, bans Thalidomide."""
    focus = teller.focus(fact)
    subject = teller.with_aside(dict(fact.roles)[focus], focus)
    return subject and teller.words.clause(Bundle.of(fact), focus, subject)


def aside_on_last(teller: _Teller, fact: Fact) -> Phrase | None:
    """Canada bans Thalidomide, a cheap drug."""
    focus = teller.focus(fact)
    if not fact.word.endswith("/V"):
        return None
    field, name = [role for role in fact.roles if role[0] != focus][-1]
    last = teller.with_aside(name, field)
    return last and teller.words.clause(Bundle.of(fact), focus, last=last)


def two_predicates(teller: _Teller, fact: Fact) -> Phrase | None:
    """Thalidomide is sold by Zentrix and has been banned by Canada."""
    focus = teller.focus(fact)
    name = dict(fact.roles)[focus]
    verbs = [other for other in teller.free(teller.about[name]) if other.word.endswith("/V")]
    ways = [(other, field) for other in verbs for field, filler in other.roles if filler == name and field in CORE]
    if not ways:
        return None
    second, field = pick(teller.rng, ways)
    teller.told[second] = None
    first = teller.words.clause(Bundle.of(fact), focus)
    return first.post("conj", teller.words.predicate(Bundle.of(second), field).pre("cc", g.AND))


def characterised(teller: _Teller, fact: Fact) -> Phrase | None:
    """Canada is a country that bans Thalidomide. Thalidomide is a cheap drug."""
    name = pick(teller.rng, fact.roles)[1]
    ways = teller.words.modifiers(name, fact, aside=False)
    word = teller.class_of([name]) if ways else None
    if word is None:
        return None
    noun = g.noun(word)
    if fact.word.endswith("/J"):
        noun = noun.pre("amod", g.adjective(fact.word[:-2]))
    else:
        noun = noun.post(*pick(teller.rng, ways))
    return g.copular(g.indefinite(noun), plural=False).pre("nsubj", teller.words.names([name]))


def titled(teller: _Teller, fact: Fact) -> Phrase | None:
    """The illegal drug Thalidomide is sold by Zentrix."""
    focus = teller.focus(fact)
    name = dict(fact.roles)[focus]
    word = teller.class_of([name]) if KINDS[teller.kind(name)].style == "name" else None
    if word is None:
        return None
    noun = g.noun(word)
    adjectives = teller.free(other for other in teller.about[name] if other.word.endswith("/J"))
    if adjectives:
        teller.told[adjectives[0]] = None
        noun = noun.pre("amod", g.adjective(adjectives[0].word[:-2]))
    subject = g.definite(noun).post("appos", teller.words.names([name]))
    return teller.words.clause(Bundle.of(fact), focus, subject)


def such_as(teller: _Teller, fact: Fact) -> Phrase | None:
    """Canada bans drugs such as Thalidomide and Opium. Drugs such as Opium are banned by Canada."""
    bundle = _widened(teller, fact) or Bundle.of(fact)
    field = next((field for field, names in bundle.roles.items() if len(names) > 1), teller.focus(fact))
    names = bundle.roles[field]
    word = teller.class_of(names) if fact.word.endswith("/V") else None
    if word is None:
        return None
    group = g.noun(word, plural=True).post("nmod", teller.words.names(names).pre("case", g.SUCH_AS))
    if field == "SUBJ" or (field == "COMP" and pick(teller.rng, (True, False))):
        return teller.words.clause(bundle, field, group)
    return teller.words.clause(bundle, "SUBJ", last=group) if field == list(bundle.roles)[-1] else None


def _widened(teller: _Teller, fact: Fact) -> Bundle | None:
    """The fact with others that differ in who fills one field."""
    free = teller.free(teller.of_word[fact.word])
    options = {field: [f for f in free if _differs(teller, fact, f, field)] for field, _ in fact.roles if field != "'s"}
    fields = [field for field, others in options.items() if others]
    if not fields:
        return None
    field = pick(teller.rng, fields)
    together = [fact, *shuffled(teller.rng, options[field])[: pick(teller.rng, (1, 2))]]
    teller.told.update(dict.fromkeys(together))
    return Bundle(fact.word, {**Bundle.of(fact).roles, field: tuple(dict(f.roles)[field] for f in together)})


def _differs(teller: _Teller, fact: Fact, other: Fact, field: str) -> bool:
    """Do two facts of a word differ in the field alone, with fillers that go together?"""
    roles, others = dict(fact.roles), dict(other.roles)
    name, filler = roles.pop(field), others.pop(field, None)
    return filler is not None and roles == others and teller.kind(name) == teller.kind(filler)


DIRECT: tuple[Shape, ...] = (plain, plain, inverted, several, several, aside_on_subject, aside_on_last)
INDIRECT: tuple[Shape, ...] = (two_predicates, characterised, titled, such_as)
