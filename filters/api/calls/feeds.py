"""Calls about feeds: secret addresses at which a feed reader finds what filters found."""

from __future__ import annotations

from ninja import Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.given import own
from filters.delivery import changes
from filters.delivery.feeds import FeedRow
from filters.delivery.models import Feed
from filters.people.requests import PersonRequest
from filters.site.work.crypto import opaque_keys

router = Router(tags=["destinations"], auth=PersonalToken("delivery"))
"""Whoever has the address of a feed may read it: so none is told to a token that only reads."""


class FeedIn(Schema):
    """The filter of a feed, "" for all filters."""

    filter: str = ""


class FeedOut(Schema):
    """A feed: its secret address, and that of its due dates; ``filter`` is "" for all filters."""

    key: str
    filter: str
    address: str
    calendar: str


@router.get("/feeds", response=list[FeedOut])
def list_feeds(request: PersonRequest) -> list[FeedOut]:
    """List the caller's feeds."""
    rows = Feed.objects.filter(owner=request.user).select_related("filter").order_by("pk")
    return [_shown(row) for row in rows]


@router.post("/feeds", response=FeedOut)
def make_feed(request: PersonRequest, given: FeedIn) -> FeedOut:
    """Make the feed of a filter, or of all; one that is there stays."""
    return _shown(changes.make_feed(request.user, given.filter))


@router.post("/feeds/{key}/address", response=FeedOut)
def move_feed(request: PersonRequest, key: str) -> FeedOut:
    """Give a feed another address; nothing is at the old one from now on."""
    feed = own(Feed, request.user, key)
    changes.move_feed(feed)
    feed.refresh_from_db()
    return _shown(feed)


@router.delete("/feeds/{key}", response={204: None})
def remove_feed(request: PersonRequest, key: str) -> Status[None]:
    """Remove a feed; nothing is at its address from now on."""
    own(Feed, request.user, key).delete()
    return Status(204, None)


def _shown(feed: Feed) -> FeedOut:
    row = FeedRow(feed.filter, feed)
    return FeedOut(
        key=opaque_keys.encrypt(feed.pk),
        filter=feed.filter.name if feed.filter else "",
        address=row.address,
        calendar=row.calendar,
    )
