"""The page of what is connected to a person: each can be ended there, by its owner alone."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from filters.api.authentication import make_token
from filters.compose.models import SmtpAccount
from filters.delivery.models import Destination, Feed
from filters.people.models import User
from filters.sources.models import Source

SignIn = Callable[[User], Client]

PAGE = "/me/connections/"


def connect(owner: User) -> None:
    """Connect something of each kind to a person."""
    name = owner.username
    make_token(owner, f"script of {name}", ["read"], 7)
    server = {"owner": owner, "host": "x.example.org", "port": 1, "user": name}
    Source.objects.create(kind="imap", method="xoauth2", audience=f"user:{name}", **server)
    SmtpAccount.objects.create(**server)
    url = {"url": f"https://x.example.org/{name}"}
    Destination.objects.create(owner=owner, kind="webhook", name=f"hook of {name}", settings=url)
    Feed.objects.create(owner=owner, token=f"of-{name}")


def test_what_is_connected_is_shown_and_ended(
    alice: User, carol: User, as_user: SignIn, django_assert_max_num_queries: Callable[..., object]
) -> None:
    browser = as_user(alice)
    assert "Nothing is connected yet" in browser.get(PAGE).content.decode()
    for person in (alice, carol):
        connect(person)
    with django_assert_max_num_queries(15):
        response = browser.get(PAGE)
    page, groups = response.content.decode(), response.context["groups"]
    for words in ("script of alice", "hook of alice", "a grant of OAuth2", "read your mail"):
        assert words in page
    assert "carol" not in page and len(groups) == 5
    connections = [connection for group in groups for connection in group.connections]
    assert all(connection.since for connection in connections)
    for connection in connections:
        form = {"next": "" if connection.asks else PAGE}
        assert browser.post(connection.end, form).status_code == 302
        assert as_user(carol).post(connection.end, form).status_code in (302, 404)
    assert browser.get(PAGE).context["groups"] == []
    left = as_user(carol).get(PAGE).context["groups"]
    assert len(left) == 4, "all but her own mail server: that has no key"
