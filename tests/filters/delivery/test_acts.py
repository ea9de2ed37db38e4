"""Links of what is sent: they act without signing in, and only on a POST."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from django.core import signing
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.contents import links
from filters.delivery.models import Address, Destination
from filters.inbox.models import Match, Mute
from filters.people.models import User
from filters.reading.models import OutboxAnnotation
from filters.site.work.crypto import opaque_keys
from tests.support.delivery.recorded_way import Store

SignIn = Callable[[User], Client]


def paths(match: Match) -> dict[str, str]:
    return {
        urlsplit(link.url).path.split("/")[2]: urlsplit(link.url).path
        for link in links.acts_of()(match.pk, match.filter.owner.username, match.msgid)
    }


@pytest.mark.parametrize("act", ["vote", "read", "mute"])
def test_a_get_changes_nothing_and_a_post_acts(
    jones: Filter, store: Store, client: Client, act: str
) -> None:
    match = store(jones, "m", root="r")
    path = paths(match)[act]

    def changed() -> list[bool]:
        match.refresh_from_db()
        return [
            OutboxAnnotation.objects.filter(msgid="m", kind="vote", number=1).exists(),
            match.read_at is not None,
            Mute.objects.filter(owner=jones.owner, root="r").exists(),
        ]

    assert client.head(path).status_code == 405 or changed() == [False] * 3
    assert b"<form" in client.get(path).content
    assert changed() == [False] * 3
    for _ in range(2):
        page = client.post(path)
        assert page.status_code == 200 and b"<form" not in page.content
    assert changed() == [act == "vote", act == "read", act == "mute"]
    assert OutboxAnnotation.objects.count() == (act == "vote")


def test_forged_expired_and_foreign_links_do_nothing(
    jones: Filter, store: Store, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = store(jones, "m")
    path = paths(match)["vote"]
    other = store(jones, "other")
    token = path.split("/")[3]
    forged = path.replace(token, str(other.pk) + token[token.index(":") :])
    assert client.post(forged).status_code == 404
    assert client.post(path.replace("/vote/", "/delete/")).status_code == 404
    Match.objects.filter(pk=match.pk).update(audience="user:bob")
    assert client.post(path).status_code == 404, "its owner may no longer see it"
    monkeypatch.setattr(links, "EXPIRES", timedelta(seconds=-1))
    Match.objects.filter(pk=match.pk).update(audience="public")
    assert client.post(path).status_code == 404
    assert not OutboxAnnotation.objects.exists()


def test_after_a_restore_a_link_does_not_act_on_another_match_of_its_key(
    jones: Filter, store: Store, client: Client, bob: User
) -> None:
    match = store(jones, "m")
    path = paths(match)["read"]
    Match.objects.filter(pk=match.pk).update(msgid="other")
    assert client.get(path).status_code == client.post(path).status_code == 404
    Match.objects.filter(pk=match.pk).update(msgid="m")
    Filter.objects.filter(pk=jones.pk).update(owner=bob)
    assert client.get(path).status_code == client.post(path).status_code == 404
    Filter.objects.filter(pk=jones.pk).update(owner=jones.owner)
    assert client.post(path).status_code == 200
    old = links._signer("act").sign(opaque_keys.encrypt(match.pk))
    assert client.post(path.replace(path.split("/")[3], old)).status_code == 200, "of last month"


def test_links_of_a_deactivated_account_only_unsubscribe(
    jones: Filter, store: Store, hook: Destination, client: Client
) -> None:
    links_of = paths(store(jones, "m"))
    address = Address.objects.create(owner=jones.owner, email="al@example.org")
    confirm = urlsplit(links.confirm_url(address.pk, address.email)).path
    User.objects.update(is_active=False)
    for path in (*links_of.values(), confirm):
        assert client.get(path).status_code == client.post(path).status_code == 404
    assert not OutboxAnnotation.objects.exists() and not Mute.objects.exists()
    assert not Match.objects.exclude(read_at=None).exists()
    assert not Address.objects.exclude(confirmed_at=None).exists()
    unsubscribe = urlsplit(links.unsubscribe_url(hook)).path
    assert client.post(unsubscribe).status_code == 200
    assert not Destination.objects.filter(active=True).exists()


def test_one_click_unsubscribes_at_once(hook: Destination, client: Client) -> None:
    path = urlsplit(links.unsubscribe_url(hook)).path
    assert b"<form" in client.get(path).content
    hook.refresh_from_db()
    assert hook.active
    page = client.post(path, {"List-Unsubscribe": "One-Click"})
    assert page.status_code == 200 and b"You are unsubscribed." in page.content
    link = f'<a href="{hook.get_absolute_url()}">Turn it on again, or change what is sent</a>'
    assert link in page.content.decode()
    hook.refresh_from_db()
    assert not hook.active
    assert client.post(path[:-2] + "x/").status_code == 404


@pytest.mark.parametrize("since", ["turned on again", "another address", "old"])
def test_a_link_to_unsubscribe_ends(
    since: str, hook: Destination, client: Client, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook.address = Address.objects.create(owner=hook.owner, email="al@example.org")
    hook.save()
    path = urlsplit(links.unsubscribe_url(hook)).path
    if since == "turned on again":
        client.post(path)
        as_user(hook.owner).post(f"/delivery/{hook.pk}/on/")
    elif since == "another address":
        hook.address = Address.objects.create(owner=hook.owner, email="new@example.org")
        hook.save()
    else:
        monkeypatch.setattr(links, "UNSUBSCRIBES", timedelta(0))
    for page in (client.get(path), client.post(path, {"List-Unsubscribe": "One-Click"})):
        assert page.status_code == 404 and b"<form" not in page.content
        assert b"Nothing was turned off" in page.content and b"/delivery/" in page.content
    hook.refresh_from_db()
    assert hook.active
    monkeypatch.undo()
    assert client.post(urlsplit(links.unsubscribe_url(hook)).path).status_code == 200


def test_an_address_is_confirmed_by_its_link(alice: User, client: Client) -> None:
    address = Address.objects.create(owner=alice, email="al@example.org")
    path = urlsplit(links.confirm_url(address.pk, address.email)).path
    client.get(path)
    address.refresh_from_db()
    assert address.confirmed_at is None
    page = client.post(path)
    assert page.status_code == 200 and b"Your address is confirmed." in page.content
    assert '<a href="/delivery/">See how matches reach you</a>' in page.content.decode()
    address.refresh_from_db()
    assert address.confirmed_at is not None
    Address.objects.update(email="other@example.org", confirmed_at=None)
    assert client.post(path).status_code == 404


def test_the_page_says_what_is_granted_and_to_whom(
    alice: User, bob: User, as_user: SignIn, client: Client
) -> None:
    address = Address.objects.create(owner=alice, email="al@example.org")
    path = urlsplit(links.confirm_url(address.pk, address.email)).path
    for browser in (client, as_user(bob)):
        page = " ".join(browser.get(path).content.decode().split())
        assert "alice would like matches of their filters to be sent there." in page
        assert "you can write mail from it" not in page
    assert f"/sign-in/?next={quote(path, safe='')}" in client.get(path).content.decode()
    page = as_user(alice).get(path).content.decode()
    assert "you can write mail from it, and it can be the address of your account" in page


def test_only_who_is_signed_in_to_the_account_proves_that_an_address_is_its_own(
    alice: User, bob: User, as_user: SignIn
) -> None:
    address = Address.objects.create(owner=alice, email="al@example.org")
    path = urlsplit(links.confirm_url(address.pk, address.email)).path
    for browser, proven in ((Client(), False), (as_user(bob), False), (as_user(alice), True)):
        browser.post(path)
        address.refresh_from_db()
        assert (address.confirmed_at is not None, address.proven) == (True, proven)
    Address.objects.update(problem="It bounced.")
    Client().post(path)
    address.refresh_from_db()
    assert (address.proven, address.problem) == (True, ""), "what was proven stays so"


def test_links_are_signed_as_django_signs(settings: Any) -> None:
    token = links._signer("act").sign("17")
    assert signing.TimestampSigner(salt="filters.delivery.act").unsign(token) == "17"
    settings.SECRET_KEY_FALLBACKS = ["an older key"]
    older = signing.TimestampSigner(key="an older key", salt="filters.delivery.old").sign("18")
    assert links._signer("old").unsign(older) == "18"
