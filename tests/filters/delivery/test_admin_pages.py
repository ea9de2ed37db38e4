"""The administration pages of delivery: nothing secret is shown, and no cursor is moved."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from filters.models import (
    Address,
    ConfirmationMail,
    Delivery,
    Destination,
    Feed,
    KeptMail,
    Mute,
    ReleaseCounter,
)


@pytest.fixture
def browser(db: None) -> Client:
    """A browser in which somebody is signed in who may do everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "secret"))
    return client


@pytest.fixture
def shown(alice: User, hook: Destination) -> list[object]:
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
        ConfirmationMail.objects.create(owner=alice, email="al@example.org", at=1),
    ]


def test_every_page_is_there_and_shows_no_secret(browser: Client, shown: list[object]) -> None:
    for row in shown:
        name = type(row).__name__.lower()
        pk = row.pk  # type: ignore[attr-defined]
        for path in (
            reverse(f"admin:filters_{name}_changelist"),
            reverse(f"admin:filters_{name}_change", args=[pk]),
        ):
            page = browser.get(path)
            assert page.status_code == 200, path
            assert "a-secret" not in page.content.decode(), path


def test_a_destination_is_turned_off_and_its_cursor_stays(
    browser: Client, shown: list[object], hook: Destination
) -> None:
    lines = "subscriptions-TOTAL_FORMS", "subscriptions-INITIAL_FORMS"
    fields = {"name": "hook", "cursor": 99, "kind": "push", **dict.fromkeys(lines, 0)}
    path = reverse("admin:filters_destination_change", args=[hook.pk])
    assert browser.post(path, fields).status_code == 302
    hook.refresh_from_db()
    assert (hook.active, hook.cursor, hook.kind) == (False, 3, "webhook")
    assert hook.secret == "a-secret-of-hers"


@pytest.mark.parametrize("name", ["destination", "address", "delivery", "keptmail", "feed"])
def test_nothing_is_added_there(browser: Client, name: str) -> None:
    assert browser.get(reverse(f"admin:filters_{name}_add")).status_code == 403
