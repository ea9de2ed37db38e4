"""Apply the changes of live filters (a changelog with retractions) to the stored matches.

    changes, in order ─ net_changes ─> NetChange ─> rows inserted, restored, updated, retracted

Of a match that leaves before it was shown nothing stays but what it had left before, be it within
the window in which it came back: one that was released was shown, though the clock may have been
set back since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import QuerySet
from django.utils import timezone

from filters.authoring.models import Filter
from filters.inbox.models import Match, is_waiting, keep_former_matches
from filters.runs.store import acts
from filters.site.work.db.batching import BATCH_SIZE, batched
from tapestry.core.clock import wall_clock
from tapestry.core.ports import Change, DueFilter

EVIDENCE_FIELDS = ("audience", "disjunct", "evidence", "explanation", "refreshed_at", "card")
"""Fields that say how a message matches, and whether the copies from the tables are stale."""

PRESENCE_FIELDS = (
    *("matched_at", "stored_at", "shown_at", "read_at", "retracted_at"),
    "sequence",
)
"""Fields that change as well when it begins to match."""

Pair = tuple[int, str]


@dataclass(frozen=True, slots=True)
class NetChange:
    """The net change of a message in a filter over a window: its last change.

    ``began`` is the instant within the window since which it matches, and ``left`` the first at
    which it ceased to, if there are such.
    """

    last: Change
    began: int | None = None
    left: int | None = None


def net_changes(changes: Iterable[Change]) -> dict[Pair, NetChange]:
    """Return the net change of each (filter, message), given all changes in order."""
    net: dict[Pair, NetChange] = {}
    for change in changes:
        pair = (change.filter_id, change.msgid)
        before = net.get(pair, NetChange(change))
        if change.op == "insert":
            net[pair] = replace(before, last=change, began=change.at)
        elif change.op == "update":
            net[pair] = replace(before, last=change)
        else:
            left = change.at if before.left is None else before.left
            net[pair] = NetChange(change, left=left)
    return net


def apply_changes(
    filters: Sequence[DueFilter],
    until: int,
    changes: Sequence[Change],
    shown: Mapping[int, int],
) -> list[Pair]:
    """Bring the stored matches of live filters to their answers at ``until``; return what came.

    ``shown`` says when what a filter finds now is to be shown.  The first window after a filter
    was written or changed is its complete answer: matches of an older text that are not in it
    are retracted, and those that are stay read.  Runs inside the caller's transaction.
    """
    final = net_changes(changes)
    first_windows = {due.filter_id for due in filters if due.is_live_beginning}
    came: list[Pair] = []
    for batch in batched(sorted(final), BATCH_SIZE // 2):
        came += _apply({pair: final[pair] for pair in batch}, first_windows, shown)
    for filter_id in first_windows:
        _retract_absent(filter_id, until, final)
    return came


def _apply(
    batch: Mapping[Pair, NetChange], first_windows: set[int], shown: Mapping[int, int]
) -> list[Pair]:
    """Apply the net changes of a batch; return the messages that came, or came back."""
    _let_go_of_acts(batch, first_windows)
    inserted: list[Match] = []
    restored: list[Match] = []
    updated: list[Match] = []
    retracted: list[Match] = []
    moved: list[int] = []
    stored = {(row.filter_id, row.msgid): row for row in rows_of(batch)}
    for pair, net_change in batch.items():
        row = stored.get(pair)
        present = row is not None and row.retracted_at is None
        if net_change.last.op == "delete":
            if row is not None and present:
                row.retracted_at, row.sequence = net_change.last.at, None
                retracted.append(row)
        elif row is not None and present and (net_change.began is None or pair[0] in first_windows):
            if net_change.began is not None or row.audience != net_change.last.audience:
                moved.append(row.pk)
            row.matched_at = row.matched_at if net_change.began is None else net_change.began
            _set_evidence(row, net_change.last)
            updated.append(row)
        elif net_change.began is not None:
            if row is None:
                inserted.append(row := Match(filter_id=pair[0]))
            else:
                _keep_left(row, net_change.left)
                restored.append(row)
            _begin(row, net_change.began, shown[pair[0]])
            _set_evidence(row, net_change.last)
    former = [*moved, *(row.pk for row in (*restored, *retracted))]
    keep_former_matches(Match.objects.filter(pk__in=former))
    Match.objects.bulk_create(inserted, batch_size=BATCH_SIZE // 15)
    Match.objects.bulk_update(
        restored, [*EVIDENCE_FIELDS, *PRESENCE_FIELDS, "left"], batch_size=BATCH_SIZE // 25
    )
    Match.objects.bulk_update(
        updated, [*EVIDENCE_FIELDS, "matched_at"], batch_size=BATCH_SIZE // 15
    )
    unshown = _leave_unshown([row.pk for row in retracted])
    Match.objects.bulk_update(
        [row for row in retracted if row.pk not in unshown],
        ["retracted_at", "sequence"],
        batch_size=BATCH_SIZE // 5,
    )
    return [(row.filter_id, row.msgid) for row in (*inserted, *restored)]


def _let_go_of_acts(batch: Mapping[Pair, NetChange], first_windows: set[int]) -> None:
    """Undo what filters did with messages that left, though they came back in the same window."""
    left = {
        pair
        for pair, change in batch.items()
        if change.left is not None and (change.last.op == "delete" or pair[0] not in first_windows)
    }
    if left:
        acted = rows_of(left).filter(retracted_at=None, acted_at__isnull=False)
        rows = acted.values_list("pk", "filter_id", "msgid")
        acts.let_go(Match.objects.filter(pk__in=[pk for pk, *pair in rows if tuple(pair) in left]))


def rows_of(pairs: Iterable[Pair]) -> QuerySet[Match]:
    """Return the rows that have the filter and the message of some of the pairs."""
    filter_ids, msgids = zip(*pairs, strict=True)
    return Match.objects.filter(filter__in=set(filter_ids), msgid__in=set(msgids))


def _keep_left(row: Match, at: int | None) -> None:
    """Keep of a match that comes back what it is again if it leaves before it is shown.

    That is what it was once it had left: at an instant of the window, unless before.  One that was
    not shown yet is what it was before it came.
    """
    present = row.retracted_at is None
    if present and row.sequence is None and row.shown_at > max(row.stored_at, wall_clock()):
        return
    row.left = {name: getattr(row, name) for name in PRESENCE_FIELDS}
    if present:
        row.left |= {"retracted_at": at, "sequence": None}


def _begin(row: Match, at: int, shown_at: int) -> None:
    row.matched_at, row.stored_at, row.shown_at = at, wall_clock(), shown_at
    row.read_at = row.retracted_at = row.sequence = None


def _set_evidence(row: Match, change: Change) -> None:
    """Store how a message matches; its card and evidence rows are stale then."""
    if row.audience != change.audience:
        row.card = None
    row.msgid = change.msgid
    row.audience = change.audience
    row.disjunct = change.disjunct
    row.evidence = list(change.evidence)
    row.explanation = change.explanation
    row.refreshed_at = None


def _retract_absent(filter_id: int, until: int, final: Mapping[Pair, NetChange]) -> None:
    """Retract what an older text of a filter found, and the answer of the new text lacks."""
    present = Match.objects.filter(filter=filter_id, retracted_at=None).values_list("pk", "msgid")
    answer = {pair for pair, net_change in final.items() if net_change.began is not None}
    over = [pk for pk, msgid in present if (filter_id, msgid) not in answer]
    for batch in batched(over):
        acts.let_go(Match.objects.filter(pk__in=batch))
        shown = set(batch) - _leave_unshown(batch)
        keep_former_matches(Match.objects.filter(pk__in=shown))
        Match.objects.filter(pk__in=shown).update(retracted_at=until, sequence=None)


def _leave_unshown(leaving: Collection[int]) -> set[int]:
    """Have those that were not shown yet be as they were before; return which these are.

    None is released meanwhile: they are locked.  Their filters are updated: pages say how much
    waits.
    """
    waiting = Match.objects.filter(is_waiting(), pk__in=leaving, sequence=None)
    rows = list(waiting.select_for_update().order_by("pk"))
    Match.objects.filter(pk__in=[row.pk for row in rows if not row.left]).delete()
    before = [row for row in rows if row.left]
    for row in before:
        for name, value in row.left.items():
            setattr(row, name, value)
    Match.objects.bulk_update(before, PRESENCE_FIELDS, batch_size=BATCH_SIZE // 10)
    filter_ids = {row.filter_id for row in rows}
    Filter.objects.filter(pk__in=filter_ids).update(updated=timezone.now())
    return {row.pk for row in rows}
