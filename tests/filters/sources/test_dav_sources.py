"""Address books and calendars on a server: what filters mean by them follows what changes there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading import address_book, calendar
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.sources import changes, tasks
from filters.sources.models import Folder, Pull, Source, SyncedResource
from filters.sources.pull import pulling, resources
from filters.upkeep.forgetting import forget
from tapestry.core.clock import DAY, to_datetime, to_instant, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.filters.reading.test_calendar import meeting
from tests.filters.reading.test_contacts import arrive, seen
from tests.ingest.test_dav import etag, found, multistatus, the_book
from tests.mime.test_icalendar_file import ics
from tests.support.servers.dav import BOOK, CALENDAR, PASSWORD, USER, Radicale
from tests.support.servers.http_recorder import recording_server

SignIn = Callable[[User], Client]

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server(radicale: Radicale) -> Iterator[Radicale]:
    for name, kind in (("friends", BOOK), ("work", BOOK), ("diary", CALENDAR)):
        radicale.make(name, kind)
    yield radicale
    for name in ("friends", "work", "diary"):
        radicale.delete(f"{name}/")


def card(address: str, uid: str = "") -> str:
    uid = uid or address
    lines = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{uid}", "FN:X", "N:X;;;;", f"EMAIL:{address}"]
    return "\r\n".join([*lines, "END:VCARD", ""])


def event(address: str, ahead: int = DAY, more: str = "") -> str:
    stamped = (
        meeting(address, ahead, f"u-{address}", more or "SUMMARY:x") + "\nDTSTAMP:20260101T000000Z"
    )
    return ics(stamped).decode()


def described(server: Radicale, kind: str = "carddav", **other: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "user": USER,
        "secret": PASSWORD,
        "audience": "user:alice",
        "every": 300,
        **other,
    }


def added(
    client: Client, server: Radicale, kind: str = "carddav", *, folders: str = "*", **other: Any
) -> Source:
    """Add a source by its pages, and return it; nothing is pulled yet."""
    response = client.post("/sources/new/", described(server, kind, **other))
    assert response.status_code == 302, response.content.decode()
    source = Source.objects.latest("pk")
    client.post(f"/source/{source.pk}/places/", {"folder": folders})
    source.refresh_from_db()
    return source


def pull(source: Source) -> None:
    tasks.pull_source(source.pk)
    source.refresh_from_db()
    assert source.error == ""


def book(user: User) -> list[str]:
    return list(address_book.contacts_of(user))


@pytest.mark.usefixtures("engine")
def test_an_address_book_is_what_filters_mean_by_it_as_it_changes(
    server: Radicale, alice: User, bob: User, as_user: SignIn, tables: Tables
) -> None:
    friends = "from somebody in my address book"
    for owner in (alice, bob):
        lifecycle.install(owner, friends, name="live", existing=True, mode="live")
    arrive(tables, "ann@x.org", "bill@x.org", "eve@x.org")
    server.put("friends/a.vcf", card("ann@x.org"))
    source = added(as_user(alice), server)
    pull(source)
    assert source.complete_until and source.appended_until
    rounds.run_round()
    assert seen(alice, "live") == {"ann@x.org"}
    assert seen(bob, "live") == set(), "nobody's address book is another's"
    server.put("work/b.vcf", card("bill@x.org"))
    server.delete("friends/a.vcf")
    pull(source)
    rounds.run_round()
    assert seen(alice, "live") == {"bill@x.org"}


@pytest.mark.usefixtures("engine")
def test_a_calendar_is_what_filters_mean_by_it_as_it_changes(
    server: Radicale, alice: User, as_user: SignIn, tables: Tables
) -> None:
    soon = "from people I meet this week"
    lifecycle.install(alice, soon, name="live", existing=True, mode="live")
    lifecycle.install(alice, "about an event that has been cancelled", name="off", existing=True)
    arrive(tables, "ann@x.org", "bill@x.org")
    invitations = [
        Message(f"{event}-1", sender="boss@x.org", event=event, method="request")
        for event in ("u-ann@x.org", "u-bill@x.org")
    ]
    append_messages(tables, DjangoClock(), invitations)
    server.put("diary/a.ics", event("ann@x.org"))
    server.put("diary/b.ics", event("bill@x.org", 20 * DAY))
    source = added(as_user(alice), server, "caldav")
    pull(source)
    rounds.run_round()
    assert seen(alice, "live") == {"ann@x.org"} and seen(alice, "off") == set()
    server.put("diary/b.ics", event("bill@x.org", 2 * DAY))
    server.put("diary/a.ics", event("ann@x.org", DAY, "STATUS:CANCELLED"))
    pull(source)
    rounds.run_round()
    assert seen(alice, "live") == {"bill@x.org"}
    cancelled = Match.objects.filter(filter__name="off").values_list("msgid", flat=True)
    assert list(cancelled) == ["u-ann@x.org-1"]
    assert [row.value for row in calendar.meetings_of(alice)] == ["bill@x.org"]


def test_contacts_that_were_forgotten_leave_no_trace_and_are_read_anew_if_their_owner_wants(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    server.put("friends/a.vcf", card("ann@x.org"))
    source = added(as_user(alice), server)
    pull(source)
    assert book(alice) == ["ann@x.org"]
    forget("user:alice")
    assert book(alice) == [] and not SyncedResource.objects.exists()
    changes.resume(source)
    pull(source)
    assert book(alice) == ["ann@x.org"]


def test_only_what_has_changed_is_read_and_what_others_say_stays(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    address_book.add(alice, ["hand@x.org"])
    for address in ("hand@x.org", "twice@x.org", "ann@x.org"):
        server.put(f"friends/{address}.vcf", card(address))
    server.put("work/twice.vcf", card("twice@x.org"))
    source = added(as_user(alice), server)
    pull(source)
    assert book(alice) == ["ann@x.org", "hand@x.org", "twice@x.org"]
    assert Pull.objects.latest("pk").read == 4
    pull(source)
    assert Pull.objects.count() == 1, "nothing has changed"
    for address in ("hand@x.org", "twice@x.org"):
        server.delete(f"friends/{address}.vcf")
    server.put("friends/ann@x.org.vcf", card("eve@x.org", "ann@x.org"))
    pull(source)
    assert Pull.objects.latest("pk").read == 1, "the card that is another"
    assert book(alice) == ["eve@x.org", "hand@x.org", "twice@x.org"]
    assert address_book.add(alice, ["eve@x.org"]) == 1, "now they are in it by hand too"
    as_user(alice).post(f"/source/{source.pk}/delete/")
    assert book(alice) == ["eve@x.org", "hand@x.org"]


def test_what_is_chosen_no_more_or_is_gone_is_taken_back(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    server.put("friends/a.vcf", card("ann@x.org"))
    server.put("work/b.vcf", card("bill@x.org"))
    client, friends = as_user(alice), server.path("friends/")
    source = added(client, server)
    pull(source)
    changes.choose_folders(source, [friends])
    source.refresh_from_db()
    pull(source)
    assert book(alice) == ["ann@x.org"] and [it.name for it in Folder.objects.all()] == [friends]
    server.delete("friends/")
    tasks.pull_source(source.pk)
    source.refresh_from_db()
    assert source.error == f"The address book {friends} is no longer there."
    assert book(alice) == [] and not SyncedResource.objects.exists()
    server.make("friends", BOOK)


def test_the_address_of_a_single_one_is_enough(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    server.put("work/b.vcf", card("bill@x.org"))
    server.put("friends/a.vcf", card("ann@x.org"))
    url = f"http://127.0.0.1:{server.port}{server.path('work/')}"
    source = added(as_user(alice), server, host=url, port="", security="tls")
    assert (source.host, source.security, source.path) == (
        "127.0.0.1",
        "none",
        server.path("work/"),
    )
    page = as_user(alice).get(f"/source/{source.pk}/places/").content.decode()
    assert "Work" in page and "Friends" not in page and "and those that are added later" in page
    pull(source)
    assert book(alice) == ["bill@x.org"]


def test_a_login_that_is_refused_is_said_on_the_form(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    response = as_user(alice).post("/sources/new/", described(server, secret="guess"))
    assert "refused the user name or password" in response.content.decode()
    for wrong in ({"audience": "public"}, {"user": ""}, {"path": "x"}, {"security": "starttls"}):
        assert as_user(alice).post("/sources/new/", described(server, **wrong)).status_code == 400
    assert not Source.objects.exists()


def test_a_host_that_is_not_public_is_reached_only_if_that_is_allowed(
    server: Radicale, alice: User, as_user: SignIn, settings: Any
) -> None:
    source = added(as_user(alice), server)
    settings.PRIVATE_HOSTS = []
    tasks.pull_source(source.pk)
    source.refresh_from_db()
    assert source.error == f"There is no connection with 127.0.0.1:{server.port}."
    assert source.failures == 1 and source.complete_until is None


def test_what_is_left_over_comes_the_next_time(
    server: Radicale, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "BATCH", 1)
    for name in ("a", "b"):
        server.put(f"friends/{name}.vcf", card(f"{name}@x.org"))
    source = added(as_user(alice), server)
    counts = []
    while len(book(alice)) < 2:
        pulling.pull(source, seconds=0.0)
        source.refresh_from_db()
        assert source.complete_until is None and source.due_at <= wall_clock()
        counts.append(len(book(alice)))
    assert counts == sorted(counts) and 1 in counts, "one card each time"
    pull(source)
    assert source.complete_until and SyncedResource.objects.count() == 2


def test_a_file_of_events_replaces_only_what_a_file_gave(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    server.put("diary/a.ics", event("ann@x.org"))
    pull(added(as_user(alice), server, "caldav"))
    for address in ("bill@x.org", "eve@x.org"):
        calendar.replace(alice, event(address).encode())
        met = [row.value for row in calendar.meetings_of(alice)]
        assert sorted(met) == ["ann@x.org", address]
    calendar.clear(alice)
    assert not calendar.meetings_of(alice)


def test_a_calendar_is_read_anew_after_a_week(
    server: Radicale, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put("diary/a.ics", event("ann@x.org", 10 * DAY, "RRULE:FREQ=YEARLY"))
    source = added(as_user(alice), server, "caldav")
    pull(source)
    Folder.objects.update(read_anew_at=wall_clock() - 8 * DAY)
    later = wall_clock() + 20 * DAY
    monkeypatch.setattr(resources, "wall_clock", lambda: later)
    pull(source)
    starts = {to_datetime(row.starts or 0).year for row in calendar.meetings_of(alice)}
    assert len(starts) == 2, "that of next year is within a year now"


def test_a_calendar_is_read_anew_where_its_person_is_elsewhere_or_has_another_address(
    server: Radicale, alice: User, as_user: SignIn
) -> None:
    day = to_datetime(wall_clock() + 3 * DAY).replace(hour=12, minute=0, second=0, microsecond=0)
    noon = f"UID:u\nDTSTAMP:20260101T000000Z\nDTSTART:{day:%Y%m%dT%H%M%S}\nSUMMARY:x\n"
    people = "ATTENDEE:mailto:ann@x.org\nATTENDEE:mailto:al@y.org\n"
    server.put("diary/a.ics", ics(noon + people).decode())
    source = added(as_user(alice), server, "caldav")
    pull(source)
    assert len(calendar.meetings_of(alice)) == 2
    alice.time_zone, alice.aliases = "Asia/Tokyo", ["al@y.org"]
    alice.save()
    pull(source)
    (met,) = calendar.meetings_of(alice)
    assert met.value == "ann@x.org", "nobody meets oneself"
    assert met.starts == to_instant(day.replace(tzinfo=ZoneInfo("Asia/Tokyo")))


def test_a_broken_card_costs_no_other_and_says_what_it_said(alice: User, as_user: SignIn) -> None:
    space = 'xmlns:C="urn:ietf:params:xml:ns:carddav"'
    cards = [card("ann@x.org"), card("bill@x.org")], [card("eve@x.org"), "broken"]
    answers = []
    for version, both in enumerate(cards):
        tags = [etag(f"{version}{place}") for place in range(2)]
        data = [f"<C:address-data {space}>{text}</C:address-data>" for text in both]
        urls = ("/b/0", "/b/1")
        answers += [
            the_book(),
            the_book(),
            multistatus(*map(found, urls, tags)),
            multistatus(*map(found, urls, tags, data)),
        ]
    with recording_server(the_book(), the_book(), *answers) as fake:
        made = described(Radicale(fake.port))
        assert as_user(alice).post("/sources/new/", made).status_code == 302
        source = Source.objects.get()
        Source.objects.update(active=True, folder_patterns=["*"])
        pull(source)
        pull(source)
    assert book(alice) == ["bill@x.org", "eve@x.org"]
    done = Pull.objects.latest("pk")
    assert (done.read, done.added, done.broken) == (2, 1, 1)
