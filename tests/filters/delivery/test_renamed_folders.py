"""A folder that its owner renames on the server is followed, and not made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.models import Destination
from filters.delivery.ways import mailbox
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.release import release
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.servers.imap import UNREADABLE, listed_folders
from tapestry.tables.read.originals import Original
from tests.support.delivery.recorded_way import Store
from tests.support.delivery.turn import fresh
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot, running_dovecot

pytestmark = pytest.mark.live

Deliver = Callable[[str], str]


@pytest.fixture
def server() -> Iterator[Dovecot]:
    with running_dovecot() as running:
        yield running


@pytest.fixture
def box(alice: User, server: Dovecot) -> Destination:
    return Destination.objects.create(
        owner=alice,
        kind="mailbox",
        name="box",
        settings={"host": "127.0.0.1", "port": server.port, "security": "none", "user": USER},
        secret=encrypt(PASSWORD, services.data()),
    )


@pytest.fixture
def deliver(
    jones: Filter, box: Destination, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Deliver:
    """Return a function that delivers a message, and gives the answer."""

    def kept_original(_tables: object, msgid: str, audience: str) -> Original:
        raw = f"Message-ID: <{msgid}>\r\nSubject: {msgid}\r\n\r\nHello\r\n".encode()
        return Original(raw)

    def delivered(msgid: str) -> str:
        if not Match.objects.filter(msgid=msgid).exists():
            store(jones, msgid)
        release()
        Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
        sending.deliver(["mailbox"], 1)
        row = fresh(box).deliveries.first()
        assert row is not None and (row.state, box.error) == ("delivered", "")
        return row.answer

    monkeypatch.setattr(mailbox, "kept_original", kept_original)
    return delivered


def folders(server: Dovecot) -> dict[str, int]:
    with server.session() as client:
        names = [name for flags, name in listed_folders(client) if not flags & UNREADABLE]
        counts = {name: client.folder_status(name, ["MESSAGES"])[b"MESSAGES"] for name in names}
        return {name: count for name, count in counts.items() if name != "INBOX"}


def rename(server: Dovecot, old: str, new: str) -> None:
    with server.session() as client:
        client.rename_folder(old, new)


@pytest.mark.parametrize("new", ["Tapestry/By Jones", "Reading/Work/Jones"])
def test_what_comes_goes_into_the_renamed_folder(
    server: Dovecot, deliver: Deliver, new: str
) -> None:
    deliver("1@x.org")
    rename(server, "Tapestry/jones", new)
    assert deliver("2@x.org") == deliver("3@x.org") == "1 message was put in."
    assert folders(server)[new] == 3 and "Tapestry/jones" not in folders(server)
    rename(server, new, "Again")
    deliver("4@x.org")
    assert folders(server)["Again"] == 4 and "Tapestry/jones" not in folders(server)


def test_what_leaves_is_moved_below_the_renamed_folder(
    server: Dovecot, deliver: Deliver, jones: Filter
) -> None:
    deliver("1@x.org")
    rename(server, "Tapestry/jones", "Mine")
    Match.objects.update(retracted_at=wall_clock(), sequence=None)
    deliver("1@x.org")
    counts = folders(server)
    assert (counts["Mine"], counts["Mine/Left"]) == (0, 1) and "Tapestry/jones" not in counts


def test_a_renamed_parent_and_an_emptied_folder_are_followed(
    server: Dovecot, deliver: Deliver
) -> None:
    deliver("1@x.org")
    with server.session() as client:
        client.select_folder("Tapestry/jones")
        client.delete_messages(client.search())
        client.expunge()
    rename(server, "Tapestry", "Found")
    deliver("2@x.org")
    counts = folders(server)
    assert counts["Found/jones"] == 1 and "Tapestry/jones" not in counts


@pytest.mark.parametrize("fate", ["deleted", "in the trash", "emptied and filled with other mail"])
def test_a_folder_that_is_gone_is_made_anew_and_the_answer_says_so(
    server: Dovecot, deliver: Deliver, fate: str
) -> None:
    deliver("1@x.org")
    with server.session() as client:
        if fate == "deleted":
            client.delete_folder("Tapestry/jones")
        else:
            client.rename_folder("Tapestry/jones", "Trash/jones" if "trash" in fate else "Other")
        if fate.startswith("emptied"):
            client.select_folder("Other")
            client.delete_messages(client.search())
            client.expunge()
            client.append("Other", b"Subject: not ours\r\n\r\n")
    said = mailbox.MADE_ANEW.format("Tapestry/jones")
    assert deliver("2@x.org") == f"1 message was put in. {said}"
    assert folders(server)["Tapestry/jones"] == 1
    assert deliver("3@x.org") == "1 message was put in."


def test_a_folder_of_the_same_name_in_another_mailbox_is_another(
    server: Dovecot, deliver: Deliver, box: Destination
) -> None:
    deliver("1@x.org")
    rename(server, "Tapestry/jones", "Mine")
    Destination.objects.filter(pk=box.pk).update(settings=box.settings | {"parent": "Other"})
    deliver("2@x.org")
    assert (folders(server)["Mine"], folders(server)["Other/jones"]) == (1, 1)
