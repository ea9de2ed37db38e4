"""Imported mail: old messages arrive read and in one block of a list, recent ones as new mail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from email.utils import format_datetime
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from filters.authoring import lifecycle
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.models import Import
from tapestry.core.clock import DAY, HOUR, to_datetime, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import unfold

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.usefixtures("engine", "tables")

AGES = {"recent": HOUR, "older": 3 * DAY, "oldest": 9000 * DAY, "answered": 8000 * DAY}


def archive(path: Path, *names: str) -> str:
    """Write an mbox of messages that were received so long ago; one has been answered."""
    text = ""
    for name in names:
        date = format_datetime(to_datetime(wall_clock() - AGES.get(name, DAY)))
        parent = "In-Reply-To: <answered@x>\n" if name == "older" else ""
        text += (
            f"From joe@x.org Fri Jan  2 14:26:52 2004\nMessage-ID: <{name}@x>\nDate: {date}\n"
            f"From: joe@x.org\nSubject: plan {name}\n{parent}\nHello\n\n"
        )
    path.write_text(text)
    return str(path)


def subjects(page: str) -> list[str]:
    return re.findall(r'class="subject">plan (\w+)<', page)


@pytest.fixture
def imported(db: None, tmp_path: Path) -> None:
    call_command("ingest", archive(tmp_path / "box", *AGES))


def test_programs_are_told_in_json(
    db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    box = archive(tmp_path / "box", *AGES)

    def told(*command: str) -> dict[str, object]:
        call_command(*command, "--json")
        row: dict[str, object] = json.loads(capsys.readouterr().out)
        return row

    dry, taken = told("ingest", box, "--dry-run"), told("ingest", box)
    assert dry["added"] == taken["added"] == len(AGES) and dry["dry_run"] is True
    complete = {"complete": True, "waits_for": [], "later": []}
    assert told("wait", str(taken["token"])) == complete


@pytest.mark.parametrize("installed", ["before", "after"])
def test_old_messages_arrive_read_in_a_block_with_the_newest_first(
    tmp_path: Path, alice: User, as_user: SignIn, installed: str
) -> None:
    if installed == "before":
        lifecycle.install(alice, "about plan", name="f")
        rounds.run_round()
    call_command("ingest", archive(tmp_path / "box", *AGES))
    if installed == "after":
        lifecycle.install(alice, "about plan", name="f")
    rounds.run_round()
    unfold()
    for path in ("/", "/in/f/"):
        page = as_user(alice).get(path).content.decode()
        assert subjects(page) == ["recent", "older", "answered", "oldest"]
        block = page.index("3 messages of the import “box” match, newest first")
        assert page.index("plan recent") < block < page.index("plan older")
    unread = Match.objects.filter(read_at=None).values_list("msgid", flat=True)
    # Existing mail of a new filter arrives read, however recent it is.
    assert list(unread) == (["recent@x"] if installed == "before" else [])
    assert ("(1)" in as_user(alice).get("/").content.decode()) == (installed == "before")


def test_the_headline_filters_are_right_of_an_archive_on_its_first_day(
    imported: None, alice: User, as_user: SignIn
) -> None:
    for name, text in {
        "silent": "two weeks old with no reply",
        "young": "newer than 3 days",
        "answers": "replied to by joe",
    }.items():
        lifecycle.install(alice, text, name=name)
    rounds.run_round()
    client = as_user(alice)
    assert subjects(client.get("/in/silent/").content.decode()) == ["oldest"]
    assert subjects(client.get("/in/young/").content.decode()) == ["recent"]
    assert subjects(client.get("/in/answers/").content.decode()) == ["answered"]


def test_what_matches_later_is_new_though_its_message_is_old(
    tmp_path: Path, imported: None, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "tagged todo", name="f")
    rounds.run_round()
    client = as_user(alice)
    said = {"id": "oldest@x", "audience": "public", "kind": "tag", "value": "todo"}
    assert client.post("/message/annotate/", said).status_code < 400
    rounds.run_round()
    assert [match.read_at for match in Match.objects.all()] == [None]
    assert "of the import" not in client.get("/in/f/").content.decode()


def test_each_import_is_a_block_and_known_by_its_instant(
    tmp_path: Path, imported: None, tables: Tables, alice: User, as_user: SignIn
) -> None:
    call_command("ingest", archive(tmp_path / "other box", *AGES, "another"))
    assert sorted(Import.objects.values_list("name", flat=True)) == ["box", "other box"]
    instants = set(tables.open("messages").to_pyarrow_table()["ts"].to_pylist())
    assert set(Import.objects.values_list("ts", flat=True)) == instants
    lifecycle.install(alice, "about plan", name="f")
    rounds.run_round()
    page = as_user(alice).get("/in/f/").content.decode()
    assert "3 messages of the import “box” match, newest first" in page
    assert "1 message of the import “other box” matches, newest first" in page
