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
COMMANDS = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]


def test_python_snippets_print_what_their_comments_say() -> None:
    names: dict[str, object] = {}
    for code in SNIPPETS:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "README.md", "exec"), names)
        promised = re.findall(r"^print\(.*?\)\s+# (.*)$", code, re.MULTILINE)
        assert promised, "a snippet shows what it prints"
        for line in promised:
            assert line in said.getvalue().splitlines()


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith(".venv/bin/vecdcs ")])
def test_commands_run(command: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "readme"
    folder.mkdir(exist_ok=True)
    run_before(command, folder)
    assert run(command, folder).stdout.strip()


def run_before(command: str, folder: Path) -> None:
    """What the README runs before a command, where its output is not there yet."""
    for earlier in COMMANDS[: COMMANDS.index(command)]:
        output = re.search(r" -o (\S+)", earlier)
        if output and not (folder / output[1]).exists():
            run(earlier, folder)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the README as it stands, with this interpreter's vecdcs."""
    arguments = shlex.split(command.removeprefix(".venv/bin/vecdcs "))
    return subprocess.run(
        [sys.executable, "-m", "vecdcs", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )


def test_make_demo() -> None:
    assert "make demo" in COMMANDS and "make test" in COMMANDS
    demo = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True)
    assert demo.returncode == 0, demo.stderr
    assert "exact answers" in demo.stdout and "“" in demo.stdout


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
