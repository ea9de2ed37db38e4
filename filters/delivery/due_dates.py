"""What is due, at the address of a feed: what waits for working days, is snoozed, or repeated."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from filters.authoring.models import Reminder
from filters.delivery.contents import links
from filters.delivery.feeds import title_of
from filters.delivery.models import Feed
from filters.inbox.models import Match, MessageState, is_seen_in
from filters.people import people
from filters.runs.store.schedule import HELD
from filters.site.templatetags.mail import message_address
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import DAY, wall_clock
from tapestry.deliver.timing.timeliness import AFTER
from tapestry.deliver.ways.due_dates import DueDate, due_dates

MOST = 500
"""Due dates of a document: those that come last."""

PAST = 30 * DAY
"""How long a due date stays once it has passed."""


def document_of(feed: Feed) -> bytes:
    """Return the calendar of a feed, with what its owner may see of it now."""
    return due_dates(title_of(feed), sorted(_dates(feed), key=attrgetter("at", "uid")))


def _dates(feed: Feed) -> Iterator[DueDate]:
    owner = feed.owner
    of_filters = Q(filter__owner=owner) if feed.filter is None else Q(filter=feed.filter)
    matches = Match.objects.filter(of_filters, is_seen_in(people.audiences(owner)))
    states = MessageState.objects.filter(owner=owner, msgid=OuterRef("msgid"))
    now = wall_clock()
    snoozed = Subquery(states.filter(snoozed_until__gt=now).values("snoozed_until")[:1])
    again = Subquery(
        Reminder.objects.filter(owner=owner, msgid=OuterRef("msgid")).values("next_at")[:1]
    )
    waits = Q(filter__timeliness__startswith=AFTER, shown_at__gt=now - PAST, shown_at__lt=HELD)
    found = matches.exclude(Exists(states.filter(done_at__isnull=False))).unmuted(owner)
    found = found.annotate(snoozed=Coalesce(snoozed, again))
    found = found.filter(waits | Q(snoozed__isnull=False))
    columns = ("filter__name", "filter__title", "msgid", "audience", "card__subject")
    rows = found.order_by("-shown_at", "-pk").values(*columns, "shown_at", "stored_at", "snoozed")
    for row in rows[:MOST]:
        yield _date(feed, row)


def _date(feed: Feed, row: dict[str, Any]) -> DueDate:
    name = row["filter__title"] or row["filter__name"]
    # What the reader of a calendar learns of an event is no count of the site.
    uid = keyed_digest("due-date", f"{feed.owner_id}/{row['filter__name']}/{row['msgid']}")
    return DueDate(
        uid=uid[:40],
        at=row["snoozed"] or row["shown_at"],
        stamp=row["stored_at"],
        summary=f"{name}: {row['card__subject'] or '(no subject)'}",
        url=links.absolute(message_address(row["msgid"], row["audience"])),
    )
