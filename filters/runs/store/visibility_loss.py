"""Matches whose mail is gone, or no longer visible to the owner of their filter.

A message may have copies for several audiences; a match refers to one.  If that copy is lost,
the narrowest of the owner's other copies takes its place; without any the match is deleted.  What
a person did with a message follows in the same way, but stays without any: it holds again as soon
as they see a copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from filters.authoring.models import Filter
from filters.inbox.models import Match, keep_former_matches
from filters.people import people
from filters.people.models import User
from filters.runs.store import acts, mailbox_outbox
from filters.runs.store.schedule import plan_held
from filters.site.work.db.batching import in_batches
from filters.site.work.parts import services
from tapestry.core.schema import MESSAGES
from tapestry.tables.read.messages import lookup, narrowest_first

Pair = tuple[str, str]
"""The msgid and the audience of a copy."""


def drop_invisible(matches: QuerySet[Match], lost: Collection[str] = ()) -> int:
    """Delete those matches that have no visible copy left; return how many.

    Copies of the audiences ``lost`` do not count.
    """
    deleted, losing = 0, set[int]()
    for batch in _with_copies(Match.objects.all(), matches, "filter__owner", lost):
        moved, invisible = [], []
        for match, left in batch:
            if not left:
                invisible.append(match.pk)
                losing.add(match.filter_id)
            elif match.audience not in left:
                match.audience, match.card, match.refreshed_at = left[0], None, None
                moved.append(match)
        keep_former_matches(Match.objects.filter(pk__in=[match.pk for match in moved]))
        Match.objects.bulk_update(moved, ["audience", "card", "refreshed_at"])
        mailbox_outbox.drop(Match.objects.filter(pk__in=invisible))
        acts.let_go(Match.objects.filter(pk__in=invisible))
        deleted += Match.objects.filter(pk__in=invisible).delete()[0]
    Filter.objects.filter(pk__in=losing).update(updated=timezone.now())  # counts are made anew
    plan_held(losing)
    return deleted


def move_states(states: QuerySet[Any], lost: Collection[str] = ()) -> set[Pair]:
    """Have those states whose copy is not visible name the narrowest that is, if there is one.

    So do reminders: each names the copy that its person saw then.  Return these copies, each by its
    msgid and its audience.  ``lost`` is as in ``drop_invisible``, which is to be called after this:
    whoever acts on messages locks their states first too.
    """
    stored = states.model._default_manager.all()
    moved: dict[str, list[int]] = defaultdict(list)
    found: set[Pair] = set()
    for batch in _with_copies(stored, states, "owner", lost):
        for row, left in batch:
            if left and row.audience not in left:
                moved[left[0]].append(row.pk)
                found.add((row.msgid, left[0]))
    for audience, keys in sorted(moved.items()):
        for same in in_batches(stored, keys):
            same.update(audience=audience)
    return found


def _with_copies(
    stored: QuerySet[Any], rows: QuerySet[Any], reader: str, lost: Collection[str]
) -> Iterator[list[tuple[Any, list[str]]]]:
    """Yield some of the stored rows in batches, each with the copies that its reader sees.

    Of each copy of its message the audience, the narrowest first, but for those lost.
    """
    readers = rows.order_by().values_list(reader, flat=True).distinct()
    people_there = User.objects.filter(pk__in=readers).prefetch_related("groups")
    visible = {user.pk: set(people.audiences(user)).difference(lost) for user in people_there}
    if not visible:
        return
    tables, audiences = services.tables(), set[str]().union(*visible.values())
    files, columns = tables.data_files(MESSAGES), ("msgid", "audience")
    for batch in in_batches(stored.annotate(reader=F(reader)), rows.values_list("pk", flat=True)):
        msgids = {row.msgid for row in batch}
        copies: dict[str, list[str]] = defaultdict(list)
        found = lookup(tables, MESSAGES, "msgid", msgids, audiences, columns, files)
        for copy in narrowest_first(found):
            copies[copy["msgid"]].append(copy["audience"])
        yield [
            (row, [audience for audience in copies[row.msgid] if audience in visible[row.reader]])
            for row in batch
        ]
