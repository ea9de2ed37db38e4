"""Completion and the manual: made from the parsers, and understood by what reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from django.core.management import call_command

from filters.site.management.command_line import names
from tapestry.client.main import EXIT_CODES, VERBS


def written(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    call_command(*command)
    return capsys.readouterr().out


def read_by(program: list[str], text: str) -> str:
    """What a program prints of a text; a word of complaint is an error."""
    done = subprocess.run(program, input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("as", "ask"),
        ("watch --na", "--name"),
        ("ask x --us", "--user"),
        ("ask x --si", "--site"),
        ("completion z", "zsh"),
        ("vote x a", "against"),
        ("up --dat", "--data"),
        ("make", ""),
    ],
)
def test_bash_completes(words: str, completed: str, bash: Path) -> None:
    array = f"COMP_WORDS=(tapestry {words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))"
    program = f'source {bash}; {array}; _tapestry; echo "${{COMPREPLY[@]}}"'
    assert read_by(["bash", "--norc", "-c", program], "").strip() == completed


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script for bash, in a file."""
    from io import StringIO

    script = StringIO()
    call_command("completion", "bash", stdout=script)
    read_by(["bash", "-n"], script.getvalue())
    path = tmp_path_factory.mktemp("completion") / "tapestry"
    path.write_text(script.getvalue())
    return path


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = written(capsys, "completion", shell)
    if program := shutil.which(shell):
        read_by([program, "--no-execute"], script)
    quoted = {"zsh": "        '{}:", "fish": " -f -a {} -d '"}[shell]
    for name in {*names(), *VERBS}:
        assert quoted.format(name) in script


def test_the_manual_has_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    page = written(capsys, "man")
    if shutil.which("groff"):
        shown = read_by(["groff", "-man", "-ww", "-Tutf8", "-P-c", "-P-b", "-P-u"], page)
        shown = shown.replace("\N{HYPHEN}", "-").replace("\N{MINUS SIGN}", "-")
        for name in {*names(), *VERBS}:
            assert f"tapestry {name}" in " ".join(shown.split())
        for code, meaning in EXIT_CODES.items():
            assert f"{code} {meaning}" in " ".join(shown.split())
    assert "--data" in page.replace("\\-", "-") and "pythonpath" not in page
