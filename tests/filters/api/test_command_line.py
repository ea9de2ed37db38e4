"""The command ``tapestry``: a person asks a site that runs, by a token, from any machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.client import main as client
from tapestry.client.output import readable
from tapestry.core.processes.child_process import free_port
from tapestry.tables.delta.log import Tables
from tests.support.live_filters import run
from tests.support.paths import ROOT

Tapestry = Callable[..., Any]
pytestmark = [pytest.mark.live, pytest.mark.usefixtures("worker")]


@pytest.fixture
def tapestry(alice: User, live_server: LiveServer, capsys: pytest.CaptureFixture[str]) -> Tapestry:
    """Return a function that runs a verb for alice, and returns its rows, or what it refused."""
    secret = make_token(alice, "of the tests", SCOPES, 7)[1]
    environ = {"TAPESTRY_URL": live_server.url, "TAPESTRY_TOKEN": secret}

    def run_verb(*arguments: str, code: int = 0, **more: str) -> Any:
        assert client.main(arguments, environ | more) == code
        printed = capsys.readouterr()
        if code:
            assert printed.out == "" and printed.err.startswith("error: ")
            return printed.err
        return [json.loads(line) for line in printed.out.splitlines()]

    return run_verb


def test_a_person_finds_mail_and_keeps_a_filter(mail: Tables, tapestry: Tapestry) -> None:
    assert [row["id"] for row in tapestry("ask", "between us")] == ["secret@example.org"]
    assert len(tapestry("ask", "from mary", "--limit", "2")) == 2
    (tried,) = tapestry("add", "from mary", "--dry-run")
    assert (tried["phrase"], tried["count"]) == ("from mary", 3)
    assert tapestry("filters") == []
    tapestry("add", "from mary", "--name", "mary")
    assert [row["name"] for row in tapestry("filters")] == ["mary"]
    run("mary")
    release()
    steps = tapestry("matches", "mary")
    assert len(steps) == 3 and "cursor" not in steps[0]
    assert tapestry("matches", "mary", "--since", steps[-1]["cursor"]) == []
    assert tapestry("pause", "mary")[0]["active"] is False
    assert tapestry("resume", "mary")[0]["active"] is True
    assert tapestry("why", "mary", "reply@example.org")[0]["holds"] is False
    assert tapestry("delete", "mary") == []


def test_a_person_reads_votes_tags_and_acts(mail: Tables, tapestry: Tapestry) -> None:
    plan = "plan@example.org"
    assert tapestry("message", plan)[0]["subject"] == "The plan"
    assert tapestry("vote", plan, "for") == [{"changed": True}]
    assert tapestry("vote", plan, "for") == [{"changed": False}]
    assert tapestry("tag", plan, "urgent") == [{"changed": True}]
    assert tapestry("tag", plan, "urgent", "--take-back") == [{"changed": True}]
    assert tapestry("act", "star", plan)[0]["count"] == 1


def test_what_fails_has_a_code_and_a_sentence(mail: Tables, tapestry: Tapestry) -> None:
    assert "Did you mean" in tapestry("add", "replies bye Jones", code=3)
    assert "or you may not see it" in tapestry("message", "nothing@x", code=3)
    assert "Access tokens" in tapestry("filters", code=4, TAPESTRY_TOKEN="tapestry_forged")
    assert "TAPESTRY_TOKEN is not set" in tapestry("filters", code=2, TAPESTRY_TOKEN="")
    nowhere = f"http://127.0.0.1:{free_port()}"
    assert "does not answer" in tapestry("filters", code=5, TAPESTRY_URL=nowhere)
    assert "could be read on the way" in tapestry("filters", code=2, TAPESTRY_URL="http://x.org")
    assert "no address of a site" in tapestry("filters", code=2, TAPESTRY_URL="ftp://x.org")


def test_a_row_on_a_terminal_moves_no_cursor() -> None:
    row = {"sender_name": "A\x1b[2J", "sender": "", "subject": "b\r\nc", "id": "1@x"}
    line = readable("ask", row | {"received": "2026-01-31T12:00:00Z"})
    assert line.isprintable() and line.endswith("1@x")


def test_the_command_starts_without_the_product_behind_it() -> None:
    code = "import sys, tapestry.client.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"django", "pyspark", "sqlglot", "filters"} & set(done.stdout.split())
    version = [sys.executable, "-m", "tapestry", "--version"]
    done = subprocess.run(version, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Tapestry ")
