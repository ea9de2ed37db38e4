"""What is known of a folder is known to all who read it, and stays when their sources go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.people.models import User
from filters.sources import tasks
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source, SyncState
from filters.sources.pull.sync_state import StoredSyncStates
from filters.upkeep.forgetting import forget
from tapestry.ingest import unavailable
from tapestry.tables.delta.log import Tables
from tests.support.people.publishers import let_publish
from tests.support.servers.fake_servers import FakeImap, FakeNews, letter

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


def source_at(
    server: FakeImap | FakeNews, owner: User, audience: str = AUDIENCE, **given: Any
) -> Source:
    mailbox = {"kind": "imap", "user": "joe", "folder_patterns": ["INBOX"]}
    made = Source(
        owner=owner,
        host="127.0.0.1",
        port=server.port,
        security="none",
        active=True,
        audience=audience,
        **(mailbox | given),
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
        assert not StoredSyncStates.of(source).unavailable()


def test_withheld_mail_comes_to_whoever_reads_the_folder_beside(
    alice: User, bob: User, tables: Tables
) -> None:
    for person in (alice, bob):
        let_publish(person)
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        first, second = (source_at(server, person, "public") for person in (alice, bob))
        pull(first)
        pull(second)
        alice.delete()
        server.withholds = False
        pull(second)
        assert len(tables.open("messages").to_pyarrow_table()) == 3


def test_that_a_group_is_numbered_anew_is_seen_by_a_new_source(alice: User, tables: Tables) -> None:
    with FakeNews({"a.b": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice, kind="nntp", user="", folder_patterns=["a.b"])
        pull(source)
        source = delete(source)
        server.groups["a.b"] = {n: letter(10 + n) for n in (1, 2, 3, 4)}
        pull(source)
        assert private(tables) == sorted(f"{n}@x.org" for n in (1, 2, 3, 11, 12, 13, 14))


def test_what_was_withheld_under_other_numbers_is_asked_for_no_more(
    alice: User, tables: Tables
) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice)
        pull(source)
        known = SyncState.objects.get()
        known.state[unavailable.STATE]["numbering"] = 0
        known.save()
        server.withholds = False
        pull(source)
        assert not StoredSyncStates.of(source).unavailable()


def test_nobody_asks_for_what_is_forgotten(alice: User, tables: Tables) -> None:
    with Withholding({"INBOX": {n: letter(n) for n in (1, 2, 3)}}) as server:
        source = source_at(server, alice)
        pull(source)
        known = StoredSyncStates.of(source)
        assert known.unavailable() == {"INBOX": 1}
        forget(AUDIENCE)
        assert not known.unavailable() and known.load("INBOX"), "the rest is read on"
        source.delete()
        forget(AUDIENCE)
        assert not SyncState.objects.exists()
