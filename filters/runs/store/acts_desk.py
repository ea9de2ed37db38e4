"""What a person's acts and states are, of the messages of a batch, and how they change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from filters.authoring.models import ACTS, MAILBOX_ACTS, Filter
from filters.inbox.models import (
    Match,
    MessageState,
    TriageStep,
    keep_former_matches,
    keep_former_states,
)
from filters.runs.store import mailbox_outbox, schedule, tag_outbox
from filters.runs.store.tag_outbox import Tag
from filters.site.work.db.batching import BATCH_SIZE, batched
from filters.site.work.db.bulk import update_rows
from tapestry.core.clock import DAY, wall_clock

FIELDS = {"star": "starred_at", "top": "pinned_at", "skip": "skipped_at", "done": "done_at"}
"""The field of a message's state that an act sets; ``read`` sets that of the matches."""

OUTSIDE = {"label", *MAILBOX_ACTS}
"""Acts that stand of each match by itself: they are done by way of an outbox."""

ANNID = "annid"
"""What ``Match.acts`` has beside its acts: the key of the annotation that is its tag."""

_COLUMNS = ("owner_id", "msgid", "audience", "snoozed_until", *FIELDS.values(), "changed_at")

Pair = tuple[int, str]
"""The key of a filter and a msgid."""


class Acting(NamedTuple):
    """What a filter does, since when, and to how many messages of a day it still may.

    ``revision`` is that of its text, ``label`` what it tags with.
    """

    acts: tuple[str, ...]
    since: int | None
    room: int
    revision: int
    label: str

    def tag_of(self, row: Match) -> Tag:
        return Tag(row.filter_id, self.revision, row.msgid, self.label)


def acting_filters() -> QuerySet[Filter]:
    """Return the filters that act."""
    return Filter.objects.exclude(acts="").order_by()


class Desk:
    """The acts and states of a person, who is locked, of the messages of a batch at a time."""

    def __init__(self, owner: int) -> None:
        self._owner = owner
        steps = TriageStep.objects.filter(owner=owner)
        self._at = max(wall_clock(), (steps.aggregate(last=Max("at"))["last"] or 0) + 1)
        self._states: dict[str, MessageState] = {}
        self._acted: dict[str, list[Match]] = {}
        self._changed_states: set[str] = set()
        self._changed_acts: dict[int, Match] = {}
        self._tags: list[Tag] = []
        self._untagged: list[Match] = []

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
        rows = acting_filters().filter(owner=self._owner)
        recent = Match.objects.filter(acted_at__gt=self._at - DAY, filter__in=rows.values("pk"))
        counts = recent.order_by().values("filter").annotate(count=Count("pk"))
        used = dict(counts.values_list("filter", "count"))
        columns = ("acts_since", "revision", "acts_label")
        for key, acts, a_day, *others in rows.values_list("pk", "acts", "acts_a_day", *columns):
            names = tuple(name for name in ACTS if name in acts.split())
            since, revision, label = others
            yield key, Acting(names, since, max(a_day - used.get(key, 0), 0), revision, label)

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
            names = self._to_do(row, does)
            if names and not does.room:
                left_out[row.filter_id] += 1
            elif names:
                acting[row.filter_id] = does._replace(room=does.room - 1)
                self._act(row, names)
                self._tag(row, does, names)
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
        self._tags, self._untagged = [], []

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
            instants = [
                match.read_at for match in self._acted[row.msgid] if match.read_at in standing
            ]
            if row.read_at is None and instants:
                row.read_at = instants[0]
                read.append((row.read_at, row.pk))
        update_rows(Match, ("read_at",), read)

    def _to_do(self, row: Match, does: Acting) -> list[str]:
        """Return what is to be done with a message, and neither was nor is its owner's to say."""
        state = self._states.get(row.msgid)
        names = [name for name in does.acts if row.acts.get(name, Match.LEFT) == Match.LEFT]
        if row.acts.get(ANNID) == does.tag_of(row).annid:
            names = [name for name in names if name != "label"]
        if state is not None and state.snoozed_until is not None:
            names = [name for name in names if name != "done"]
        return [
            name
            for name in names
            if name in OUTSIDE or self._value(row, name) in {None} | self._standing(row.msgid, name)
        ]

    def _act(self, row: Match, names: Sequence[str]) -> None:
        for name in names:
            if name not in OUTSIDE:
                self._disown(row.msgid, name)
            if name in FIELDS and self._value(row, name) is None:
                self._set(row, name, self._at)
            row.acts[name] = Match.STANDS
        row.acted_at = self._at
        self._changed_acts[row.pk] = row
        if row not in self._acted[row.msgid]:
            self._acted[row.msgid].append(row)
        if "read" in names:
            for match in self._acted[row.msgid]:
                match.read_at = match.read_at or self._at  # as the update says that follows

    def _tag(self, row: Match, does: Acting, names: Sequence[str]) -> None:
        if "label" in names:
            tag = does.tag_of(row)
            row.acts[ANNID] = tag.annid
            self._tags.append(tag)

    def _disown(self, msgid: str, name: str) -> None:
        """Leave to the person which acts they have changed, before another sets the same again."""
        standing = self._standing(msgid, name)
        for row in self._acted[msgid]:
            if row.acts.get(name) == Match.STANDS and self._value(row, name) not in standing:
                row.acts[name] = Match.OWN
                self._changed_acts[row.pk] = row

    def _let_go_of(self, msgid: str, name: str, leaving: Sequence[Match], becomes: str) -> None:
        if name in OUTSIDE:
            self._let_go_outside(name, leaving, becomes)
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

    def _let_go_outside(self, name: str, leaving: Sequence[Match], becomes: str) -> None:
        mine = [row for row in leaving if row.acts.get(name) == Match.STANDS]
        own: set[str] = set()
        if name == "label":
            own = tag_outbox.taken_back([row.acts[ANNID] for row in mine])
            self._untagged += mine
        for row in mine:
            row.acts[name] = Match.OWN if row.acts.get(ANNID) in own else becomes
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
        untagged = [(row.acts[ANNID], row.msgid) for row in self._untagged]
        tag_outbox.put(self._owner, self._tags, untagged)
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
