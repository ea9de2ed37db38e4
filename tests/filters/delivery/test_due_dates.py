"""The calendar of what is due, at the address of a feed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import ready_made, reminders
from filters.delivery.models import Feed
from filters.inbox.lists.cards import CopyKey
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from tapestry.core.clock import DAY, to_datetime, wall_clock
from tapestry.tables.delta.log import Tables
from tests.filters.authoring.test_ready_made import answer, send
from tests.support.formats.calendar_file import events_of
from tests.support.lists.live_filters import run

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.usefixtures("engine")


def test_what_waits_and_what_is_snoozed_is_due(
    tables: Tables, alice: User, as_user: SignIn, client: Client
) -> None:
    made = ready_made.add(alice, ready_made.WAITING)
    for name in ("plan", "lunch"):
        send(tables, name)
    send(tables, "offer", questions=0)
    later = wall_clock() + 9 * DAY
    reminders.remind(alice, CopyKey("offer@example.org", "user:alice"), later)
    append_outbox(tables)
    run()
    feed, of_filter = (Feed.objects.create(owner=alice, filter=one) for one in (None, made))
    pages = as_user(alice).get("/feeds/").content.decode()
    path = f"/feeds/{feed.token}.ics"
    assert path in pages

    def due(address: str = path) -> dict[str, str]:
        response = client.get(address)
        assert response["Content-Type"].startswith("text/calendar")
        return {event["SUMMARY"]: event["DTSTART"] for event in events_of(response.content)}

    at = Match.objects.get(msgid="plan@example.org").shown_at
    asked = {
        "Waiting for an answer: plan": f"{to_datetime(at):%Y%m%dT%H%M%SZ}",
        "Waiting for an answer: lunch": due()["Waiting for an answer: lunch"],
    }
    assert due() == {**asked, "Reminders: offer": f"{to_datetime(later):%Y%m%dT%H%M%SZ}"}
    assert due(f"/feeds/{of_filter.token}.ics") == asked
    again = client.get(path, headers={"If-None-Match": client.get(path)["ETag"]})
    assert again.status_code == 304

    answer(tables, "plan")
    answer(tables, "offer")
    run()
    assert due().keys() == {"Waiting for an answer: lunch"}
    Match.objects.update(audience="user:bob")
    assert not due(), "what its owner may not see any more is not told"
    assert client.get("/feeds/nothing.ics").status_code == 404
