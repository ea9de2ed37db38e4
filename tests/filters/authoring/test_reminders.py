"""Reminders of one's own messages, unless somebody answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from filters.inbox.models import Match, MessageState
from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.filters.authoring.test_ready_made import answer, send
from tests.support.live_filters import run

SignIn = Callable[[User], Client]
PLAN = "plan@example.org"

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def person(tables: Tables, alice: User, as_user: SignIn) -> Client:
    send(tables, "plan", questions=0)
    return as_user(alice)


def ask(client: Client, tables: Tables, until: str, chosen: str = "", msgid: str = PLAN) -> int:
    sent = {"id": msgid, "in": "user:alice", "until": until, "chosen": chosen}
    status = client.post("/filters/remind/", sent).status_code
    append_outbox(tables)
    run()
    return status


def in_inbox(user: User) -> set[str]:
    return set(Match.objects.in_list(user).values_list("msgid", flat=True))


def come(user: User) -> None:
    """Let the time come until which a message is snoozed."""
    MessageState.objects.filter(owner=user).update(snoozed_until=wall_clock() - 1)


def test_a_message_with_a_reminder_comes_back_unless_somebody_answers(
    person: Client, tables: Tables, alice: User
) -> None:
    page = person.get("/message/", {"id": PLAN}).content.decode()
    assert "Remind me if nobody answers" in page and "Nothing more to come" in page
    assert ask(person, tables, "tomorrow") == 302
    page = person.get("/message/", {"id": PLAN}).content.decode()
    assert "Remind me at another time" in page and "No reminder" in page
    assert not in_inbox(alice)
    come(alice)
    assert in_inbox(alice) == {PLAN}
    answer(tables, "plan", automatic="reply")
    run()
    assert in_inbox(alice) == {PLAN}
    assert ask(person, tables, "week") == 302, "it can be repeated"
    assert not in_inbox(alice)
    send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
    run()
    come(alice)
    assert not in_inbox(alice)


@pytest.mark.parametrize("how", ["never", "settled"])
def test_a_reminder_ends_by_hand(how: str, person: Client, tables: Tables, alice: User) -> None:
    assert ask(person, tables, "tomorrow") == 302
    assert ask(person, tables, how) == 302
    assert not in_inbox(alice)
    assert MessageState.objects.get().snoozed_until is None
    page = person.get("/message/", {"id": PLAN}).content.decode()
    assert ("Nothing more to come" in page) == (how == "never")


def test_what_is_asked_for_wrongly_is_refused(person: Client, tables: Tables, alice: User) -> None:
    yesterday = timezone.localtime() - timedelta(days=1)
    assert ask(person, tables, "chosen", f"{yesterday:%Y-%m-%dT%H:%M}") == 400
    assert ask(person, tables, "chosen", "soon") == 400
    assert ask(person, tables, "tomorrow", msgid="nowhere@example.org") == 404
    assert not alice.filters.exists()


def test_mail_of_others_has_no_reminder(mail: Tables, alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/message/", {"id": PLAN}).content.decode()
    assert "Mary Jones" in page and "Remind me" not in page
