"""Lists by day: that of the match in the reader's time zone, and in it by when mail came."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.lists.days import local_day, sql_day
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, HOUR, MINUTE, to_instant, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia")
"""Summer times of an hour and of half an hour, an offset that is no whole hour, a day left out."""


def instants(zone: ZoneInfo) -> list[int]:
    """Return instants just before, at and after the midnights and the steps of some years."""
    months = [(year, month) for year in (2001, 2011, 2026) for month in (3, 4, 7, 10, 12)]
    first = [datetime(year, month, 1, tzinfo=zone) for year, month in months]
    days = [(start + timedelta(days=step)).astimezone(UTC) for start in first for step in range(31)]
    shifts = (-30 * MINUTE - 1, -1, 0, 1, 30 * MINUTE, 2 * HOUR, 3 * HOUR)
    return [to_instant(day) + shift for day in days for shift in shifts]


@pytest.mark.parametrize("name", ZONES)
def test_a_day_is_that_of_the_calendar_in_python_and_in_sql(db: None, name: str) -> None:
    zone = ZoneInfo(name)
    chosen = instants(zone)
    Card.objects.bulk_create(
        Card(msgid=str(place), audience="public", ts=at, received=at)
        for place, at in enumerate(chosen)
    )
    by_sql = dict(Card.objects.annotate(day=sql_day("ts", zone)).values_list("ts", "day"))
    for at in chosen:
        calendar = datetime.fromtimestamp(at // 1_000_000, zone).date()
        assert local_day(at, zone) == calendar
        assert by_sql[at] == calendar.toordinal() - datetime(1970, 1, 1).toordinal()


@pytest.fixture
def found(tables: Tables, alice: User) -> Filter:
    """A filter that found an archive yesterday, and today first a new message, then an old one."""
    now = wall_clock()
    received = {"a2004": now - 9000 * DAY, "a2010": now - 6000 * DAY, "new": now - HOUR,
                "unanswered": now - 14 * DAY}  # fmt: skip
    letters = [Message(f"{name}@x", subject=name, received=at) for name, at in received.items()]
    append_messages(tables, DjangoClock(), letters)
    made = Filter.objects.create(owner=alice, name="f", text="about x", tql="…", since=now)
    matched = {"a2010": now - DAY, "a2004": now - DAY + 1, "new": now - 2, "unanswered": now - 1}
    Match.objects.bulk_create(
        Match(filter=made, msgid=f"{name}@x", audience="public", matched_at=at,
              stored_at=at, shown_at=at)
        for name, at in matched.items()
    )  # fmt: skip
    refresh_cards(tables)
    return made


@pytest.mark.parametrize("path", ["/", "/in/f/"])
def test_a_list_is_by_the_day_found_and_then_by_what_its_lines_show(
    found: Filter, alice: User, as_user: SignIn, path: str
) -> None:
    response = as_user(alice).get(path)
    assert [row.card.subject for row in response.context["rows"]] == [
        "new", "unanswered", "a2010", "a2004",
    ]  # fmt: skip
    page = response.content.decode()
    assert page.index("Matched today") < page.index("Matched yesterday")
    assert page.count('class="day"') == 2
    shown = page[page.index("Matched today") :]
    assert shown.index(">1 h</time>") < shown.index('<span class="subject">new')


def test_cards_of_before_get_what_the_tables_have(found: Filter, tables: Tables) -> None:
    right = dict(Card.objects.values_list("msgid", "received"))
    Card.objects.update(received=0)
    Match.objects.update(refreshed_at=None)
    assert refresh_cards(tables) == 4
    assert dict(Card.objects.values_list("msgid", "received")) == right
