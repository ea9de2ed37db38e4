"""The administration pages of delivery: nothing secret is shown, and no cursor is moved."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from filters.authoring.models import Filter
from filters.delivery.admin import AddressAdmin, DestinationAdmin
from filters.delivery.models import Address, Delivery, Destination, Feed, KeptMail
from filters.inbox.models import FormerMute, Match, Mute
from filters.people.models import User
from filters.runs.models import ReleaseCounter


@pytest.fixture
def browser(db: None) -> Client:
    """A browser in which somebody is signed in who may do everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "secret"))
    return client


@pytest.fixture
def shown(alice: User, hook: Destination) -> list[Model]:
    """A row of each model of delivery; their secrets say so."""
    Destination.objects.update(secret="a-secret-of-hers", cursor=3, settings={"u": "a-secret-too"})
    return [
        hook,
        Address.objects.create(owner=alice, email="al@example.org"),
        Delivery.objects.create(destination=hook, key="k", at=1, state="delivered"),
        Feed.objects.create(owner=alice, token="a-secret-token"),
        KeptMail.objects.create(owner=alice, message_id="<m@x>", raw=b"a-secret-mail", at=1),
        Mute.objects.create(owner=alice, root="r"),
        ReleaseCounter.objects.create(pk=1),
    ]


def test_every_page_is_there_and_shows_no_secret(browser: Client, shown: list[Model]) -> None:
    for row in shown:
        meta = type(row)._meta
        name = f"admin:{meta.app_label}_{meta.model_name}"
        for path in (reverse(f"{name}_changelist"), reverse(f"{name}_change", args=[row.pk])):
            page = browser.get(path)
            assert page.status_code == 200, path
            assert "a-secret" not in page.content.decode(), path


def test_what_lists_of_before_need_is_kept(browser: Client, alice: User) -> None:
    """A mute that is deleted leaves its record; a match is not deleted but with its filter."""
    mute = Mute.objects.create(owner=alice, root="r", at=5)
    browser.post(reverse("admin:inbox_mute_delete", args=[mute.pk]), {"post": "yes"})
    assert not Mute.objects.exists() and FormerMute.objects.get().at == 5
    filter_ = Filter.objects.create(owner=alice, name="f", text="…", tql="…")
    at = dict.fromkeys(("matched_at", "stored_at", "shown_at"), 1)
    match = Match.objects.create(filter=filter_, msgid="m", audience="public", **at)
    path = reverse("admin:inbox_match_delete", args=[match.pk])
    assert browser.post(path, {"post": "yes"}).status_code == 403 and Match.objects.exists()
    path = reverse("admin:authoring_filter_delete", args=[filter_.pk])
    assert browser.post(path, {"post": "yes"}).status_code == 302 and not Match.objects.exists()


def test_a_destination_is_turned_off_and_its_cursor_stays(
    browser: Client, shown: list[Model], hook: Destination
) -> None:
    lines = "subscriptions-TOTAL_FORMS", "subscriptions-INITIAL_FORMS"
    fields = {"name": "hook", "cursor": 99, "kind": "push", **dict.fromkeys(lines, 0)}
    path = reverse("admin:delivery_destination_change", args=[hook.pk])
    assert browser.post(path, fields).status_code == 302
    hook.refresh_from_db()
    assert (hook.active, hook.cursor, hook.kind) == (False, 3, "webhook")
    assert hook.secret == "a-secret-of-hers"


LINES = {"subscriptions-TOTAL_FORMS": 0, "subscriptions-INITIAL_FORMS": 0}


def change(browser: Client, row: Destination | Address, **fields: Any) -> None:
    name = type(row).__name__.lower()
    path = reverse(f"admin:delivery_{name}_change", args=[row.pk])
    assert browser.post(path, fields | LINES).status_code == 302


def test_what_waits_is_due_once_a_destination_is_turned_on(
    browser: Client, hook: Destination
) -> None:
    Destination.objects.update(latest=3, active=False, failures=4, error="gone", failing_since=1)
    change(browser, hook, name="renamed", active="on")
    hook.refresh_from_db()
    assert (hook.name, hook.active, hook.failures, hook.error) == ("renamed", True, 0, "")
    assert hook.due_at is not None and hook.failing_since is None
    Destination.objects.update(due_at=7, failures=2)
    change(browser, hook, name="again", active="on")
    hook.refresh_from_db()
    assert (hook.name, hook.due_at, hook.failures) == ("again", 7, 2), "it was on before"


@pytest.mark.parametrize("page", [DestinationAdmin, AddressAdmin])
def test_what_is_stored_while_a_page_is_saved_stays(
    browser: Client, hook: Destination, monkeypatch: pytest.MonkeyPatch, page: Any
) -> None:
    address = Address.objects.create(owner=hook.owner, email="al@example.org", problem="It bounced")
    save = page.save_model

    def meanwhile(*given: Any) -> None:
        Destination.objects.update(cursor=7, holder="another:1", claimed_until=9)
        Address.objects.update(confirmed_at=5)
        save(*given)

    monkeypatch.setattr(page, "save_model", meanwhile)
    row = hook if page is DestinationAdmin else address
    change(browser, row, name="hook", active="on", problem="")
    hook.refresh_from_db()
    address.refresh_from_db()
    assert (hook.cursor, hook.holder, hook.claimed_until) == (7, "another:1", 9)
    assert address.confirmed_at == 5
    assert address.problem == ("" if page is AddressAdmin else "It bounced")


@pytest.mark.parametrize("name", ["destination", "address", "delivery", "keptmail", "feed"])
def test_nothing_is_added_there(browser: Client, name: str) -> None:
    assert browser.get(reverse(f"admin:delivery_{name}_add")).status_code == 403
