"""Two messages with one Message-ID: both are found, marked, and lead to each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

BANNER = "Another message has the same Message-ID"


@pytest.fixture
def forged(db: None, tables: Tables) -> None:
    """Somebody publishes other words under a Message-ID before the genuine message is here."""
    for account in ("666", "111"):
        body = f"Send it to account {account}."
        letter = Message("m@x", sender="mary@x.org", subject=f"Invoice {account}", body=body)
        append_messages(tables, DjangoClock(), [letter], originals=[Original(body.encode())])


def linked(page: str) -> str:
    banner = page[page.index('id="same-id"') :]
    found = re.search(r'href="([^"]*)"', banner[: banner.index("</p>")])
    assert found
    return unescape(found[1])


def test_filters_find_both_and_the_list_marks_both(
    forged: None, engine: None, mail: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "from mary", name="mary")
    rounds.run_round()
    page = as_user(alice).get("/in/mary/").content.decode()
    assert "Invoice 666" in page and "Invoice 111" in page and "The plan" in page
    assert page.count("same Message-ID</span>") == 2


def test_the_pages_name_each_other(forged: None, carol: User, as_user: SignIn) -> None:
    client = as_user(carol)
    first = client.get("/message/", {"id": "m@x"}).content.decode()
    assert "account 666" in first and BANNER in first and "This one came first." in first
    assert "Invoice 111, from mary@x.org" in first
    other = client.get(linked(first)).content.decode()
    assert "account 111" in other and BANNER in other and "This one came later." in other
    assert "<dt>Message-ID</dt><dd>m@x</dd>" in other
    assert "account 666" in client.get(linked(other)).content.decode()
    original = client.get(linked(first).replace("/message/", "/message/original/", 1))
    assert "account 111" in original.content.decode()


def test_what_one_may_not_see_is_not_named(
    forged: None, tables: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    for n in range(2):
        secret = Message("s@x", subject=f"Secret {n}", body=f"no. {n}", audience="user:alice")
        append_messages(tables, DjangoClock(), [secret])
    append_messages(tables, DjangoClock(), [Message("s@x", subject="Hello", body="to all")])
    page = as_user(carol).get("/message/", {"id": "s@x"}).content.decode()
    assert "Hello" in page and BANNER not in page and "Secret" not in page
    assert BANNER in as_user(alice).get("/message/", {"id": "s@x"}).content.decode()


def test_a_message_alone_is_not_marked(
    engine: None, mail: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "from mary", name="mary")
    rounds.run_round()
    page = as_user(alice).get("/in/mary/").content.decode()
    assert "The plan" in page and "same Message-ID" not in page
    assert (
        BANNER not in as_user(alice).get("/message/", {"id": "plan@example.org"}).content.decode()
    )
