"""A calendar: its page, and the filters that speak of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.authoring import lifecycle
from filters.people.models import User
from filters.reading import calendar
from filters.reading.annotations.outbox import append_outbox
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, HOUR, to_datetime, wall_clock
from tapestry.core.message import Message
from tapestry.ingest.parse import parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import forget
from tapestry.tables.write.append import append_messages
from tests.filters.reading.test_contacts import arrive, run, seen
from tests.mime.test_icalendar_file import ics

SignIn = Callable[[User], Client]


def meeting(address: str, ahead: int, uid: str = "u", more: str = "") -> str:
    start = to_datetime(wall_clock() + ahead).strftime("%Y%m%dT%H%M%SZ")
    return f"UID:{uid}\nDTSTART:{start}\nATTENDEE:mailto:{address}\n{more}"


def upload(client: Client, raw: bytes) -> int:
    file = SimpleUploadedFile("calendar.ics", raw)
    return client.post("/calendar/", {"file": file, "act": "replace"}).status_code


@pytest.mark.usefixtures("engine")
def test_a_calendar_is_what_filters_mean_by_it(
    tables: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    soon = "from people I meet this week"
    lifecycle.install(alice, soon, name="met", existing=True)
    lifecycle.install(alice, soon, name="live", existing=True, mode="live")
    lifecycle.install(bob, soon, name="bobs", existing=True)
    arrive(tables, "ann@x.org", "late@x.org", "past@x.org")
    run(tables)
    assert seen(alice, "met") == set()
    client = as_user(alice)
    events = [meeting("ann@x.org", DAY, "a"), meeting("late@x.org", 8 * DAY, "l")]
    assert upload(client, ics(*events, meeting("past@x.org", -HOUR, "p"))) == 302
    run(tables)
    assert seen(alice, "met") == seen(alice, "live") == {"ann@x.org"}
    assert upload(client, ics(events[1], meeting("bill@x.org", DAY))) == 302
    arrive(tables, "bill@x.org", "eve@x.org")
    run(tables)
    assert seen(alice, "met") == {"ann@x.org", "bill@x.org"}, "what matched was true then"
    assert seen(alice, "live") == {"bill@x.org"}
    assert seen(bob, "bobs") == set(), "nobody's calendar is another's"
    client.post("/calendar/", {"act": "clear"})
    run(tables)
    assert seen(alice, "live") == set()
    assert not calendar.meetings_of(alice)


@pytest.mark.usefixtures("engine")
def test_mail_of_a_cancelled_event_is_found(
    tables: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    for user in (alice, bob):
        lifecycle.install(user, "about cancelled events", name="off", existing=True)
    invitation = {"event": "u", "method": "request", "sender": "boss@x.org"}
    forged = {"event": "w", "method": "cancel", "sender": "eve@x.org"}
    mail = [
        Message("u-1", **invitation),
        Message("v-1", **invitation | {"event": "v"}),
        Message("w-1", **invitation | {"event": "w"}),
        Message("fake-1", **forged),
    ]
    append_messages(tables, DjangoClock(), mail)
    run(tables)
    assert seen(alice, "off") == {"fake"}
    upload(as_user(alice), ics(meeting("boss@x.org", DAY, "u", "STATUS:CANCELLED")))
    append_messages(
        tables, DjangoClock(), [Message("off-1", **invitation | {"event": "v", "method": "cancel"})]
    )
    run(tables)
    assert seen(alice, "off") == {"fake", "off", "u", "v"}
    assert seen(bob, "off") == {"fake", "off", "v"}
    anew = Message("again-1", **invitation | {"event": "v"})
    append_messages(tables, DjangoClock(), [anew])
    run(tables)
    assert seen(bob, "off") == {"fake", "off", "v"}, "it takes place after all"


def test_an_invitation_has_its_event() -> None:
    raw = b"From: boss@x.org\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nCome\n"
    raw += b"--b\nContent-Type: text/calendar; method=REQUEST\n\n" + ics("UID:4@x\nDTSTART:1")
    message = parse(raw + b"\n--b--\n").message
    assert (message.event, message.method) == ("4@x", "publish")
    assert parse(b"From: boss@x.org\n\nhi\n").message.event is None


def test_the_page_shows_each_person_their_own(
    tables: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    hers = as_user(alice)
    file = SimpleUploadedFile("c.ics", ics(meeting("ann@x.org", DAY), "DTSTART:no"))
    page = hers.post("/calendar/", {"file": file}, follow=True)
    assert "1 meetings and 0 cancelled events. 1 events could not" in page.content.decode()
    append_outbox(tables)
    (row,) = hers.get("/calendar/").context["meetings"]
    assert row.value == "ann@x.org"
    assert hers.get("/calendar/").content.decode().count("ann@x.org") == 1
    assert as_user(bob).get("/calendar/").context["meetings"] == []
    given = calendar.replace(alice, ics(meeting("ann@x.org", DAY)))
    assert given.meetings == 1


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [(b"no calendar", "There is no calendar in this file."), (b"", "Choose a file first.")],
)
def test_what_is_no_calendar_is_refused_in_a_sentence(
    alice: User, as_user: SignIn, raw: bytes, sentence: str
) -> None:
    given = {"file": SimpleUploadedFile("c.ics", raw)} if raw else {}
    answer = as_user(alice).post("/calendar/", given)
    assert answer.status_code == 400
    assert sentence in answer.content.decode()


def test_a_calendar_goes_with_its_person_but_not_with_age(tables: Tables, alice: User) -> None:
    calendar.replace(alice, ics(meeting("ann@x.org", DAY)))
    append_outbox(tables)
    clock = DjangoClock()
    forget(tables, clock, "user:alice", before=wall_clock() + DAY)
    assert [row.value for row in calendar.meetings_of(alice)] == ["ann@x.org"]
    forget(tables, clock, "user:alice")
    assert not calendar.meetings_of(alice)
