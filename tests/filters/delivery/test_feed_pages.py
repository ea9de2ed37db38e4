"""Feeds are read to their end, page by page; entries begin with what the message says."""

from __future__ import annotations

from collections.abc import Callable

import feedparser
import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery import feeds
from filters.delivery.models import Feed
from filters.inbox.models import Match, Mute
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.release import release
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.delivery.recorded_way import Store


@pytest.fixture
def feed(jones: Filter) -> Feed:
    return Feed.objects.create(owner=jones.owner, filter=jones)


def pages(url: str, between: Callable[[], object] = lambda: None) -> list[list[str]]:
    """Follow the links of a feed; return the titles of each document."""
    found: list[list[str]] = []
    while url and len(found) < 20:
        answer = Client().get(url)
        assert Client().get(url, headers={"If-None-Match": answer["ETag"]}).status_code == 304
        document = feedparser.parse(answer.content)
        assert not document.bozo
        found.append([entry.title for entry in document.entries])
        older = [link.href for link in document.feed.links if link.rel == "next"]
        url = older[0].removeprefix("http://127.0.0.1:8000") if older else ""
        between()
    return found


def test_who_follows_the_links_gets_every_match_once_while_new_ones_come(
    jones: Filter, feed: Feed, store: Store
) -> None:
    for number in range(300):
        store(jones, f"m{number}")
    release()
    new = iter(range(300, 1000))

    def comes() -> None:
        for _ in range(7):
            store(jones, f"m{next(new)}")
        release()

    found = pages(feed.get_absolute_url(), comes)
    assert [len(page) for page in found] == [100, 100, 100]
    assert [title for page in found for title in page] == [
        f"About m{number}" for number in reversed(range(300))
    ]


def test_pages_have_no_more_than_the_feed(
    alice: User, jones: Filter, feed: Feed, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST", 2)
    for number in range(6):
        store(jones, f"m{number}", root="r" if number == 2 else f"m{number}")
    store(jones, "secret", audience="user:bob")
    left = store(jones, "left")
    release()
    Mute.objects.create(owner=alice, root="r")
    Match.objects.filter(pk=left.pk).update(retracted_at=wall_clock())
    found = [title for page in pages(feed.get_absolute_url()) for title in page]
    assert found == [f"About m{number}" for number in (5, 4, 3, 1, 0)]
    for wrong in ("1", "x" * 22, "é", "A" * 22):
        assert Client().get(feed.get_absolute_url(), {"before": wrong}).status_code == 404


def test_an_entry_has_the_first_words_of_the_copy_that_its_owner_sees(
    mail: Tables, jones: Filter, feed: Feed, store: Store
) -> None:
    bodies = {"public": "> Lunch?\n\nAt <b>noon</b>\n& not later.\n-- \nJoe", "user:bob": "Hush"}
    for audience, body in bodies.items():
        message = Message("words@example.org", body=body, audience=audience)
        append_messages(mail, DjangoClock(), [message])
    store(jones, "words@example.org")
    release()
    document = Client().get(feed.get_absolute_url()).content
    (entry,) = feedparser.parse(document).entries
    assert (entry.content[0].type, entry.content[0].value) == (
        "text/plain",
        "At <b>noon</b> & not later.",
    )
    assert b"Hush" not in document
