"""What every command does alike, as a person sees it in a terminal."""

import os
import subprocess
import sys
from io import StringIO

import pytest
from django.core import checks
from django.core.management import load_command_class
from django.core.management.base import OutputWrapper

from filters.site.management.base import TapestryCommand
from tests.support.paths import ROOT

LETTER = b"From: joe@x.org\nMessage-ID: <1@x>\nSubject: hello\n\nHello.\n"


@pytest.mark.parametrize(("options", "logged"), [((), False), (("-v2",), True)])
def test_a_command_logs_what_it_does_only_when_asked(tmp_path, options, logged):
    letter = tmp_path / "a.eml"
    letter.write_bytes(LETTER)
    done = subprocess.run(
        [sys.executable, "manage.py", "ingest", str(letter), *options],
        cwd=ROOT,
        env=os.environ | {"TAPESTRY_DATA": str(tmp_path / "data")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ("append table=messages rows=1" in done.stderr) == logged
    assert "hello" not in done.stderr


def test_an_interrupted_command_says_what_came_of_it(tmp_path, monkeypatch, capsys):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt("4 of 10 are in; run it again to go on.")

    monkeypatch.setattr(TapestryCommand, "needs_database", False)
    monkeypatch.setattr(TapestryCommand, "execute", interrupted)
    with pytest.raises(SystemExit) as ended:
        TapestryCommand().run_from_argv(["manage.py", "ingest"])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted: 4 of 10 are in; run it again to go on.\n"


def test_the_checks_of_the_program_find_nothing(settings):
    settings.ALLOWED_HOSTS = ["localhost"]
    assert checks.run_checks() == []


def test_a_command_warns_of_what_is_set_wrong(settings):
    settings.ALLOWED_HOSTS, settings.PROXIES = ["mail.example.org"], 0
    command, told = load_command_class("filters.site", "ingest"), StringIO()
    command.stderr = OutputWrapper(told)
    command.check(tags=command.requires_system_checks)
    assert "TAPESTRY_HOSTS is set, but TAPESTRY_PROXIES is not" in told.getvalue()
