"""Atom feeds: the matches of a filter, or of all filters of a person, the newest first, in pages.

A reader asks again and again (conditional requests, RFC 9110 section 13).  One query summarizes
what a feed shows; the summary is the feed's validator (ETag); only where that has changed are the
matches loaded.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace

from django.conf import settings
from django.db.models import Count, Max, QuerySet
from django.urls import reverse

from filters.authoring.models import Filter
from filters.delivery.batches import delivered
from filters.delivery.contents import links
from filters.delivery.contents.excerpts import excerpts_of
from filters.delivery.models import Feed
from filters.delivery.ways.composing import Matches, composed, left_out_words
from filters.inbox.models import Match, MatchQuerySet, Mute
from filters.people import people
from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.crypto import opaque_keys
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import SECOND, to_instant, wall_clock
from tapestry.deliver.batch import DeliveredMatch
from tapestry.deliver.ways.feed import atom_feed

PERSON = SetAside.Kind.PERSON

MOST = 100
"""Matches of a page of a feed."""

SETTLED = 2 * SECOND
"""How old a change must be to be a Last-Modified: the second of an HTTP date must be over."""


@dataclass(frozen=True, slots=True)
class FeedState:
    """What a feed shows, summed up: its validators, and the instant of its last change.

    ``last_modified`` is in seconds since 1970; it is None where the last change is too recent for
    an HTTP date to tell it from the next one.  ``updated`` is in microseconds.
    """

    etag: str
    last_modified: int | None
    updated: int


def position_of(page: str) -> int | None:
    """Return the position before which the matches of a page are; None for the newest page.

    Raise ValueError if this site has named no such page.
    """
    return opaque_keys.decrypt(page) if page else None


def state_of(feed: Feed, before: int | None = None) -> FeedState:
    """Return the state of a feed, and of one of its pages, without loading its matches."""
    audiences = people.audiences(feed.owner)
    released = _released(feed, audiences)
    instants = ("shown_at", "stored_at", "refreshed_at")
    summary = released.aggregate(
        Max("sequence"), Count("pk"), **{name: Max(name) for name in instants}
    )
    changed = max((summary[name] for name in instants if summary[name] is not None), default=0)
    updated = min(changed or to_instant(feed.owner.date_joined), wall_clock())
    filters = Filter.objects.filter(owner=feed.owner)
    named = filters if feed.filter is None else filters.filter(pk=feed.filter.pk)
    parts = [
        *(settings.SITE_URL, feed.token, before),
        list(summary.values()),
        list(named.order_by("pk").values_list("pk", "name", "title")),
        list(Mute.objects.filter(owner=feed.owner).aggregate(Count("pk"), Max("pk")).values()),
        audiences,
        feed.owner.zone.key,
    ]
    digest = keyed_digest("feed", json.dumps(parts))
    is_settled = updated // SECOND * SECOND <= wall_clock() - SETTLED
    return FeedState(f'"{digest[:32]}"', updated // SECOND if is_settled else None, updated)


def document_of(feed: Feed, state: FeedState, before: int | None = None) -> tuple[bytes, int]:
    """Return an Atom document of a feed: its newest matches, as its owner may see them now.

    A match that cannot be written is set aside; return how many these are.  With ``before`` it is
    the page of the newest before a position of the release sequence.  A match keeps its position,
    so who follows the links gets each once, whatever comes meanwhile.
    """
    owner = feed.owner
    audiences = people.audiences(owner)
    shown = _shown(feed, audiences)
    if before is not None:
        shown = shown.filter(sequence__lt=before)
    sequences = list(shown.order_by("-sequence").values_list("sequence", flat=True)[: MOST + 1])
    last = sequences[:MOST][-1:]
    matches = shown.filter(sequence__gte=last[0]) if last else shown.none()
    entries = delivered(matches, audiences, owner.zone)
    url = links.absolute(feed.get_absolute_url())
    page = reverse("inbox") if feed.filter is None else feed.filter.get_absolute_url()
    excerpts = excerpts_of(entries)

    def written(matches: Matches, left_out: int) -> bytes:
        return atom_feed(
            map(_opaque, matches),
            feed_id=feed.uid.urn,
            title=title_of(feed),
            subtitle=left_out_words(left_out),
            feed_url=_page(url, before),
            next_url=_page(url, last[0]) if len(sequences) > MOST else "",
            excerpts=excerpts,
            page_url=links.absolute(page),
            updated=state.updated,
        )

    document, shown_matches = composed(entries, "feed", written)
    return document, len(entries) - len(shown_matches)


def _page(url: str, before: int | None) -> str:
    return url if before is None else f"{url}?before={opaque_keys.encrypt(before)}"


def _opaque(match: DeliveredMatch) -> DeliveredMatch:
    """Return a match whose filter has a number that does not tell how many filters there are."""
    digest = keyed_digest("feed-entry", str(match.filter_id))
    return replace(match, filter_id=int(digest[:15], 16))


@dataclass(frozen=True, slots=True)
class FeedRow:
    """What a page shows of a feed: the filter, None for all, and the feed if there is one.

    The template ``delivery/_feed.html`` shows it as ``row``.
    """

    filter: Filter | None
    feed: Feed | None

    @property
    def address(self) -> str:
        """The whole address of the feed; empty if there is none."""
        return links.absolute(self.feed.get_absolute_url()) if self.feed else ""

    @property
    def calendar(self) -> str:
        """The whole address of its due dates; empty if there is none."""
        path = reverse("feed-calendar", args=[self.feed.token]) if self.feed else ""
        return links.absolute(path) if path else ""

    @property
    def why_not(self) -> str:
        """Why the feed cannot be read for now; empty if it can."""
        return set_aside.reason_of(PERSON, key_of(self.feed)) if self.feed else ""


def key_of(feed: Feed) -> str:
    """Return under which key a feed is set aside."""
    return f"{feed.owner_id}/feed/{feed.pk}"


def rows_of(owner: User) -> list[FeedRow]:
    """Return the row of all filters, then that of each filter of an owner."""
    feeds = {feed.filter_id: feed for feed in Feed.objects.filter(owner=owner)}
    filters = Filter.objects.filter(owner=owner)
    rows = [FeedRow(filter_, feeds.get(filter_.pk)) for filter_ in filters]
    return [FeedRow(None, feeds.get(None)), *rows]


def title_of(feed: Feed) -> str:
    """Return the title of a feed: ``Tapestry: jones-replies``."""
    return f"Tapestry: {feed.filter.display_name if feed.filter else 'all filters'}"


def _released(feed: Feed, audiences: Collection[str]) -> MatchQuerySet:
    """Return the matches of a feed that were released, are in a list still, and are visible."""
    released = Match.objects.released_for(audiences)
    if feed.filter_id is not None:
        return released.filter(filter=feed.filter_id)
    return released.filter(filter__owner=feed.owner)


def _shown(feed: Feed, audiences: Collection[str]) -> QuerySet[Match]:
    """Return the matches of a feed without those of muted threads."""
    return _released(feed, audiences).unmuted(feed.owner)
