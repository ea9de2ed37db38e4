"""Feeds of the site, as a feed reader's parser reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import feedparser
import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from filters.authoring.models import Filter
from filters.delivery import changes, feeds
from filters.delivery.models import Feed
from filters.inbox.models import Card, Match, Mute
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.delivery.recorded_way import Store

SignIn = Callable[[User], Client]

LONG_AGO = wall_clock() - 10 * MINUTE


@pytest.fixture
def feed(jones: Filter) -> Feed:
    return Feed.objects.create(owner=jones.owner, filter=jones)


@pytest.fixture
def old(store: Store) -> Store:
    """Return a function that stores a match of ten minutes ago."""

    def stored(filter_: Filter, msgid: str, **fields: Any) -> Match:
        names = ("matched_at", "stored_at", "shown_at", "refreshed_at")
        return store(filter_, msgid, **dict.fromkeys(names, LONG_AGO) | fields)

    return stored


def read(feed: Feed, **headers: str) -> Any:
    """Ask for a feed without signing in."""
    return Client().get(feed.get_absolute_url(), headers=headers)


def without_token(page: Any) -> str:
    """Return a page without the token against forged requests, which is new each time."""
    text, count = re.subn(r'"x-csrftoken": "\w+"', "", page.content.decode())
    assert count == 1
    return text


def parsed(feed: Feed) -> Any:
    document = feedparser.parse(read(feed).content)
    assert not document.bozo
    return document


def titles(feed: Feed) -> list[str]:
    return [entry.title for entry in parsed(feed).entries]


def test_entries_are_exactly_the_released_matches(jones: Filter, feed: Feed, store: Store) -> None:
    store(jones, "a")
    assert titles(feed) == []
    release()
    store(jones, "b")
    assert titles(feed) == ["About a"]
    release()
    assert titles(feed) == ["About b", "About a"]
    assert titles(feed) == titles(feed), "a reader that crashed asks again, and misses nothing"


def test_a_feed_says_what_it_is(jones: Filter, feed: Feed, store: Store) -> None:
    store(jones, "a")
    release()
    response = read(feed)
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    document = feedparser.parse(response.content)
    assert document.version == "atom10"
    assert document.feed.id == feed.uid.urn
    assert document.feed.title == "Tapestry: jones"
    addresses = {link.rel: link.href for link in document.feed.links}
    assert addresses["self"] == f"http://127.0.0.1:8000/feeds/{feed.token}.atom"
    assert addresses["alternate"] == "http://127.0.0.1:8000/in/jones/"
    (entry,) = document.entries
    assert entry.link == "http://127.0.0.1:8000/message/?id=a&in=public"
    assert entry.author_detail.name == "Joe"


def test_the_feed_of_all_has_what_all_filters_of_its_owner_found(
    alice: User, bob: User, jones: Filter, store: Store
) -> None:
    other = Filter.objects.create(owner=alice, name="other", text="x")
    of_all = Feed.objects.create(owner=alice)
    for filter_, msgid in ((jones, "a"), (other, "b"), (other, "c")):
        store(filter_, msgid)
    store(Filter.objects.create(owner=bob, name="b", text="x"), "of bob")
    release()
    assert titles(of_all) == ["About c", "About b", "About a"]


def test_a_feed_shows_the_newest(
    jones: Filter, feed: Feed, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST", 3)
    for number in range(5):
        store(jones, f"m{number}")
    release()
    assert titles(feed) == ["About m4", "About m3", "About m2"]


def test_what_is_muted_has_left_or_may_not_be_seen_is_not_in_it(
    alice: User, jones: Filter, feed: Feed, store: Store
) -> None:
    store(jones, "loud", root="loud")
    left = store(jones, "left")
    store(jones, "of bob", audience="user:bob")
    store(jones, "of parc", audience="group:parc")
    store(jones, "kept")
    release()
    assert titles(feed) == ["About kept", "About of parc", "About left", "About loud"]
    Mute.objects.create(owner=alice, root="loud")
    assert titles(feed) == ["About kept", "About of parc", "About left"]
    Match.objects.filter(pk=left.pk).update(retracted_at=wall_clock(), sequence=None)
    assert titles(feed) == ["About kept", "About of parc"]
    release()
    assert titles(feed) == ["About kept", "About of parc"]
    alice.groups.remove(Group.objects.get(name="parc"))
    assert titles(feed) == ["About kept"]


def test_a_reader_that_has_it_already_is_told_so_without_its_matches(
    jones: Filter,
    feed: Feed,
    old: Store,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old(jones, "a")
    release()
    first = read(feed)
    assert first.headers["Cache-Control"] == "private, max-age=60"
    etag, modified = first.headers["ETag"], first.headers["Last-Modified"]
    monkeypatch.setattr(feeds, "delivered", None)
    for headers in (
        {"If-None-Match": etag},
        {"If-None-Match": f"W/{etag}"},
        {"If-None-Match": f'W/"x", {etag}'},
        {"If-None-Match": "*"},
        {"If-None-Match": etag, "If-Modified-Since": "Sat, 31 Jan 1970 12:00:00 GMT"},
        {"If-Modified-Since": modified},
    ):
        with django_assert_max_num_queries(6):
            again = read(feed, **headers)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == etag


def test_a_reader_that_has_something_else_is_sent_the_feed(
    jones: Filter, feed: Feed, old: Store
) -> None:
    old(jones, "a")
    release()
    modified = read(feed).headers["Last-Modified"]
    for headers in (
        {},
        {"If-None-Match": '"other"'},
        {"If-None-Match": '"other"', "If-Modified-Since": modified},
        {"If-Modified-Since": "Sat, 31 Jan 1970 12:00:00 GMT"},
        {"If-Modified-Since": "yesterday"},
    ):
        assert read(feed, **headers).status_code == 200


@pytest.mark.parametrize("validator", ["ETag", "Last-Modified"])
def test_a_reader_is_sent_what_has_changed(
    alice: User, jones: Filter, feed: Feed, old: Store, store: Store, validator: str
) -> None:
    match = old(jones, "a")
    release()
    asking = "If-None-Match" if validator == "ETag" else "If-Modified-Since"

    def changed() -> bool:
        answer = read(feed, **{asking: seen})
        assert answer.status_code in (200, 304)
        return bool(answer.status_code == 200)

    seen = read(feed).headers[validator]
    assert not changed()
    store(jones, "b")
    release()
    assert changed()
    if validator == "ETag":
        seen = read(feed).headers[validator]
        Card.objects.filter(pk=match.card_id).update(subject="Changed")
        Match.objects.filter(pk=match.pk).update(refreshed_at=wall_clock())
        assert changed()
        seen = read(feed).headers[validator]
        Match.objects.filter(pk=match.pk).delete()
        assert changed()
        seen = read(feed).headers[validator]
        Mute.objects.create(owner=alice, root="b")
        assert changed()
        seen = read(feed).headers[validator]
        Filter.objects.filter(pk=jones.pk).update(name="other")
        assert changed()
        seen = read(feed).headers[validator]
        assert not changed()


def test_a_change_of_this_second_has_no_date_that_a_later_one_could_share(
    jones: Filter, feed: Feed, store: Store
) -> None:
    store(jones, "a")
    release()
    assert "Last-Modified" not in read(feed).headers


def test_head_has_the_headers_alone(jones: Filter, feed: Feed, old: Store) -> None:
    old(jones, "a")
    release()
    whole = read(feed)
    head = Client().head(feed.get_absolute_url())
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Last-Modified", "Content-Type", "Cache-Control"):
        assert head.headers[name] == whole.headers[name]
    assert Client().post(feed.get_absolute_url()).status_code == 405


def test_whoever_is_signed_in_reads_the_same_feed(
    as_user: SignIn, bob: User, jones: Filter, feed: Feed, store: Store
) -> None:
    store(jones, "a")
    release()
    answer = as_user(bob).get(feed.get_absolute_url())
    assert answer.content == read(feed).content
    assert answer.headers["Cache-Control"] == "private, max-age=60"


def test_a_wrong_address_tells_nothing(alice: User, feed: Feed) -> None:
    gone = feed.get_absolute_url()
    wrong = Client().get("/feeds/wrong.atom")
    assert wrong.status_code == 404
    User.objects.update(is_active=False)
    assert Client().get(gone).status_code == 404
    Feed.objects.all().delete()
    assert without_token(Client().get(gone)) == without_token(wrong)


def test_a_person_makes_changes_and_removes_feeds(
    as_user: SignIn, alice: User, jones: Filter
) -> None:
    client = as_user(alice)
    page = client.get("/feeds/").content.decode()
    assert "All filters" in page and "jones" in page and ".atom" not in page
    for _ in range(2):
        assert client.post("/feeds/make/", {"filter": "jones"}).status_code == 302
        assert client.post("/feeds/make/").status_code == 302
    assert Feed.objects.count() == 2
    feed = Feed.objects.get(filter=jones)
    before = feed.get_absolute_url()
    assert before in client.get("/feeds/").content.decode()
    assert client.post(f"/feeds/{feed.pk}/change/").status_code == 302
    feed.refresh_from_db()
    assert Client().get(before).status_code == 404
    assert read(feed).status_code == 200
    assert client.post(f"/feeds/{feed.pk}/remove/").status_code == 302
    assert read(feed).status_code == 404
    assert Feed.objects.filter(filter=None).exists()


def test_a_filter_that_is_deleted_meanwhile_is_given_no_feed(
    as_user: SignIn, alice: User, jones: Filter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def atomic() -> object:
        Filter.objects.all().delete()
        return transaction.atomic()

    monkeypatch.setattr(changes, "transaction", SimpleNamespace(atomic=atomic))
    assert as_user(alice).post("/feeds/make/", {"filter": "jones"}).status_code == 404


@pytest.mark.parametrize(
    ("page", "location"), [("/in/jones/", "/in/jones/"), ("https://evil.example/", "/feeds/")]
)
def test_a_form_goes_back_to_its_page_but_not_elsewhere(
    as_user: SignIn, alice: User, jones: Filter, page: str, location: str
) -> None:
    answer = as_user(alice).post("/feeds/make/", {"filter": "jones", "next": page})
    assert answer.headers["Location"] == location
    addresses = {row.filter: row.address for row in feeds.rows_of(alice)}
    assert addresses[jones].endswith(".atom") and addresses[None] == ""


def test_nobody_touches_the_feeds_of_others(
    as_user: SignIn, bob: User, jones: Filter, feed: Feed
) -> None:
    client = as_user(bob)
    assert client.post("/feeds/make/", {"filter": "jones"}).status_code == 404
    assert client.post(f"/feeds/{feed.pk}/change/").status_code == 404
    assert client.post(f"/feeds/{feed.pk}/remove/").status_code == 404
    assert feed.token not in client.get("/feeds/").content.decode()
    token = feed.token
    feed.refresh_from_db()
    assert feed.token == token


def test_the_page_of_a_filter_names_its_feed_if_it_has_one(
    as_user: SignIn, alice: User, jones: Filter
) -> None:
    client = as_user(alice)
    for path, filter_ in (("/in/jones/", jones), ("/", None)):
        assert "application/atom+xml" not in client.get(path).content.decode()
        feed = Feed.objects.create(owner=alice, filter=filter_)
        page = client.get(path).content.decode()
        assert f'href="{feed.get_absolute_url()}"' in page and "application/atom+xml" in page
