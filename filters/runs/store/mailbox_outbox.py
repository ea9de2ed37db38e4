"""The outbox of what filters do in mailboxes: put in here, done by the worker.

What stands of a match is to be done, and what does not is to be undone
(filters.sources.both_ways.acting).
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from filters.authoring.models import MAILBOX_ACTS, Filter
from filters.inbox.models import Match
from filters.site.work.db.batching import BATCH_SIZE, batched
from filters.sources.models import MailboxAct

CHANGED = ("acts", "wish", "revision", "ended_at", "outcome", "source", "folder", "place")


def put(owner: int, matches: Iterable[Match]) -> None:
    """Put into the outbox what has become of matches; their owner is locked.

    What is done again before it was undone, as where the mailbox was paused meanwhile, goes on from
    where it was; else it begins anew.
    """
    concerned = {
        (match.filter_id, match.msgid): match
        for match in matches
        if match.acts.keys() & MAILBOX_ACTS.keys()
    }
    if not concerned:
        return
    stored = MailboxAct.objects.filter(owner=owner, msgid__in={msgid for _, msgid in concerned})
    known = {(row.filter_id, row.msgid): row for row in stored.select_for_update()}
    new: list[MailboxAct] = []
    changed: list[MailboxAct] = []
    for pair, match in concerned.items():
        acts = [name for name in MAILBOX_ACTS if match.acts.get(name) == Match.STANDS]
        row = known.get(pair) or MailboxAct(owner_id=owner, filter_id=pair[0], msgid=pair[1])
        wish = MailboxAct.Wish.DO if acts else MailboxAct.Wish.UNDO
        if row.pk is None and not acts:
            continue
        if row.pk is not None and row.wish == wish and (not acts or row.acts.split() == acts):
            continue
        is_undone = row.ended_at is not None and row.outcome != MailboxAct.PAUSED
        if acts and row.wish == MailboxAct.Wish.UNDO and is_undone:
            row.source, row.folder, row.place = None, "", {}
        elif row.place:
            row.place = {**row.place, "uid": 0}  # it may be elsewhere by now
        row.acts = " ".join(acts) or row.acts
        row.wish, row.ended_at, row.outcome = wish, None, ""
        row.revision += 1
        (new if row.pk is None else changed).append(row)
    MailboxAct.objects.bulk_create(new, batch_size=BATCH_SIZE // 12)
    MailboxAct.objects.bulk_update(changed, CHANGED, batch_size=BATCH_SIZE // 12)


def leave(filters: QuerySet[Filter]) -> None:
    """Forget what filters did that are to be deleted, but for what is still to be undone."""
    theirs = MailboxAct.objects.filter(filter__in=filters)
    is_waiting = Q(ended_at=None) | Q(outcome=MailboxAct.PAUSED)
    theirs.exclude(is_waiting, wish=MailboxAct.Wish.UNDO).delete()


def drop(matches: QuerySet[Match]) -> None:
    """Forget what was done with matches that are deleted: in the mailbox it stays."""
    pairs = list(matches.values_list("filter_id", "msgid"))
    for batch in batched(pairs, BATCH_SIZE // 2):
        filters, msgids = {key for key, _ in batch}, {msgid for _, msgid in batch}
        same = MailboxAct.objects.filter(filter__in=filters, msgid__in=msgids)
        rows = same.values_list("pk", "filter", "msgid")
        keys = [key for key, filter_id, msgid in rows if (filter_id, msgid) in set(batch)]
        MailboxAct.objects.filter(pk__in=keys).delete()
