"""The filters of the first day: who owes an answer, and to whom one is owed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from filters.authoring import ready_made
from filters.authoring.lifecycle import install
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, to_datetime, wall_clock
from tapestry.core.message import Annotation, Message
from tapestry.deliver.timing.workdays import calendar_of, due
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.lists.live_filters import listed, run

SignIn = Callable[[User], Client]
UTC = ZoneInfo("UTC")

pytestmark = pytest.mark.usefixtures("engine")


def send(tables: Tables, name: str, age: int = 0, **more: Any) -> None:
    """A letter of alice that asks bob, or what else is said, of so long ago."""
    given = {"sender": "al@example.com", "to": ("bob@x.org",), "questions": 1, **more}
    msgid, at = f"{name}@example.org", wall_clock() - age
    mail = Message(msgid, subject=name, audience="user:alice", received=at, **given)
    append_messages(tables, DjangoClock(), [mail])


def answer(tables: Tables, parent: str, **more: Any) -> None:
    send(
        tables,
        f"re-{parent}",
        sender=more.pop("sender", "bob@x.org"),
        questions=0,
        inreplyto=f"{parent}@example.org",
        **more,
    )


def waiting(filter_: Filter) -> dict[str, int]:
    rows = filter_.matches.filter(shown_at__gt=wall_clock(), retracted_at=None)
    return {name.partition("@")[0]: at for name, at in rows.values_list("msgid", "shown_at")}


def test_who_owes_an_answer_is_shown_after_three_working_days(
    tables: Tables, alice: User, as_user: SignIn
) -> None:
    made = ready_made.add(alice, ready_made.WAITING)
    send(tables, "old", age=10 * DAY)
    send(tables, "ancient", age=90 * DAY)
    send(tables, "statement", questions=0)
    send(tables, "of-bob", sender="bob@x.org")
    send(tables, "invitation", automatic="calendar")
    send(tables, "to-all", list="all.x.org")
    for name in ("new", "away", "followed", "answered", "settled"):
        send(tables, name)
    answer(tables, "away", automatic="reply")
    answer(tables, "followed", sender="alice@example.org")
    run()
    assert listed(alice) == {"old"}
    asked = Match.objects.get(msgid="new@example.org")
    office = calendar_of("01234", "")
    assert asked.shown_at == due(asked.card.received, 3, office, UTC) > wall_clock() + 2 * DAY
    assert "5 waiting" in as_user(alice).get(made.get_absolute_url()).content.decode()

    answer(tables, "answered")
    settled = Annotation("s", "settled@example.org", "alice", "tag", "settled", None, "user:alice")
    append_annotations(tables, DjangoClock(), [settled])
    run()
    assert waiting(made).keys() == {"new", "away", "followed"}
    assert not listed(alice, gone=True), "what was never shown leaves no trace"

    last = to_datetime(asked.shown_at).date()
    alice.holidays = "\n".join(str(last + timedelta(days)) for days in range(7))
    alice.save()
    office = calendar_of("01234", alice.holidays)
    assert waiting(made)["new"] == due(asked.card.received, 3, office, UTC) > asked.shown_at


def test_to_whom_an_answer_is_owed(tables: Tables, alice: User) -> None:
    ready_made.add(alice, ready_made.OWED)
    me, both = ("alice@example.org",), ("alice@example.org", "carol@x.org")
    bob = {"sender": "bob@x.org", "to": me}
    send(tables, "alone", **bob)
    send(tables, "by-name", **bob | {"to": both}, body="Alice, are you there?")
    send(tables, "to-both", **bob | {"to": both}, body="Are you there?")
    send(tables, "thanks", **bob, body="Thanks!", **{"questions": 0})
    send(tables, "bounce", **bob, automatic="report")
    send(tables, "answered", **bob)
    send(tables, "of-mine", to=me)
    answer(tables, "answered", sender="alice@example.org")
    away = {"sender": "alice@example.org", "questions": 0, "automatic": "reply"}
    send(tables, "away", **away, inreplyto="alone@example.org")
    run()
    assert listed(alice) == {"alone", "by-name"}, "who is away has not answered"
    answer(tables, "alone", sender="al@example.com")
    run()
    assert listed(alice) == {"by-name"}
    assert listed(alice, gone=True) == {"alone"}


def test_ready_made_filters_are_offered_made_once_and_deletable(
    alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    assert "Who owes an answer?" in client.get("/filters/").content.decode()
    for _ in range(2):
        assert client.post("/filters/ready-made/").status_code == 302
    names = set(alice.filters.values_list("name", flat=True))
    assert names == {"waiting-for-an-answer", "to-be-answered"}
    assert all(made.is_live for made in alice.filters.all())
    assert "Three steps to your first filter" in client.get("/").content.decode()
    assert client.post("/filter/to-be-answered/delete/").status_code == 302
    page = client.get("/filters/").content.decode()
    assert "To be answered:" in page and "Waiting for an answer:" not in page


def test_a_form_waits_for_working_days_or_for_what_is_unread(alice: User, as_user: SignIn) -> None:
    made = install(alice, "from x", name="f")
    given = {"text": "from x", "name": "f", "mail": "existing", "visibility": "private"}
    given |= {"timeliness_how": "after", "timeliness_days": "2"}
    client = as_user(alice)
    assert client.post("/filter/f/edit/", given | {"while_unread": "on"}).status_code == 400
    assert client.post("/filter/f/edit/", given).status_code == 302
    made.refresh_from_db()
    assert made.timeliness == "after 2 working days"
