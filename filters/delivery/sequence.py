"""What a filter delivers, by position in the release sequence: change data capture."""

from __future__ import annotations

from filters.authoring.models import Filter
from filters.delivery.batches import delivered
from filters.inbox.lists.cards import being_made
from filters.inbox.models import Match
from filters.people import people
from tapestry.deliver.batch import DeliveredMatch


def after(
    filter_: Filter, cursor: int, limit: int
) -> tuple[tuple[DeliveredMatch, ...], int | None]:
    """Return the matches of a filter that were released after a cursor, oldest first.

    The second value is the next cursor, None if nothing came after this one.  A reader that
    continues there misses no match and sees none twice.
    """
    stored = Match.objects.filter(filter=filter_, sequence__gt=cursor)
    # What is being copied from the tables again is read by the next call, at its position.
    stale = being_made(stored).order_by("sequence")
    if end := stale.values_list("sequence", flat=True).first():
        stored = stored.filter(sequence__lt=end)
    positions = list(stored.order_by("sequence").values_list("sequence", flat=True)[:limit])
    if not positions:
        return (), None
    owner, part = filter_.owner, stored.filter(sequence__lte=positions[-1])
    return delivered(part, people.audiences(owner), owner.zone), positions[-1]


def last(filter_: Filter) -> int | None:
    """Return the position of the last match of a filter that was released; None if there is none.

    After it comes what is released from now on.
    """
    released = Match.objects.filter(filter=filter_, sequence__isnull=False)
    return released.order_by("-sequence").values_list("sequence", flat=True).first()
