"""What README.md shows works as shown."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from vecdcs.model.ask import SHIPPED
from vecdcs.model.model import MANIFEST

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SNIPPETS = [code for language, code in BLOCKS if language == "python"]
VECDCS = ".venv/bin/vecdcs "
COMMANDS = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]
ASKING = ("ask", "similar", "nearest", "complete")
SIX_LINES = """import vecdcs
m = vecdcs.load()                       # the shipped English model; or a path
m.ask("drugs banned by Canada").answers(k=10)
m.similarity("fight war", "win battle")
m.nearest("book/N"); m.answers("_ & about:learn/V")
m.complete("The drug _ is banned by the government.", ["thalidomide", "aspirin"])
"""
has_model = (SHIPPED / MANIFEST).is_file()


def needs_shipped(command: str) -> bool:
    """Whether a command asks the shipped model."""
    words = shlex.split(command.removeprefix(VECDCS))
    return words[0] in ASKING and "-m" not in words


def run(command: str, folder: Path) -> None:
    """A command of the README does something and says something."""
    arguments = [sys.executable, "-m", "vecdcs", *shlex.split(command.removeprefix(VECDCS))]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert done.stdout.strip() or " -o " in command, command


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all commands of the README that need no shipped model have run, in order."""
    folder = tmp_path_factory.mktemp("readme")
    for command in COMMANDS:
        if command.startswith(VECDCS) and not needs_shipped(command):
            run(command, folder)
    return folder


def test_commands_and_snippets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snippets print what their comments say, after the commands have made what they load."""
    monkeypatch.chdir(folder)
    for code in SNIPPETS:
        if code == SIX_LINES:
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "README.md", "exec"), {})
        promised = re.findall(r"^\s*print\(.*?\)\s+# (.*)$", code, re.MULTILINE)
        assert promised, "a snippet shows what it prints"
        for line in promised:
            assert line in said.getvalue().splitlines()


def test_the_first_snippet_is_the_six_lines() -> None:
    assert SNIPPETS[0] == SIX_LINES


@pytest.mark.skipif(not has_model, reason="no shipped model in this source tree")
def test_the_shipped_model_answers(tmp_path: Path) -> None:
    """The six lines and the commands that ask without a model's name; every line of the six has something to say."""
    asking = [command for command in COMMANDS if command.startswith(VECDCS) and needs_shipped(command)]
    assert asking
    for command in asking:
        run(command, tmp_path)
    lines = [part for line in SIX_LINES.splitlines()[2:] for part in line.split("; ")]
    names: dict[str, object] = {}
    exec(compile("\n".join(SIX_LINES.splitlines()[:2]), "README.md", "exec"), names)
    for line in lines:
        assert eval(compile(line, "README.md", "eval"), names)


def test_make_demo() -> None:
    assert "make demo" in COMMANDS and "make test" in COMMANDS
    demo = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True)
    assert demo.returncode == 0, demo.stderr
    for part in ("vectors, step by step", "stated", "exact", "found", "“"):
        assert part in demo.stdout, part
    assert ("The shipped model of English" if has_model else "no shipped model") in demo.stdout


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
