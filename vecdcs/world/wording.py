"""Puts facts into words: noun phrases, clauses, and the modifiers that say more about a noun phrase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from vecdcs.world import grammar as g
from vecdcs.world.data import KINDS, TIMELESS
from vecdcs.world.facts import Entity, Fact, pick
from vecdcs.world.grammar import Phrase

Modifier = tuple[str, Phrase]  # the relation it hangs by, and the phrase


class Bundle(NamedTuple):
    """Facts of one word that differ in one field at most, told together: that field has several names."""

    word: str
    roles: dict[str, tuple[str, ...]]

    @staticmethod
    def of(fact: Fact) -> Bundle:
        """A single fact."""
        return Bundle(fact.word, {field: (name,) for field, name in fact.roles})

    @property
    def lemma(self) -> str:
        """The word without its part of speech."""
        return self.word[:-2]


@dataclass(frozen=True)
class Wording:
    """How the things of a sentence are called, and its tense; where English has a choice, the generator makes it."""

    entities: Mapping[str, Entity]
    rng: Random
    tense: str

    def names(self, names: Sequence[str]) -> Phrase:
        """A name as it stands in a sentence, or several."""
        return g.coordinate([self._name(self.entities[name]) for name in names])

    def _name(self, entity: Entity) -> Phrase:
        style = KINDS[entity.kind].style
        if style == "name":
            return g.name(entity.form)
        return g.noun(entity.form) if style == "mass" else g.definite(g.noun(entity.form))

    def nominal(self, bundle: Bundle, plural: bool = False) -> Phrase:
        """*a drug*, *the capital of Canada*, *John's pets*."""
        phrase = g.noun(bundle.lemma, plural)
        for field, names in bundle.roles.items():
            if field == "'s":
                return phrase.pre("nmod:poss", g.possessor(self.names(names)))
            if field != "ARG":
                phrase = phrase.post("nmod", g.with_case(field, self.names(names)))
        return g.definite(phrase) if bundle.word == "capital/N" else g.indefinite(phrase)

    def clause(self, bundle: Bundle, focus: str, subject: Phrase | None = None, last: Phrase | None = None) -> Phrase:
        """A statement about the filler of `focus`; `subject` and `last` stand in for the first and last noun phrase."""
        subject = subject or self.names(bundle.roles[focus])
        predicate = self.predicate(bundle, focus, subject.plural, last)
        return predicate.pre("nsubj:pass" if focus == "COMP" else "nsubj", subject)

    def predicate(self, bundle: Bundle, focus: str, plural: bool = False, last: Phrase | None = None) -> Phrase:
        """What is said about the filler of `focus`."""
        if bundle.word.endswith("/V"):
            return self._arguments(self._verb(bundle, plural, passive=focus == "COMP"), bundle, (focus,), last)
        noun = bundle.word.endswith("/N")
        return g.copular(self.nominal(bundle, plural) if noun else g.adjective(bundle.lemma), plural)

    def _verb(self, bundle: Bundle, plural: bool = False, passive: bool = False) -> Phrase:
        tense = "present" if bundle.lemma in TIMELESS else self.tense
        return g.verb(bundle.lemma, tense, plural, passive)

    def _arguments(self, verb: Phrase, bundle: Bundle, gaps: Sequence[str], last: Phrase | None = None) -> Phrase:
        """The verb with its object, agent and prepositional phrases, but for the fields of the gaps."""
        fields = [field for field in bundle.roles if field not in gaps]
        for field in fields:
            phrase = last if last and field == fields[-1] else self.names(bundle.roles[field])
            if field == "COMP":
                verb = verb.post("obj", phrase)
            elif field == "SUBJ":
                verb = verb.post("obl:agent", g.with_case("by", phrase))
            else:
                verb = verb.post("obl", g.with_case(field, phrase))
        return verb

    def modifiers(self, name: str, fact: Fact, aside: bool) -> list[Modifier]:
        """The ways to say the fact behind a noun phrase for the name, between commas (an aside) or restricting it."""
        field, bundle, person = fact.field_of(name), Bundle.of(fact), self.entities[name].kind == "person"
        if fact.word.endswith("/V"):
            return self._verbal(bundle, field, person, aside)
        if field == "'s":
            owned = g.noun(bundle.lemma).pre("nmod:poss", g.WHOSE)
            return [("acl:relcl", g.copular(self.names(bundle.roles["ARG"]), False).pre("nsubj", owned))]
        if field == "ARG":
            return [("appos", self.nominal(bundle))] if aside else []
        return [self._subject_gap(bundle, field, person, aside)] if field == "SUBJ" else []

    def _verbal(self, bundle: Bundle, field: str, person: bool, aside: bool) -> list[Modifier]:
        if field == "SUBJ":
            # Set off by commas, "selling Aspirin" would say something about the clause, not about the noun.
            participle = [] if aside else [self._participle(bundle, field)]
            return [self._subject_gap(bundle, field, person, aside), *participle]
        clause = self._arguments(self._verb(bundle), bundle, ("SUBJ", field))
        clause = clause.pre("nsubj", self.names(bundle.roles["SUBJ"]))
        pronoun = g.relative_pronoun("whom" if person else "which")
        if field != "COMP":
            return [("acl:relcl", clause.pre("obl", g.with_case(field, pronoun)))]
        passives = [self._subject_gap(bundle, field, person, aside), self._participle(bundle, field)]
        zero = [] if aside else [("acl:relcl", clause), ("acl:relcl", clause.pre("obj", g.relative_pronoun("that")))]
        return [*passives, *zero, ("acl:relcl", clause.pre("obj", pronoun))]

    def _subject_gap(self, bundle: Bundle, field: str, person: bool, aside: bool) -> Modifier:
        """*who teaches Mary*, *which is banned by Canada*, *that is illegal*."""
        form = "who" if person else "which" if aside else pick(self.rng, ("that", "which"))
        return "acl:relcl", self.clause(bundle, field, g.relative_pronoun(form))

    def _participle(self, bundle: Bundle, field: str) -> Modifier:
        """*banned by Canada*, *selling Aspirin*."""
        return "acl", self._arguments(g.participle(bundle.lemma, passive=field == "COMP"), bundle, (field,))
