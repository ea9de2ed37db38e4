"""What a server withholds comes whenever it is handed over, whatever became of its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from support.publishers import let_publish
from support.servers.fake_servers import FakeImap, letter

from filters.models import DeadLetters
from filters.models.source import Folder, Source
from filters.sources import tasks
from filters.sources.credentials import keep_secret
from filters.upkeep.forgetting import forget
from tapestry.ingest import unavailable
from tapestry.tables.delta.log import Tables

pytestmark = pytest.mark.django_db(transaction=True)

AUDIENCE = "user:alice"

Change = Callable[[Source], Source]


class Withholding(FakeImap):
    """A server that lists all messages, and does not hand over the second one."""

    withholds = True

    def hook(self, say: Any, command: str, argument: str, _place: str) -> bool | None:
        uids = argument.partition(" ")[0].replace(":", ",").split(",")
        if self.withholds and command == "UID FETCH" and "BODY" in argument and "2" in uids:
            say("TAG NO [UNAVAILABLE] not now")
            return True
        return None


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unavailable, "ASK_AGAIN", 0.0)


def source_at(server: FakeImap, owner: User) -> Source:
    made = Source(
        owner=owner,
        kind="imap",
        host="127.0.0.1",
        port=server.port,
        security="none",
        user="joe",
        folder_patterns=["INBOX"],
        active=True,
        audience=AUDIENCE,
    )
    keep_secret(made, "secret")
    made.save()
    return made


def pull(source: Source) -> None:
    tasks.pull_source(source.pk)


def delete(source: Source) -> Source:
    source.delete()
    source.pk = None
    source.save()
    return source


def delete_all(source: Source) -> Source:
    Source.objects.all().delete()
    source.save(force_insert=True)
    return source


def move(source: Source) -> Source:
    let_publish(source.owner)
    Source.objects.update(audience="public")
    pull(source)
    Source.objects.update(audience=AUDIENCE)
    return source


def outlive(source: Source) -> Source:
    """Have it deleted beside another that reads the same folder, and has begun before."""
    other = Source.objects.get(pk=source.pk)
    other.pk = None
    other.save()
    pull(other)
    source.delete()
    return other


def private(tables: Tables) -> list[str]:
    rows = tables.open("messages").to_pyarrow_table().to_pylist()
    return sorted(row["msgid"] for row in rows if row["audience"] == AUDIENCE)


@pytest.mark.parametrize("change", [delete, delete_all, move, outlive])
def test_withheld_mail_comes_to_whoever_reads_the_folder_again(
    alice: User, tables: Tables, change: Change
) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice)
        pull(source)
        assert private(tables) == ["1@x.org", "3@x.org"]
        source = change(source)
        server.withholds = False
        pull(source)
        assert private(tables) == ["1@x.org", "2@x.org", "3@x.org"]
        assert not DeadLetters.objects.filter(owner__endswith=AUDIENCE).exists()


def test_what_was_withheld_under_other_numbers_is_asked_for_no_more(
    alice: User, tables: Tables
) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice)
        pull(source)
        folder = Folder.objects.get()
        folder.sync_state[unavailable.STATE]["numbering"] = 0
        folder.save()
        server.withholds = False
        pull(source)
        assert not unavailable.has_unavailable(Folder.objects.get().sync_state)


def test_nobody_asks_for_what_is_forgotten(alice: User, tables: Tables) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice)
        pull(source)
        source.delete()
        assert DeadLetters.objects.exists()
        forget(AUDIENCE)
        assert not DeadLetters.objects.exists()


def test_an_account_that_is_deleted_leaves_none(alice: User, tables: Tables) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        pull(source_at(server, alice))
        alice.delete()
        assert not DeadLetters.objects.exists()


def test_numbers_that_mean_other_messages_are_not_asked_for(alice: User, tables: Tables) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice)
        pull(source)
        source.delete()
        DeadLetters.objects.update(unavailable={"numbering": 0, "missing": {"2": [1, 0]}})
        server.withholds = False
        pull(source_at(server, alice))
        assert private(tables) == ["1@x.org", "3@x.org"]
