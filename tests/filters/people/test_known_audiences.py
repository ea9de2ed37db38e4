"""Audiences that nobody has: no mail is taken in for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection

from filters.people.models import User
from filters.site.work.parts import services
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tapestry.tables.read.messages import copies
from tests.support.servers.fake_servers import FakeNews
from tests.support.servers.fake_servers import letter as letter_of


@pytest.fixture
def letter(tmp_path: Path) -> str:
    """Return the path of a message."""
    path = tmp_path / "a.eml"
    path.write_bytes(b"From: joe@x.org\nMessage-ID: <1@x>\n\nHello.\n")
    return str(path)


@pytest.mark.parametrize(
    ("audience", "hint"),
    [
        ("user:alice2", "Did you mean user:alice?"),
        ("group:park", "Did you mean group:parc?"),
        ("user:parc", "Did you mean group:parc?"),
        ("user:xyzzy-quux", "Add the account under /admin/ first."),
        ("user:Alice", "Did you mean user:alice?"),
    ],
)
def test_an_audience_without_an_account_or_group_is_refused(
    alice: User, letter: str, audience: str, hint: str
) -> None:
    with pytest.raises(TapestryError, match=f"nobody could read mail for {audience}") as refused:
        call_command("ingest", letter, audience=audience)
    assert refused.value.hint == hint
    assert copies(services.tables(), "1@x", [audience]) == []
    with pytest.raises(ValidationError, match="nobody could read"):
        Source.objects.create(owner=alice, kind="imap", host="x.org", port=993, audience=audience)


@pytest.mark.parametrize("audience", ["public", "user:alice", "group:parc"])
def test_the_others_are_taken(alice: User, letter: str, audience: str) -> None:
    call_command("ingest", letter, audience=audience)
    assert copies(services.tables(), "1@x", [audience])
    Source.objects.create(owner=alice, kind="imap", host="x.org", port=993, audience=audience)


def test_a_source_whose_group_is_gone_can_still_be_saved(alice: User) -> None:
    source = Source(owner=alice, kind="imap", host="x.org", port=993, audience="group:parc")
    source.save()
    alice.groups.all().delete()
    source.active = True
    source.save()
    source.audience = "group:parc2"
    with pytest.raises(ValidationError):
        source.save()


def test_the_default_audience_is_told_before_it_begins(
    db: None, letter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TapestryError):
        call_command("ingest", f"{letter}.gone")
    told = capsys.readouterr().err
    assert told.startswith("Everybody will be able to read what comes in; --audience user:NAME")
    call_command("ingest", letter, audience="public")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("what", ["", "  "])
def test_nothing_is_not_the_current_directory(
    db: None, letter: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(Path(letter).parent)
    with pytest.raises(TapestryError, match="No mail is named"):
        call_command("ingest", what)
    assert copies(services.tables(), "1@x", ["public"]) == []


@pytest.mark.django_db(transaction=True)
def test_nothing_is_taken_for_who_was_deleted_meanwhile(alice: User) -> None:
    def leave(_say: Any, command: str, *_: Any) -> None:
        if command == "ARTICLE":
            User.objects.filter(pk=alice.pk).delete()
            connection.close()

    with FakeNews({"a.b": {1: letter_of(1)}}) as server:
        server.hook = leave
        with pytest.raises(TapestryError, match="There is no account alice"):
            call_command("ingest", f"nntp://127.0.0.1:{server.port}/a.b", audience="user:alice")
    assert copies(services.tables(), "1@x.org", ["user:alice"]) == []
