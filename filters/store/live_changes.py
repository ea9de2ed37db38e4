"""What the changes of live filters do to the matches that are stored.

    changes, in order ─ by message ─> Fate ─ upon the stored rows ─> made, back, renewed or gone

What ceases to match before it was shown leaves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from filters.models import Match
from filters.runtime.batching import BATCH_SIZE, batched
from tapestry.core.clock import BEGINNING, wall_clock
from tapestry.core.ports import Change, DueFilter

HOW = ("audience", "disjunct", "evidence", "explanation", "refreshed_at", "card")
"""Fields that say how a message matches, and what is copied from the tables for that."""

BEGUN = ("matched_at", "stored_at", "shown_at", "read_at", "retracted_at")
"""Fields that change, beside those, when it begins to match."""

Pair = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a message in a filter by the end of a window.

    ``last`` is its last change.  ``began``: the instant at which it last began to match, None
    if it did not within the window, or matches no more.
    """

    last: Change
    began: int | None = None


def fates(changes: Iterable[Change]) -> dict[Pair, Fate]:
    """Return what becomes of each (filter, message), given all changes in order."""
    found: dict[Pair, Fate] = {}
    for change in changes:
        pair = (change.filter_id, change.msgid)
        if change.op == "insert":
            found[pair] = Fate(change, change.at)
        elif change.op == "update" and pair in found:
            found[pair] = replace(found[pair], last=change)
        else:
            found[pair] = Fate(change)
    return found


def follow(
    filters: Sequence[DueFilter],
    until: int,
    changes: Sequence[Change],
    shown: Mapping[int, int],
) -> None:
    """Bring the stored matches of live filters to their answers at ``until``.

    ``shown`` says when what a filter finds now is to be shown.  The first window after a filter
    was written or changed is its whole answer: what that leaves out of an older text's is gone,
    and what remains stays read.  Runs inside the caller's transaction.
    """
    final = fates(changes)
    whole = {each.filter_id for each in filters if each.live and _begins(each)}
    for batch in batched(sorted(final), BATCH_SIZE // 2):
        _apply({pair: final[pair] for pair in batch}, whole, shown)
    for filter_id in whole:
        _leave_out(filter_id, until, final)


def _begins(due: DueFilter) -> bool:
    return due.since == (BEGINNING if due.start is None else due.start)


def _apply(batch: Mapping[Pair, Fate], whole: set[int], shown: Mapping[int, int]) -> None:
    made: list[Match] = []
    back: list[Match] = []
    renewed: list[Match] = []
    gone: list[Match] = []
    stored = _stored(batch)
    for pair, fate in batch.items():
        row = stored.get(pair)
        present = row is not None and row.retracted_at is None
        if fate.last.op == "delete":
            if row is not None and present:
                row.retracted_at = fate.last.at
                gone.append(row)
        elif row is not None and present and (fate.began is None or pair[0] in whole):
            row.matched_at = row.matched_at if fate.began is None else fate.began
            _say_how(row, fate.last)
            renewed.append(row)
        elif fate.began is not None:
            (made if row is None else back).append(row := row or Match(filter_id=pair[0]))
            _begin(row, fate.began, shown[pair[0]])
            _say_how(row, fate.last)
    Match.objects.bulk_create(made, batch_size=BATCH_SIZE // 15)
    Match.objects.bulk_update(back, [*HOW, *BEGUN], batch_size=BATCH_SIZE // 25)
    Match.objects.bulk_update(renewed, [*HOW, "matched_at"], batch_size=BATCH_SIZE // 15)
    Match.objects.bulk_update(gone, ["retracted_at"], batch_size=BATCH_SIZE // 3)
    _forget_unshown([row.pk for row in gone])


def _stored(pairs: Iterable[Pair]) -> dict[Pair, Match]:
    filter_ids, msgids = zip(*pairs, strict=True)
    rows = Match.objects.filter(filter__in=set(filter_ids), msgid__in=set(msgids))
    return {(row.filter_id, row.msgid): row for row in rows}


def _begin(row: Match, at: int, shown_at: int) -> None:
    row.matched_at, row.stored_at, row.shown_at = at, wall_clock(), shown_at
    row.read_at = row.retracted_at = None


def _say_how(row: Match, change: Change) -> None:
    """Let a row say how its message matches; what is copied for that is to be copied anew."""
    if row.audience != change.audience:
        row.card = None
    row.msgid = change.msgid
    row.audience = change.audience
    row.disjunct = change.disjunct
    row.evidence = list(change.evidence)
    row.explanation = change.explanation
    row.refreshed_at = None


def _leave_out(filter_id: int, until: int, final: Mapping[Pair, Fate]) -> None:
    """Let go of what the older text of a filter found, and its whole answer does not hold."""
    present = Match.objects.filter(filter=filter_id, retracted_at=None).values_list("pk", "msgid")
    answer = {pair for pair, fate in final.items() if fate.began is not None}
    over = [pk for pk, msgid in present if (filter_id, msgid) not in answer]
    for batch in batched(over):
        Match.objects.filter(pk__in=batch).update(retracted_at=until)
        _forget_unshown(batch)


def _forget_unshown(gone: Collection[int]) -> None:
    Match.objects.filter(pk__in=gone, shown_at__gt=wall_clock()).delete()
