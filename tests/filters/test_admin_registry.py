"""What can be changed by hand under /admin/, model by model: nothing that a law rests on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client, RequestFactory
from django.urls import reverse

from filters.authoring import lifecycle
from filters.delivery.models import BounceMailbox
from filters.people.models import User
from filters.runs.models import Clock, Heartbeat, ReleaseCounter, SharedWindow

ACCOUNT = {
    *("password", "first_name", "last_name", "email", "is_active", "is_staff", "is_superuser"),
    *("groups", "user_permissions", "last_login", "date_joined"),
}
CHOICES = {"time_zone", "timeliness", "quiet_from", "quiet_to", "holiday_until", "shortcuts"}

CHANGED: dict[str, set[str]] = {
    "User": ACCOUNT | CHOICES,  # not the name: mail goes by it
    "Group": {"permissions"},
    "Filter": {"active", "timeliness", "while_unread"},
    "Destination": {"name", "active"},
    "Address": {"problem"},
}
"""The fields that can be changed; of any other model none can."""

JOINED = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "is_active": "on"}
"""What the form of an account must have beside the choices."""

ADDED = {"User", "Group"}
KEPT = {
    "Alarm",
    "BounceMailbox",
    "Clock",
    "Heartbeat",
    "ReleaseCounter",
    "RetiredName",
    "SharedWindow",
}
"""Those of which none is deleted: they say how far all has come, or whose a name was."""


@pytest.fixture
def browser(db: None) -> Client:
    """A browser in which somebody is signed in who may do everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "secret"))
    return client


def test_only_what_no_law_rests_on_is_changed_by_hand(browser: Client, rf: RequestFactory) -> None:
    request = rf.get("/admin/")
    request.user = User.objects.get()
    admin.autodiscover()  # as the addresses do, once they are asked for
    added, kept = set(), set()
    for model, pages in admin.site._registry.items():
        name = model.__name__
        row: Any = model._default_manager.first() or model()
        changed: set[str] = set()
        if pages.has_change_permission(request, row):
            form = pages.get_form(request, row, change=True)
            changed = set(form.base_fields) - set(pages.get_readonly_fields(request, row))
        assert changed == CHANGED.get(name, set()), name
        added |= {name} if pages.has_add_permission(request) else set()
        kept |= set() if pages.has_delete_permission(request, row) else {name}
    assert (added, kept) == (ADDED, KEPT)


@pytest.mark.parametrize("model", [Clock, SharedWindow, ReleaseCounter, BounceMailbox, Heartbeat])
def test_how_far_all_has_come_is_shown_and_stays(browser: Client, model: Any) -> None:
    row = model.objects.create(pk=1)
    before = model.objects.values().get()
    pages = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    address = reverse(f"{pages}_change", args=[row.pk])
    assert browser.get(address).status_code == 200
    given = {"last": 5, "since": 5, "uid": 5, "ended_at": 5, "post": "yes"}
    for path in (address, reverse(f"{pages}_delete", args=[row.pk]), reverse(f"{pages}_add")):
        assert browser.post(path, given).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
    browser.post(reverse(f"{pages}_changelist"), chosen)
    assert model.objects.values().get() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [("time_zone", "Nowhere"), ("holiday_until", "9999-12-31"), ("timeliness", "soon")],
)
def test_choices_that_cannot_be_read_are_not_stored(
    browser: Client, alice: User, field: str, value: str
) -> None:
    address = reverse("admin:people_user_change", args=[alice.pk])
    given = {"time_zone": "UTC", "timeliness": "hourly", "aliases": "5", **JOINED}
    assert browser.post(address, given | {field: value}).status_code == 200
    assert browser.post(address, given).status_code == 302
    stored = User.objects.get(pk=alice.pk)
    assert (stored.username, stored.timeliness) == ("alice", "hourly")
    assert stored.aliases == ["Al@Example.com"]


def test_a_filter_that_is_turned_on_again_is_compiled_again(
    browser: Client, alice: User, django_capture_on_commit_callbacks: Any
) -> None:
    paused = lifecycle.install(alice, "from Jones")
    type(paused).objects.update(active=False, tql="", error="It took too long.")
    address = reverse("admin:authoring_filter_change", args=[paused.pk])
    with django_capture_on_commit_callbacks(execute=True):
        assert browser.post(address, {"active": "on", "error": "x"}).status_code == 302
    paused.refresh_from_db()
    assert (paused.active, paused.error) == (True, "") and paused.tql
