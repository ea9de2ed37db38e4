"""The conversation of a message, by the table of threads: as mail comes, and for whom it may be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from filters.authoring import lifecycle
from filters.inbox.lists import cards, joining
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.lists.roots import facts_in, named_after, roots_of
from filters.inbox.models import Card, Mute, ThreadPosition, TriageStep
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target, act
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import PUBLIC, Message
from tapestry.core.schema import THREADS
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.threads import all_facts
from tests.support.faults.races import race
from tests.support.faults.set_asides import Planted
from tests.support.lists import listed_mail
from tests.support.lists.listed_mail import find, installed
from tests.support.lists.live_filters import run, unfold


def append(tables: Tables, *messages: Message) -> None:
    append_messages(tables, DjangoClock(), list(messages))


def root_of(tables: Tables, msgid: str, audience: str = "public") -> str:
    facts = facts_in(tables, tables.data_files(THREADS))
    return roots_of(facts, audience, [msgid])[msgid]


def chain(tables: Tables, length: int) -> None:
    """Append messages m0, m1, … of which each names the one before it alone."""
    append(
        tables,
        *(Message(f"m{n}", inreplyto=f"m{n - 1}" if n else None) for n in range(length)),
    )


def test_a_muted_thread_swallows_a_reply_without_references(tables: Tables, alice: User) -> None:
    jones = installed(alice, "jones")
    chain(tables, 3)
    find(tables, jones, "m0", "m1", "m2")
    assert set(Card.objects.values_list("root", flat=True)) == {"m0"}
    client = Client()
    client.force_login(alice)
    client.post("/triage/do/mute/", {"id": "m1"})
    append(tables, Message("m3", inreplyto="m2"), Message("other"))
    find(tables, jones, "m3", "other")
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]
    append(tables, Message("m4", inreplyto="m3"), Message("m5", inreplyto="m4"))
    find(tables, jones, "m5")
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]


def test_references_name_the_root(tables: Tables, db: None) -> None:
    append(
        tables,
        Message("b", inreplyto="a", references=("a",)),
        Message("c", inreplyto="b"),
        Message("d", inreplyto="c"),
        Message("lone"),
    )
    assert [root_of(tables, msgid) for msgid in ("b", "c", "d", "lone")] == ["a", "a", "a", "lone"]


def test_cycles_end(tables: Tables, db: None) -> None:
    append(tables, Message("a", inreplyto="b"), Message("b", inreplyto="a"))
    assert root_of(tables, "a") == root_of(tables, "b")
    append(tables, Message("self", inreplyto="self"))
    assert root_of(tables, "self") == "self"


def test_a_copy_that_others_do_not_see_says_nothing(tables: Tables, db: None) -> None:
    append(
        tables,
        Message("b", inreplyto="a", audience="user:joe"),
        Message("c", inreplyto="b"),
        Message("c", inreplyto="b", audience="user:joe"),
    )
    assert root_of(tables, "c") == "b"
    assert root_of(tables, "c", "user:joe") == "a"


def shown(client: Client) -> list[list[str]]:
    """Return the lines of the inbox: the messages of each conversation."""
    rows = client.get("/").context["rows"]
    return sorted(sorted(msgid for _, msgid in row.conversation.copies) for row in rows)


@pytest.mark.usefixtures("engine")
def test_a_parent_that_comes_late_joins_conversations_and_what_is_muted(
    tables: Tables, alice: User, bob: User
) -> None:
    User.objects.update(conversations=True)
    clients = []
    for person in (alice, bob):
        lifecycle.install(person, "m.size >= 0 OR TRUE", name="all")
        clients.append(Client())
        clients[-1].force_login(person)
    of_alice, of_bob = clients
    append(tables, Message("top"), Message("c", inreplyto="b"), Message("e", inreplyto="d"))
    append(tables, Message("other", inreplyto="d"))
    run()
    unfold()
    before = [["c"], ["e", "other"], ["top"]]
    assert shown(of_alice) == shown(of_bob) == before
    undone = of_alice.post("/triage/do/mute/", {"id": "c"})
    assert undone.status_code in (200, 302)
    assert shown(of_alice) == before[1:]
    append(tables, Message("b", inreplyto="top", audience="user:bob"))
    run()
    assert shown(of_bob) == [["b", "top"], *before[:2]], "what is bob's says nothing of what is not"
    assert shown(of_alice) == before[1:]
    append(tables, Message("b", inreplyto="d"), Message("d", inreplyto="x", references=("x",)))
    run()
    assert shown(of_alice) == [["top"]], "all that c is one with now is muted with it"
    assert set(Mute.objects.values_list("root", flat=True)) == {"x"}
    assert shown(of_bob) == [["b", "top"], ["c", "d", "e", "other"]], "it is bob’s copy that he has"
    append(tables, Message("late", inreplyto="e"))
    run()
    assert shown(of_alice) == [["top"]]
    of_alice.post("/triage/do/unmute/", {"id": "late"})
    assert shown(of_alice) == [["b", "c", "d", "e", "late", "other"], ["top"]]


def test_what_was_unmuted_is_muted_again_under_the_name_that_it_has_by_then(
    tables: Tables, alice: User, as_user: Callable[[User], Client]
) -> None:
    jones = installed(alice, "jones")
    append(tables, Message("c", inreplyto="b"), Message("other"))
    find(tables, jones, "c", "other")
    client = as_user(alice)
    for action in ("mute", "unmute"):
        client.post(f"/triage/do/{action}/", {"id": "c"})
    step = TriageStep.objects.get(action="unmute")
    append(tables, Message("b", inreplyto="a"), Message("b", inreplyto="x", audience="user:bob"))
    refresh_cards(tables)
    client.post(f"/triage/undo/{step.pk}/")
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]
    assert [mute.root for mute in Mute.objects.all()] == [Card.objects.get(msgid="c").root]
    client.post(f"/triage/undo/{TriageStep.objects.get(action='mute').pk}/")
    assert not Mute.objects.exists(), "it is still that of the step that muted it"


def test_cards_that_are_made_by_older_facts_are_named_again(tables: Tables, alice: User) -> None:
    jones = installed(alice, "jones")
    append(tables, Message("c", inreplyto="b"))
    find(tables, jones, "c")
    append(tables, Message("b", inreplyto="a"))
    refresh_cards(tables)
    assert Card.objects.get().root == "a"
    newest = tables.data_files(THREADS).newest
    assert ThreadPosition.objects.get().ts == newest
    Card.objects.update(root="b")  # as by another worker, which had read them before
    ThreadPosition.objects.update(ts=newest - 1)
    refresh_cards(tables)
    assert Card.objects.get().root == "a"


AUDIENCES = (PUBLIC, "user:joe", "group:parc")

MESSAGES_AT = st.lists(
    st.tuples(
        st.integers(0, 7),  # which
        st.one_of(st.none(), st.integers(0, 9)),  # its parent, which may never come
        st.lists(st.integers(0, 9), max_size=2),  # its references
        st.sampled_from(AUDIENCES),
        st.integers(0, 5),  # when it came
    ),
    min_size=2,
    max_size=14,
    unique_by=lambda drawn: (drawn[0], drawn[3]),
)


def rows_of(drawn: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [
        {
            "msgid": f"m{number}",
            "audience": audience,
            "ts": ts,
            "received": ts,
            "inreplyto": None if parent is None else f"m{parent}",
            "references": [f"m{reference}" for reference in references],
        }
        for number, parent, references, audience, ts in drawn
    ]


def lookup_in(rows: list[dict[str, Any]]) -> Any:
    def facts(column: str, values: Collection[str], audiences: Collection[str] | None) -> Any:
        seen = AUDIENCES if audiences is None else audiences
        return [row for row in rows if row[column] in values and row["audience"] in seen]

    return facts


def names(rows: list[dict[str, Any]], msgids: Collection[str]) -> dict[tuple[str, str], str]:
    facts = lookup_in(rows)
    return {
        (msgid, audience): root
        for audience in AUDIENCES
        for msgid, root in roots_of(facts, audience, msgids).items()
    }


@given(MESSAGES_AT)
def test_whatever_comes_when_names_are_those_of_all_facts(drawn: list[tuple[Any, ...]]) -> None:
    rows = all_facts(rows_of(drawn))
    kept: dict[tuple[str, str], str] = {}
    msgids = {row["msgid"] for row in rows}
    for ts in range(6):
        there = [row for row in rows if row["ts"] <= ts]
        new = {row["msgid"] for row in there if row["ts"] == ts}
        kept |= names(there, named_after(lookup_in(there), new))
        assert kept == names(there, msgids)
    of_public = all_facts([row for row in rows_of(drawn) if row["audience"] == PUBLIC])
    alone = {copy: root for copy, root in names(of_public, msgids).items() if copy[1] == PUBLIC}
    assert alone == {copy: root for copy, root in kept.items() if copy[1] == PUBLIC}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=2, max_size=10))
def test_a_tree_whose_messages_name_parents_alone_is_one(drawn: list[tuple[int, int]]) -> None:
    """In whatever order its messages come."""
    tree = [
        (number, above % number if number else None, [], PUBLIC, ts)
        for number, (above, ts) in enumerate(drawn)
    ]
    found = names(all_facts(rows_of(tree)), {f"m{number}" for number in range(len(tree))})
    assert set(found.values()) == {"m0"} and len(found) == len(tree)


def test_lists_are_refreshed_though_an_error_keeps_conversations_from_being_joined(
    tables: Tables, alice: User, set_asides: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_asides.expect()
    jones = installed(alice, "jones")
    append(tables, Message("c", inreplyto="b"))
    find(tables, jones, "c")
    with monkeypatch.context() as patched:
        patched.setattr(joining, "named_after", lambda *_: 1 // 0)
        append(tables, Message("b", inreplyto="a"), Message("d"))
        find(tables, jones, "d")
    assert [key for _, key, _ in set_asides.found] == [joining.STEP]
    assert set(Card.objects.values_list("msgid", "root")) == {("c", "b"), ("d", "d")}
    SetAside.objects.update(try_again_at=0)
    refresh_cards(tables)
    assert set(Card.objects.values_list("msgid", "root")) == {("c", "a"), ("d", "d")}
    assert not SetAside.objects.exists()


@pytest.mark.parametrize("first", [0, 1])
def test_threads_that_were_muted_apart_and_joined_stay_muted_until_both_are_undone(
    tables: Tables, alice: User, as_user: Callable[[User], Client], first: int
) -> None:
    jones = installed(alice, "jones")
    append(tables, Message("c", inreplyto="b"), Message("e", inreplyto="d"), Message("other"))
    find(tables, jones, "c", "e", "other")
    client = as_user(alice)
    for msgid in ("c", "e"):
        client.post("/triage/do/mute/", {"id": msgid})
    append(tables, Message("b", inreplyto="top"), Message("d", inreplyto="top"))
    refresh_cards(tables)
    steps = list(TriageStep.objects.order_by("at"))
    client.post(f"/triage/undo/{steps.pop(first).pk}/")
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]
    client.post(f"/triage/undo/{steps.pop().pk}/")
    assert {row.card.msgid for row in client.get("/").context["rows"]} == {"c", "e", "other"}


def test_a_muted_thread_that_another_filter_finds_before_it_is_joined_stays_muted(
    tables: Tables, alice: User, as_user: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    jones, smith = installed(alice, "jones"), installed(alice, "smith")
    append(tables, Message("c", inreplyto="b"), Message("other"))
    find(tables, jones, "c", "other")
    client = as_user(alice)
    client.post("/triage/do/mute/", {"id": "c"})
    append(tables, Message("b", inreplyto="a"))
    with monkeypatch.context() as patched:
        patched.setattr(cards, "join_conversations", lambda *_: None)  # mail came just after it
        find(tables, smith, "c")
    refresh_cards(tables)
    assert Card.objects.get(msgid="c").root == "a"
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]


def test_a_thread_that_mail_joins_as_it_is_muted_is_muted_by_its_new_name(
    tables: Tables, alice: User
) -> None:
    jones = installed(alice, "jones")
    append(tables, Message("c", inreplyto="b"))
    find(tables, jones, "c")
    asked = [Target("c", "public", "b")]
    append(tables, Message("b", inreplyto="a"))
    refresh_cards(tables)
    act(alice, ACTIONS["mute"], asked)
    assert Mute.objects.get().root == "a"
    act(alice, ACTIONS["unmute"], asked)
    assert not Mute.objects.exists()


def test_what_is_found_as_its_muted_thread_is_joined_stays_out_of_the_inbox(
    tables: Tables, alice: User, as_user: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    jones = installed(alice, "jones")
    append(tables, Message("c", inreplyto="b"), Message("other"))
    find(tables, jones, "c", "other")
    client = as_user(alice)
    client.post("/triage/do/mute/", {"id": "c"})
    append(tables, Message("d", inreplyto="c"))
    join = joining.join_conversations

    def just_before(*asked: Any) -> None:
        join(*asked)
        append(tables, Message("b", inreplyto="a"))

    with monkeypatch.context() as patched:
        patched.setattr(cards, "join_conversations", just_before)
        find(tables, jones, "d")
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]
    refresh_cards(tables)
    assert set(Card.objects.values_list("root", flat=True)) == {"a", "other"}
    assert [row.card.msgid for row in client.get("/").context["rows"]] == ["other"]


@pytest.mark.django_db(transaction=True)
def test_conversations_are_joined_while_their_cards_are_refreshed(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    jones, smith = installed(alice, "jones"), installed(alice, "smith")
    append(tables, Message("c", inreplyto="b"))
    find(tables, jones, "c")
    append(tables, Message("b", inreplyto="a"))
    with monkeypatch.context() as patched:
        patched.setattr(listed_mail, "refresh_cards", lambda _: 0)
        find(tables, smith, "c")
    locked, joining_now = threading.Event(), threading.Event()
    plan, name, facts = cards.plan_after, joining._name, tables.data_files(THREADS)

    def plan_later(*asked: Any) -> int:
        locked.set()
        joining_now.wait(0.3)  # not at all where one transaction writes at a time
        return plan(*asked)

    def join() -> None:
        locked.wait(60)
        joining.join_conversations(tables, facts)

    def named(*asked: Any) -> None:
        joining_now.set()
        name(*asked)

    monkeypatch.setattr(cards, "plan_after", plan_later)
    monkeypatch.setattr(joining, "_name", named)
    rows = cards._stale_after(0, None, 0)
    refreshed, _ = race(lambda: cards._refresh(tables, facts, rows), join)
    assert refreshed == [1] and Card.objects.get().root == "a"
