"""All messages of a list at once, as it was at that moment; random steps against a small model."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from filters.inbox.models import Match, MessageState, Selection, TriageStep, TriageStepPart
from filters.inbox.triage import lists, steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target
from filters.people.models import User
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.browser.pages import Browser
from tests.support.lists.listed_mail import find, installed, letters

HTMX = {"HX-Request": "true"}
MANY = [f"m{number:03}" for number in range(120)]


@pytest.fixture
def client(tables: Tables, alice: User) -> Client:
    """Alice's browser: her inbox has three pages."""
    letters(tables, *MANY)
    find(tables, installed(alice, "jones"), *MANY)
    browser = Browser()
    browser.force_login(alice)
    return browser


def select(client: Client, name: str = "inbox", filter_: str = "") -> str:
    given = {"list": name, "filter": filter_, "next": "/"}
    answer = client.post("/triage/select/", given)
    assert answer.status_code == 302
    return answer.headers["Location"].partition("selection=")[2]


def test_all_of_a_list_is_what_was_in_it_at_that_moment(
    client: Client, tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "batched", lambda items: lists.batched(items, 50))
    jones = alice.filters.get()
    key = select(client)
    page = client.get(f"/?selection={key}").content.decode()
    assert "All 120 messages in this list are selected" in page
    letters(tables, "new-1", "new-2")
    find(tables, jones, "new-1")
    answer = client.post("/triage/do/done/", {"selection": key}, headers=HTMX)
    assert "120 messages done." in answer.content.decode()
    find(tables, jones, "new-2")
    rows = client.get("/").context["rows"]
    assert {row.card.msgid for row in rows} == {"new-1", "new-2"}
    assert set(Match.objects.filter(read_at=None).values_list("msgid", flat=True)) == {
        "new-1",
        "new-2",
    }
    assert TriageStepPart.objects.count() == 3, "in batches of a bounded size"
    step = TriageStep.objects.get()
    undone = client.post(f"/triage/undo/{step.pk}/", headers=HTMX)
    assert "120 messages" in undone.content.decode()
    assert client.get("/").context["page"].paginator.count == 122
    assert Match.objects.filter(read_at=None).count() == 122
    assert not MessageState.objects.exists() and not TriageStepPart.objects.exists()


def test_the_header_of_an_answer_does_not_grow_with_its_messages(client: Client) -> None:
    """A web server in front of the site may take 4 KB of headers: one page of msgids is more."""
    answer = client.post("/triage/do/done/", {"id": MANY}, headers=HTMX)
    assert "120 messages done." in answer.content.decode()
    assert len(answer.headers["HX-Trigger-After-Swap"]) < 200


def test_every_list_can_be_selected(client: Client) -> None:
    client.post("/triage/do/star/", {"id": MANY[:3]})
    client.post("/triage/do/mute/", {"id": MANY[3:5]})
    client.post("/triage/do/snooze/", {"id": MANY[5:9], "until": "week"})
    client.post("/triage/do/done/", {"id": MANY[9:14]})
    counts = {"starred": 3, "muted": 2, "snoozed": 4, "done": 5, "inbox": 109}
    for name, count in counts.items():
        assert Selection.objects.get(pk=select(client, name)).count == count
    assert Selection.objects.get(pk=select(client, "filter", "jones")).count == 111
    for given in ({}, {"list": "all"}, {"list": "filter"}, {"list": "filter", "filter": "none"}):
        assert client.post("/triage/select/", given).status_code == 404


@pytest.mark.parametrize(
    ("shelf", "fill", "offered"),
    [
        ("starred", {}, {"done", "unstar", "snooze", "mute"}),
        ("snoozed", {"until": "week"}, {"done", "star", "unsnooze", "mute"}),
        ("done", {}, {"inbox", "star", "snooze", "mute"}),
        ("muted", {}, {"done", "star", "snooze", "unmute"}),
    ],
)
def test_what_is_selected_on_a_shelf_stays_of_that_shelf(
    client: Client, shelf: str, fill: dict[str, str], offered: set[str]
) -> None:
    """Its buttons are those of its page, and selecting all once more selects no other list."""
    action = {"starred": "star", "snoozed": "snooze", "done": "done", "muted": "mute"}[shelf]
    client.post(f"/triage/do/{action}/", {"id": MANY[:3], **fill})
    given = {"list": shelf, "filter": "", "next": f"/{shelf}/"}
    bulk = client.post("/triage/select/", given, headers=HTMX).content.decode()
    page = client.get(f"/{shelf}/").content.decode()
    for part in (bulk, page[page.index('<form id="bulk"') :]):
        (name,) = re.findall(r'name="list" value="(\w+)"', part)
        assert name == shelf
        assert set(re.findall(r"/triage/do/(\w+)/", part)) == {"read", "unread"} | offered
    assert ("Move to inbox" in bulk) == (shelf == "done")
    assert ("Returning" in page) == (shelf == "snoozed")
    assert "All 3 messages" in bulk
    again = client.post("/triage/select/", given | {"list": name}, headers=HTMX)
    assert "All 3 messages" in again.content.decode()


def test_a_selection_is_its_owners(client: Client, bob: User) -> None:
    key, his = select(client), Client()
    his.force_login(bob)
    assert his.post("/triage/do/done/", {"selection": key}).status_code == 404
    assert "messages in this list are" not in his.get(f"/?selection={key}").content.decode()
    assert his.post("/triage/select/", {"list": "filter", "filter": "jones"}).status_code == 404
    assert not MessageState.objects.exists()


def test_selections_are_forgotten(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    key, later = select(client), wall_clock() + lists.KEPT + HOUR
    monkeypatch.setattr(lists, "wall_clock", lambda: later)
    select(client)
    assert not Selection.objects.filter(pk=key).exists()


def test_a_person_has_few_selections(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "MOST_SELECTIONS", 3)
    keys = [select(client) for _ in range(5)]
    assert {str(selection.pk) for selection in Selection.objects.all()} == set(keys[2:])


class Model:
    """What a person's messages are, as plain values; each step keeps what was before."""

    def __init__(self, msgids: list[str]) -> None:
        self.now: dict[str, Any] = dict.fromkeys(msgids, (False, False, None, False, False))

    def act(self, action: str, msgids: list[str], until: int) -> dict[str, Any]:
        before = dict(self.now)
        for msgid in msgids:
            done, starred, snoozed, read, top = self.now[msgid]
            self.now[msgid] = {
                "done": (True, starred, None, True, False),
                "inbox": (False, starred, snoozed, read, top),
                "star": (done, True, snoozed, read, top),
                "unstar": (done, False, snoozed, read, top),
                "pin": (done, starred, snoozed, read, True),
                "unpin": (done, starred, snoozed, read, False),
                "read": (done, starred, snoozed, True, top),
                "unread": (done, starred, snoozed, False, top),
                "snooze": (False, starred, until, False, top),
                "unsnooze": (done, starred, None, read, top),
            }[action]
        return before


@pytest.mark.parametrize("seed", range(4))
def test_random_steps_and_undos_keep_to_the_model(
    tables: Tables, alice: User, bob: User, seed: int
) -> None:
    chance = random.Random(seed)
    msgids = MANY[:6]
    letters(tables, *msgids)
    for owner in (alice, bob):
        find(tables, installed(owner, "jones"), *msgids)
        find(tables, installed(owner, "plans"), *msgids[:3])
    people = {owner: Model(msgids) for owner in (alice, bob)}
    done: dict[User, list[Any]] = {alice: [], bob: []}
    names = [name for name in ACTIONS if "mute" not in name]
    for _ in range(40):
        owner = chance.choice([alice, bob])
        if done[owner] and chance.random() < 0.4:
            step, before = done[owner].pop()
            assert steps.undo(owner, step.pk) is not None
            people[owner].now = before
        else:
            name, some = chance.choice(names), chance.sample(msgids, chance.randint(1, 4))
            until = wall_clock() + chance.randint(1, 9) * DAY
            before = people[owner].act(name, some, until)
            targets = [Target(msgid, "public", msgid) for msgid in some]
            done[owner].append((steps.act(owner, ACTIONS[name], targets, until), before))
        for person, model in people.items():
            assert stored(person, msgids) == model.now


def stored(owner: User, msgids: list[str]) -> dict[str, Any]:
    rows = {state.msgid: state for state in MessageState.objects.filter(owner=owner)}
    unread = Match.objects.filter(filter__owner=owner, read_at=None)
    new = set(unread.values_list("msgid", flat=True))
    return {
        msgid: (
            bool(row and row.done_at),
            bool(row and row.starred_at),
            row and row.snoozed_until,
            msgid not in new,
            bool(row and row.pinned_at),
        )
        for msgid in msgids
        for row in [rows.get(msgid)]
    }


def test_selections_of_two_tabs_at_once_are_both_kept(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = QuerySet.delete
    others: list[Selection] = []

    def delete(rows: QuerySet[Selection]) -> Any:
        monkeypatch.setattr(QuerySet, "delete", real)
        others.append(lists.select_keys(alice, [1]))
        return real(rows)

    monkeypatch.setattr(QuerySet, "delete", delete)
    own = lists.select_keys(alice, [2])
    assert set(Selection.objects.all()) == {own, *others} and others
