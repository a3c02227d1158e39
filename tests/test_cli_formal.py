"""The commands of the formal half, called as users call them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

import vecdcs
from vecdcs.cli import app
from vecdcs.dcs.notation import parse

CONLLU = """\
# text = A man sells banned drugs.
1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_
2\tman\tman\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsells\tsell\tVERB\tVBZ\t_\t0\troot\t_\t_
4\tbanned\tban\tVERB\tVBN\t_\t5\tamod\t_\t_
5\tdrugs\tdrug\tNOUN\tNNS\t_\t3\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
TREE = "sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


@pytest.fixture
def conllu(tmp_path: Path) -> Path:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    return path


def test_version() -> None:
    done = call("--version")
    assert done.exit_code == 0 and done.output == f"vecdcs {vecdcs.__version__}\n"


def test_tree_json(conllu: Path) -> None:
    record = json.loads(call("tree", "--conllu", str(conllu), "--format", "json").output)
    assert list(record) == ["text", "trees", "edges"]
    assert record["text"] == "A man sells banned drugs." and record["trees"] == [TREE]
    assert sorted(record["edges"]) == [[2, 3, "ARG", "SUBJ"], [4, 5, "COMP", "ARG"], [5, 3, "ARG", "COMP"]]


def test_tree_notation_text_and_svg(conllu: Path) -> None:
    assert call("tree", "--conllu", str(conllu), "--format", "notation").output == TREE + "\n"
    assert parse(TREE).to_text() in call("tree", "--conllu", str(conllu)).output
    svg = ElementTree.fromstring(call("tree", "--conllu", str(conllu), "--format", "svg").output)
    assert {"ban/V", "COMP", "SUBJ"} <= {text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")}


def test_bad_conllu(tmp_path: Path, conllu: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\tbroken\n\n" + CONLLU, encoding="utf-8")
    failed = call("tree", "--conllu", str(bad))
    assert failed.exit_code != 0 and "bad.conllu:1:" in str(failed.exception)
    skipped = call("tree", "--conllu", str(bad), "--skip-bad", "--format", "notation")
    assert TREE in skipped.output and "skipped 1" in skipped.output
    assert "not both" in str(call("tree", "text", "--conllu", str(conllu)).exception)


def test_denote(tmp_path: Path) -> None:
    (tmp_path / "drug.N.tsv").write_text("ARG\nAspirin\nCannabis\n", encoding="utf-8")
    (tmp_path / "ban.V.tsv").write_text("SUBJ\tCOMP\nJapan\tCannabis\n", encoding="utf-8")
    assert call("denote", str(tmp_path), "drug/N & ban/V.COMP").output == "Cannabis\n"
    record = json.loads(call("denote", str(tmp_path), "drug/N | film/N", "--json").output)
    assert record == {"tree": "drug/N | film/N", "things": ["Aspirin", "Cannabis"], "unknown": ["film/N"]}
    assert "film/N" in call("denote", str(tmp_path), "film/N").output


def test_rules() -> None:
    assert "nsubj" in call("rules").output
    assert call("rules", "--format", "markdown").output.startswith("# UD → DCS")


def test_world(tmp_path: Path) -> None:
    said = call("world", "-o", str(tmp_path / "w")).output
    assert "254 entities" in said and "3000 sentences" in said
    assert (tmp_path / "w" / "manifest.json").exists()
