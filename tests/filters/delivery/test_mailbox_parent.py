"""The parent of the folders of a mailbox: never the INBOX, which sources take in."""

from __future__ import annotations

import pytest

from filters.delivery.forms.mailbox import MailboxForm
from filters.delivery.models import Destination
from filters.people.models import User
from filters.sources.both_ways.delivery_folders import delivery_parents
from filters.sources.models import Source

GIVEN = {
    "host": "imap.example.org", "security": "tls", "port": "993",
    "user": "al", "secret": "x", "which": "all",
}  # fmt: skip


@pytest.mark.parametrize("parent", ["INBOX", "/inbox/", " Inbox", "INBOX /"])
def test_the_inbox_is_no_parent(alice: User, parent: str) -> None:
    destination = Destination(owner=alice, kind="mailbox")
    form = MailboxForm({**GIVEN, "parent": parent}, destination=destination)
    assert not form.is_valid()
    assert "a parent folder of their own" in form.errors["parent"][0]
    assert MailboxForm({**GIVEN, "parent": "INBOX/Found"}, destination=destination).is_valid()


def test_a_parent_that_nothing_is_delivered_to_hides_nothing(alice: User) -> None:
    source = Source(owner=alice, kind="imap", host="imap.example.org", user="al")
    for parent in ("INBOX", "", "Found"):
        Destination.objects.create(
            owner=alice, kind="mailbox", name="m",
            settings={"host": "imap.example.org", "user": "al", "parent": parent},
        )  # fmt: skip
    assert delivery_parents(source) == ["Tapestry", "Found"]
