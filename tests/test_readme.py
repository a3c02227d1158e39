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

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SNIPPETS = [code for language, code in BLOCKS if language == "python"]
VECDCS = ".venv/bin/vecdcs "
COMMANDS = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all vecdcs commands of the README have run, in order."""
    folder = tmp_path_factory.mktemp("readme")
    for command in COMMANDS:
        if command.startswith(VECDCS):
            arguments = [sys.executable, "-m", "vecdcs", *shlex.split(command.removeprefix(VECDCS))]
            run = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
            assert run.returncode == 0, f"{command}\n{run.stderr}"
            assert run.stdout.strip() or " -o " in command, command
    return folder


def test_commands_and_snippets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snippets print what their comments say, after the commands have made what they load."""
    monkeypatch.chdir(folder)
    for code in SNIPPETS:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "README.md", "exec"), {})
        promised = re.findall(r"^\s*print\(.*?\)\s+# (.*)$", code, re.MULTILINE)
        assert promised, "a snippet shows what it prints"
        for line in promised:
            assert line in said.getvalue().splitlines()


def test_make_demo() -> None:
    assert "make demo" in COMMANDS and "make test" in COMMANDS
    demo = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True)
    assert demo.returncode == 0, demo.stderr
    assert "exact answers" in demo.stdout and "“" in demo.stdout


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
