"""What one does with messages: it leaves lists and comes back, is undone, and is one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from filters.inbox.lists import listing
from filters.inbox.models import Card, Match, MessageState, Mute, TriageStep
from filters.inbox.triage import lists, targets
from filters.people.models import User
from filters.site.work.db.batching import KEYS
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, installed, letters
from tests.support.lists.triage import do, shown, unread

SignIn = Callable[[User], Client]


def test_done_leaves_all_lists_at_once_and_replies_come(
    client: Client, tables: Tables, alice: User
) -> None:
    answer = do(client, "done", "a")
    assert answer.status_code == 200 and "1 message done." in answer.content.decode()
    assert shown(client) == ["b", "c"] == shown(client, "/in/jones/")
    assert shown(client, "/in/plans/") == ["b"]
    assert shown(client, "/done/") == ["a"]
    assert "a" not in unread(alice)
    sidebar = client.get("/").context["sidebar"]
    assert (sidebar.total, sidebar.unread) == (2, 2)
    assert [(f.total, f.unread) for f in sidebar.filters] == [(2, 2), (1, 1)]
    letters(tables, "d", root="a")
    find(tables, alice.filters.get(name="jones"), "d")
    assert shown(client) == ["b", "c", "d"]
    find(tables, installed(alice, "later"), "a")
    assert shown(client, "/in/later/") == [], "it is done once, whichever filter finds it"
    do(client, "inbox", "a")
    assert shown(client) == ["a", "b", "c", "d"] and shown(client, "/done/") == []


def test_a_list_that_was_emptied_says_so(client: Client, alice: User) -> None:
    emptied, never = "Nothing is left here", "Nothing has matched yet"
    installed(alice, "unmatched")
    do(client, "done", "a")
    assert emptied not in client.get("/in/plans/").content.decode()
    do(client, "done", "b", "c")
    for path in ("/", "/in/plans/", "/in/jones/"):
        page = client.get(path).content.decode()
        assert emptied in page and never not in page and "Nothing here yet" not in page
    page = client.get("/in/unmatched/").content.decode()
    assert never in page and emptied not in page


def test_what_is_starred_stays_in_its_lists_and_is_found_under_starred(client: Client) -> None:
    do(client, "star", "a", "b")
    assert shown(client) == ["a", "b", "c"] and shown(client, "/starred/") == ["a", "b"]
    assert [row.is_starred for row in client.get("/starred/").context["rows"]] == [True, True]
    do(client, "done", "a")
    do(client, "unstar", "b")
    assert shown(client, "/starred/") == ["a"], "what is done keeps its star"


def test_mark_unread_is_for_all_filters(client: Client, alice: User) -> None:
    client.get("/", {"open": "a"})
    assert unread(alice) == {"b", "c"}
    do(client, "unread", "a")
    assert Match.objects.filter(msgid="a", read_at=None).count() == 2
    do(client, "read", "a", "b")
    assert unread(alice) == {"c"}


def test_what_is_snoozed_comes_back_by_the_clock_unread_and_on_top(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/", {"open": "a"})
    do(client, "snooze", "a", until="tomorrow")
    until = MessageState.objects.get(msgid="a").snoozed_until
    assert until is not None and until > wall_clock()
    assert shown(client) == ["b", "c"] and shown(client, "/snoozed/") == ["a"]
    client.get("/snoozed/", {"open": "a"})
    assert "a" in unread(alice), "reading it meanwhile does not read what comes back"
    for module in (
        "filters.inbox.models.visibility",
        "filters.inbox.lists.listing",
        "filters.inbox.lists.rows",
        "filters.inbox.counts",
    ):
        monkeypatch.setattr(f"{module}.wall_clock", lambda: until)
    monkeypatch.setattr("filters.inbox.triage.lists.wall_clock", lambda: until)
    rows = client.get("/").context["rows"]
    assert rows[0].card.msgid == "a" and len(rows) == 3
    assert rows[0].unread and rows[0].returned_at == until
    assert "back from snooze</span>" in client.get("/in/plans/").content.decode()
    assert shown(client, "/snoozed/") == []
    client.get("/", {"open": "a"})
    assert "a" not in unread(alice)
    do(client, "unsnooze", "a")
    assert client.get("/in/plans/").context["rows"][0].returned_at is None


@pytest.mark.parametrize("keys", [1, KEYS])
def test_a_muted_thread_is_not_in_the_inbox_nor_sent(
    client: Client, tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch, keys: int
) -> None:
    monkeypatch.setattr(listing, "KEYS", keys)  # threads of more messages are read otherwise
    do(client, "mute", "c")
    assert shown(client) == ["b"] and client.get("/").context["sidebar"].unread == 1
    assert shown(client, "/in/jones/") == ["a", "b", "c"]
    assert shown(client, "/muted/") == ["a", "c"]
    letters(tables, "d", root="a")
    find(tables, alice.filters.get(name="jones"), "d")
    assert shown(client) == ["b"] and shown(client, "/muted/") == ["a", "c", "d"]
    assert Mute.objects.get(owner=alice).root == "a", "the deliveries ask for the same"
    do(client, "unmute", "d")
    assert shown(client) == ["a", "b", "c", "d"]


def test_people_do_not_see_what_others_did(
    client: Client, tables: Tables, bob: User, as_user: SignIn
) -> None:
    find(tables, installed(bob, "jones"), "a", "b")
    his = as_user(bob)
    do(client, "done", "a")
    do(client, "star", "b")
    do(client, "mute", "c")
    assert shown(his) == ["a", "b"] and unread(bob) == {"a", "b"}
    for name in ("done", "starred", "snoozed", "muted"):
        assert shown(his, f"/{name}/") == []
    do(client, "done", "b")
    step = TriageStep.objects.order_by("-at").first()
    assert step is not None
    assert his.post(f"/triage/undo/{step.pk}/").status_code == 404
    assert shown(client, "/done/") == ["a", "b"]


def test_a_message_of_others_is_not_there(
    client: Client, tables: Tables, carol: User, as_user: SignIn
) -> None:
    letters(tables, "secret", audience="user:alice")
    find(
        tables,
        installed(User.objects.get(username="alice"), "own"),
        "secret",
        audience="user:alice",
    )
    hers = as_user(carol)
    for msgid in ("secret", "nothing"):
        answers = [do(hers, action, msgid).status_code for action in ("done", "star", "mute")]
        assert answers == [404] * 3
        assert hers.get("/message/actions/", {"id": msgid}).status_code == 404
    assert not MessageState.objects.exists()


def test_what_no_filter_found_can_be_starred_and_nothing_else(
    client: Client, tables: Tables
) -> None:
    letters(tables, "found-by-search")
    refused = do(client, "done", "found-by-search")
    assert refused.status_code == 422 and "You can star it." in refused.content.decode()
    assert do(client, "star", "found-by-search").status_code == 200
    (row,) = client.get("/starred/").context["rows"]
    assert row.card.subject == "About found-by-search" and row.is_starred
    assert "Mark unread" not in client.get("/message/?id=found-by-search").content.decode()


def test_a_message_that_is_deleted_as_it_is_starred_is_not_there(
    client: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters(tables, "found-by-search")
    make = targets.ensure_cards

    def ensure_cards(*given: Any) -> None:
        make(*given)
        Card.objects.filter(msgid="found-by-search").delete()

    monkeypatch.setattr(targets, "ensure_cards", ensure_cards)
    assert do(client, "star", "found-by-search").status_code == 404
    assert not MessageState.objects.exists()


def test_bad_input_is_told_in_words(client: Client) -> None:
    for given, words in (
        ({}, "No message is selected."),
        (
            {"conversation": urlencode([("id", n) for n in range(5001)])},
            "Too many messages are selected.",
        ),
    ):
        answer = client.post("/triage/do/done/", given)
        page = answer.content.decode()
        assert answer.status_code == 400 and words in page and "That did not work" in page
        assert "apply to the selected messages, otherwise to the open message" in page
    assert client.post("/triage/do/nothing/", {"id": "a"}).status_code == 404
    assert client.get("/triage/do/done/").status_code == 405
    assert client.post("/triage/do/done/", {"selection": "x"}).status_code == 404
    for until, chosen in (("chosen", "soon"), ("chosen", "2001-01-01T08:00"), ("chosen", ""),
                          ("chosen", "9999-01-01T08:00"), ("noon", "")):  # fmt: skip
        assert do(client, "snooze", "a", until=until, chosen=chosen).status_code == 422
    assert not MessageState.objects.exists()


def test_what_waits_until_all_is_read_is_shown_once_the_rest_is_done(
    client: Client, tables: Tables, alice: User
) -> None:
    plans = alice.filters.get(name="plans")
    alice.filters.filter(pk=plans.pk).update(while_unread=True)
    letters(tables, "d")
    find(tables, plans, "d")
    assert shown(client, "/in/plans/") == ["a", "b"]
    do(client, "snooze", "a", until="tomorrow")
    assert shown(client, "/in/plans/") == ["b"]
    do(client, "done", "b")
    assert shown(client, "/in/plans/") == ["d"]


def test_marking_all_read_leaves_what_is_snoozed_unread(client: Client, alice: User) -> None:
    do(client, "snooze", "a", until="tomorrow")
    client.post("/read/")
    assert unread(alice) == {"a"}


def test_what_was_lost_with_an_audience_is_in_no_list(
    client: Client, tables: Tables, alice: User
) -> None:
    letters(tables, "for-parc", audience="group:parc")
    find(tables, installed(alice, "parc"), "for-parc", audience="group:parc")
    do(client, "star", "for-parc")
    assert shown(client, "/starred/") == ["for-parc"]
    alice.groups.clear()
    assert shown(client, "/starred/") == []
    assert do(client, "done", "for-parc").status_code == 404


def test_queries_do_not_grow_with_the_messages(
    client: Client, tables: Tables, alice: User, django_assert_max_num_queries: Any
) -> None:
    msgids = [f"m{number}" for number in range(60)]
    letters(tables, *msgids)
    find(tables, alice.filters.get(name="jones"), *msgids)
    with django_assert_max_num_queries(30):
        do(client, "done", *msgids)
    for address in ("/", "/done/", "/starred/", "/in/jones/"):
        with django_assert_max_num_queries(25):
            client.get(address)


@pytest.mark.parametrize("action", ["done", "star"])
def test_what_is_lost_with_a_group_and_found_again_is_as_one_left_it(
    client: Client, tables: Tables, alice: User, action: str
) -> None:
    letters(tables, "m", audience="group:parc")
    find(tables, installed(alice, "parc"), "m", audience="group:parc")
    do(client, action, "m")
    shelf = {"done": "done", "star": "starred"}[action]
    alice.groups.clear()
    assert shown(client, f"/{shelf}/") == [] and shown(client) == ["a", "b", "c"]
    letters(tables, "m")
    find(tables, alice.filters.get(name="parc"), "m")
    assert shown(client, f"/{shelf}/") == ["m"]
    assert ("m" in shown(client)) == (action == "star")
    assert lists.cards_in(alice, shelf, None).get().audience == "public"


def test_what_no_filter_found_stays_starred_by_the_copy_that_is_left(
    client: Client, tables: Tables, alice: User, bob: User
) -> None:
    for audience in ("group:parc", "public"):
        letters(tables, "m", audience=audience)
    do(client, "star", "m")
    assert MessageState.objects.get().audience == "group:parc"
    bob.groups.first().delete()
    assert shown(client, "/starred/") == ["m"] and MessageState.objects.get().audience == "public"
    assert do(client, "done", "m").status_code == 200, "it is in a list"
    assert shown(client, "/done/") == ["m"]


def test_a_message_of_several_copies_is_on_a_shelf_once(
    client: Client, tables: Tables, alice: User
) -> None:
    for audience in ("public", "group:parc", "user:alice"):
        letters(tables, "m", audience=audience)
        find(tables, installed(alice, audience.replace(":", "-")), "m", audience=audience)
    do(client, "star", "m")
    for named, stands in (("group:parc", "group:parc"), ("group:other", "user:alice")):
        MessageState.objects.update(audience=named)
        assert shown(client, "/starred/") == ["m"]
        assert lists.cards_in(alice, "starred", None).get().audience == stands


def test_one_message_that_is_lost_keeps_nothing_from_the_others(
    client: Client, tables: Tables, alice: User
) -> None:
    letters(tables, "for-parc", audience="group:parc")
    find(tables, installed(alice, "parc"), "for-parc", audience="group:parc")
    alice.groups.clear()
    for action in ("done", "star"):
        said = do(client, action, "a", "for-parc", "b")
        assert said.status_code == 200 and "2 messages" in said.content.decode()
        assert "1 other message is in none of your lists." in said.content.decode()
    assert shown(client) == ["c"] and shown(client, "/starred/") == ["a", "b"]
    assert [do(client, action, "for-parc").status_code for action in ("done", "star")] == [404] * 2
