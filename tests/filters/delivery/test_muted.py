"""Muted threads: their owner sees them, and unmutes them."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.models import Mute
from filters.people.models import User
from tests.support.delivery.recorded_way import Store

SignIn = Callable[[User], Client]


def test_a_thread_is_unmuted(alice: User, jones: Filter, store: Store, as_user: SignIn) -> None:
    client = as_user(alice)
    assert "Muted threads" not in client.get("/delivery/").content.decode()
    store(jones, "hidden", root="r", audience="user:bob")
    store(jones, "plan", root="r")
    mutes = [Mute.objects.create(owner=alice, root=root) for root in ("r", "gone")]
    Mute.objects.create(owner=alice, root="r", step=5)
    page = client.get("/delivery/").content.decode()
    assert "Muted threads" in page and page.count("<span>About plan</span>") == 1
    assert "About hidden" not in page, "she may not see it"
    assert client.get(f"/delivery/unmute/{mutes[0].pk}/").status_code == 405
    assert client.post(f"/delivery/unmute/{mutes[0].pk}/")["Location"] == "/delivery/"
    assert [mute.root for mute in Mute.objects.all()] == ["gone"]
    assert "The thread is no longer muted." in client.get("/delivery/").content.decode()


def test_only_its_owner_unmutes_it(alice: User, bob: User, as_user: SignIn) -> None:
    mute = Mute.objects.create(owner=alice, root="r")
    assert "Muted threads" not in as_user(bob).get("/delivery/").content.decode()
    assert as_user(bob).post(f"/delivery/unmute/{mute.pk}/").status_code == 404
    assert Mute.objects.exists()
