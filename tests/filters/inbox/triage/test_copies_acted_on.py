"""A message of several copies: what one does with it is done with the copy that the page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import product
from typing import Any

import pytest
from django.test import Client

from filters.inbox.models import Card, MessageState, Mute, Selection, TriageStep
from filters.inbox.search import selecting
from filters.inbox.search.searches import Found
from filters.inbox.triage import lists
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, installed, letters

SignIn = Callable[[User], Client]
HTMX = {"HX-Request": "true"}

ROOTS = {"user:alice": "own", "group:parc": "ours", "public": "theirs"}
"""The copies of the message: by audience, the root of its thread as their headers name it."""


@pytest.fixture
def client(tables: Tables, alice: User, as_user: SignIn) -> Client:
    """Alice's browser: her filters have found the copies one after another, the public one last."""
    for audience, root in ROOTS.items():
        letters(tables, "m", root=root, audience=audience)
        find(tables, installed(alice, audience.replace(":", "-")), "m", audience=audience)
    return as_user(alice)


def do(client: Client, action: str, named: dict[str, Any], **more: str) -> Any:
    return client.post(f"/triage/do/{action}/", named | more, headers=HTMX)


def fields(page: str) -> list[tuple[str, str]]:
    """Return what the boxes and the hidden fields of a page name: fields and their values."""
    found = re.findall(r'<input [^>]*?name="(id[^"]*)" value="([^"]*)"', page)
    return [(unescape(name), unescape(value)) for name, value in found]


@pytest.mark.parametrize("audience", ROOTS)
def test_lists_shelves_and_messages_name_the_copy_that_they_show(
    client: Client, audience: str
) -> None:
    assert set(fields(client.get("/").content.decode())) == {(f"id:{one}", "m") for one in ROOTS}
    of_filter = client.get(f"/in/{audience.replace(':', '-')}/").content.decode()
    assert fields(of_filter) == [(f"id:{audience}", "m")]
    assert f'data-msgid="m" data-audience="{audience}"' in of_filter
    message = client.get("/message/", {"id": "m", "in": audience}).content.decode()
    actions = client.get("/message/actions/", {"id": "m", "in": audience}).content.decode()
    assert fields(actions) == [(f"id:{audience}", "m")] == fields(message)[:1]
    do(client, "star", {f"id:{audience}": "m"})
    assert fields(client.get("/starred/").content.decode()) == [(f"id:{audience}", "m")]


@pytest.mark.parametrize("audience", ROOTS)
@pytest.mark.parametrize("action", ["star", "done", "snooze"])
def test_the_copy_that_is_named_is_kept(client: Client, action: str, audience: str) -> None:
    assert do(client, action, {f"id:{audience}": "m"}, until="week").status_code == 200
    assert MessageState.objects.get().audience == audience
    shelf = {"star": "starred", "done": "done", "snooze": "snoozed"}[action]
    (row,) = client.get(f"/{shelf}/").context["rows"]
    assert row.card.audience == audience


@pytest.mark.parametrize("audience", ROOTS)
def test_the_thread_of_the_copy_that_is_named_is_muted(client: Client, audience: str) -> None:
    do(client, "mute", {f"id:{audience}": "m"})
    assert [mute.root for mute in Mute.objects.all()] == [ROOTS[audience]]
    left = {row.card.audience for row in client.get("/").context["rows"]}
    assert left == ROOTS.keys() - {audience}
    for one in ROOTS:
        page = client.get("/message/actions/", {"id": "m", "in": one}).content.decode()
        assert ("Unmute thread" in page) == (one == audience)
    do(client, "unmute", {f"id:{audience}": "m"})
    assert not Mute.objects.exists()


def test_copies_that_are_chosen_together_are_muted_together_and_are_one_message(
    client: Client,
) -> None:
    both = {"id:public": "m", "id:group:parc": "m"}
    assert "1 message muted" in do(client, "mute", both).content.decode()
    assert {mute.root for mute in Mute.objects.all()} == {"theirs", "ours"}
    client.post(f"/triage/undo/{TriageStep.objects.get().pk}/", headers=HTMX)
    assert not Mute.objects.exists()
    assert "1 message done" in do(client, "done", both).content.decode()
    selection = lists.select(User.objects.get(username="alice"), Card.objects.all())
    do(client, "mute", {"selection": str(selection.pk)})
    assert {mute.root for mute in Mute.objects.all()} == set(ROOTS.values())


def test_a_page_from_before_copies_were_named_does_what_it_did(client: Client) -> None:
    do(client, "star", {"id": ["m", "m"]})
    assert MessageState.objects.get().audience == "public", "found last"
    do(client, "mute", {"id": "m"})
    assert Mute.objects.get().root == "theirs"


def test_what_is_undone_is_of_the_copy_of_which_it_was(client: Client) -> None:
    do(client, "star", {"id:user:alice": "m"})
    do(client, "done", {"id:public": "m"})
    assert MessageState.objects.get().audience == "public"
    step = TriageStep.objects.order_by("-at").first()
    assert step is not None
    client.post(f"/triage/undo/{step.pk}/", headers=HTMX)
    state = MessageState.objects.get()
    assert (state.audience, state.done_at, state.starred_at is None) == ("user:alice", None, False)


def test_a_copy_that_no_filter_found_is_acted_on_if_another_was_found(
    tables: Tables, bob: User, as_user: SignIn
) -> None:
    """Its page offers that, as the message is in a list."""
    his = as_user(bob)
    for audience in ("user:bob", "group:parc"):
        letters(tables, "m", root=audience, audience=audience)
    find(tables, installed(bob, "parc"), "m", audience="group:parc")
    page = his.get("/message/actions/", {"id": "m"}).content.decode()
    assert fields(page) == [("id:user:bob", "m")] and "Mute thread" in page
    assert do(his, "done", {"id:user:bob": "m"}).status_code == 200
    assert MessageState.objects.get().audience == "user:bob"
    do(his, "mute", {"id:user:bob": "m"})
    assert Mute.objects.get().root == "user:bob"


UNSEEN = ("user:alice", "group:parc", "user:nobody", "nonsense", "user:carol")
"""Audiences of which carol sees no copy: of the last because there is none."""


SOME = {
    ("user:alice", True, False),
    ("group:parc", False, True),
    ("user:nobody", True, True),
    ("nonsense", True, False),
    ("user:carol", False, False),
}
"""What the short run tries of each audience, by htmx or not, where the message is listed or not."""


@pytest.mark.parametrize(
    ("audience", "by_htmx", "is_listed"),
    [
        pytest.param(*way, marks=[pytest.mark.long] * (way not in SOME))
        for way in product(UNSEEN, [False, True], [False, True])
    ],
)
def test_a_copy_that_is_not_ones_to_see_is_as_one_that_is_not_there(
    client: Client,
    tables: Tables,
    carol: User,
    as_user: SignIn,
    audience: str,
    by_htmx: bool,
    is_listed: bool,
) -> None:
    """Nor does the copy that she sees stand in for it."""
    hers, htmx = as_user(carol), HTMX if by_htmx else {}
    letters(tables, "other")
    filter_ = installed(carol, "public")
    find(tables, filter_, *(["m", "other"] if is_listed else ["other"]))
    cards = Card.objects.count()
    for action in ("star", "done", "mute", "snooze"):
        answers = []
        for msgid, field in (("m", f"id:{audience}"), ("nothing", f"id:{audience}")):
            for also in ({}, {"id:public": "other"}):
                given = {field: msgid, "until": "week", **also}
                answer = hers.post(f"/triage/do/{action}/", given, headers=htmx)
                page = re.sub(r'csrf[^>]*>|/triage/undo/[^"]*', "", answer.content.decode())
                answers.append((answer.status_code, page, answer.headers.get("Location")))
                steps = TriageStep.objects.filter(owner=carol)
                for step in steps:
                    hers.post(f"/triage/undo/{step.pk}/", headers=HTMX)
                assert not MessageState.objects.filter(owner=carol).exists()
        assert answers[0][0] == 404 and answers[1][0] in (200, 302)
        assert answers[:2] == answers[2:]
    assert Card.objects.count() == cards and not Mute.objects.exists()
    assert do(hers, "star", {"id:public": "m"}).status_code == 200


def test_results_of_a_search_name_the_copy_that_they_show(client: Client, alice: User) -> None:
    """It is the narrowest; all of them that are selected are these copies."""
    found = Found(("m",), wall_clock())
    key = selecting.select_found(alice, found).pk
    do(client, "mute", {"selection": str(key)})
    assert Selection.objects.get().count == 1 and Mute.objects.get().root == "own"
