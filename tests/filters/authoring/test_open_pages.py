"""What is saved on a page that was left open changes what was changed on it, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.people.models import User
from filters.runs.store import subscriptions
from tapestry.core.clock import BEGINNING, DAY

pytestmark = pytest.mark.usefixtures("tables")

SignIn = Callable[[User], Client]


LATER = 7 * DAY


@pytest.fixture
def jones(alice: User) -> Filter:
    return lifecycle.install(alice, "by Jones", name="jones")


def hook(owner: User, filters: list[Filter] | None) -> Destination:
    made = Destination(owner=owner, kind="webhook", name="hook")
    subscriptions.add_destination(made, filters)
    return made


def opened(client: Client) -> dict[str, Any]:
    """Return what the open page of a filter sends when it is saved."""
    response = client.get("/filter/jones/edit/")
    shown = re.findall(r'name="(shown_\w+)"(?: value="([^"]*)")?', response.content.decode())
    form = response.context["form"]
    names = ("text", "title", "name", "mail", "mode", "visibility", "timeliness", "destinations")
    return {name: form[name].value() for name in names} | dict(shown)


def save(client: Client, page: dict[str, Any], **changes: Any) -> None:
    assert client.post("/filter/jones/edit/", page | changes).status_code == 302


def went_to(filter_: Filter) -> set[int]:
    return set(filter_.subscriptions.values_list("destination", flat=True))


def test_destinations_chosen_elsewhere_meanwhile_stay(
    alice: User, jones: Filter, as_user: SignIn
) -> None:
    of_all, of_none, of_it = hook(alice, None), hook(alice, []), hook(alice, [jones])
    had_it = hook(alice, [jones])
    subscriptions.choose_filters(had_it, None)
    client = as_user(alice)
    page = opened(client)
    subscriptions.choose_filters(had_it, [jones])
    subscriptions.choose_filters(of_all, [jones])
    subscriptions.choose_filters(of_none, [jones])
    subscriptions.choose_filters(of_it, [])
    save(client, page, title="Mail of Jones")
    assert went_to(jones) == {of_all.pk, of_none.pk, had_it.pk}


def test_destinations_ticked_on_the_page_are_added_and_the_others_removed(
    alice: User, jones: Filter, as_user: SignIn
) -> None:
    of_none, of_it = hook(alice, []), hook(alice, [jones])
    assert went_to(jones) == {of_it.pk}
    client = as_user(alice)
    save(client, opened(client), destinations=[of_none.pk])
    assert went_to(jones) == {of_none.pk}
    save(client, opened(client), destinations=[])
    assert went_to(jones) == set()


def test_a_filter_that_means_something_else_meanwhile_is_not_begun_with_existing_mail(
    alice: User, jones: Filter, as_user: SignIn
) -> None:
    client = as_user(alice)
    page = opened(client)
    Filter.objects.update(start=LATER, since=LATER)
    save(client, page, title="Mail of Jones")
    jones.refresh_from_db()
    assert (jones.title, jones.start, jones.since) == ("Mail of Jones", LATER, LATER)
    save(client, page, text="by Joe")
    jones.refresh_from_db()
    assert jones.start is not None
    save(client, opened(client), mail="existing")
    jones.refresh_from_db()
    assert (jones.start, jones.since) == (None, BEGINNING)
