"""When matches are shown and sent: planned as they are stored, held, planned anew.

    stored ── plan ──> shown_at in the future ── time passes ──> shown
       └──── HELD, while the filter has unread ones ── read ── plan ──┘

“After three working days” depends on when a message was received, which its card says: such a match
is HELD until it has one (``plan_after``).

A match waits while ``shown_at`` is in the future.  What has been shown stays shown: what
is released is not planned anew, though the clock was set back since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Cast
from django.utils import timezone

from filters.authoring.models import Filter
from filters.delivery.models import TIMED_AT, TIMELINESS, Destination
from filters.inbox.models import Match as StoredMatch
from filters.inbox.models import is_due, is_hidden_from_owner, is_waiting
from filters.runs.models import SetAside, SharedWindow
from filters.site.work.db.batching import by_key, in_batches
from filters.site.work.db.bulk import update_rows
from tapestry.core.clock import BEGINNING, wall_clock
from tapestry.core.ports import Change, Match
from tapestry.deliver.timing.quiet import Rules
from tapestry.deliver.timing.schedule import HELD, plan
from tapestry.deliver.timing.timeliness import AFTER, Timeliness, parse_timeliness
from tapestry.deliver.timing.workdays import calendar_of, due

__all__ = [
    "HELD",
    "OWNER_FIELDS",
    "holding",
    "plan_after",
    "plan_all_of",
    "plan_held",
    "replan",
    "replan_all_of",
    "time_digests_anew",
    "when_shown",
]

OWNER_FIELDS = (
    *("timeliness", "time_zone", "quiet_from", "quiet_to", "holiday_until"),
    *("workdays", "holidays"),
)
_FIELDS = ("timeliness", *(f"owner__{field}" for field in OWNER_FIELDS))


class Choices(NamedTuple):
    """What a filter and its owner say of when matches are shown: columns of both."""

    timeliness: str
    default: str
    time_zone: str
    quiet_from: int | None
    quiet_to: int | None
    holiday_until: date | None
    workdays: str
    holidays: str

    def plan(self, stored_at: int) -> int:
        """Return when a match that is stored, or no longer held, at an instant is shown.

        It is held if that depends on when the message was received.
        """
        timeliness = parse_timeliness(self.timeliness or self.default)
        if timeliness.workdays:
            return HELD
        rules = Rules(self.quiet_from, self.quiet_to, self.holiday_until)
        return plan(timeliness, rules, stored_at, ZoneInfo(self.time_zone))

    def plan_after(self, received: int, stored_at: int) -> int:
        """Return when a match is shown so many working days after it was received."""
        zone, calendar = ZoneInfo(self.time_zone), calendar_of(self.workdays, self.holidays)
        days = parse_timeliness(self.timeliness).workdays
        at = max(stored_at, due(received, days, calendar, zone))
        rules = Rules(self.quiet_from, self.quiet_to, self.holiday_until)
        return plan(Timeliness(), rules, at, zone)


def when_shown(found: Iterable[Match | Change], stored_at: int) -> dict[int, int]:
    """Return, by filter, the instant at which what it found and is stored now is shown."""
    filter_ids = {match.filter_id for match in found}
    return dict(_planned(Filter.objects.all(), filter_ids, stored_at))


def plan_held(filter_ids: Iterable[int] | None = None) -> int:
    """Plan from now what is held in those of the filters with nothing unread; return how many.

    None takes all filters.  The statements are as many as different instants come of it, for up to
    50,000 filters each.  Idempotent; to be called wherever something ceases to be unread, and now
    and then: a window may be stored at the instant at which somebody reads.
    """
    return plan_all_of(holding(filter_ids))


def holding(filter_ids: Iterable[int] | None = None) -> set[int]:
    """Return those of the filters, by default of all, that hold matches with nothing unread."""
    filter_ids = None if filter_ids is None else set(filter_ids)
    if filter_ids == set():
        return filter_ids
    held = StoredMatch.objects.filter(shown_at=HELD)
    holders = Filter.objects.filter(~Q(while_unread=True) | ~_has_unread()).order_by()
    holders = holders.exclude(timeliness__startswith=AFTER)
    if filter_ids is None:
        return set(holders.filter(pk__in=held.values("filter")).values_list("pk", flat=True))
    some_held = holders.filter(Exists(held.filter(filter=OuterRef("pk"))))
    return set(by_key(some_held, filter_ids, "pk"))


def plan_all_of(filter_ids: Collection[int]) -> int:
    """Plan from now what is held in filters; return how many matches that are."""
    held = StoredMatch.objects.filter(shown_at=HELD)
    return sum(
        held.filter(filter__in=filters).update(shown_at=instant)
        for instant, filters in _by_instant(filter_ids, wall_clock())
        if instant != HELD
    )


def plan_after(filter_ids: Iterable[int], keys: Collection[int] | None = None) -> int:
    """Plan what waits for working days since it was received; return how many matches that are.

    ``keys`` are those of the matches that were just given cards; they are planned as they were
    stored.  By default all that have one are planned from now on.
    """
    count = 0
    unplanned = StoredMatch.objects.filter(shown_at=HELD, card__isnull=False, sequence=None)
    filters = Filter.objects.filter(timeliness__startswith=AFTER).order_by()
    for batch in in_batches(filters, filter_ids):
        for pk, *fields in batch.values_list("pk", *_FIELDS):
            waiting, choices = unplanned.filter(filter=pk), Choices(*fields)
            batches = [waiting] if keys is None else in_batches(waiting, keys)
            columns = ("pk", "card__received", "stored_at")
            rows = [row for found in batches for row in found.values_list(*columns)]
            now = BEGINNING if keys is not None else wall_clock()
            planned = (
                (choices.plan_after(received, max(stored_at, now)), key)
                for key, received, stored_at in rows
            )
            update_rows(StoredMatch, ("shown_at",), planned)
            count += len(rows)
    return count


@transaction.atomic
def replan(filters: QuerySet[Filter]) -> int:
    """Plan anew what waits in these filters, by what they and their owners say now.

    Return how many matches wait.  Each is shown at the first showing time from now on; that is the
    first since it was stored, if that one is still to come.  To be called in the transaction of
    the change; it waits for windows that are being stored.
    """
    SharedWindow.lock_all()
    locked = filters.select_for_update(of=("self",)).order_by("pk")
    filter_ids = list(locked.values_list("pk", flat=True))
    waiting = StoredMatch.objects.filter(is_waiting(), sequence=None)
    count = 0
    for instant, some in _by_instant(filter_ids, wall_clock()):
        count += waiting.filter(filter__in=some).update(shown_at=instant)
        some.update(updated=timezone.now())  # pages say until when it waits
    plan_after(filter_ids)
    return count


def replan_all_of(user_id: int) -> None:
    """Plan anew, and deliver, what waits for a person who has chosen other times."""
    replan(Filter.objects.filter(owner=user_id))
    _make_due(user_id)


def time_digests_anew(user_id: int) -> None:
    """Have the times of a person's digests count from now on: they are by other clocks."""
    timed = Destination.objects.filter(owner=user_id, settings__has_key=TIMELINESS)
    for destination in timed.select_for_update(no_key=True).order_by("pk"):
        destination.settings[TIMED_AT] = wall_clock()
        destination.save(update_fields=["settings"])


def _planned(
    filters: QuerySet[Filter], filter_ids: Iterable[int], at: int
) -> Iterator[tuple[int, int]]:
    """Yield filters with the instant at which something of them is shown that is planned ``at``."""
    planned = lru_cache(maxsize=None)(Choices.plan)
    for batch in in_batches(filters, filter_ids):
        rows = batch.order_by().values_list("pk", "while_unread", *_FIELDS)
        waits = [(pk, while_unread, Choices(*choices)) for pk, while_unread, *choices in rows]
        asked = [pk for pk, while_unread, _ in waits if while_unread]
        unread = _with_unread(asked) if asked else set()
        for pk, _, choices in waits:
            yield pk, HELD if pk in unread else planned(choices, at)


def _by_instant(filter_ids: Collection[int], at: int) -> Iterator[tuple[int, QuerySet[Filter]]]:
    """Yield instants, each with the filters of which something planned ``at`` is shown then."""
    by_instant: dict[int, list[int]] = defaultdict(list)
    for pk, instant in _planned(Filter.objects.all(), filter_ids, at):
        by_instant[instant].append(pk)
    for instant, same in sorted(by_instant.items()):
        for filters in in_batches(Filter.objects.all(), same):
            yield instant, filters.order_by()


def _with_unread(filter_ids: Iterable[int]) -> set[int]:
    """Return those of the filters with matches that are shown, present and unread."""
    return set(by_key(Filter.objects.filter(_has_unread()).order_by(), filter_ids, "pk"))


def _has_unread() -> Exists:
    unread = StoredMatch.objects.filter(
        is_due(), ~is_hidden_from_owner(), read_at=None, retracted_at=None
    )
    return Exists(unread.filter(_is_listed_or_will_be(), filter=OuterRef("pk")))


def _is_listed_or_will_be() -> Q:
    """Return the condition that its owner can read a match, or will be able to in a moment.

    Not one without a card that is set aside, or whose rows are nowhere to be found.
    """
    key = Cast(OuterRef("pk"), CharField())
    aside = Exists(SetAside.objects.filter(kind=SetAside.Kind.MATCH, key=key))
    return Q(card__isnull=False) | (Q(refreshed_at=None) & ~Q(aside))


def _make_due(user_id: int) -> None:
    """Have the deliveries of a person that wait be due: they may have to wait no longer.

    So those that are being claimed just now, though what they were read with is older.
    """
    waiting = Q(due_at__isnull=False) | ~Q(holder="")
    Destination.objects.filter(waiting, owner=user_id).update(due_at=wall_clock())
