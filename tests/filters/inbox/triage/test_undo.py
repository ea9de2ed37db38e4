"""What was done with messages is undone, once, and by who did it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from filters.inbox.models import Match, MessageState, Mute, TriageStep, TriageStepPart
from filters.inbox.triage import steps, targets
from filters.inbox.triage.actions import ACTIONS
from filters.people.models import User
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.deliver.timing.schedule import HELD
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, letters
from tests.support.lists.triage import HTMX, do, shown, unread

SignIn = Callable[[User], Client]


def undo(client: Client) -> Any:
    step = TriageStep.objects.order_by("-at").first()
    assert step is not None
    return client.post(f"/triage/undo/{step.pk}/", headers=HTMX)


@pytest.mark.parametrize("action", ["done", "star", "read", "snooze", "mute"])
def test_each_action_can_be_undone_once(client: Client, alice: User, action: str) -> None:
    client.get("/", {"open": "b"})
    before = state_of(alice)
    do(client, action, "a", "b", until="tomorrow")
    assert state_of(alice) != before
    step = TriageStep.objects.get()
    assert undo(client).status_code == 200
    assert state_of(alice) == before and shown(client) == ["a", "b", "c"]
    again = client.post(f"/triage/undo/{step.pk}/", headers=HTMX)
    assert again.status_code == 422 and "no longer" in again.content.decode()
    assert client.post(f"/triage/undo/{step.pk}/").status_code == 404


def state_of(user: User) -> object:
    fields = ("msgid", "done_at", "starred_at", "snoozed_until")
    return (
        sorted(MessageState.objects.filter(owner=user).values_list(*fields)),
        sorted(Match.objects.filter(filter__owner=user).values_list("pk", "read_at")),
        sorted(Mute.objects.filter(owner=user).values_list("root", flat=True)),
    )


def test_undo_leaves_what_was_changed_since(client: Client) -> None:
    do(client, "done", "a", "b")
    first = TriageStep.objects.get()
    do(client, "snooze", "a", until="week")
    client.post(f"/triage/undo/{first.pk}/", headers=HTMX)
    assert shown(client) == ["b", "c"] and shown(client, "/snoozed/") == ["a"]


def test_whoever_undoes_all_that_they_did_is_where_they_began(client: Client, alice: User) -> None:
    for action in ("mute", "unmute", "done", "inbox"):
        do(client, action, "a")
    assert len(shown(client)) == 3
    while TriageStep.objects.exists():
        assert undo(client).status_code == 200
    assert shown(client) == ["a", "b", "c"] and not Mute.objects.filter(owner=alice).exists()


def test_a_step_is_kept_for_a_while(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    do(client, "done", "a")
    later = wall_clock() + steps.UNDO + MINUTE
    monkeypatch.setattr(steps, "wall_clock", lambda: later)
    assert undo(client).status_code == 422
    do(client, "done", "b")
    assert TriageStep.objects.count() == 1


def test_without_javascript_the_next_page_offers_to_undo(client: Client) -> None:
    answer = client.post("/triage/do/done/", {"id": "a", "next": "/in/jones/"})
    assert answer.headers["Location"] == "/in/jones/"
    page = client.get("/in/jones/").content.decode()
    assert "1 message done." in page and "/triage/undo/" in page
    assert "1 message done." not in client.get("/in/jones/").content.decode()
    elsewhere = client.post("/triage/do/done/", {"id": "a", "next": "https://x.org/"})
    assert elsewhere.headers["Location"] == "/"


@pytest.mark.parametrize("action", ["done", "read", "snooze"])
def test_what_a_step_let_go_waits_again_once_it_is_undone(
    client: Client, tables: Tables, alice: User, action: str
) -> None:
    """Unless it has been shown meanwhile: until tomorrow at eight nothing has."""
    alice.filters.update(while_unread=True, timeliness="daily at 08:00")
    plans = alice.filters.get(name="plans")
    letters(tables, "d")
    find(tables, plans, "d")
    waits = Match.objects.filter(msgid="d")
    assert waits.get().shown_at == HELD
    assert do(client, action, "a", "b", until="week").status_code == 200
    assert wall_clock() < waits.get().shown_at < HELD
    client.post(f"/triage/undo/{TriageStep.objects.get().pk}/")
    assert waits.get().shown_at == HELD


def test_marking_all_read_is_undone(client: Client, alice: User) -> None:
    before = unread(alice)
    page = client.post("/read/", headers={"HX-Request": "true"})
    assert f"{len(before)} messages marked read." in page.content.decode()
    assert unread(alice) == set() and "acted" in page["HX-Trigger-After-Swap"]
    step = TriageStep.objects.get().pk
    again = client.post("/read/", headers={"HX-Request": "true"}).content.decode()
    assert "Nothing was unread." in again and "undo" not in again
    client.post(f"/triage/undo/{step}/")
    assert unread(alice) == before


def test_each_batch_of_a_step_and_of_its_undoing_waits_for_other_steps_of_the_person(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[type] = []
    real = QuerySet.select_for_update

    def noted(rows: QuerySet[Any], *given: Any, **options: Any) -> QuerySet[Any]:
        locked.append(rows.model)
        return real(rows, *given, **options)

    monkeypatch.setattr(QuerySet, "select_for_update", noted)
    monkeypatch.setattr(steps, "batched", lambda items: ([item] for item in items))
    both = [targets.Target(msgid, "public", "a") for msgid in ("a", "b")]
    step = steps.act(alice, ACTIONS["done"], both)
    assert locked == [User, *[User, MessageState] * 2]
    locked.clear()
    assert steps.undo(alice, step.pk)
    assert locked == [*[User, TriageStepPart, MessageState] * 2, User, TriageStepPart]
