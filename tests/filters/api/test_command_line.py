"""The command ``tapestry``: a person asks a site that runs, by a token, from any machine."""

from __future__ import annotations

import json
import mailbox
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.authoring import lifecycle
from filters.inbox.triage.actions import ACTIONS
from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.release import release
from tapestry.client import formats, public_inbox, save, verbs
from tapestry.client import main as client
from tapestry.client.access import token_of
from tapestry.client.output import readable
from tapestry.client.site import CallError, Site
from tapestry.core.clock import DAY, format_instant, wall_clock
from tapestry.core.processes.child_process import free_port
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.log import Tables
from tests.support.intake import ingest
from tests.support.lists.live_filters import run
from tests.support.paths import ROOT

Tapestry = Any
pytestmark = [pytest.mark.live, pytest.mark.usefixtures("worker")]


@pytest.fixture
def tapestry(alice: User, live_server: LiveServer, capsys: pytest.CaptureFixture[str]) -> Tapestry:
    """Return a function that runs a verb for alice, and returns its rows, or what it refused."""
    secret = make_token(alice, "of the tests", SCOPES, 7)[1]
    environ = {"TAPESTRY_SITE": live_server.url, "TAPESTRY_TOKEN": secret}

    def run_verb(*arguments: str, code: int = 0, rows: int = 0, **more: str) -> Any:
        assert client.main(arguments, environ | more) == code
        printed = capsys.readouterr()
        if code:
            assert printed.out.count("\n") == rows and "error: " in printed.err
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


@pytest.fixture
def kept(mail: Tables, tapestry: Tapestry, tmp_path: Path) -> Path:
    """Have a filter with two letters of which the originals were kept, and three others."""
    (tmp_path / "box").write_text(LETTERS)
    ingest(str(tmp_path / "box"), mail, DjangoClock())
    tapestry("add", "from mary", "--name", "mary")
    run("mary")
    release()
    return tmp_path / "Mail" / "mary"


@pytest.mark.parametrize(
    ("form", "epoch"),
    [("maildir", 0), ("mbox", 0), ("public-inbox", 1 << 30), ("public-inbox", 1)],
)
def test_a_filter_is_saved_for_other_programs_each_message_once(
    kept: Path,
    mail: Tables,
    tapestry: Tapestry,
    tmp_path: Path,
    form: str,
    epoch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(public_inbox, "EPOCH", epoch)
    saved = ("save", "mary", str(kept), "--format", form)
    originals = ["one@x", "two@x"]

    def killed(*_: Any) -> None:
        raise OSError(ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:  # all is written, nothing recorded
        patch.setattr(save.Ledger, "finish", killed)
        assert "No space left" in tapestry(*saved, code=1, rows=5)
    with monkeypatch.context() as patch:  # a page is cut off
        patch.setattr(formats.Originals, "content", killed)
        assert "No space left" in tapestry(*saved, code=1)
    rows = tapestry(*saved)
    assert sorted(row["id"] for row in rows if row["file"]) == originals
    assert len([row["error"] for row in rows if not row["file"]]) == 3, "no original was kept"
    assert tapestry(*saved) == []
    later = tmp_path / "later"
    later.write_text(LETTERS.replace("one@x", "six@x").replace("One.", "From Six.\n>From 6"))
    ingest(str(later), mail, DjangoClock())
    run("mary")
    release()
    assert [row["id"] for row in tapestry(*saved)] == ["six@x"]
    if form == "public-inbox":
        assert len(list((kept / "git").glob("*.git"))) == (3 if epoch == 1 else 1)
    there = Tables(tmp_path / "there")
    for _ in range(2):
        ingest(str(kept), there, DjangoClock())
    messages = there.open(MESSAGES).to_pyarrow_table(columns=["msgid", "body"]).to_pylist()
    assert {row["msgid"]: row["body"].strip() for row in messages} == {
        "one@x": "One.",
        "two@x": "Two.",
        "six@x": "From Six.\nFrom 6",
    }
    assert len(messages) == 3


def test_two_runs_do_not_write_to_one_directory(
    kept: Path, tapestry: Tapestry, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = ("save", "mary", str(kept), "--format", "mbox")
    content, said = formats.Originals.content, []

    def is_met(*given: Any) -> bytes:  # a timer begins another run while this one is at work
        monkeypatch.setattr(formats.Originals, "content", content)
        environ = tapestry.environ
        site = Site(environ["TAPESTRY_SITE"], environ["TAPESTRY_TOKEN"])
        with pytest.raises(CallError) as refused:
            list(save.save(site, "mary", str(kept), "mbox"))
        said.append(refused.value.message)
        return content(*given)

    monkeypatch.setattr(formats.Originals, "content", is_met)
    tapestry(*saved)
    assert said[0].startswith("Another run writes to")
    assert sorted(letter["Message-ID"] for letter in mailbox.mbox(kept / "mbox")) == [
        "<one@x>",
        "<two@x>",
    ]


def test_a_filter_is_saved_as_json_lines(kept: Path, tapestry: Tapestry) -> None:
    saved = ("save", "mary", str(kept), "--format", "jsonl")
    assert all(row["file"] == "messages.jsonl" for row in tapestry(*saved))
    assert tapestry(*saved) == []
    lines = (kept / "messages.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {
        "one@x", "two@x", "parc@example.org", "plan@example.org", "secret@example.org"
    }  # fmt: skip


def test_a_directory_with_something_else_is_left_alone(
    kept: Path, tapestry: Tapestry, tmp_path: Path
) -> None:
    tapestry("save", "mary", str(kept))
    assert "something else" in tapestry("save", "mary", str(kept), "--format", "mbox", code=2)
    (kept / ".tapestry").write_text("{")
    assert "something else" in tapestry("save", "mary", str(kept), code=2)
    (kept / ".tapestry").unlink()
    assert "is not empty" in tapestry("save", "mary", str(kept), code=2)
    assert "There is no such thing" in tapestry("save", "none", str(tmp_path / "x"), code=3)


def test_a_mailbox_that_a_mail_program_wrote_anew_is_not_truncated(tmp_path: Path) -> None:
    box = formats.Mbox(tmp_path)
    step = {"received": "2026-01-01T00:00:00+00:00"}
    box.add(step, b"Subject: one\n\nFrom here\n")
    end = box.end()
    box.add(step, b"Subject: two\n\n")
    box.end_at(end)
    assert [dict(letter) for letter in mailbox.mbox(tmp_path / "mbox")] == [{"Subject": "one"}]
    (tmp_path / "mbox").write_bytes(anew := b"From x Thu Jan  1 00:00:00 1970\n" + b"S: x\n" * 99)
    box.end_at(end)
    assert (tmp_path / "mbox").read_bytes() == anew


def test_a_person_reads_votes_tags_and_acts(mail: Tables, alice: User, tapestry: Tapestry) -> None:
    plan = "plan@example.org"
    assert tapestry("message", plan)[0]["subject"] == "The plan"
    (would,) = tapestry("vote", plan, "for", "--dry-run")
    assert would == {"dry_run": True, "id": plan, "kind": "vote", "number": 1}
    assert tapestry("act", "star", plan, "--dry-run")[0]["dry_run"]
    assert "may not see it" in tapestry("act", "star", "no@x", "--dry-run", code=3)
    assert tuple(ACTIONS) == client.ACTIONS
    with pytest.raises(SystemExit) as refused:
        client.main(["act", "nonsense", plan, "--dry-run"], tapestry.environ)
    assert refused.value.code == 2
    assert "until when" in tapestry("act", "snooze", plan, code=3)
    tomorrow = format_instant(wall_clock() + DAY)
    lifecycle.install(alice, "from mary", name="mary")
    run("mary")
    release()
    assert tapestry("act", "snooze", plan, "--until", tomorrow)[0]["count"] == 1
    assert tapestry("vote", plan, "for")[0]["changed"] is True
    assert tapestry("vote", plan, "for")[0]["changed"] is False
    assert tapestry("tag", plan, "urgent")[0]["changed"] is True
    assert tapestry("tag", plan, "urgent", "--take-back")[0]["changed"] is True
    assert tapestry("act", "star", plan)[0]["count"] == 1


def test_what_was_said_of_a_message_is_waited_for(mail: Tables, tapestry: Tapestry) -> None:
    (voted,) = tapestry("vote", "plan@example.org", "for")
    assert "has not come everywhere" in tapestry("wait", voted["token"], "--timeout", "0", code=1)
    append_outbox(mail)
    assert tapestry("wait", voted["token"]) == [{"complete": True, "waits_for": [], "later": []}]
    assert "There is nothing" in tapestry("wait", "forged", code=3)


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
    monkeypatch.setattr(verbs, "WAIT", 0)
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
