"""A form stores what it changed, and leaves what a worker stored while it was tried."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.http import QueryDict
from django.test import Client

from filters.delivery import trial
from filters.delivery.forms.mailbox import MailboxForm
from filters.delivery.models import Address, Destination
from filters.delivery.ways.mailbox import FOLDERS
from filters.people.models import User
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts.services import data as data_directory
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.errors import TapestryError
from tests.support.delivery.turn import fresh

PLACE = {"host": "imap.example.org", "port": 993, "security": "tls", "user": "al"}


@pytest.fixture
def mailbox(alice: User) -> Destination:
    return Destination.objects.create(
        owner=alice,
        kind="mailbox",
        name="Mine",
        settings=PLACE | {"parent": "Tapestry"},
        secret=encrypt("old", data_directory()),
    )


def write(mailbox: Destination, **given: str) -> None:
    answers = QueryDict(mutable=True)
    answers.update({name: str(value) for name, value in mailbox.settings.items()})
    answers.update({"which": "all", "name": "Mine"} | given)
    question = {"destination": mailbox.pk, "kind": "mailbox", "data": answers.urlencode()}
    trial.write(mailbox.owner, question)


def test_what_a_worker_stores_during_a_trial_stays(
    mailbox: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_worker = mailbox.settings | {FOLDERS: {"7": "lunch"}}
    other_secret = encrypt("new", data_directory())

    def try_connection(form: MailboxForm) -> None:
        rows = Destination.objects.filter(pk=mailbox.pk)
        rows.update(settings=by_worker, secret=other_secret)

    monkeypatch.setattr(MailboxForm, "try_connection", try_connection)
    write(mailbox, parent="Found")
    assert fresh(mailbox).settings == by_worker | {"parent": "Found"}
    assert mailbox.secret == other_secret


def test_at_another_place_nothing_has_failed_yet(
    alice: User, as_user: Callable[[User], Client]
) -> None:
    later = wall_clock() + HOUR
    ours = Address.objects.create(owner=alice, email="a@x.org", confirmed_at=1)
    Address.objects.create(owner=alice, email="b@x.org", confirmed_at=1)
    failing = {"failures": 3, "failing_since": 1, "error": "It is away.", "due_at": later}
    digest = Destination.objects.create(
        owner=alice, kind="digest", name="d", address=ours, **failing
    )
    given = {"address": "a@x.org", "which": "all", "timeliness_how": "at once"}
    client = as_user(alice)
    client.post(f"/delivery/{digest.pk}/edit/", given)
    assert (fresh(digest).failures, digest.due_at) == (3, later), "it is the same place"
    client.post(f"/delivery/{digest.pk}/edit/", given | {"address": "b@x.org"})
    assert (fresh(digest).failures, digest.failing_since, digest.error) == (0, None, "")
    assert digest.due_at is not None and digest.due_at <= wall_clock()


def test_a_mailbox_that_is_deleted_during_a_trial_is_not_stored(
    mailbox: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Destination.objects.filter(pk=mailbox.pk)
    monkeypatch.setattr(MailboxForm, "try_connection", lambda form: rows.delete())
    with pytest.raises(TapestryError, match="It was deleted meanwhile"):
        write(mailbox, parent="Found")
    assert not Destination.objects.exists()
