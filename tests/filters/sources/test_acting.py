"""Filters act in a real mailbox: each act once, whenever it is killed, and nothing is expunged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from imapclient import IMAPClient

from filters.authoring.models import Filter
from filters.inbox.models import Match, MessageState
from filters.people.models import User
from filters.runs.store import acts
from filters.sources.both_ways import acting
from filters.sources.models import MailboxAct, Source
from tapestry.core.clock import DAY, MINUTE, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.people.own_mailbox import KilledError, Killer, come, content, mailbox_of
from tests.support.servers.dovecot import PASSWORD, Dovecot

pytestmark = pytest.mark.live

SignIn = Callable[[User], Client]

MOVES = "flag seen tag move"

STEPS = (
    (IMAPClient, "add_flags"),
    (IMAPClient, "remove_flags"),
    (IMAPClient, "move"),
    (acting, "_save"),
)


@pytest.fixture
def source(alice: User, dovecot: Dovecot, tables: Tables) -> Source:
    """The mailbox of alice, of which she allows her filters all that they may do."""
    return mailbox_of(alice, dovecot, may_act=True)


@pytest.fixture(autouse=True)
def nothing_is_expunged(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("expunge", "uid_expunge", "delete_messages", "close_folder"):
        monkeypatch.setattr(IMAPClient, name, lambda *_: pytest.fail("expunged"))


def filter_of(owner: User, names: str, name: str = "f", **options: Any) -> Filter:
    options = {"acts_keyword": "todo", "acts_folder": "Lists/Joe"} | options
    return Filter.objects.create(owner=owner, name=name, text="…", tql="…", acts=names, **options)


def find(filter_: Filter, *names: str) -> None:
    """Have a filter find messages, as its runs do."""
    now = wall_clock()
    with transaction.atomic():
        acting_ = acts.lock_acting([filter_.pk])
        for name in names:
            Match.objects.update_or_create(
                filter=filter_,
                msgid=f"{name}@x.org",
                defaults={
                    "audience": "user:alice",
                    "matched_at": now,
                    "stored_at": now,
                    "shown_at": now,
                    "retracted_at": None,
                },
            )
        acts.act_on([(filter_.pk, f"{name}@x.org") for name in names], acting_)


def let_go(filter_: Filter, name: str) -> None:
    with transaction.atomic():
        acts.let_go(Match.objects.filter(filter=filter_, msgid=f"{name}@x.org"))


def serve() -> None:
    for key in acting.due():
        acting.act_in(Source.objects.get(pk=key))
    assert not acting.waiting().exists()


ALL = {"\\Flagged", "\\Seen", "todo"}


def test_a_message_is_moved_once_and_back_whenever_that_is_killed(
    source: Source, alice: User, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, killer = filter_of(alice, MOVES), Killer(monkeypatch, *STEPS)
    names = [f"killed-{number}" for number in range(10)]
    come(dovecot, source, *names)
    for after, name in enumerate(names, 1):
        find(made, name)
        done = killer.killed_once(after, serve)
        assert content(dovecot)[name] == ("Lists/Joe", ALL)
        let_go(made, name)
        is_over = not (killer.killed_once(after, serve) or done)
        assert content(dovecot)[name] == ("INBOX", set())
        find(made, name)
        serve()
        assert content(dovecot)[name] == ("Lists/Joe", ALL)
        if is_over:
            break
    assert is_over and after > 5 and set(names) <= content(dovecot).keys()
    assert not MailboxAct.objects.exclude(outcome="").exists()


def test_what_was_there_before_and_what_its_owner_changed_stays(
    source: Source, alice: User, dovecot: Dovecot
) -> None:
    made, other = filter_of(alice, MOVES), filter_of(alice, "flag", "other")
    come(dovecot, source, "flagged", "moved", "shared")
    with dovecot.session() as client:
        client.select_folder("INBOX")
        client.add_flags(client.search(["SUBJECT", "flagged"]), ["\\Flagged"])
    find(made, "flagged", "moved", "shared")
    find(other, "shared")
    serve()
    with dovecot.session() as client:
        client.create_folder("Mine")
        client.select_folder("Lists/Joe")
        client.move(client.search(["SUBJECT", "moved"]), "Mine")
    for name in ("flagged", "moved", "shared"):
        let_go(made, name)
    serve()
    now = content(dovecot)
    assert now["flagged"] == ("INBOX", {"\\Flagged"}), "it was flagged before"
    assert now["moved"] == ("Mine", ALL), "its owner has moved it since"
    assert now["shared"] == ("INBOX", {"\\Flagged"}), "another filter flags it too"
    let_go(other, "shared")
    serve()
    assert content(dovecot)["shared"] == ("INBOX", set())


def test_nothing_is_done_where_it_may_not_or_cannot_be(
    source: Source, alice: User, bob: User, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(dovecot, source, "kept")
    made, bobs = filter_of(alice, "move"), filter_of(bob, "trash flag")
    find(bobs, "kept")
    Source.objects.update(may_act=False)
    find(made, "kept")
    serve()
    assert content(dovecot)["kept"] == ("INBOX", set())
    assert set(MailboxAct.objects.values_list("outcome", flat=True)) == {acting.ELSEWHERE}
    Source.objects.update(may_act=True)
    MailboxAct.objects.all().delete()
    Match.objects.update(acts={}, acted_at=None)
    real = IMAPClient.has_capability
    monkeypatch.setattr(
        IMAPClient, "has_capability", lambda self, name: name != "MOVE" and real(self, name)
    )
    find(made, "kept")
    find(filter_of(alice, "trash", "bin"), "kept")
    serve()
    assert content(dovecot)["kept"] == ("INBOX", set())
    assert {act.filter.name: act.outcome for act in MailboxAct.objects.all()} == {
        "f": "127.0.0.1 cannot move messages (RFC 6851).",
        "bin": acting.NO_TRASH,
    }


def test_a_paused_mailbox_keeps_nothing_waiting_and_goes_on(
    source: Source, alice: User, dovecot: Dovecot, as_user: SignIn
) -> None:
    come(dovecot, source, "slow")
    client = as_user(alice)
    client.post(f"/source/{source.pk}/pause/")
    find(filter_of(alice, "flag"), "slow")
    serve()
    assert MailboxAct.objects.get().outcome == MailboxAct.PAUSED
    assert content(dovecot)["slow"] == ("INBOX", set())
    client.post(f"/source/{source.pk}/resume/")
    assert acting.waiting().count() == 1
    serve()
    assert content(dovecot)["slow"] == ("INBOX", {"\\Flagged"})
    assert MailboxAct.objects.get().outcome == ""


@pytest.mark.parametrize("end", ["again", "deleted"])
def test_what_a_filter_lets_go_of_while_the_mailbox_is_paused_is_undone_later(
    end: str, source: Source, alice: User, dovecot: Dovecot, as_user: SignIn
) -> None:
    name, client, made = f"paused-{end}", as_user(alice), filter_of(alice, "flag")
    come(dovecot, source, name)
    find(made, name)
    serve()
    client.post(f"/source/{source.pk}/pause/")
    let_go(made, name)
    serve()
    if end == "again":
        find(made, name)
        client.post(f"/source/{source.pk}/resume/")
        serve()
        assert content(dovecot)[name] == ("INBOX", {"\\Flagged"})
        let_go(made, name)
    else:
        client.post("/filter/f/delete/")
        client.post(f"/source/{source.pk}/resume/")
    serve()
    assert content(dovecot)[name] == ("INBOX", set()), "its owner never flagged it"


def test_a_filter_that_is_deleted_may_undo_what_it_did(
    source: Source, alice: User, dovecot: Dovecot, as_user: SignIn
) -> None:
    come(dovecot, source, "gone", "here")
    client = as_user(alice)
    for name in ("gone", "here"):
        find(filter_of(alice, "move flag star", name), name)
    serve()
    assert b"Undo what it did with 1 message first" in client.get("/filter/gone/delete/").content
    client.post("/filter/gone/delete/", {"undo": "on"})
    client.post("/filter/here/delete/")
    assert acting.waiting().count() == 1 == MailboxAct.objects.count()
    serve()
    assert content(dovecot)["gone"] == ("INBOX", set())
    assert content(dovecot)["here"] == ("Lists/Joe", {"\\Flagged"})
    assert not MailboxAct.objects.exists()
    assert MessageState.objects.exclude(starred_at=None).get().msgid == "here@x.org"


def test_what_cannot_be_undone_for_a_filter_that_is_deleted_is_forgotten(
    source: Source, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    for name in ("placed", "paused"):
        find(filter_of(alice, "flag", name), name)
        MailboxAct.objects.filter(msgid=f"{name}@x.org").update(source=source, ended_at=1)
        client.post(f"/filter/{name}/delete/", {"undo": "on"})
    MailboxAct.objects.filter(msgid="placed@x.org").update(source=None)
    client.post(f"/source/{source.pk}/pause/")
    acting.due()
    assert MailboxAct.objects.get().msgid == "paused@x.org", "it goes on as the mailbox does"
    client.post(f"/source/{source.pk}/delete/")
    acting.due()
    assert not MailboxAct.objects.exists()


def test_a_server_that_fails_holds_up_its_mailbox_alone(
    source: Source, alice: User, dovecot: Dovecot
) -> None:
    come(dovecot, source, "late")
    Source.objects.update(port=1)
    pulled = Source.objects.get()
    made = filter_of(alice, "flag")
    find(made, "late")
    MailboxAct.objects.update(source=pulled, folder="INBOX")
    for key in acting.due():
        acting.act_in(Source.objects.get(pk=key))
    failed = Source.objects.get()
    assert failed.acts_failures == 1 and failed.acts_error and acting.due() == []
    assert MailboxAct.objects.get().ended_at is None and content(dovecot)["late"][1] == set()
    Source.objects.update(port=dovecot.port, acts_due_at=0)
    serve()
    assert content(dovecot)["late"] == ("INBOX", {"\\Flagged"})
    assert Source.objects.get().acts_error == ""


def test_a_mailbox_is_served_though_the_clock_was_set_back(source: Source, alice: User) -> None:
    then = wall_clock() + 3 * DAY
    Source.objects.update(syncs_flags=True, acts_due_at=then, flags_due_at=then)
    assert acting.due() == [source.pk]
    for late in ({"acts_due_at": wall_clock() + MINUTE}, {"flags_due_at": wall_clock() + MINUTE}):
        Source.objects.update(**{"acts_due_at": 0, "flags_due_at": 0} | late)
        assert acting.due() == []


def test_a_place_in_one_mailbox_is_none_in_another_of_the_same_source(
    source: Source, alice: User, dovecot: Dovecot, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(dovecot, source, "wanted", "stranger")
    find(filter_of(alice, "flag"), "wanted")
    with monkeypatch.context() as killed, pytest.raises(KilledError):
        Killer(killed, (acting, "_save")).left = 2
        serve()
    row = MailboxAct.objects.get()
    row.place["uid"] += 1  # as it may be in a mailbox of the same UIDVALIDITY
    row.save()
    client, key = as_user(alice), source.pk
    written = {"kind": "imap", "host": "localhost", "port": source.port, "security": "none"}
    written |= {"user": source.user, "method": "password", "secret": PASSWORD, "every": 60}
    client.post(f"/source/{key}/edit/", {**written, "audience": source.audience})
    serve()
    client.post(f"/source/{key}/acts/", {"may_act": "on"})
    serve()
    now = content(dovecot)
    assert (now["wanted"], now["stranger"]) == (("INBOX", {"\\Flagged"}), ("INBOX", set()))


def test_a_mailbox_allows_it_and_a_filter_says_what(
    source: Source, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    written = {
        "text": "from joe",
        "title": "Joe",
        "mail": "new",
        "visibility": "private",
        "acts": ["move", "tag"],
        "acts_folder": "Lists/Joe",
    }
    client.post(f"/source/{source.pk}/acts/", {})
    refused = client.post("/filters/new/", written)
    assert refused.status_code == 400
    errors = refused.context["form"].errors
    assert errors["acts_keyword"] == ["Say which one."]
    assert "None of your mailboxes lets filters act" in errors["acts"][0]
    assert 'name="may_act" checked' not in client.get(f"/source/{source.pk}/").content.decode()
    client.post(f"/source/{source.pk}/acts/", {"may_act": "on"})
    assert client.post("/filters/new/", written | {"acts_keyword": "a b"}).status_code == 400
    assert client.post("/filters/new/", written | {"acts_keyword": "todo"}).status_code == 302
    made = Filter.objects.get()
    assert (made.acts, made.acts_keyword, made.acts_folder) == ("tag move", "todo", "Lists/Joe")
