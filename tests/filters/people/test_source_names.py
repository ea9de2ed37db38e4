"""Where mail came from, as far as a reader may know."""

from __future__ import annotations

import pytest

from filters.people.models import User
from filters.people.names.source_names import import_words
from filters.sources.models import Source

INBOX = "imaps://al%40x.org@imap.x.org:993/INBOX"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (INBOX, "the import “INBOX of al@x.org”"),
        ("imaps://al@[::1]:993/Lists/plans", "the import “Lists/plans of al”"),
        ("nntps://news.x.org:563/comp.misc", "the import “comp.misc of news.x.org”"),
        ("last-year.mbox", "the import “last-year.mbox”"),
        ("https://x.org/a", "the import “https://x.org/a”"),
        ("imap://x", "the import “imap://x”"),
    ],
)
def test_staff_read_what_was_imported(name: str, said: str) -> None:
    assert import_words(User(is_staff=True), name) == said


def test_the_login_and_folder_of_a_source_are_its_owners(alice: User, bob: User) -> None:
    place = {"host": "imap.x.org", "port": 993, "security": "tls", "user": "al@x.org"}
    Source.objects.create(owner=alice, kind="imap", audience="public", **place)
    assert import_words(alice, INBOX) == "the import “INBOX of al@x.org”"
    assert import_words(bob, INBOX) == "an import from a mailbox (IMAP)"
    assert import_words(bob, "last-year.mbox") == "the import “last-year.mbox”"
