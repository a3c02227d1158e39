"""The rule table as a page to read."""

from __future__ import annotations

from typing import NamedTuple

from vecdcs.dcs.conditions import CONDITIONS, LABELS
from vecdcs.dcs.relations import ALIASES
from vecdcs.dcs.rules import RULES, Rule, example_sentence


class Difference(NamedTuple):
    """A class of edges that we draw otherwise than the paper's authors did."""

    name: str
    example: str
    theirs: str
    ours: str
    why: str


DIFFERENCES = (
    Difference(
        "A passive that goes on", "He was caught and jailed.", "jail SUBJ – COMP catch", "jail COMP – COMP catch",
        "The auxiliary is said once for both participles. Their rule reads the second as active, which makes the man"
        " the one who jails. Eight edges of the conformance file; ours is right.",
    ),
    Difference(
        "A relative *that* tagged as a conjunction", "plates that drift", "drift COMP – ARG plate, or no edge",
        "drift SUBJ – ARG plate",
        "Where *that* is subject or object of a relative clause it is no conjunction, whatever its tag. Four edges of"
        " the conformance file; ours is right.",
    ),
    Difference(
        "Bare relative clauses", "the man I saw by the river", "river ARG – SUBJ see", "river by – ARG see",
        "Their rule marks the verb of every bare relative clause as passive, so that a by-phrase becomes its subject;"
        " only a participle without a subject is passive.",
    ),
    Difference(
        "Stranded prepositions", "the man I talked to", "talk COMP – ARG man", "talk ARG – to man",
        "The preposition stays in the tree and says how the noun takes part; theirs uses it only in clauses with *to*.",
    ),
    Difference(
        "Free relatives", "He sells what he makes.", "make COMP – COMP sell", "make COMP – COMP sell",
        "The same edge from another tree: UD v2 makes *what* the head of the clause, v1 did not.",
    ),
    Difference(
        "Time words", "He came Monday.", "monday ARG – ARG come", "monday when – ARG come",
        "UD 2.16 has obl:unmarked for what was obl:tmod and obl:npmod; the word decides, unless it measures an adverb"
        " or adjective (three days later, two years old).",
    ),
    Difference(
        "Control by an iobj", "She asked John to leave.", "john ARG – COMP ask (from dobj)", "john ARG – COMP ask",
        "The same edges from another tree: UD 2.16 calls the one who is asked, told or allowed to do something iobj.",
    ),
    Difference(
        "Outer subjects", "The problem is that we lost.", "problem ARG – SUBJ lose", "problem ARG – ARG lose",
        "nsubj:outer is new in v2: the problem *is* the losing, it does not lose.",
    ),
    Difference(
        "Names", "John Smith", "no edge (the relation is not in their list)", "smith ARG – ARG john",
        "flat took the place of name and of most compounds in names.",
    ),
    Difference(
        "Pronouns", "his book", "he_Pr/NOUN", "he/P",
        "Pronouns are a part of speech of their own, as in the paper's tables; possessive and object forms are the same"
        " word as the subject form.",
    ),
)  # fmt: skip

HEAD = """\
# UD → DCS: the rules

This page is made from the table in `vecdcs/dcs/rules.py` by `vecdcs rules --format markdown`; do not edit it.

A UD tree becomes a DCS tree edge by edge: for a word x and its head p that both have a node, the first row of x's
relation whose condition holds gives the two labels. Content words have nodes: nouns, names and numbers (N), personal
pronouns (P), verbs (V), adjectives (J) and adverbs (R). Articles, auxiliaries, copulas, prepositions, particles and
negations have none; prepositions and subordinating words become fields, particles join their verb (*burn down*).
A label in ⟨…⟩ is read off the words, as the second table says. ⟨slot⟩ hangs x beside p, into p's own slot and
coordination group, or below p with ARG at p's end where p is the root. Where a row gives no label there is no edge,
and the sentence may fall into several trees.

In questions, the wh-word of the main clause is the blank `_`, and the tree is hung up at it; in raw text `_` itself
is a blank.

## Rules

| relation | condition | at the child | at the parent | example | why |
|---|---|---|---|---|---|
"""

LABELS_HEAD = """
## Labels read off the words

| label | meaning |
|---|---|
"""

ALIASES_HEAD = """
## Other names for relations

Other subtypes are cut off at the colon.

| name | read as |
|---|---|
"""

DIFFERENCES_HEAD = """
## Where we differ from the paper's authors

On the conformance file (1,379 sentences with the authors' own edges) the labelled F1 is 0.9991. What differs, there
or on constructions that file does not have:

| what | example | theirs | ours | why |
|---|---|---|---|---|
"""


def rules_page() -> str:
    """The whole page, in Markdown."""
    parts = [HEAD, *(_row(rule) for rule in RULES)]
    parts += [LABELS_HEAD, *(f"| {name} | {meaning} |\n" for name, (meaning, _) in LABELS.items())]
    parts += [ALIASES_HEAD, *(f"| {name} | {alias} |\n" for name, alias in ALIASES.items())]
    parts += [DIFFERENCES_HEAD, *(f"| {' | '.join(difference)} |\n" for difference in DIFFERENCES)]
    return "".join(parts)


def _row(rule: Rule) -> str:
    condition = CONDITIONS[rule.condition][0]
    label, parent_label = rule.label or "–", rule.parent_label or "–"
    return f"| {rule.relation} | {condition} | {label} | {parent_label} | {example_text(rule)} | {rule.why} |\n"


def example_text(rule: Rule) -> str:
    """The example as a sentence, with the child and the parent of the edge in bold."""
    child, _, rest = rule.edge.partition(">")
    ends = {int(child), int(rest.partition(":")[0])}
    tokens = example_sentence(rule.example).tokens
    return " ".join(f"**{token.form}**" if token.id in ends else token.form for token in tokens)
