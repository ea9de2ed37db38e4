"""What becomes of matches whose mail is gone, or not their finder's to see any more.

A message may be there for several audiences, and a match holds one copy of it.  Where that copy
is lost, the narrowest that is left to the finder takes its place; without one the match goes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import QuerySet

from filters.accounts import people
from filters.models import Match
from filters.runtime import services
from filters.runtime.batching import batched
from tapestry.core.schema import MESSAGES
from tapestry.tables.log import data_files_of
from tapestry.tables.read import lookup, narrowest_first


def drop_invisible(matches: QuerySet[Match], lost: Collection[str] = ()) -> int:
    """Let those matches go that have no copy left, none of the audiences ``lost``; how many did."""
    seen: dict[int, set[str]] = {}
    owners = matches.order_by().values_list("filter__owner", flat=True).distinct()
    for owner in User.objects.filter(pk__in=owners).prefetch_related("groups"):
        seen[owner.pk] = set(people.audiences(owner)).difference(lost)
    if not seen:
        return 0
    tables = services.tables()
    log = data_files_of(tables.open(MESSAGES))
    anybody = set[str]().union(*seen.values())
    count = 0
    for pks in batched(list(matches.values_list("pk", flat=True))):
        some = list(Match.objects.filter(pk__in=pks).select_related("filter"))
        copies: dict[str, list[str]] = defaultdict(list)
        columns = ("msgid", "audience")
        msgids = {match.msgid for match in some}
        found = lookup(log, MESSAGES, "msgid", msgids, anybody, columns, root=tables.root)
        for row in narrowest_first(found):
            copies[row["msgid"]].append(row["audience"])
        moved, gone = [], []
        for match in some:
            left = [one for one in copies[match.msgid] if one in seen[match.filter.owner_id]]
            if not left:
                gone.append(match.pk)
            elif match.audience not in left:
                match.audience, match.card, match.refreshed_at = left[0], None, None
                moved.append(match)
        Match.objects.bulk_update(moved, ["audience", "card", "refreshed_at"])
        count += Match.objects.filter(pk__in=gone).delete()[0]
    return count
