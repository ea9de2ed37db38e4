"""The export of a person's data: all that is theirs, nothing of others, for them alone."""

from __future__ import annotations

import io
import json
import mailbox
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.people.membership.export import exports
from filters.people.membership.export.mbox import rebuilt
from filters.people.models import Export, User
from filters.reading.annotations.outbox import annotate
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.files.disk_space import DiskFullError
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.people.second_factors import confirm

SignIn = Callable[[User], Client]

RAW = b"From: joe@x.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nFrom here\r\n>From there\r\n"


@pytest.fixture
def here(alice: User, as_user: SignIn) -> Client:
    """Return a browser in which alice has confirmed that it is she."""
    client = as_user(alice)
    confirm(client)
    return client


def fetched(client: Client) -> zipfile.ZipFile:
    """Return the archive that a person is sent."""
    answer = client.get(f"/me/data/{Export.objects.latest('pk').uid}/")
    assert answer.status_code == 200 and "attachment" in answer["Content-Disposition"]
    return zipfile.ZipFile(io.BytesIO(b"".join(answer)))


def test_it_has_all_that_is_ones_own_and_nothing_else(
    here: Client, alice: User, mail: Tables, tmp_path: Path
) -> None:
    clock = DjangoClock()
    kept = Message("kept@x", sender="joe@x.org", body="From here", audience="user:alice")
    append_messages(mail, clock, [kept], originals=[Original(RAW)])
    append_annotations(
        mail,
        clock,
        [
            Annotation("a-1", "plan@example.org", "alice", "tag", "hot"),
            Annotation("a-2", "secret@example.org", "bob", "note", "psst", audience="user:alice"),
            Annotation("a-3", "plan@example.org", "bob", "tag", "of bob"),
        ],
    )
    annotate(alice, "parc@example.org", "group:parc", "vote", number=1.0)
    Filter.objects.create(owner=alice, name="jones", text="by jones")
    assert "can be downloaded for a day" in here.get("/me/data/").content.decode()
    here.post("/me/data/")
    page = here.get("/me/data/").content.decode()
    assert "2 messages, 3 of your votes" in page and "/me/data/" in page
    archive = fetched(here)
    archive.extractall(tmp_path / "out")
    box = mailbox.mbox(tmp_path / "out" / "mail.mbox")
    assert [str(message["Subject"]) for message in box] == [
        "Re: The plan, between us",
        "=?utf-8?q?Gr=C3=BC=C3=9Fe?=",
    ]
    assert box[1].get_payload() == ">From here\n>>From there\n"
    lines = [json.loads(line) for line in archive.read("annotations.jsonl").splitlines()]
    assert {(line["by"], line["kind"], line["value"]) for line in lines} == {
        ("alice", "tag", "hot"),
        ("bob", "note", "psst"),
        ("alice", "vote", None),
    }
    assert archive.read("filters.toml") == here.get("/filters/export/").content
    profile = json.loads(archive.read("profile.json"))
    assert profile["name"] == "alice" and profile["groups"] == ["parc"]
    everything = b"".join(map(archive.read, archive.namelist()))
    assert b"For the group" not in everything and b"Shall we?" not in everything


def test_nobody_else_gets_it(here: Client, bob: User, as_user: SignIn, alice: User) -> None:
    here.post("/me/data/")
    address = f"/me/data/{Export.objects.get().uid}/"
    stranger, other, unconfirmed = Client(), as_user(bob), as_user(alice)
    confirm(other)
    assert stranger.get(address)["Location"].startswith("/sign-in/")
    assert other.get(address).status_code == 404
    assert unconfirmed.get(address)["Location"].startswith("/me/confirm/")
    assert here.post(address).status_code == 405


def test_the_file_is_private_and_goes_after_a_day(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.post("/me/data/")
    path = exports.path_of(Export.objects.get())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    exports.forget_old()
    assert path.exists()
    monkeypatch.setattr(exports, "wall_clock", lambda: wall_clock() + DAY + 1)
    exports.forget_old()
    assert not path.exists() and not Export.objects.exists()
    assert "Make the file" in here.get("/me/data/").content.decode()


def test_one_is_made_at_a_time(here: Client, alice: User) -> None:
    assert exports.ask(alice) == exports.ask(alice)
    assert "We started making it at " in here.get("/me/data/").content.decode()


def test_a_new_one_takes_the_place_of_the_last(here: Client) -> None:
    for _ in range(3):
        here.post("/me/data/")
    assert [path.name for path in exports.directory().iterdir()] == [
        exports.path_of(Export.objects.get()).name
    ]


def test_what_cannot_be_made_says_why(
    here: Client, mail: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Any) -> None:
        raise DiskFullError

    monkeypatch.setattr("filters.people.membership.export.archive.require_room", full)
    here.post("/me/data/")
    assert DiskFullError().message in here.get("/me/data/").content.decode()
    assert list(exports.directory().iterdir()) == []
    assert here.get(f"/me/data/{Export.objects.get().uid}/").status_code == 404


def test_a_message_without_its_original_is_written_from_what_is_known() -> None:
    message = Message(
        "a@x", date=0, sender="é@x.org", sender_name="Zoë\nBcc: x", subject="Grüße", body="Ja.\n"
    )
    raw = rebuilt(message)
    assert b"\nBcc:" not in raw and b"Message-ID: <a@x>\n" in raw and raw.isascii()
