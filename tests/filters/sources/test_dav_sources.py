"""Address books and calendars on a server: what filters mean by them follows what changes there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.people.models import User
from filters.reading import address_book, calendar
from filters.runs import rounds
from filters.sources import tasks
from filters.sources.models import Source
from tapestry.core.clock import DAY
from tapestry.tables.delta.log import Tables
from tests.filters.reading.test_calendar import meeting
from tests.filters.reading.test_contacts import arrive, seen
from tests.mime.test_icalendar_file import ics
from tests.support.servers.dav import BOOK, CALENDAR, PASSWORD, USER, Radicale, radicale

SignIn = Callable[[User], Client]

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def process() -> Iterator[Radicale]:
    with radicale() as server:
        yield server


@pytest.fixture
def server(process: Radicale) -> Iterator[Radicale]:
    for name, kind in (("friends", BOOK), ("work", BOOK), ("diary", CALENDAR)):
        process.make(name, kind)
    yield process
    for name in ("friends", "work", "diary"):
        process.delete(f"{name}/")


def card(address: str) -> str:
    lines = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{address}", "FN:X", "N:X;;;;", f"EMAIL:{address}"]
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
    arrive(tables, "ann@x.org", "bill@x.org")
    server.put("diary/a.ics", event("ann@x.org"))
    server.put("diary/b.ics", event("bill@x.org", 20 * DAY))
    source = added(as_user(alice), server, "caldav")
    pull(source)
    rounds.run_round()
    assert seen(alice, "live") == {"ann@x.org"}
    server.put("diary/b.ics", event("bill@x.org", 2 * DAY))
    server.put("diary/a.ics", event("ann@x.org", DAY, "STATUS:CANCELLED"))
    pull(source)
    rounds.run_round()
    assert seen(alice, "live") == {"bill@x.org"}
    assert [row.value for row in calendar.meetings_of(alice)] == ["bill@x.org"]
