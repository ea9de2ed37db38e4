"""From a mailbox into it again: pulled, matched, released, delivered, and never taken in twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.models import Destination
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.crypto.delivery_signer import delivery_signer
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from filters.sources.pull import listening
from filters.sources.pull.pulling import pull
from tapestry.core.clock import wall_clock
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.core.message import Annotation
from tapestry.ingest.ingest_batch import Tally
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations
from tests.support.lists.live_filters import SCORE
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot, running_dovecot

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

FOLDERS = ["INBOX", "Kept", "Tapestry", "Tapestry/lunch", "Tapestry/lunch/Left"]
SignIn = Callable[[User], Client]


@pytest.fixture
def server() -> Iterator[Dovecot]:
    """A server of its own: INBOX has one message."""
    with running_dovecot() as running:
        running.put("INBOX", mail(1))
        running.put("Kept")
        yield running


@pytest.fixture
def source(alice: User, server: Dovecot) -> Source:
    """All folders of the mailbox as a source: those of deliveries too."""
    made = Source(
        owner=alice,
        kind="imap",
        host="127.0.0.1",
        port=server.port,
        security="none",
        user=USER,
        folder_patterns=FOLDERS,
        active=True,
        audience="user:alice",
    )
    keep_secret(made, PASSWORD)
    made.save()
    return made


@pytest.fixture
def box(alice: User, server: Dovecot) -> Destination:
    return Destination.objects.create(
        owner=alice,
        kind="mailbox",
        name="box",
        settings={"host": "127.0.0.1", "port": server.port, "security": "none", "user": USER},
        secret=encrypt(PASSWORD, services.data()),
    )


def mail(n: int, head: str = "") -> bytes:
    return f"{head}Message-ID: <{n}@x.org>\r\nSubject: {n}\r\n\r\nGr\xfc\xdfe\r\n".encode("latin-1")


def vote(tables: Tables, number: int, name: str) -> None:
    new = Annotation(name, "1@x.org", "alice", "vote", None, float(number), "user:alice")
    append_annotations(tables, DjangoClock(), [new])


def deliver() -> None:
    """One run of the filters, the release, and all deliveries."""
    from filters.runs.store.release import release

    rounds.run_round()
    release()
    Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
    sending.deliver(["mailbox"], 1)


def content(server: Dovecot, folder: str) -> list[bytes]:
    with server.session() as client:
        if not client.folder_exists(folder):
            return []
        client.select_folder(folder, readonly=True)
        fetched: Any = client.fetch(client.search(), ["BODY.PEEK[]"])
        return [attributes[b"BODY[]"] for attributes in fetched.values()]


@pytest.mark.usefixtures("engine")
def test_a_message_enters_leaves_and_comes_back(
    alice: User, tables: Tables, server: Dovecot, source: Source, box: Destination
) -> None:
    assert pull(source) == Tally(read=1, added=1)
    lifecycle.install(alice, SCORE, name="lunch", mode=Filter.Mode.LIVE)
    vote(tables, 1, "for")
    deliver()
    assert content(server, "Tapestry/lunch") == [mail(1)]
    vote(tables, -5, "against")
    deliver()
    assert (content(server, "Tapestry/lunch"), content(server, "Tapestry/lunch/Left")) == (
        [],
        [mail(1)],
    )
    assert pull(source) == Tally(), "our folders are not pulled"
    vote(tables, 9, "for again")
    deliver()
    assert (content(server, "Tapestry/lunch"), content(server, "Tapestry/lunch/Left")) == (
        [mail(1)],
        [],
    )
    assert pull(source) == Tally()
    assert content(server, "INBOX") == [mail(1)], "what was there stays"
    box.refresh_from_db()
    assert (box.error, box.cursor) == ("", box.latest)


def test_own_mail_in_other_folders_is_left_out_and_counted(
    alice: User, server: Dovecot, source: Source, as_user: SignIn
) -> None:
    ours = f"{DELIVERY_HEADER}: {delivery_signer().value('1-2')}\r\n"
    forged = f"{DELIVERY_HEADER}: 1-2; mac={'0' * 32}\r\n"
    server.put("INBOX", mail(2, ours), mail(3, forged))
    assert pull(source) == Tally(read=2, added=2, skipped=1)
    page = as_user(alice).get(source.get_absolute_url()).content.decode()
    assert "1 of our own deliveries left out" in page


def test_folders_of_deliveries_are_neither_offered_nor_watched(
    alice: User, bob: User, server: Dovecot, source: Source, box: Destination, as_user: SignIn
) -> None:
    server.put("Tapestry/lunch")
    Source.objects.update(folder_patterns=["INBOX"])
    address = reverse("source-folders", args=[source.pk])
    assert "Tapestry/lunch" not in as_user(alice).get(address).content.decode()
    Source.objects.update(folder_patterns=FOLDERS)
    watched = [folder for _, folder in listening._watchable()]
    assert watched == ["INBOX", "Kept"]
    Destination.objects.update(owner=bob)
    Source.objects.update(folder_patterns=["INBOX"])
    assert "Tapestry/lunch" in as_user(alice).get(address).content.decode()
    Source.objects.update(folder_patterns=FOLDERS)
    watched = [folder for _, folder in listening._watchable()]
    assert watched == ["INBOX", "Kept", "Tapestry"], "of a stranger's destination nothing is hidden"
