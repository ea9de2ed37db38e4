"""Acts: what a filter does with its owner's own state of the messages that it finds.

    matches stored ─ act_on ─> read_at, starred_at … = acted_at ────┐ one transaction with
    matches left ─── let_go ─> null again where it still is acted_at ──┘ the matches

An act sets what is not set, to ``acted_at`` of its match: so what it did is known from what its
owner did, for the value is another.  An act of another filter on the same message keeps the value,
under its own instant, as this one lets go.  Law: whatever the windows, and in whichever order
filters run, a message is read, starred, kept out of the inbox or done if an act stands that makes
it so, or its owner made it so; and what its owner changed stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from filters.authoring.models import ACTS, MAILBOX_ACTS, Filter
from filters.inbox.models import (
    Match,
    MessageState,
    TriageStep,
    keep_former_matches,
    keep_former_states,
)
from filters.people.models import User
from filters.runs.store import mailbox_outbox, schedule
from filters.site.work.batching import BATCH_SIZE, batched, in_batches
from filters.site.work.bulk import update_rows
from tapestry.core.clock import DAY, wall_clock

FIELDS = {"star": "starred_at", "skip": "skipped_at", "done": "done_at"}
"""The field of a message's state that an act sets; ``read`` sets that of the matches."""

_COLUMNS = ("owner_id", "msgid", "audience", "snoozed_until", *FIELDS.values(), "changed_at")

Pair = tuple[int, str]
"""The key of a filter and a msgid."""


class Acting(NamedTuple):
    """What a filter does, since when, and to how many messages of a day it still may."""

    acts: tuple[str, ...]
    since: int | None
    room: int


def lock_acting(filter_ids: Collection[int]) -> dict[int, set[int]]:
    """Lock people of whom a filter acts; return which of the filters each of them has.

    To be called first in a transaction: whoever triages, or chooses other times, locks the person
    first too.
    """
    owners: dict[int, set[int]] = defaultdict(set)
    filters = Filter.objects.order_by().filter(owner__in=_acting_filters().values("owner"))
    for some in in_batches(filters, filter_ids):
        for key, owner in some.values_list("pk", "owner_id"):
            owners[owner].add(key)
    _lock(owners)
    return owners


def act_on(pairs: Iterable[Pair], owners: Mapping[int, Collection[int]]) -> None:
    """Act on messages that filters have just found, by what ``lock_acting`` returned.

    What they find later of a message that an act made read is read too.
    """
    of_filter = {key: owner for owner, keys in owners.items() for key in keys}
    found: dict[int, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair[0] in of_filter:
            found[of_filter[pair[0]]].append(pair)
    for owner, mine in sorted(found.items()):
        _Desk(owner).act_on_pairs(mine)


@transaction.atomic
def act_on_found(filter_: Filter) -> None:
    """Act on what a filter has found already, as its owner asked."""
    _lock([filter_.owner_id])
    present = filter_.matches.filter(retracted_at=None, acted_at=None)
    msgids = present.order_by("-matched_at", "-pk").values_list("msgid", flat=True)
    _Desk(filter_.owner_id).act_on_pairs([(filter_.pk, msgid) for msgid in msgids])


def let_go(matches: QuerySet[Match], becomes: str = Match.LEFT) -> int:
    """Undo the acts on matches that leave, or (OWN) that their owner undoes; return how many.

    What their owner changed since stays, and is theirs from then on: if the message comes back,
    the filter does not do that again.
    """
    rows = list(matches.filter(acted_at__isnull=False).order_by("filter__owner", "pk"))
    rows = [row for row in rows if Match.STANDS in row.acts.values()]
    if rows:
        owner_of = dict(Filter.objects.filter(matches__in=rows).values_list("pk", "owner_id"))
        _lock(owner_of.values())
        by_owner: dict[int, list[Match]] = defaultdict(list)
        for row in rows:
            by_owner[owner_of[row.filter_id]].append(row)
        for owner, mine in sorted(by_owner.items()):
            _Desk(owner).let_go(mine, becomes)
        filters = Filter.objects.filter(pk__in=owner_of)
        filters.update(updated=timezone.now())  # counts are made anew
    return len(rows)


@transaction.atomic
def undo(owner: User, matches: QuerySet[Match]) -> int:
    """Undo what filters of a person did with some messages; return with how many.

    What the person has changed since stays.  Those filters do not do it again.
    """
    _lock([owner.pk])
    keys = matches.filter(filter__owner=owner).values_list("pk", flat=True)
    batches = batched(list(keys))
    return sum(let_go(Match.objects.filter(pk__in=batch), Match.OWN) for batch in batches)


def stands() -> Q:
    """Return the condition that something stands of what a filter did with a match."""
    each = (Q(**{f"acts__{name}": Match.STANDS}) for name in ACTS)
    return reduce(or_, each)


def _acting_filters() -> QuerySet[Filter]:
    return Filter.objects.exclude(acts="").order_by()


def _lock(owners: Iterable[int]) -> None:
    """Have steps of people wait, as they have each other (filters.inbox.triage.steps)."""
    for users in in_batches(User.objects.select_for_update(no_key=True).order_by("pk"), owners):
        list(users.values_list("pk"))


class _Desk:
    """What a person's acts and states are, of the messages of a batch; the person is locked."""

    def __init__(self, owner: int) -> None:
        self._owner = owner
        steps = TriageStep.objects.filter(owner=owner)
        self._at = max(wall_clock(), (steps.aggregate(last=Max("at"))["last"] or 0) + 1)
        self._states: dict[str, MessageState] = {}
        self._acted: dict[str, list[Match]] = {}
        self._changed_states: set[str] = set()
        self._changed_acts: dict[int, Match] = {}

    def act_on_pairs(self, pairs: Sequence[Pair]) -> None:
        """Act on messages as long as there is room for today, in the order of the batches."""
        acting = dict(self._acting())
        if not any("read" in does.acts for does in acting.values()):
            pairs = [pair for pair in pairs if pair[0] in acting]
        left_out = Counter[int]()
        for batch in batched(pairs, BATCH_SIZE // 2):
            self._act_on_batch(batch, acting, left_out)
        for key, count in left_out.items():
            self._stop(key, count)

    def let_go(self, rows: Sequence[Match], becomes: str) -> None:
        for batch in batched(rows, BATCH_SIZE // 2):
            leaving = {row.pk for row in batch}
            self._look({row.msgid for row in batch})
            for msgid, acted in self._acted.items():
                mine = [row for row in acted if row.pk in leaving]
                for name in ACTS:
                    self._let_go_of(msgid, name, mine, becomes)
            self._store()

    def _acting(self) -> Iterator[tuple[int, Acting]]:
        """Yield the filters of the person that act, with their room for today."""
        rows = _acting_filters().filter(owner=self._owner)
        recent = Match.objects.filter(acted_at__gt=self._at - DAY, filter__in=rows.values("pk"))
        counts = recent.order_by().values("filter").annotate(count=Count("pk"))
        used = dict(counts.values_list("filter", "count"))
        for key, acts, since, a_day in rows.values_list("pk", "acts", "acts_since", "acts_a_day"):
            room = max(a_day - used.get(key, 0), 0)
            yield key, Acting(tuple(name for name in ACTS if name in acts.split()), since, room)

    def _act_on_batch(
        self, batch: Sequence[Pair], acting: dict[int, Acting], left_out: Counter[int]
    ) -> None:
        places = {pair: place for place, pair in enumerate(batch)}
        filter_ids, msgids = {key for key, _ in batch}, {msgid for _, msgid in batch}
        self._look(msgids)
        stored = Match.objects.filter(filter__in=filter_ids, msgid__in=msgids, retracted_at=None)
        rows = [self._same(row) for row in stored if (row.filter_id, row.msgid) in places]
        self._inherit_read(rows)
        acted: set[int] = set()
        read: list[str] = []
        for row in sorted(rows, key=lambda row: places[row.filter_id, row.msgid]):
            does = acting.get(row.filter_id)
            if does is None or (does.since is not None and row.matched_at <= does.since):
                continue
            names = self._to_do(row, does.acts)
            if names and not does.room:
                left_out[row.filter_id] += 1
            elif names:
                acting[row.filter_id] = does._replace(room=does.room - 1)
                self._act(row, names)
                acted.add(row.filter_id)
                read += [row.msgid] if "read" in names else []
        self._store()
        unread = Match.objects.filter(filter__owner=self._owner, msgid__in=read, read_at=None)
        unread.update(read_at=self._at)
        if acted:
            Filter.objects.filter(pk__in=acted).update(updated=timezone.now())  # counts are anew
            # What was unread in filters that hold others until it is read may be so no more.
            holding = Filter.objects.filter(owner=self._owner, while_unread=True)
            of_these = holding.filter(matches__msgid__in=msgids).values_list("pk", flat=True)
            schedule.plan_held(of_these.distinct())

    def _look(self, msgids: Collection[str]) -> None:
        """Read the states of messages, and the matches on which filters of the person acted."""
        states = MessageState.objects.filter(owner=self._owner, msgid__in=msgids)
        self._states = {state.msgid: state for state in states.select_for_update()}
        self._acted = defaultdict(list)
        acted = Match.objects.filter(filter__owner=self._owner, msgid__in=msgids)
        for row in acted.filter(acted_at__isnull=False).order_by("pk"):
            self._acted[row.msgid].append(row)
        self._changed_states, self._changed_acts = set(), {}

    def _same(self, row: Match) -> Match:
        """Return a match as it was looked at with the others of its message, if it was."""
        return next((same for same in self._acted[row.msgid] if same.pk == row.pk), row)

    def _standing(self, msgid: str, name: str) -> set[int | None]:
        """Return the instants of the acts on a message that stand."""
        rows = self._acted[msgid]
        return {row.acted_at for row in rows if row.acts.get(name) == Match.STANDS}

    def _value(self, row: Match, name: str) -> int | None:
        if name == "read":
            return row.read_at
        state = self._states.get(row.msgid)
        return None if state is None else getattr(state, FIELDS[name])

    def _inherit_read(self, rows: Iterable[Match]) -> None:
        """Make what has just been found read, if an act stands that made the message so."""
        read = []
        for row in rows:
            standing = self._standing(row.msgid, "read")
            held = [one.read_at for one in self._acted[row.msgid] if one.read_at in standing]
            if row.read_at is None and held:
                row.read_at = held[0]
                read.append((row.read_at, row.pk))
        update_rows(Match, ("read_at",), read)

    def _to_do(self, row: Match, acts: Iterable[str]) -> list[str]:
        """Return what is to be done with a message, and neither was nor is its owner's to say."""
        state = self._states.get(row.msgid)
        names = [name for name in acts if row.acts.get(name, Match.LEFT) == Match.LEFT]
        if state is not None and state.snoozed_until is not None:
            names = [name for name in names if name != "done"]
        return [
            name
            for name in names
            if name in MAILBOX_ACTS
            or self._value(row, name) in {None} | self._standing(row.msgid, name)
        ]

    def _act(self, row: Match, names: Sequence[str]) -> None:
        for name in names:
            if name not in MAILBOX_ACTS:
                self._disown(row.msgid, name)
            if name in FIELDS and self._value(row, name) is None:
                self._set(row, name, self._at)
            row.acts[name] = Match.STANDS
        row.acted_at = self._at
        self._changed_acts[row.pk] = row
        if row not in self._acted[row.msgid]:
            self._acted[row.msgid].append(row)
        if "read" in names:
            for one in self._acted[row.msgid]:
                one.read_at = one.read_at or self._at  # as the update says that follows

    def _disown(self, msgid: str, name: str) -> None:
        """Leave to the person which acts they have changed, before another sets the same again."""
        standing = self._standing(msgid, name)
        for row in self._acted[msgid]:
            if row.acts.get(name) == Match.STANDS and self._value(row, name) not in standing:
                row.acts[name] = Match.OWN
                self._changed_acts[row.pk] = row

    def _let_go_of(self, msgid: str, name: str, leaving: Sequence[Match], becomes: str) -> None:
        if name in MAILBOX_ACTS:
            self._let_go_in_mailbox(name, leaving, becomes)
            return
        before = self._standing(msgid, name)
        mine = [row for row in leaving if row.acts.get(name) == Match.STANDS]
        for row in mine:
            is_held = self._value(row, name) in before
            row.acts[name] = becomes if is_held else Match.OWN
            self._changed_acts[row.pk] = row
        after = self._standing(msgid, name)
        heir = min((at for at in after if at is not None), default=None)
        if name == "read" and mine:
            same = Match.objects.filter(filter__owner=self._owner, msgid=msgid)
            read = same.filter(read_at__in=before - after)
            keep_former_matches(read)
            read.update(read_at=heir)
        elif mine and self._value(mine[0], name) in before - after:
            self._set(mine[0], name, heir)

    def _let_go_in_mailbox(self, name: str, leaving: Sequence[Match], becomes: str) -> None:
        for row in leaving:
            if row.acts.get(name) == Match.STANDS:
                row.acts[name] = becomes
                self._changed_acts[row.pk] = row

    def _set(self, row: Match, name: str, value: int | None) -> None:
        new = MessageState(owner_id=self._owner, msgid=row.msgid, audience=row.audience)
        state = self._states.setdefault(row.msgid, new)
        setattr(state, FIELDS[name], value)
        state.changed_at = self._at
        self._changed_states.add(row.msgid)

    def _store(self) -> None:
        rows = self._changed_acts.values()
        update_rows(Match, ("acted_at", "acts"), [(row.acted_at, row.acts, row.pk) for row in rows])
        mailbox_outbox.put(self._owner, rows)
        changed = [self._states[msgid] for msgid in sorted(self._changed_states)]
        known = [row.pk for row in changed if row.pk is not None]
        keep_former_states(MessageState.objects.filter(pk__in=known))
        MessageState.objects.bulk_create(
            [MessageState(**{name: getattr(row, name) for name in _COLUMNS}) for row in changed],
            update_conflicts=True,
            unique_fields=["owner", "msgid"],
            update_fields=[*FIELDS.values(), "changed_at"],
            batch_size=BATCH_SIZE // 8,
        )

    def _stop(self, key: int, count: int) -> None:
        """Store that a filter has acted on as many messages as it may in a day."""
        stopped = Filter.objects.filter(pk=key)
        lately = stopped.filter(acts_stopped_at__gt=self._at - DAY)
        before = lately.values_list("acts_stopped_at", "acts_left_out").first()
        at, left_out = before or (self._at, 0)
        stopped.update(acts_stopped_at=at, acts_left_out=left_out + count, updated=timezone.now())
