"""Matches whose mail is gone, or no longer visible to the owner of their filter.

A message may have copies for several audiences; a match refers to one.  If that copy is lost,
the narrowest of the owner's other copies takes its place; without any the match is deleted.  What
a person did with a message follows in the same way, but stays without any: it holds again as soon
as they see a copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from filters.authoring.models import Filter
from filters.inbox.models import Match, MessageState, keep_former_matches
from filters.people import people
from filters.people.models import User
from filters.runs.store import acts, mailbox_outbox
from filters.runs.store.schedule import plan_held
from filters.site.work import services
from filters.site.work.batching import in_batches
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup, narrowest_first

Pair = tuple[str, str]
"""The msgid and the audience of a copy."""


def drop_invisible(matches: QuerySet[Match], lost: Collection[str] = ()) -> int:
    """Delete those matches that have no visible copy left; return how many.

    Copies of the audiences ``lost`` do not count.
    """
    owners = matches.order_by().values_list("filter__owner", flat=True).distinct()
    visible = _visible_to(User.objects.filter(pk__in=owners), lost)
    if not visible:
        return 0
    tables = services.tables()
    files = tables.data_files(MESSAGES)
    audiences = set[str]().union(*visible.values())
    deleted, losing = 0, set[int]()
    stored = Match.objects.select_related("filter")
    for batch in in_batches(stored, matches.values_list("pk", flat=True)):
        copies = _copies(tables, {match.msgid for match in batch}, audiences, files)
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
        keep_former_matches(Match.objects.filter(pk__in=[match.pk for match in moved]))
        Match.objects.bulk_update(moved, ["audience", "card", "refreshed_at"])
        mailbox_outbox.drop(Match.objects.filter(pk__in=invisible))
        acts.let_go(Match.objects.filter(pk__in=invisible))
        deleted += Match.objects.filter(pk__in=invisible).delete()[0]
    Filter.objects.filter(pk__in=losing).update(updated=timezone.now())  # counts are made anew
    plan_held(losing)
    return deleted


def move_states(states: QuerySet[MessageState], lost: Collection[str] = ()) -> set[Pair]:
    """Have those states whose copy is not visible name the narrowest that is, if there is one.

    Return these copies, each by its msgid and its audience.  ``lost`` is as in ``drop_invisible``,
    which is to be called after this: whoever acts on messages locks their states first too.
    """
    owners = states.order_by().values_list("owner", flat=True).distinct()
    visible = _visible_to(User.objects.filter(pk__in=owners), lost)
    if not visible:
        return set()
    tables = services.tables()
    files = tables.data_files(MESSAGES)
    audiences = set[str]().union(*visible.values())
    moved: dict[str, list[int]] = defaultdict(list)
    found: set[Pair] = set()
    for batch in in_batches(MessageState.objects.all(), states.values_list("pk", flat=True)):
        copies = _copies(tables, {row.msgid for row in batch}, audiences, files)
        for row in batch:
            may_see = visible[row.owner_id]
            audiences_left = [audience for audience in copies[row.msgid] if audience in may_see]
            if audiences_left and row.audience not in audiences_left:
                moved[audiences_left[0]].append(row.pk)
                found.add((row.msgid, audiences_left[0]))
    for audience, keys in sorted(moved.items()):
        for batch in in_batches(MessageState.objects.all(), keys):
            batch.update(audience=audience)
    return found


def _visible_to(owners: QuerySet[User], lost: Collection[str]) -> dict[int, set[str]]:
    """Return the audiences that some people see, but those lost, by person."""
    people_there = owners.prefetch_related("groups")
    return {owner.pk: set(people.audiences(owner)).difference(lost) for owner in people_there}


def _copies(
    tables: Tables, msgids: Collection[str], audiences: Collection[str], files: Sequence[DataFile]
) -> dict[str, list[str]]:
    """Return the audiences of the copies of messages, the narrowest first, by msgid."""
    copies: dict[str, list[str]] = defaultdict(list)
    rows = lookup(tables, MESSAGES, "msgid", msgids, audiences, ("msgid", "audience"), files)
    for row in narrowest_first(rows):
        copies[row["msgid"]].append(row["audience"])
    return copies
