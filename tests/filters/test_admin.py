"""The administration pages: what they change of a filter reaches those that refer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from filters.authoring import lifecycle
from filters.models import Filter, Match
from tapestry.core.clock import HOUR, wall_clock

Capture = Callable[..., Any]


@pytest.fixture
def browser(db: None) -> Client:
    """A browser in which somebody is signed in who may do everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "secret"))
    return client


@pytest.fixture
def shared(alice: User) -> Filter:
    return lifecycle.install(
        alice, "about cricket", name="sport", visibility=Filter.Visibility.SHARED
    )


@pytest.fixture
def dependent(shared: Filter, bob: User) -> Filter:
    return lifecycle.install(bob, "in alice's sport", name="mine")


def test_what_others_may_refer_to_is_for_its_owner_to_change(
    browser: Client, shared: Filter, bob: User
) -> None:
    fields = {
        "owner": bob.pk,
        "name": "games",
        "visibility": "private",
        "text": "about tennis",
        "timeliness": "hourly",
        "active": "on",
    }
    page = browser.post(reverse("admin:filters_filter_change", args=[shared.pk]), fields)
    assert page.status_code == 302
    before = (shared.owner, shared.name, shared.visibility, shared.text)
    shared.refresh_from_db()
    assert (shared.owner, shared.name, shared.visibility, shared.text) == before
    assert shared.timeliness == "hourly"


def test_what_waits_is_planned_anew_when_an_administrator_changes_when_it_is_shown(
    browser: Client, shared: Filter
) -> None:
    now = wall_clock()
    at = {"audience": "public", "matched_at": now, "stored_at": now, "shown_at": now + 500 * HOUR}
    Match.objects.create(filter=shared, msgid="a", **at)
    address = reverse("admin:filters_filter_change", args=[shared.pk])
    page = browser.post(address, {"timeliness": "soon", "active": "on"})
    assert "does not say when" in page.content.decode()
    assert browser.post(address, {"timeliness": "hourly", "active": "on"}).status_code == 302
    assert now <= Match.objects.get().shown_at <= wall_clock() + HOUR
    person = reverse("admin:filters_profile_add")
    fields = {"user": shared.owner.pk, "time_zone": "UTC", "aliases": "[]", "timeliness": "hourly"}
    shared.owner.profile.delete()
    given = {**fields, "holiday_until": "2999-01-01"}
    assert browser.post(person, given).status_code == 302
    assert Match.objects.get().shown_at > now + 1000 * HOUR


@pytest.mark.parametrize("model", ["filters_filter", "auth_user"])
@pytest.mark.parametrize("how", ["on its page", "in the list"])
def test_what_is_deleted_can_be_used_by_no_other_filter_any_more(
    browser: Client,
    shared: Filter,
    dependent: Filter,
    django_capture_on_commit_callbacks: Capture,
    model: str,
    how: str,
) -> None:
    key = shared.pk if model == "filters_filter" else shared.owner_id
    with django_capture_on_commit_callbacks(execute=True):
        if how == "on its page":
            address, given = reverse(f"admin:{model}_delete", args=[key]), {}
        else:
            address = reverse(f"admin:{model}_changelist")
            given = {"action": "delete_selected", "_selected_action": key}
        page = browser.post(address, {**given, "post": "yes"})
    assert page.status_code == 302 and not Filter.objects.filter(pk=shared.pk).exists()
    dependent.refresh_from_db()
    assert (dependent.tql, "sport" in dependent.error) == ("", True)
