"""Recipients are completed, and known by their names: as far as the writer may see them."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client

from filters.compose.drafting.contacts import complete, contacts, recipients
from filters.compose.models import OutgoingMessage
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.compose.recipients import Recipient
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.delivery.composed import typed

SENDERS = [
    ("mary@x.org", "Mary Jones", "public"),
    ("bill@x.org", "Bill Smith", "user:alice"),
    ("bill@y.org", "Bill Smith", "user:alice"),
    ("secret@x.org", "Carla Secret", "user:carol"),
    ("ann@x.org", "Smith, Ann", "public"),
]


@pytest.fixture(autouse=True)
def mail(tables: Tables, db: None) -> None:
    messages = [
        Message(f"{n}@x", sender=sender, sender_name=name, audience=audience)
        for n, (sender, name, audience) in enumerate(SENDERS)
    ]
    append_messages(tables, DjangoClock(), messages)


def offered(user: User, text: str, at: int | None = None) -> list[str]:
    return [one.text for one in complete(user, text, len(text) if at is None else at)]


def test_what_is_typed_begins_a_name_or_an_address(alice: User) -> None:
    assert offered(alice, "jon") == ["Mary Jones <mary@x.org>, "]
    assert offered(alice, "a@b.org, ann") == ['"Smith, Ann" <ann@x.org>, ']
    assert set(offered(alice, "bill")) == {
        "Bill Smith <bill@x.org>, ",
        "Bill Smith <bill@y.org>, ",
    }
    (one,) = complete(alice, "mar, ann@x.org", 3)
    assert (one.start, one.end, one.text) == (0, 3, "Mary Jones <mary@x.org>")
    assert offered(alice, "") == [] == offered(alice, "a@b.org, ")


def test_only_what_one_may_see_and_whom_one_wrote_to(alice: User, carol: User) -> None:
    assert offered(alice, "secret") == [] and offered(carol, "secret") != []
    assert offered(carol, "bill") == []
    for state, to in (("sent", "Dora <dora@x.org>"), ("draft", "typo@x.org")):
        OutgoingMessage.objects.create(owner=carol, state=state, to=to, changed_at=1)
    assert contacts(carol)[0] == Recipient("dora@x.org", "Dora")
    assert offered(carol, "typo") == [] and offered(alice, "dora") == []


def test_a_known_name_is_enough(alice: User) -> None:
    mary = Recipient("mary@x.org", "Mary Jones")
    assert recipients(alice, "mary  jones, a@b.org") == (mary, Recipient("a@b.org"))
    with pytest.raises(TapestryError, match="“Bill Smith” is the name of several people") as caught:
        recipients(alice, "Bill Smith")
    assert "bill@x.org" in str(caught.value.hint) and "bill@y.org" in str(caught.value.hint)
    for unknown in ("Nobody", "Carla Secret"):
        with pytest.raises(TapestryError):
            recipients(alice, unknown)


def test_the_editor_sends_to_a_name_and_says_what_it_may_mean(browser: Client) -> None:
    page = unescape(browser.get("/compose/").content.decode())
    assert page.count('data-complete="/compose/complete/"') == 3
    found = browser.get("/compose/complete/", {"text": "jon", "at": "3"}).content.decode()
    assert "Mary Jones &lt;mary@x.org&gt;" in found
    given: dict[str, Any] = {"do": "send", "to": "Bill Smith", "subject": "x"}
    answer = browser.post("/compose/", typed(**given))
    assert "Choose one: Bill Smith <bill@x.org>" in unescape(answer.content.decode())
    assert browser.post("/compose/", typed(**given | {"to": "Mary Jones"})).status_code == 302
    queued = OutgoingMessage.objects.get(state="queued")
    assert b"To: Mary Jones <mary@x.org>" in bytes(queued.raw)
