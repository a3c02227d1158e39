"""Every row of the rule table does what its example says, and the page made from the table is up to date."""

from __future__ import annotations

import os

import pytest
from conftest import ROOT

from vecdcs.dcs.conditions import CONDITIONS, LABELS
from vecdcs.dcs.convert import applied_rules, convert, sentence_trees
from vecdcs.dcs.rulebook import DIFFERENCES, rules_page
from vecdcs.dcs.rules import AS_ACL, RULES, SLOT, Rule, example_sentence


def edges(example: str, blanks: bool) -> set[str]:
    """The edges of an example, as the table writes them."""
    trees = convert(example_sentence(example), blanks)
    return {f"{n.token}>{t[n.parent].token}:{n.label}|{n.parent_label}" for t in trees for n in t if n.parent >= 0}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.relation} {rule.condition or 'always'}")
def test_example(rule: Rule) -> None:
    found = edges(rule.example, blanks=rule.condition == "asked")
    if ":" in rule.edge:
        assert rule.edge in found
    else:
        assert not {edge for edge in found if edge.startswith(f"{rule.edge}:")}


def test_every_row_decides_in_its_own_example() -> None:
    for rule in RULES:
        applied = applied_rules(example_sentence(rule.example), blanks=rule.condition == "asked")
        child = int(rule.edge.partition(">")[0])
        if child in dict(applied) and rule.label != AS_ACL:
            assert dict(applied)[child][:4] == rule[:4]


def test_every_relation_ends_with_a_row_that_always_applies() -> None:
    last = {rule.relation: rule.condition for rule in RULES}
    assert set(last.values()) == {""}


def test_vocabulary_of_the_table_is_used_and_known() -> None:
    assert {rule.condition for rule in RULES} == set(CONDITIONS)
    marked = {label for rule in RULES for label in (rule.label, rule.parent_label) if label.startswith("⟨")}
    assert marked == {*LABELS, SLOT, AS_ACL}


def test_page_is_generated_from_the_table() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == rules_page(), "run: vecdcs rules --format markdown > docs/rules.md"
    assert all(difference.example in page for difference in DIFFERENCES)


GOLDEN = ROOT / "tests" / "golden" / "trees.tsv"


def golden_trees() -> str:
    """The whole trees of all examples, a line each: which rows decided, the sentence, its trees."""
    lines = []
    for rule in RULES:
        sentence, blanks = example_sentence(rule.example), rule.condition == "asked"
        rows = " ".join(f"{row.relation}[{row.condition}]" for _, row in applied_rules(sentence, blanks))
        trees = " ; ".join(str(tree) for tree in sentence_trees(sentence, blanks))
        lines.append(f"{rows}\t{sentence.text}\t{trees}\n")
    return "".join(lines)


def test_golden_trees() -> None:
    """A change of a rule shows here in every tree it changes: review the diff, then write the file again."""
    found = golden_trees()
    if os.environ.get("VECDCS_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8"), "run with VECDCS_WRITE_GOLDEN=1 and review the diff"
