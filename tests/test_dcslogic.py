"""The cases of tests/denotations on the exact engine and on the brute-force oracle; and both on random trees."""

from __future__ import annotations

import pytest
from dcslogic import FOLDER, Case, cases
from hypothesis import given, settings
from oracle import brute_force
from strategies import databases, dense_databases, logic_trees, trees

from vecdcs.dcs.denotation import Database, UnsafeNegation, denotation
from vecdcs.dcs.tree import Tree
from vecdcs.errors import VecdcsError

ALL = list(cases())
ENGINES = {"sets": denotation, "oracle": brute_force}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", [case for case in ALL if not case.error], ids=lambda case: case.name)
def test_case(case: Case, engine: str) -> None:
    found = ENGINES[engine](Tree.parse(case.tree), case.database)
    assert {str(thing) for thing in found} == case.expected


@pytest.mark.parametrize("case", [case for case in ALL if case.error], ids=lambda case: case.name)
def test_error(case: Case) -> None:
    with pytest.raises(VecdcsError) as caught:
        denotation(Tree.parse(case.tree), case.database)
    assert type(caught.value).__name__ == case.error


def test_there_are_enough_cases() -> None:
    assert len(ALL) >= 40
    assert len(list(FOLDER.glob("*.dcslogic"))) >= 5
    assert len({case.name for case in ALL}) == len(ALL)


@settings(max_examples=200)
@given(trees(max_nodes=6), databases() | dense_databases())
def test_oracle_agrees(tree: Tree, database: Database) -> None:
    assert denotation(tree, database) == brute_force(tree, database)


@settings(max_examples=150)
@given(logic_trees(), databases() | dense_databases())
def test_oracle_agrees_on_unions_and_negations(tree: Tree, database: Database) -> None:
    try:
        found = denotation(tree, database)
    except UnsafeNegation:
        return
    assert found == brute_force(tree, database)
