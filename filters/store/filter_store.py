"""The ports of ``tapestry.core``, on Django's database: the clock, the filters and matches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from filters.accounts import people
from filters.models import Clock, Filter, PendingWindow, SharedWindow
from filters.models import Match as StoredMatch
from filters.runtime.batching import BATCH_SIZE, batched
from filters.store import expiry, live_changes, shared_window
from tapestry.core.clock import wall_clock
from tapestry.core.ports import Change, DueFilter, Match
from tapestry.deliver.timeliness import parse_timeliness, shown_at


class HeldClock:
    """The clock's row while this transaction holds it."""

    def __init__(self, last: int) -> None:
        self._last = last

    @property
    def last(self) -> int:
        """The newest instant that was stamped or run to."""
        return self._last

    def advance(self, to: int) -> None:
        """Store a newer instant; an older one leaves the clock as it is."""
        if to > self._last:
            Clock.objects.filter(pk=1).update(last=to)
            self._last = to


class DjangoClock:
    """The clock as one row of the database; its lock is a transaction that has written to it."""

    @contextmanager
    def lock(self) -> Iterator[HeldClock]:
        """Hold the clock for the length of the block.

        Updating the row before reading it takes SQLite's write lock and PostgreSQL's lock on
        the row alike.  Durable: an advance inside somebody else's transaction could be undone
        after rows stamped with it became visible.
        """
        with transaction.atomic(durable=True):
            if not _touch_clock():
                Clock.objects.bulk_create([Clock(pk=1)], ignore_conflicts=True)
                _touch_clock()
            yield HeldClock(Clock.objects.values_list("last", flat=True).get(pk=1))


def latest_instant() -> int:
    """Return an instant at which all that is visible now is visible."""
    return max(wall_clock(), *Clock.objects.values_list("last", flat=True), 0)


def _touch_clock() -> int:
    return Clock.objects.filter(pk=1).update(last=F("last"))


class DjangoFilterStore:
    """Filters, their windows and their matches, as ``tapestry.run`` sees them."""

    def due(self, now: int) -> Sequence[DueFilter]:
        """Return every active filter that compiles, is not enrolled, and was not run to ``now``.

        Pending windows of older texts come first, one a run.  Timeliness does not decide here:
        matches are stored as they are found, and shown when their owner asked for them.
        """
        apart = Filter.objects.filter(active=True, enrolled=False, owner__is_active=True)
        apart = apart.defer("text").order_by()
        waiting = apart.filter(error="", since__lt=now)
        resting = apart.filter(pk__in=PendingWindow.objects.filter(error="").values("filter"))
        found = {each.pk: each for some in (waiting, resting) for each in some}
        pending_windows: dict[int, PendingWindow] = {}
        for rest in PendingWindow.objects.filter(error="", filter__active=True).order_by("pk"):
            pending_windows.setdefault(rest.filter_id, rest)
        askers = _askers(each.owner_id for each in found.values())
        return [
            _due(each, askers[each.owner_id], pending_windows.get(pk))
            for pk, each in sorted(found.items())
            if each.owner_id in askers
        ]

    def known(self, pairs: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Return those of the (filter, msgid) pairs that are stored as matches already."""
        wanted = set(pairs)
        found: set[tuple[int, str]] = set()
        for batch in batched(sorted(wanted), BATCH_SIZE // 2):
            rows = StoredMatch.objects.filter(
                filter__in={filter_id for filter_id, _ in batch},
                msgid__in={msgid for _, msgid in batch},
            )
            found.update(rows.values_list("filter_id", "msgid"))
        return found & wanted

    def commit(
        self,
        filters: Sequence[DueFilter],
        until: int,
        matches: Sequence[Match],
        changes: Sequence[Change] = (),
    ) -> bool:
        """Store what was found and advance every filter's window, in one transaction.

        The answers of live filters follow their ``changes``, given in order.  Return False,
        and store nothing, if any filter has been run, changed, paused or deleted since it was
        found due.
        """
        with transaction.atomic():
            if not all(_advance(filters, until)):
                transaction.set_rollback(True)
                return False
            stored_at = wall_clock()
            matches, changes = expiry.in_time(matches, changes)
            finders = {match.filter_id for match in matches} | {
                change.filter_id for change in changes
            }
            shown = _when_shown(finders, stored_at)
            _store(matches, stored_at, shown)
            live_changes.follow(filters, until, changes, shown)
        return True

    def fail(self, failed: DueFilter, message: str) -> None:
        """Remember that a filter could not be run; it is not tried until it changes or resumes."""
        message = message or "It cannot be run."
        if failed.pending_window is None:
            with transaction.atomic():
                shared_window.lock()
                same = Filter.objects.filter(pk=failed.filter_id)
                if same.filter(revision=failed.revision).exists():
                    shared_window.detach(same)
                    same.update(error=message)
        else:
            PendingWindow.objects.filter(pk=failed.pending_window).update(error=message)

    def shared_since(self) -> int | None:
        """Return where the last shared window ended; None if there never was one."""
        return shared_window.stored_window().since

    def enrolled(self, filter_ids: Collection[int]) -> Sequence[DueFilter]:
        """Return those of the filters that are enrolled and active, with the shared ``since``."""
        since = self.shared_since()
        if since is None:
            return []
        running = Filter.objects.filter(active=True, enrolled=True).defer("text")
        found = [
            each
            for batch in batched(sorted(set(filter_ids)))
            for each in running.filter(pk__in=batch)
        ]
        askers = _askers(each.owner_id for each in found)
        return [
            replace(_due(each, askers[each.owner_id]), since=since)
            for each in sorted(found, key=lambda each: each.pk)
            if each.owner_id in askers
        ]

    def commit_shared(
        self,
        since: int | None,
        until: int,
        filters: Sequence[DueFilter],
        matches: Sequence[Match],
    ) -> bool:
        """Store what enrolled filters matched and advance the shared window, in one transaction.

        Return False, and store nothing, if the shared window has moved, or any of the filters
        has been changed, detached, paused or deleted since it was found to be enrolled.
        """
        with transaction.atomic():
            if shared_window.lock() != since or not shared_window.unchanged(filters):
                return False
            stored_at = wall_clock()
            matches, _ = expiry.in_time(matches, ())
            _store(
                matches, stored_at, _when_shown({match.filter_id for match in matches}, stored_at)
            )
            SharedWindow.objects.filter(pk=1).update(since=until, ran_at=stored_at)
            if since is not None:
                running = Filter.objects.filter(active=True, enrolled=True)
                expiry.stop_ended(running, since, until)
        return True

    def enroll(self, filters: Sequence[DueFilter], until: int) -> None:
        """Enroll filters that were run to ``until`` in the shared window, if it ends there too."""
        shared_window.enroll(filters, until)

    def detach(self, filter_ids: Collection[int] | None) -> None:
        """Give filters, or all, windows of their own, which begin where the shared one ended."""
        if filter_ids is None:
            shared_window.detach(Filter.objects.all())
            return
        with transaction.atomic():
            for batch in batched(sorted(filter_ids)):
                shared_window.detach(Filter.objects.filter(pk__in=batch))

    def revisions(self, filter_ids: Collection[int]) -> Mapping[int, int]:
        """Return the present revision of those of the filters that are there."""
        found: dict[int, int] = {}
        for batch in batched(sorted(filter_ids)):
            same = Filter.objects.filter(pk__in=batch)
            found.update(same.values_list("pk", "revision"))
        return found


@dataclass(frozen=True, slots=True)
class _Asker:
    name: str
    addresses: tuple[str, ...]
    audiences: tuple[str, ...]


def _askers(owner_ids: Iterable[int]) -> dict[int, _Asker]:
    """Return who asks in the filters of these people, each looked up once; none who may not."""
    found: dict[int, _Asker] = {}
    active = User.objects.filter(is_active=True).select_related("profile")
    active = active.prefetch_related("groups")
    for batch in batched(sorted(set(owner_ids))):
        for user in active.filter(pk__in=batch):
            found[user.pk] = _Asker(
                user.get_username(), people.addresses(user), people.audiences(user)
            )
    return found


def _due(each: Filter, asker: _Asker, rest: PendingWindow | None = None) -> DueFilter:
    text = each if rest is None else rest
    return DueFilter(
        filter_id=each.pk,
        text=text.tql,
        owner=asker.name,
        addresses=asker.addresses,
        audiences=asker.audiences,
        since=text.since,
        start=text.start,
        revision=each.revision,
        until=None if rest is None else rest.until,
        pending_window=None if rest is None else rest.pk,
        live=each.is_live,
        explanation=text.explanation,
    )


def _advance(filters: Sequence[DueFilter], until: int) -> Iterator[bool]:
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for each in filters:
        if each.pending_window is None:
            alike[each.since, each.revision].append(each.filter_id)
        else:
            left = PendingWindow.objects.filter(
                pk=each.pending_window, since=each.since, filter__active=True
            )
            done = left.filter(until__lte=until).delete()[0] or left.update(since=until)
            yield done == 1
    for (since, revision), ids in sorted(alike.items()):
        for batch in batched(sorted(ids)):
            run = Filter.objects.filter(pk__in=batch)
            same = run.filter(since=since, revision=revision, active=True, enrolled=False)
            yield same.update(since=until, ran_at=wall_clock()) == len(batch)
            expiry.stop_ended(run, since, until)


def _store(matches: Sequence[Match], stored_at: int, shown: Mapping[int, int]) -> None:
    StoredMatch.objects.bulk_create(
        (
            StoredMatch(
                filter_id=match.filter_id,
                msgid=match.msgid,
                audience=match.audience,
                matched_at=match.matched_at,
                stored_at=stored_at,
                shown_at=shown[match.filter_id],
                disjunct=match.disjunct,
                evidence=list(match.evidence),
                explanation=match.explanation,
            )
            for match in matches
        ),
        batch_size=BATCH_SIZE // 10,
    )


def _when_shown(filter_ids: Iterable[int], stored_at: int) -> dict[int, int]:
    shown: dict[int, int] = {}
    for batch in batched(sorted(filter_ids)):
        for each in Filter.objects.filter(pk__in=batch).select_related("owner__profile"):
            timeliness = parse_timeliness(each.timeliness)
            shown[each.pk] = shown_at(timeliness, stored_at, people.time_zone(each.owner))
    return shown
