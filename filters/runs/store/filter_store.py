"""The ports of ``tapestry.core`` on Django's database: the clock, the filters, the matches.

A window is committed exactly once: its watermark advances in the transaction that stores its
matches, and only if it is still where the window begins: compare-and-set, that is optimistic
concurrency.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q

from filters.authoring.models import Filter, PendingWindow
from filters.inbox.models import Match as StoredMatch
from filters.runs.models import Clock, SetAside, SharedWindow
from filters.runs.store import (
    acts,
    asides,
    due_filters,
    expiry,
    live_changes,
    schedule,
    shared_window,
    spending,
)
from filters.site.work import set_aside
from filters.site.work.db.batching import BATCH_SIZE, batched, by_key, in_batches
from filters.site.work.db.bulk import insert_rows
from tapestry.core.clock import BEGINNING, SECOND, wall_clock
from tapestry.core.log import event
from tapestry.core.ports import Change, DueFilter, Match
from tapestry.run.limits.isolation import isolate


class DjangoClock:
    """The clock as one row of the database; its lock is a transaction that has written to it."""

    @contextmanager
    def lock(self) -> Iterator[Clock]:
        """Hold the clock for the length of the block.

        Durable: an advance inside somebody else's transaction could be undone after rows stamped
        with it became visible.
        """
        with transaction.atomic(durable=True):
            yield Clock.lock()


def latest_instant() -> int:
    """Return an instant at which all that is visible now is visible."""
    return max(wall_clock(), *Clock.objects.values_list("last", flat=True), 0)


class DjangoFilterStore:
    """Filters, their windows and their matches, as tapestry.core.ports.FilterStore says."""

    def __init__(self, part: int = 0) -> None:
        self.part = part
        self._begun = SharedWindow()

    @property
    def divided_by(self) -> int:
        return settings.WINDOW_PARTS

    parts = staticmethod(shared_window.parts)

    def of_part(self, part: int) -> DjangoFilterStore:
        return DjangoFilterStore(part)

    def due(self, now: int) -> Sequence[DueFilter]:
        """Return every active filter with its own window that has not been run to ``now``.

        Pending windows of older texts come first, one a run; those before the end of a filter that
        has ended too: they were set aside as it ended.  Those of owners without seconds left are
        due hourly.  Timeliness decides when matches are shown, and not when they are stored.
        """
        aside = set_aside.of(SetAside.Kind.FILTER)
        again, windows_again = asides.to_be_tried(aside)
        detached = Filter.objects.filter(enrolled=False, owner__is_active=True)
        detached = detached.defer("text").order_by()
        left = expiry.has_ended("filter__") & Q(since__lt=F("filter__end"))
        pending = PendingWindow.objects.filter(Q(error="") | Q(pk__in=windows_again))
        pending = pending.filter(Q(filter__active=True) | left)
        behind = detached.filter(Q(error="") | Q(pk__in=again), active=True, since__lt=now)
        behind = behind.exclude(mode=Filter.Mode.WAIT, waits_from=None)
        behind = behind.exclude(spending.runs_hourly(detached))
        superseded = detached.filter(pk__in=pending.values("filter"))
        filters = {filter_.pk: filter_ for filter_ in (*behind, *superseded)}
        windows: dict[int, PendingWindow] = {}
        for window in pending.order_by("pk"):
            windows.setdefault(window.filter_id, window)
        # Such a window may end later than all that runs now: then it waits, and the filter with it.
        run = {key for key, window in windows.items() if window.since >= now}
        due, unread = isolate(
            lambda some: due_filters.of_windows(some, windows, aside.numbers),
            [filter_ for key, filter_ in filters.items() if key not in run],
        )
        for filter_, error in unread:
            asides.add(due_filters.named(filter_, windows.get(filter_.pk)), error)
        return due

    def known(self, pairs: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        wanted = set(pairs)
        seen: set[str] = set()
        for msgids in batched(sorted({msgid for _, msgid in wanted})):
            seen.update(
                StoredMatch.objects.filter(msgid__in=msgids).values_list("msgid", flat=True)
            )
        stored: set[tuple[int, str]] = set()
        # Most messages are new: no filter has matched them yet.
        asked = sorted(pair for pair in wanted if pair[1] in seen)
        for batch in batched(asked, BATCH_SIZE // 2):
            stored.update(live_changes.rows_of(batch).values_list("filter_id", "msgid"))
        return stored & wanted

    def commit(
        self,
        filters: Sequence[DueFilter],
        until: int,
        matches: Sequence[Match],
        changes: Sequence[Change] = (),
    ) -> bool:
        with transaction.atomic():
            came: list[Match | Change] = [*matches, *changes]
            acting = acts.lock_acting({found.filter_id for found in came})
            if not all(_advance(filters, until)):
                transaction.set_rollback(True)
                return False
            stored_at = wall_clock()
            matches, changes = expiry.drop_expired(matches, changes)
            shown = schedule.when_shown((*matches, *changes), stored_at)
            _store(matches, stored_at, shown)
            began = live_changes.apply_changes(filters, until, changes, shown)
            acts.act_on([*_pairs(matches), *began], acting)
            _mark_existing_read(filters, came, stored_at)
            # What has left a live filter may have been all that was unread in it.
            schedule.plan_held(due.filter_id for due in filters if due.live)
            asides.end(filters)
        _log_delivery(until, stored_at, filters, matches, changes)
        return True

    def fail(self, failed: DueFilter, message: str) -> None:
        """Store the error; the filter is not tried again until it is changed or resumed."""
        message = message or "It cannot be run."
        asides.forget(failed)
        if failed.pending_window is None:
            with transaction.atomic():
                SharedWindow.lock_all()
                same = Filter.objects.filter(pk=failed.filter_id)
                if same.filter(revision=failed.revision).exists():
                    shared_window.detach(same)
                    same.update(error=message)
        else:
            PendingWindow.objects.filter(pk=failed.pending_window).update(error=message)
        event("filter_failed", filter_id=failed.filter_id, revision=failed.revision)

    def postpone(self, failed: DueFilter, until: int, error: Exception) -> None:
        if asides.has_left_most(failed):
            asides.add(failed, error)
            return
        with transaction.atomic():
            if all(_advance([failed], until)):
                asides.end([failed])
                asides.leave(failed, until, error)

    def prove(self, filter_ids: Collection[int], *, proven: bool) -> None:
        for filters in in_batches(Filter.objects.exclude(proven=proven), filter_ids):
            filters.update(proven=proven)

    charge = staticmethod(spending.charge)

    def shared_since(self) -> int | None:
        self._begun = shared_window.stored_window(self.part)
        return self._begun.since

    def latest_since(self) -> int | None:
        since: int | None = SharedWindow.objects.aggregate(since=Max("since"))["since"]
        return since

    def enrolled(self, filter_ids: Collection[int]) -> Sequence[DueFilter]:
        since = shared_window.stored_window(self.part).since
        if since is None:
            return []
        return due_filters.of_rows(shared_window.running(self.part), filter_ids, since)

    def commit_shared(
        self,
        since: int | None,
        until: int,
        filters: Sequence[DueFilter],
        matches: Sequence[Match],
    ) -> bool:
        with transaction.atomic():
            acting = acts.lock_acting({match.filter_id for match in matches})
            window = SharedWindow.lock(1 + self.part)
            has_begun = since is not None and self._begun.since == since
            joined = has_begun and self._begun.enrollments != window.enrollments
            if window.since != since or joined:
                return False
            same = shared_window.unchanged(filters, self.part)
            filters = [due for due in filters if due.filter_id in same]
            matches = [match for match in matches if match.filter_id in same]
            stored_at = wall_clock()
            matches, _ = expiry.drop_expired(matches, ())
            _store(matches, stored_at, schedule.when_shown(matches, stored_at))
            acts.act_on(_pairs(matches), acting)
            row = SharedWindow.objects.filter(pk=1 + self.part)
            row.update(since=until, ran_at=stored_at)
            if since is not None:
                expiry.stop_ended(shared_window.running(self.part), since, until)
            asides.end_enrolled(filters)
        _log_delivery(until, stored_at, filters, matches)
        return True

    def enroll(self, filters: Iterable[DueFilter], until: int) -> None:
        shared_window.enroll(filters, until, self.part)

    set_aside = staticmethod(asides.add)
    expel = staticmethod(asides.expel)
    held_out = staticmethod(asides.held_out)
    work_around = staticmethod(asides.work_around)

    def detach(self, filter_ids: Collection[int] | None) -> None:
        if filter_ids is None:
            shared_window.detach(Filter.objects.filter(part=self.part))
            return
        with transaction.atomic():
            for filters in in_batches(Filter.objects.all(), filter_ids):
                shared_window.detach(filters)

    def revisions(self, filter_ids: Collection[int]) -> Mapping[int, int]:
        return by_key(Filter.objects.all(), filter_ids, "revision")


def _advance(filters: Sequence[DueFilter], until: int) -> Iterator[bool]:
    """Advance the watermarks by compare-and-set; yield for each batch whether all could be."""
    positions: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for due in filters:
        clock = BEGINNING if due.completeness is None else due.completeness.at(until)
        if due.pending_window is None:
            positions[due.since, due.revision, clock].append(due.filter_id)
        else:
            runs = Q(filter__active=True) | expiry.has_ended("filter__")
            window = PendingWindow.objects.filter(runs, pk=due.pending_window, since=due.since)
            yield (
                _is_as_it_was(due)
                and (
                    window.filter(until__lte=until).delete()[0]
                    or window.update(since=until, clock=clock)
                )
                == 1
            )
    for (since, revision, clock), filter_ids in sorted(positions.items()):
        for batch in batched(sorted(filter_ids)):
            run = Filter.objects.filter(pk__in=batch)
            same = run.filter(since=since, revision=revision, active=True, enrolled=False)
            ran = same.update(since=until, clock=clock, ran_at=wall_clock())
            yield ran == len(batch)
            expiry.stop_ended(run, since, until)


def _is_as_it_was(due: DueFilter) -> bool:
    """Tell, and lock, whether a filter has not been changed: its owner sees what it was run for."""
    same = Filter.objects.select_for_update(no_key=True, of=("self",))
    return bool(same.filter(pk=due.filter_id, revision=due.revision).values_list("pk"))


_FOUND = ("msgid", "audience", "matched_at", "disjunct", "evidence", "explanation")
_columns_of = attrgetter("filter_id", *_FOUND)


def _store(matches: Sequence[Match], stored_at: int, shown: Mapping[int, int]) -> None:
    rows = ((*_columns_of(match), stored_at, shown[match.filter_id]) for match in matches)
    insert_rows(StoredMatch, ("filter", *_FOUND, "stored_at", "shown_at"), rows)


def _mark_existing_read(
    filters: Sequence[DueFilter], came: Sequence[Match | Change], stored_at: int
) -> None:
    """Mark as read what came, stored since an instant, that was there before its filter was."""
    finding = {found.filter_id for found in came}
    existing: dict[int, set[int]] = defaultdict(set)
    for due in filters:
        if due.existing_until is not None and due.filter_id in finding:
            existing[due.existing_until].add(due.filter_id)
    for instant, keys in existing.items():
        found = StoredMatch.objects.filter(stored_at__gte=stored_at, matched_at__lte=instant)
        for batch in batched(sorted(keys)):
            found.filter(filter__in=batch, read_at=None).update(read_at=stored_at)


def _pairs(matches: Iterable[Match]) -> list[tuple[int, str]]:
    """Return the filter and the message of matches, the first match first."""
    in_order = sorted(matches, key=attrgetter("matched_at", "msgid"))
    return [(match.filter_id, match.msgid) for match in in_order]


def _log_delivery(
    until: int,
    stored_at: int,
    filters: Sequence[DueFilter],
    matches: Sequence[Match],
    changes: Sequence[Change] = (),
) -> None:
    if matches or changes:
        event(
            "delivery",
            until=until,
            filters=len(filters),
            matches=len(matches),
            changes=len(changes),
            seconds=(wall_clock() - stored_at) / SECOND,
        )
