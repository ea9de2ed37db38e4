"""Lists with a line for each conversation: what it stands for, shows and opens, and acts upon."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from filters.inbox import conversation_pages, counts
from filters.inbox.lists import conversations, listing
from filters.inbox.lists.rows import Row
from filters.inbox.models import Card, Match, MessageState, Mute
from filters.inbox.triage import conversations as shelf_pages
from filters.inbox.triage.lists import SHELVES, cards_of, states_of
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.lists.listed_mail import find, installed, letters
from tests.support.lists.triage import do, unread

SignIn = Callable[[User], Client]


@pytest.fixture
def alice(alice: User) -> User:
    alice.conversations = True
    User.objects.filter(pk=alice.pk).update(conversations=True)
    return alice


@pytest.fixture
def client(tables: Tables, alice: User, as_user: SignIn) -> Client:
    """Alice's browser: a filter found a, its replies c and d, and b; another found a and b."""
    append_messages(
        tables,
        DjangoClock(),
        [
            Message("a", sender="mary@x.org", sender_name="Mary Jones", subject="The plan",
                    body="Shall we meet?", attachments=1, received=1_000),
            Message("b", sender="bill@x.org", subject="Lunch", body="At noon.", received=2_000),
            Message("c", sender="alice@example.org", sender_name="Alice", subject="Re: The plan",
                    body="Mary wrote:\n> Shall we meet?\n\nYes, on Friday.\n-- \nAlice",
                    inreplyto="a", references=("a",), received=3_000),
            Message("d", sender="bill@x.org", sender_name="Bill Smith", subject="Re: The plan",
                    body="Me too.", inreplyto="c", references=("a", "c"), received=4_000),
        ],
    )  # fmt: skip
    find(tables, installed(alice, "jones"), "a", "b", "c", "d")
    find(tables, installed(alice, "plans"), "a", "b")
    return as_user(alice)


def lines(client: Client, address: str = "/") -> list[Row]:
    return list(client.get(address).context["rows"])


def msgids(row: Row) -> list[str]:
    assert row.conversation is not None
    return [msgid for _, msgid in row.conversation.copies]


def test_a_line_says_who_took_part_how_many_messages_and_what_is_new(client: Client) -> None:
    plan, lunch = lines(client)
    assert msgids(plan) == ["a", "c", "d"] and msgids(lunch) == ["b"]
    assert plan.conversation is not None and lunch.conversation is not None
    assert plan.conversation.who == "Mary, me, Bill" and lunch.conversation.who == "bill@x.org"
    assert (plan.card.msgid, plan.card.beginning) == ("d", "Me too.")
    assert plan.conversation.has_files and not lunch.conversation.has_files
    assert plan.names == ("jones", "plans") and plan.unread
    page = client.get("/").content.decode()
    assert 'aria-label="has attachments"' in page and "3<span" in page
    assert page.count('<li class="line">') == 2


def test_it_opens_the_newest_unread_message_else_the_newest(client: Client) -> None:
    client.get("/", {"open": "d"})
    assert (
        lines(client)[0].card.msgid == "c" and lines(client)[0].card.beginning == "Yes, on Friday."
    )
    for msgid in ("a", "c"):
        client.get("/", {"open": msgid})
    (plan, _) = lines(client)
    assert plan.card.msgid == "d" and not plan.unread


def test_a_list_has_of_a_conversation_what_it_found_itself(client: Client) -> None:
    (plan, lunch) = sorted(lines(client, "/in/plans/"), key=msgids)
    assert msgids(plan) == ["a"] and msgids(lunch) == ["b"]


@pytest.mark.parametrize("action", ["done", "star", "read", "snooze", "mute", "unread"])
def test_an_act_on_a_line_is_for_all_its_messages_and_undone_as_one(
    client: Client, alice: User, action: str
) -> None:
    if action == "unread":
        do(client, "read", "a", "b", "c", "d")
    before, was_unread = lines(client), unread(alice)
    plan = before[0].conversation
    assert plan is not None
    more = {"until": "tomorrow"} if action == "snooze" else {}
    answer = client.post(f"/triage/do/{action}/", {"conversation": plan.names, **more})
    assert answer.status_code == 302
    toast = client.session["toast"]
    assert "3 messages" in toast["words"]
    changed = {
        "done": [["b"]], "snooze": [["b"]], "mute": [["b"]],
        "star": [["a", "c", "d"], ["b"]], "read": [["a", "c", "d"], ["b"]],
        "unread": [["a", "c", "d"], ["b"]],
    }  # fmt: skip
    assert [msgids(row) for row in lines(client)] == changed[action]
    if action == "star":
        assert lines(client)[0].is_starred and MessageState.objects.count() == 3
    if action == "read":
        assert unread(alice) == {"b"}
    client.post(f"/triage/undo/{toast['step']}/")
    assert [msgids(row) for row in lines(client)] == [["a", "c", "d"], ["b"]]
    assert unread(alice) == was_unread and not Mute.objects.exists()
    assert not MessageState.objects.exclude(done_at=None, starred_at=None).exists()


def test_what_is_pinned_is_at_the_top_of_the_inbox_until_it_is_done(
    client: Client, alice: User
) -> None:
    before = lines(client)
    do(client, "pin", "b")
    for conversations_ in (True, False):
        User.objects.update(conversations=conversations_)
        (first, *others) = lines(client)
        assert first.card.msgid == "b" and first.is_at_top and first.day is None
        assert others and all(row.day is not None and not row.is_at_top for row in others)
        page = client.get("/").content.decode()
        assert page.index("At the top") < page.index("Matched ")
        assert not any(row.is_at_top for row in lines(client, "/in/plans/"))
    User.objects.update(conversations=True)
    assert "Remove from the top" in client.get("/?open=b").content.decode()
    do(client, "done", "b")
    do(client, "inbox", "b")
    assert [msgids(row) for row in lines(client)] == [msgids(row) for row in before]
    assert not MessageState.objects.exclude(pinned_at=None).exists()


def test_shelves_have_of_a_conversation_what_is_on_them(client: Client) -> None:
    do(client, "star", "a")
    do(client, "star", "c")
    do(client, "done", "d")
    (starred,) = lines(client, "/starred/")
    assert msgids(starred) == ["a", "c"] and starred.is_starred
    (done,) = lines(client, "/done/")
    assert msgids(done) == ["d"]
    assert [msgids(row) for row in lines(client)] == [["a", "c"], ["b"]]
    do(client, "mute", "a")
    (muted,) = lines(client, "/muted/")
    assert msgids(muted) == ["a", "c"] and muted.is_muted


def test_one_may_have_a_line_for_each_message(client: Client, alice: User) -> None:
    assert client.post("/lines/", {"lines": "messages", "next": "/in/jones/"}).url == "/in/jones/"
    assert [row.card.msgid for row in lines(client)] == ["d", "c", "b", "a"]
    assert client.post("/lines/", {"lines": "x"}).status_code == 400
    client.post("/lines/", {"lines": "conversations"})
    assert len(lines(client)) == 2


def test_what_came_since_the_page_was_shown_is_not_acted_on(
    client: Client, tables: Tables, alice: User
) -> None:
    plan = lines(client)[0].conversation
    assert plan is not None
    letters(tables, "e", root="a")
    find(tables, alice.filters.get(name="jones"), "e")
    client.post("/triage/do/done/", {"conversation": plan.names})
    assert sorted(map(msgids, lines(client))) == [["b"], ["e"]]


def test_what_others_found_or_one_may_not_see_is_in_no_line(
    client: Client, tables: Tables, alice: User, bob: User
) -> None:
    letters(tables, "s", root="a", audience="user:bob")
    find(tables, installed(bob, "his"), "s", audience="user:bob")
    letters(tables, "e", root="a")
    find(tables, installed(bob, "theirs"), "e")
    plan = lines(client)[0]
    assert msgids(plan) == ["a", "c", "d"]
    found = alice.filters.get(name="jones")
    letters(tables, "p", root="a", audience="group:parc")
    find(tables, found, "p", audience="group:parc")
    assert msgids(lines(client)[0]) == ["a", "c", "d", "p"]
    alice.groups.clear()
    assert msgids(lines(client)[0]) == ["a", "c", "d"]


def by_hand(user: User, name: str, listed: list[Any]) -> list[list[int]]:
    """Return the conversations of a list: of its messages in order, each at its first."""
    found: dict[str, list[int]] = {}
    for card in listed:
        found.setdefault(card.root or card.msgid, []).append(card.pk)
    return list(found.values())


def fill(user: User, chance: random.Random) -> None:
    """Give a person threads of many days, in two filters; acts on some of their messages."""
    now = wall_clock()
    filters = [installed(user, name) for name in ("jones", "plans")]
    roots = ["", *(f"m{number}" for number in range(0, 40, 4))]
    for number in range(chance.randrange(10, 40)):
        at = now - round(chance.expovariate(1 / 3) * DAY)
        card = Card.objects.create(
            msgid=f"m{number}", audience=chance.choice(["public", "public", "group:parc"]), ts=at,
            received=at - chance.randrange(2 * DAY), root=chance.choice(roots),
            imported=chance.choice(["", "", "archive"]), sender=f"p{number % 5}@x.org",
        )  # fmt: skip
        for filter_ in chance.sample(filters, chance.choice([1, 2])):
            Match.objects.create(
                filter=filter_, msgid=card.msgid, audience=card.audience, card=card,
                matched_at=chance.choice([at, min(now, at + DAY)]), stored_at=at,
                shown_at=chance.choice([at, at, at, now + HOUR]), refreshed_at=at,
                read_at=chance.choice([None, at]),
                retracted_at=chance.choice([None, None, None, at]),
            )  # fmt: skip
        state: dict[str, Any] = chance.choice(
            [{}, {}, {}, {"done_at": at}, {"snoozed_until": now - chance.randrange(9) * HOUR},
             {"snoozed_until": now + HOUR}, {"starred_at": at}, {"pinned_at": at}]
        )  # fmt: skip
        if state:
            MessageState.objects.create(
                owner=user, msgid=card.msgid, audience=card.audience, changed_at=number, **state
            )
    for root in chance.sample(roots[1:], chance.randrange(3)):
        Mute.objects.create(owner=user, root=root)


@pytest.mark.parametrize("seed", range(12))
def test_lines_partition_a_list_and_stand_where_their_first_message_does(
    tables: Tables, alice: User, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (conversation_pages, shelf_pages):
        monkeypatch.setattr(module, "PAGE", 3)
    monkeypatch.setattr(conversations, "SHORT", (seed % 2) * 1000)
    fill(alice, random.Random(seed))
    counted = counts.sidebar(alice)
    lists: list[tuple[list[Any], Callable[[str], Any]]] = [
        (list(listing.cards(alice, filter_)),
         lambda n, f=filter_: conversation_pages.list_page(alice, f, n, counted))
        for filter_ in (None, *alice.filters.all())
    ]  # fmt: skip
    lists.append(
        (list(listing.cards(alice, muted=True)), lambda n: shelf_pages.muted_page(alice, n))
    )
    for name in ("done", "starred", "snoozed"):
        shelf = SHELVES[name]
        lists.append(
            (cards_of(list(states_of(alice, shelf))),
             lambda n, s=shelf: shelf_pages.shelf_page(alice, s, n, counted))
        )  # fmt: skip
    for flat, page_of in lists:
        wanted = by_hand(alice, "", flat)
        unread_keys = set(
            Match.objects.visible_to(alice).filter(read_at=None).values_list("card", flat=True)
        )
        shown: list[Row] = []
        for number in range(1, -(-len(wanted) // 3) + 1):
            page, rows = page_of(str(number))
            assert page.paginator.count == len(wanted)
            shown += rows
        keys = {(card.audience, card.msgid): card.pk for card in flat}
        of_rows = [{keys[copy] for copy in row.conversation.copies} for row in shown]
        assert of_rows == [set(group) for group in wanted]
        for row, group in zip(shown, wanted, strict=True):
            cards = {card.pk: card for card in flat if card.pk in set(group)}
            new = [card for card in cards.values() if card.pk in unread_keys]
            newest = max(new or cards.values(), key=lambda card: (card.received, card.pk))
            if flat is lists[0][0]:
                assert row.unread == bool(new) and row.card.pk == newest.pk


def test_the_statements_do_not_grow_with_the_list(
    tables: Tables, alice: User, as_user: SignIn, django_assert_max_num_queries: Any
) -> None:
    replies = [
        Message(f"r{number}", sender="p@x.org", inreplyto=f"m{number}", references=(f"m{number}",))
        for number in range(30)
    ]
    letters(tables, *(f"m{number}" for number in range(30)))
    append_messages(tables, DjangoClock(), replies)
    found = installed(alice, "jones")
    names = [f"{kind}{number}" for number in range(30) for kind in "mr"]
    client = as_user(alice)
    find(tables, found, *names[:4])
    client.get("/")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    most = len(few)
    find(tables, found, *names[4:])
    client.get("/")
    with django_assert_max_num_queries(most):
        assert len(lines(client)) == 30
