"""Matches whose mail is gone, or no longer visible to the owner of their filter.

A message may have copies for several audiences; a match refers to one.  If that copy is lost,
the narrowest of the owner's other copies takes its place; without any the match is deleted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from filters.accounts import people
from filters.models import Filter, Match, MessageState
from filters.runtime import services
from filters.runtime.batching import in_batches
from filters.store.schedule import plan_held
from tapestry.core.schema import MESSAGES
from tapestry.tables.read import lookup, narrowest_first


def drop_invisible(matches: QuerySet[Match], lost: Collection[str] = ()) -> int:
    """Delete those matches that have no visible copy left; return how many.

    Copies of the audiences ``lost`` do not count.
    """
    owners = matches.order_by().values_list("filter__owner", flat=True).distinct()
    visible = {
        owner.pk: set(people.audiences(owner)).difference(lost)
        for owner in User.objects.filter(pk__in=owners).prefetch_related("groups")
    }
    if not visible:
        return 0
    tables = services.tables()
    files = tables.data_files(MESSAGES)
    audiences = set[str]().union(*visible.values())
    deleted, losing = 0, set[int]()
    stored = Match.objects.select_related("filter")
    for batch in in_batches(stored, matches.values_list("pk", flat=True)):
        copies: dict[str, list[str]] = defaultdict(list)
        columns = ("msgid", "audience")
        msgids = {match.msgid for match in batch}
        rows = lookup(tables, MESSAGES, "msgid", msgids, audiences, columns, files)
        for row in narrowest_first(rows):
            copies[row["msgid"]].append(row["audience"])
        moved, invisible = [], []
        for match in batch:
            may_see = visible[match.filter.owner_id]
            left = [audience for audience in copies[match.msgid] if audience in may_see]
            if not left:
                invisible.append(match.pk)
                losing.add(match.filter_id)
            elif match.audience not in left:
                match.audience, match.card, match.refreshed_at = left[0], None, None
                moved.append(match)
        Match.objects.bulk_update(moved, ["audience", "card", "refreshed_at"])
        for match in moved:
            states = MessageState.objects.filter(owner=match.filter.owner_id, msgid=match.msgid)
            states.update(audience=match.audience)
        deleted += Match.objects.filter(pk__in=invisible).delete()[0]
    Filter.objects.filter(pk__in=losing).update(updated=timezone.now())  # counts are made anew
    plan_held(losing)
    return deleted
