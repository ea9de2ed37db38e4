"""Acts: what a filter does with its owner's own state of the messages that it finds.

    matches stored ─ act_on ─> read_at, starred_at … = acted_at ────┐ one transaction with
    matches left ─── let_go ─> null again where it still is acted_at ──┘ the matches

An act sets what is not set, to ``acted_at`` of its match: so what it did is known from what its
owner did, for the value is another.  An act of another filter on the same message keeps the value,
under its own instant, as this one lets go.  Law: whatever the windows, and in whichever order
filters run, a message is read, starred, kept out of the inbox or done if an act stands that makes
it so, or its owner made it so; and what its owner changed stays.

Tags, and what is done in mailboxes, are put into outboxes in the same transaction: they stand of
each match by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from operator import or_

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from filters.authoring.models import ACTS, Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.acts_desk import Desk, Pair, acting_filters
from filters.site.work.db.batching import batched, in_batches


def lock_acting(filter_ids: Collection[int]) -> dict[int, set[int]]:
    """Lock people of whom a filter acts; return which of the filters each of them has.

    To be called first in a transaction: whoever triages, or chooses other times, locks the person
    first too.
    """
    owners: dict[int, set[int]] = defaultdict(set)
    filters = Filter.objects.order_by().filter(owner__in=acting_filters().values("owner"))
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
        Desk(owner).act_on_pairs(mine)


@transaction.atomic
def act_on_found(filter_: Filter) -> None:
    """Act on what a filter has found already, as its owner asked."""
    _lock([filter_.owner_id])
    present = filter_.matches.filter(retracted_at=None, acted_at=None)
    msgids = present.order_by("-matched_at", "-pk").values_list("msgid", flat=True)
    Desk(filter_.owner_id).act_on_pairs([(filter_.pk, msgid) for msgid in msgids])


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
            Desk(owner).let_go(mine, becomes)
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


def _lock(owners: Iterable[int]) -> None:
    """Have steps of people wait, as they have each other (filters.inbox.triage.steps)."""
    for users in in_batches(User.objects.select_for_update(no_key=True).order_by("pk"), owners):
        list(users.values_list("pk"))
