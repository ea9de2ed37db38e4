"""The root of a thread: by References, else by the parent's; muting finds replies without them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from filters.inbox.lists import roots
from filters.inbox.lists.roots import STEPS, roots_of
from filters.inbox.models import Card
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup
from tapestry.tables.write.append import append_messages
from tests.support.listed_mail import find, installed


def append(tables: Tables, *messages: Message) -> None:
    append_messages(tables, DjangoClock(), list(messages))


def root_of(tables: Tables, msgid: str, audience: str = "public") -> str:
    columns = ("msgid", "inreplyto", "references")
    rows = lookup(tables, MESSAGES, "msgid", [msgid], [audience], columns)
    return roots_of(tables, audience, rows, tables.data_files(MESSAGES))[msgid]


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
    assert root_of(tables, "a") in ("a", "b")
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


def test_a_limited_number_of_parents_is_looked_up_and_none_above_a_card(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def count(*given: Any) -> Any:
        made.append(given[3])
        return lookup(*given)

    monkeypatch.setattr(roots, "lookup", count)
    chain(tables, 40)
    assert root_of(tables, "m39") == f"m{39 - STEPS - 1}" and len(made) == STEPS
    Card.objects.create(msgid="m38", audience="public", ts=1, received=1, root="m0")
    made.clear()
    assert root_of(tables, "m39") == "m0" and made == []
