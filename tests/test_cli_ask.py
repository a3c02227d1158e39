"""The commands that ask."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made_models import random_model, world_folder
from typer.testing import CliRunner, Result

from vecdcs.cli import app
from vecdcs.cli import shell as shelling
from vecdcs.errors import InputError, VecdcsError
from vecdcs.model.model import save
from vecdcs.model.search import CALIBRATION


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "random"
    save(random_model(), folder, [])
    return str(folder)


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=given)


def test_ask_prints_the_tree_and_answers(model: str) -> None:
    done = run("ask", "drug/N & ban/V.COMP", "-m", model, "-k", "3")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "drug/N & ban/V.COMP"
    assert len([line for line in lines[1:] if line.strip()]) == 3
    assert all("inferred" in line and "%" in line for line in lines[1:4])


def test_ask_prints_json_as_promised(model: str) -> None:
    done = run("ask", "banned drugs", "-m", model, "-k", "2", "--json")
    record = json.loads(done.stdout)
    assert record["query"] == "banned drugs" and record["tree"] == "drug/N & ban/V.COMP"
    assert len(record["answers"]) == 2
    assert set(record["answers"][0]) >= {"word", "score", "probability", "kind", "evidence"}


def test_ask_reads_lines(model: str) -> None:
    done = run("ask", "-m", model, "--json", given="drug/N\n\nbanned drugs\nold/J\n")
    assert [json.loads(line)["query"] for line in done.stdout.splitlines()] == ["drug/N", "banned drugs", "old/J"]


def test_ask_explains(model: str, tmp_path: Path) -> None:
    done = run("ask", "drug/N & ban/V.COMP", "-m", model, "-k", "2", "--explain", "--svg", str(tmp_path / "why.svg"))
    assert "└─ ARG ─ COMP ─ ban/V" in done.stdout
    assert ElementTree.parse(tmp_path / "why.svg").getroot().tag.endswith("svg")
    record = json.loads(run("ask", "drug/N", "-m", model, "-k", "1", "--explain", "--json").stdout)
    (answer,) = record["explanation"]["answers"]
    assert sum(answer["contributions"]) == pytest.approx(record["answers"][0]["score"], abs=1e-5)


def test_ask_tells_of_unknown_words_and_each_blank(model: str) -> None:
    done = run("ask", "sell/V & SUBJ:_ & COMP:(_ & quux/J.SUBJ)", "-m", model, "-k", "1")
    assert "unknown to the model: quux/J" in done.stderr
    assert done.stdout.count("asked: node") == 2


def test_ask_with_a_corpus() -> None:
    folder = world_folder()
    done = run("ask", "Who sells drugs?", "-m", str(folder / "model"), "--corpus", str(folder / "forest"), "-k", "5")
    assert done.exit_code == 0, done.output
    assert "exact" in done.stdout and "“" in done.stdout


def test_colours_only_on_a_terminal(model: str) -> None:
    assert "\x1b" not in run("ask", "drug/N", "-m", model).stdout


def test_similar(model: str) -> None:
    assert run("similar", "drug/N", "drug/N", "-m", model).stdout == "1.0000\n"
    done = run("similar", "-m", model, "--json", given="drug/N\tbook/N\nman/N\told/J\n")
    assert [json.loads(line)["phrases"] for line in done.stdout.splitlines()] == [
        ["drug/N", "book/N"],
        ["man/N", "old/J"],
    ]
    assert isinstance(run("similar", "-m", model, given="drug/N\n").exception, InputError)
    assert isinstance(run("similar", "drug/N", "-m", model).exception, InputError)


def test_nearest(model: str) -> None:
    lines = run("nearest", "book/N", "-m", model, "-k", "4", "--pos", "V").stdout.split()
    assert [line for line in lines if "/" in line] and all("/V" in line for line in lines if "/" in line)
    record = json.loads(run("nearest", "book/N", "-m", model, "-k", "2", "--json").stdout)
    assert len(record["nearest"]) == 2


def test_complete(model: str) -> None:
    done = run("complete", "The old man sells _.", "drugs", "of", "-m", model)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["drugs", "of"]
    record = json.loads(run("complete", "sell/V & COMP:_", "drug/N", "book/N", "-m", model, "--json").stdout)
    assert {choice["candidate"] for choice in record["choices"]} == {"drug/N", "book/N"}


def test_plausible(model: str) -> None:
    assert len(run("plausible", "sell/V", "COMP", "drug/N", "book/N", "-m", model).stdout.splitlines()) == 2


def test_calibrate_keeps_what_it_finds(tmp_path: Path) -> None:
    import shutil

    folder = world_folder()
    shutil.copytree(folder / "model", tmp_path / "model")
    kept = []
    for before in ("", '{"sharpness": 0.1, "prior": 2}'):
        if before:
            (tmp_path / "model" / CALIBRATION).write_text(before)
        done = run("calibrate", str(tmp_path / "model"), "--corpus", str(folder / "forest"), "--nodes", "500")
        assert done.exit_code == 0, done.output
        kept.append((tmp_path / "model" / CALIBRATION).read_text())
    assert kept[0] == kept[1], "it depends on the calibration that was there before"
    found = json.loads(kept[0])
    assert found["sharpness"] > 1 and 0 <= found["prior"] <= 2
    before, after = (
        json.loads(run("ask", "sold drugs", "-m", str(path), "--json", "-k", "1").stdout)["answers"][0]
        for path in (folder / "model", tmp_path / "model")
    )
    assert before["probability"] != after["probability"]


def test_shell(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    lines = [
        "drug/N & ban/V.COMP",
        ":k 2",
        ":near book/N",
        ":tree banned drugs",
        ":why drug/N & ban/V.COMP",
        ":similar drug/N ; book/N",
        ":similar drug/N",
        ":steps",
        "Who sells drugs banned by Canada?",
        ":steps",
        ":k many",
        "drug/N & &",
        ":quit",
    ]
    done = run("shell", "-m", model, given="\n".join(lines) + "\n")
    assert done.exit_code == 0, done.output
    assert "└─ ARG ─ COMP ─ ban/V" in done.stdout
    assert "expected two phrases" in done.stderr and "column 10" in done.stderr and "1 to 1000" in done.stderr


def test_completion_of_words_and_fields() -> None:
    complete = shelling.completer(random_model())
    assert [complete("b", n) for n in range(4)] == ["ban/V", "book/N", "burn down/V", None]
    assert complete("SU", 0) == "SUBJ:"
    assert complete("zzz", 0) is None


def test_errors_are_one_line(model: str, tmp_path: Path) -> None:
    for arguments in (["ask", "drug/N", "-m", str(tmp_path)], ["ask", "x/N & &", "-m", model]):
        done = subprocess.run([sys.executable, "-m", "vecdcs", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith("vecdcs: ") and "Traceback" not in done.stderr


def test_serving_without_its_packages_says_what_to_install(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vecdcs.web.serve", None)
    done = run("serve", "-m", model)
    assert isinstance(done.exception, VecdcsError) and "vecdcs[web]" in str(done.exception)
