"""The administration pages: what they change of a filter reaches those that refer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.admin import NewPasswordForm
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.reading.models import OutboxAnnotation
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.message import Annotation
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import annotations_on
from tapestry.tables.write.append import append_annotations
from tests.support.faults.set_asides import Planted

Capture = Callable[..., Any]

HOW = ("on its page", "in the list")


def delete(browser: Client, model: str, key: int, how: str) -> Any:
    """Delete something on its own page, or among others in the list."""
    if how == "on its page":
        address, given = reverse(f"admin:{model}_delete", args=[key]), {}
    else:
        address = reverse(f"admin:{model}_changelist")
        given = {"action": "delete_selected", "_selected_action": key}
    return browser.post(address, {**given, "post": "yes"})


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
    page = browser.post(reverse("admin:authoring_filter_change", args=[shared.pk]), fields)
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
    address = reverse("admin:authoring_filter_change", args=[shared.pk])
    page = browser.post(address, {"timeliness": "soon", "active": "on"})
    assert "does not say when" in page.content.decode()
    assert browser.post(address, {"timeliness": "hourly", "active": "on"}).status_code == 302
    assert now <= Match.objects.get().shown_at <= wall_clock() + HOUR
    person = reverse("admin:people_user_change", args=[shared.owner.pk])
    given = {"time_zone": "UTC", "timeliness": "hourly", "holiday_until": "2999-01-01"}
    given |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "is_active": "on"}
    assert browser.post(person, given).status_code == 302
    assert Match.objects.get().shown_at > now + 1000 * HOUR


@pytest.mark.parametrize("model", ["authoring_filter", "people_user"])
@pytest.mark.parametrize("how", HOW)
def test_what_is_deleted_can_be_used_by_no_other_filter_any_more(
    browser: Client,
    shared: Filter,
    dependent: Filter,
    model: str,
    how: str,
) -> None:
    key = shared.pk if model == "authoring_filter" else shared.owner_id
    page = delete(browser, model, key, how)
    assert page.status_code == 302 and not Filter.objects.filter(pk=shared.pk).exists()
    dependent.refresh_from_db()
    assert (dependent.tql, "sport" in dependent.error) == ("", True)


@pytest.mark.parametrize("how", HOW)
def test_who_is_deleted_is_heard_and_their_name_is_given_to_nobody(
    browser: Client, tables: Tables, carol: User, how: str
) -> None:
    append_annotations(tables, DjangoClock(), [Annotation("a-1", "a@x", "carol", "note", "hot")])
    annotate(carol, "a@x", "public", "retraction", value="a-1")
    assert delete(browser, "people_user", carol.pk, how).status_code == 302
    found = annotations_on(tables, ["a@x"], ["public"])
    assert {row.annotation.kind for row in found} == {"note", "retraction"}
    with pytest.raises(ValidationError, match="someone who has left"):
        User.objects.create_user("carol")


@pytest.mark.parametrize("how", HOW)
def test_nobody_is_deleted_before_they_are_heard(
    browser: Client, tables: Tables, carol: User, how: str,
    monkeypatch: pytest.MonkeyPatch, set_asides: Planted,
) -> None:  # fmt: skip
    set_asides.expect()
    annotate(carol, "a@x", "public", "retraction", value="a-1")

    def fails(_: OutboxAnnotation) -> Annotation:
        raise KeyError

    monkeypatch.setattr(OutboxAnnotation, "as_annotation", fails)
    page = delete(browser, "people_user", carol.pk, how)
    assert page.status_code == 503 and "cannot be stored yet" in page.content.decode()
    assert User.objects.filter(pk=carol.pk).exists()


@pytest.mark.parametrize("is_usable", [True, False])
def test_another_password_leaves_the_rest_of_the_account(alice: User, is_usable: bool) -> None:
    new = "three quiet looms" if is_usable else ""
    given = {"password1": new, "password2": new, "usable_password": str(is_usable).lower()}
    form = NewPasswordForm(User.objects.get(pk=alice.pk), given)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert form.is_valid()
    form.save()
    alice.refresh_from_db()
    assert not alice.is_active and alice.has_usable_password() == is_usable
    assert not is_usable or alice.check_password(new)
