"""The counts beside a person's filters, and the mark that changes whenever any of them does.

    mark: a seek in an index for each filter ── known ──> counts kept in this process
                                             └─ new ────> counts of all matches

A page asks for the mark every few seconds; what is counted again is what has changed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

from django.db.models import (
    Count,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    Subquery,
    Sum,
)
from django.db.models.functions import Lower

from filters.authoring.models import Filter
from filters.inbox.models import (
    Match,
    MessageState,
    Mute,
    TriageStep,
    is_due,
    is_seen_in,
    is_unfolded,
    is_waiting,
)
from filters.people import people
from filters.people.models import User
from filters.runs.store import shared_window
from filters.site.work.crypto.opaque_keys import keyed_digest
from filters.site.work.db.prepared import first_rows
from tapestry.core.clock import DAY, wall_clock

KEPT = 200
"""People whose counts are kept in one process: those last asked for."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of a filter's list.

    ``left`` counts messages that no longer match, ``waiting`` those to be shown later, from
    ``waits_until`` on, and ``folded`` those that are one line of the inbox.
    """

    total: int = 0
    unread: int = 0
    left: int = 0
    folded: int = 0
    waiting: int = 0
    waits_until: int | None = None


@dataclass(frozen=True, slots=True)
class Sidebar:
    """A person's filters with their counts; ``mark`` changes whenever any of it does.

    Each filter has what its Tally has.
    """

    filters: tuple[Filter, ...]
    total: int
    unread: int
    mark: str

    @property
    def searching(self) -> bool:
        """Tell whether any filter still has to look through existing mail."""
        return any(filter_.is_searching for filter_ in self.filters)

    @property
    def folded(self) -> list[Filter]:
        """Return the filters of which mail of before is one line of the inbox."""
        return [filter_ for filter_ in self.filters if getattr(filter_, "folded", 0)]

    @property
    def unfolded(self) -> list[Filter]:
        """Return the filters of which that line was opened in the last day."""
        since = wall_clock() - DAY
        return [filter_ for filter_ in self.filters if (filter_.unfolded_at or since) > since]

    @property
    def has_own(self) -> bool:
        """Tell whether the person has a filter beside those that they were given."""
        return any(not filter_.is_ready_made for filter_ in self.filters)

    def total_of(self, filter_: Filter | None) -> int:
        """Return how many messages are in the list of a filter, or in the inbox."""
        if filter_ is None:
            return self.total
        same = (listed for listed in self.filters if listed.pk == filter_.pk)
        return sum(getattr(listed, "total", 0) for listed in same)


_SEEKS = ("sequence", "refreshed_at", "retracted_at")
"""Fields of a match of which one grows whenever it is listed, shown, refreshed or leaves."""

_UNREAD = Q(read_at=None, retracted_at=None, card__isnull=False)

_kept: OrderedDict[int, Sidebar] = OrderedDict()
_lock = Lock()


def sidebar(user: User) -> Sidebar:
    """Return a person's filters with their counts: those kept, while the mark is the same."""
    mark = mark_of(user)
    with _lock:
        kept = _kept.get(user.pk)
        if kept is not None and kept.mark == mark:
            _kept.move_to_end(user.pk)
            return kept
    counted = _count(user, mark)
    with _lock:
        _kept[user.pk] = counted
        _kept.move_to_end(user.pk)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return counted


def mark_of(user: User) -> str:
    """Return a text that changes whenever a list of this person does, or what is said of it.

    Each part is a seek in an index for every filter, or counts what is unread.  A filter of which
    something is planned anew is updated.
    """
    rows = first_rows(_ask_for_mark, user.pk, wall_clock())
    return keyed_digest("sidebar", repr((user.pk, rows, people.audiences(user))))[:16]


def _ask_for_mark(owner: int, now: int) -> None:
    """Ask for all that is in a person's mark now."""
    filters = Filter.objects.filter(owner=owner).order_by()
    last = {f"last_{name}": _last(name) for name in _SEEKS}
    filters.annotate(**last).aggregate(
        *(Max(name) for name in last),
        Count("pk"),
        Max("pk"),
        Max("updated"),
        running=Sum("pk", filter=Q(active=True)),
        faulty=Sum("pk", filter=~Q(error="")),
        searching=Sum("pk", filter=Q(enrolled=False, since__lt=F("begun_at"))),
    )
    own = Match.objects.filter(filter__in=filters.values("pk"))
    own.filter(_UNREAD, is_due(now=now)).aggregate(Count("pk"), Sum("pk"))
    # What arrives read is shown as soon as its time has come, and released a moment later.
    arriving = own.filter(sequence=None, shown_at__lte=now, read_at__isnull=False)
    arriving.aggregate(Count("pk"), Sum("pk"))
    TriageStep.objects.filter(owner=owner).aggregate(Count("parts"), Max("at"))
    Mute.objects.filter(owner=owner).aggregate(Count("pk"), Max("pk"))
    back = MessageState.objects.filter(owner=owner, snoozed_until__lte=now)
    back.aggregate(Max("snoozed_until"))


def newest_of(user: User) -> int:
    """Return the last position of the release sequence that a person has; 0 if none."""
    own = Filter.objects.filter(owner=user).order_by().annotate(last=_last("sequence"))
    return own.aggregate(newest=Max("last"))["newest"] or 0


def _last(name: str) -> Subquery:
    """Return the greatest value of a field of a filter's matches, by a seek in an index."""
    own = Match.objects.filter(filter=OuterRef("pk"), **{f"{name}__isnull": False})
    return Subquery(own.order_by(f"-{name}").values(name)[:1])


def unread_of(user: User) -> int:
    """Return how many messages of a person's inbox are unread; no other is counted."""
    unread = Match.objects.in_list(user).filter(read_at=None).order_by()
    return unread.aggregate(unread=Count("card", distinct=True))["unread"] or 0


def _count(user: User, mark: str) -> Sidebar:
    filters = Filter.objects.filter(owner=user).order_by()
    own, audiences = Match.objects.filter(filter__owner=user).order_by(), people.audiences(user)
    present = own.filter(is_seen_in(audiences))
    shown = present.filter(is_due()).listed(user)
    waiting = present.filter(is_waiting())
    left = own.filter(is_seen_in(audiences, retracted=True), is_due())
    parts: dict[int, dict[str, Any]] = {}
    owned = filters.defer("text").order_by(Lower("title"), "name")
    shared_window.show_position(owned)
    countings: list[tuple[Any, dict[str, Any]]] = [
        (shown, {"total": Count("pk"), "unread": Count("pk", filter=Q(read_at=None))}),
        (left, {"left": Count("pk")}),
        (waiting, {"waiting": Count("pk"), "waits_until": Min("shown_at")}),
    ]
    if any(filter_.folds_before is not None for filter_ in owned if filter_.unfolded_at is None):
        folded = present.filter(is_due()).for_inbox(user).exclude(is_unfolded())
        countings.append((folded, {"folded": Count("pk")}))
    for counted, values in countings:
        groups = counted.values("filter").annotate(**values)
        for filter_id, *numbers in groups.values_list("filter", *values):
            parts.setdefault(filter_id, {}).update(zip(values, numbers, strict=True))
    inbox = (
        present.filter(is_due())
        .in_inbox(user)
        .aggregate(
            total=Count("card", distinct=True),
            unread=Count("card", distinct=True, filter=Q(read_at=None)),
        )
    )
    for filter_ in owned:
        tally = Tally(**parts.get(filter_.pk, {}))
        for name in Tally.__slots__:
            setattr(filter_, name, getattr(tally, name))
    return Sidebar(tuple(owned), inbox["total"], inbox["unread"], mark)
