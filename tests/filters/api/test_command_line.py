"""The command ``tapestry``: a person asks a site that runs, by a token, from any machine."""

from __future__ import annotations

import json
import mailbox
import subprocess
import sys
from contextlib import AbstractContextManager
from errno import ENOSPC
from pathlib import Path
from typing import IO, Any

import pytest
from pytest_django.live_server_helper import LiveServer

from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.release import release
from tapestry.client import maildir, verbs
from tapestry.client import main as client
from tapestry.client.access import token_of
from tapestry.client.output import readable
from tapestry.client.site import CallError, Site
from tapestry.core.processes.child_process import free_port
from tapestry.tables.delta.log import Tables
from tests.support.intake import ingest
from tests.support.live_filters import run
from tests.support.paths import ROOT

Tapestry = Any
pytestmark = [pytest.mark.live, pytest.mark.usefixtures("worker")]


@pytest.fixture
def tapestry(alice: User, live_server: LiveServer, capsys: pytest.CaptureFixture[str]) -> Tapestry:
    """Return a function that runs a verb for alice, and returns its rows, or what it refused."""
    secret = make_token(alice, "of the tests", SCOPES, 7)[1]
    environ = {"TAPESTRY_SITE": live_server.url, "TAPESTRY_TOKEN": secret}

    def run_verb(*arguments: str, code: int = 0, **more: str) -> Any:
        assert client.main(arguments, environ | more) == code
        printed = capsys.readouterr()
        if code:
            assert printed.out == "" and printed.err.startswith("error: ")
            return printed.err
        return [json.loads(line) for line in printed.out.splitlines()]

    run_verb.environ = environ
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
    for verb in ("pause", "delete"):
        (would,) = tapestry(verb, "mary", "--dry-run")
        assert (would["name"], would["active"]) == ("mary", verb == "delete")
    assert tapestry("filters")[0]["active"], "nothing was changed"
    assert tapestry("pause", "mary")[0]["active"] is False
    assert tapestry("resume", "mary")[0]["active"] is True
    assert tapestry("why", "mary", "reply@example.org")[0]["holds"] is False
    assert tapestry("delete", "mary") == []


LETTERS = """\
From mary@example.org Thu Jan  1 00:00:00 2026
Message-ID: <one@x>
From: mary@example.org

One.

From mary@example.org Thu Jan  1 00:00:00 2026
Message-ID: <two@x>
From: mary@example.org

Two.

"""


def test_a_filter_is_saved_as_a_maildir_each_message_once(
    mail: Tables, tapestry: Tapestry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "box").write_text(LETTERS)
    ingest(str(tmp_path / "box"), mail, DjangoClock())
    place = tmp_path / "Mail" / "mary"
    tapestry("add", "from mary", "--name", "mary")
    run("mary")
    release()
    whole_file = maildir.whole_file

    def fails(path: Path) -> AbstractContextManager[IO[bytes]]:
        if path.name == maildir.CURSOR and any((place / "new").iterdir()):
            raise OSError(ENOSPC, "No space left on device")
        return whole_file(path)

    site = Site(tapestry.environ["TAPESTRY_SITE"], tapestry.environ["TAPESTRY_TOKEN"])
    with monkeypatch.context() as patch, pytest.raises(CallError, match="No space left"):
        patch.setattr(maildir, "whole_file", fails)
        list(maildir.save(site, "mary", str(place)))
    rows = tapestry("save", "mary", str(place))
    assert sorted((row["id"], not row["file"]) for row in rows) == [
        ("one@x", False),
        ("parc@example.org", True),
        ("plan@example.org", True),
        ("secret@example.org", True),
        ("two@x", False),
    ], "of what no original was kept, that is said"
    box = mailbox.Maildir(place)
    assert sorted(letter.get_payload() for letter in box) == ["One.\n", "Two.\n"]
    assert tapestry("save", "mary", str(place)) == []
    (place / ".tapestry").unlink()
    assert "is not empty" in tapestry("save", "mary", str(place), code=2)
    (place / ".tapestry").write_text("{}")
    assert "another filter" in tapestry("save", "mary", str(place), code=2)
    assert "There is no such thing" in tapestry("save", "none", str(tmp_path / "x"), code=3)


def test_a_person_reads_votes_tags_and_acts(mail: Tables, tapestry: Tapestry) -> None:
    plan = "plan@example.org"
    assert tapestry("message", plan)[0]["subject"] == "The plan"
    (would,) = tapestry("vote", plan, "for", "--dry-run")
    assert would == {"dry_run": True, "id": plan, "kind": "vote", "number": 1}
    assert tapestry("act", "star", plan, "--dry-run")[0]["dry_run"]
    assert "may not see it" in tapestry("act", "star", "no@x", "--dry-run", code=3)
    assert tapestry("vote", plan, "for")[0]["changed"] is True
    assert tapestry("vote", plan, "for")[0]["changed"] is False
    assert tapestry("tag", plan, "urgent")[0]["changed"] is True
    assert tapestry("tag", plan, "urgent", "--take-back")[0]["changed"] is True
    assert tapestry("act", "star", plan)[0]["count"] == 1


def test_what_is_watched_comes_until_it_is_interrupted(
    mail: Tables,
    tapestry: Tapestry,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    watched = ("watch", "from mary", "--name", "mary")
    assert tapestry(*watched, "--dry-run")[0]["count"] == 3
    monkeypatch.setattr(verbs.time, "sleep", interrupted)
    for _ in range(2):  # the second time there is such a filter
        assert client.main(watched, tapestry.environ) == 130
        printed = capsys.readouterr()
        assert printed.err == "Watching mary: from mary\n"
        run("mary")
        release()
    assert len(printed.out.splitlines()) == 3
    monkeypatch.undo()
    assert "of that short name" in tapestry("watch", "from joe", "--name", "mary", code=3)


def test_a_token_is_read_from_a_file_that_others_may_not_read(tmp_path: Path) -> None:
    file = tmp_path / "tapestry" / "token"
    usual, named = {"XDG_CONFIG_HOME": str(tmp_path)}, {"TAPESTRY_TOKEN_FILE": str(file)}
    for environ, words in ((usual, "is not set"), (named, "is not there")):
        with pytest.raises(CallError, match=words) as refused:
            token_of(environ)
        assert refused.value.code == 2
    file.parent.mkdir()
    file.write_text("tapestry_x\n")
    file.chmod(0o640)
    with pytest.raises(CallError, match="Others may read the token"):
        token_of(named)
    file.chmod(0o600)
    assert token_of(usual) == token_of(named) == "tapestry_x"
    assert token_of(named | {"TAPESTRY_TOKEN": "tapestry_y"}) == "tapestry_y"
    file.write_text("a\x00b")
    with pytest.raises(CallError, match="There is no token"):
        token_of(named)


def test_what_fails_has_a_code_and_a_sentence(mail: Tables, tapestry: Tapestry) -> None:
    assert "Did you mean" in tapestry("add", "replies bye Jones", code=3)
    assert "or you may not see it" in tapestry("message", "nothing@x", code=3)
    assert "Access tokens" in tapestry("filters", code=4, TAPESTRY_TOKEN="tapestry_forged")
    assert "TAPESTRY_TOKEN is not set" in tapestry("filters", code=2, TAPESTRY_TOKEN="")
    nowhere = f"http://127.0.0.1:{free_port()}"
    assert "does not answer" in tapestry("filters", code=5, TAPESTRY_SITE=nowhere)
    assert "could be read on the way" in tapestry("filters", code=2, TAPESTRY_SITE="http://x.org")
    assert "no address of a site" in tapestry("filters", code=2, TAPESTRY_SITE="ftp://x.org")


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
