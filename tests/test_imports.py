"""Imports point one way, and the formal half needs no numpy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

ORDER = ("errors", "engines", "text", "dcs", "world", "corpus", "learn", "model", "tasks", "web", "cli")
PACKAGE = ROOT / "vecdcs"


def room(path: Path) -> str:
    """The room a module stands in."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a module imports from, at any depth."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("vecdcs.")}


def test_imports_point_one_way() -> None:
    for path in PACKAGE.rglob("*.py"):
        here = room(path)
        if here in ("__init__", "__main__"):
            continue
        assert here in ORDER, f"{path}: a room that the order does not know"
        for other in imported_rooms(path) - {"__version__"}:
            assert ORDER.index(other) <= ORDER.index(here), f"{path} imports from {other}"


def test_formal_half_does_without_numpy() -> None:
    rooms = sorted((PACKAGE / "dcs").glob("*.py"))
    for path in rooms:
        assert "import numpy" not in path.read_text(encoding="utf-8"), path
    modules = [f"vecdcs.dcs.{path.stem}" for path in rooms] + ["vecdcs.text.conllu", "vecdcs.world"]
    code = f"import sys, {', '.join(modules)}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
