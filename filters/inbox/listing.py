"""What an inbox lists: a person's matches, as their audiences and timeliness let them be seen."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, F, Max, Q, QuerySet
from django.db.models.functions import Coalesce

from filters.accounts import people
from filters.inbox.explanation import sentences
from filters.models import Card, Filter, Match
from filters.store import shared_window
from tapestry.core.clock import wall_clock


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: the message, whether it is unread, which filters it is in, and why.

    ``retracted_at`` is the instant at which it left, in the list of what has.
    """

    card: Card
    unread: bool
    names: tuple[str, ...]
    explanation: str
    retracted_at: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One filter of the sidebar; ``left`` counts what was in it and is no more.

    ``refreshed_at`` is the last instant at which a line of its list was written, or written anew.
    """

    filter: Filter
    total: int
    unread: int
    left: int
    refreshed_at: int | None


@dataclass(frozen=True, slots=True)
class Sidebar:
    """A person's filters with their counts; ``mark`` changes whenever any of it does."""

    entries: tuple[Entry, ...]
    total: int
    unread: int
    mark: str


def visible(user: User, *, retracted: bool = False) -> QuerySet[Match]:
    """Return the matches that a user may see, and wants to by now; or those that left."""
    return Match.objects.filter(_seen_by(user, "", retracted=retracted))


def cards(user: User, filter_: Filter | None = None, *, retracted: bool = False) -> QuerySet[Card]:
    """Return the messages in a user's inbox, or of one filter, last matched first.

    ``retracted``: those that were there and have left, the last to leave first.
    """
    seen = _seen_by(user, "matches__", retracted=retracted)
    if filter_ is not None:
        seen &= Q(matches__filter=filter_)
    return (
        Card.objects.filter(seen)
        .annotate(moved_at=Max("matches__retracted_at" if retracted else "matches__matched_at"))
        .order_by("-moved_at", Coalesce("date", "ts").desc(), "-pk")
    )


def rows(
    user: User, page: Iterable[Card], filter_: Filter | None = None, *, retracted: bool = False
) -> list[Row]:
    """Return the lines of a list for one page of its cards.

    They name all filters that a message is in; of what has left ``filter_``, that alone counts.
    """
    cards = list(page)
    audiences = people.audiences(user)
    by_card: dict[int, list[Match]] = defaultdict(list)
    matches = visible(user, retracted=retracted).filter(card__in=cards).select_related("filter")
    if filter_ is not None and retracted:
        matches = matches.filter(filter=filter_)
    for match in matches.order_by("filter__name"):
        by_card[match.card_id or 0].append(match)
    return [_row(card, by_card[card.pk], audiences) for card in cards]


def sidebar(user: User) -> Sidebar:
    """Return a user's filters with their counts."""
    seen = _listed(user, "matches__", retracted=False)
    filters = (
        Filter.objects.filter(owner=user)
        .annotate(
            total=Count("matches", filter=seen),
            unread=Count("matches", filter=seen & Q(matches__read_at=None)),
            left=Count("matches", filter=_listed(user, "matches__", retracted=True)),
            refreshed_at=Max("matches__refreshed_at", filter=seen),
        )
        .order_by("name")
    )
    shared_window.show_position(filters)
    entries = tuple(
        Entry(filter_, filter_.total, filter_.unread, filter_.left, filter_.refreshed_at)
        for filter_ in filters
    )
    matches = visible(user)
    total = matches.values("card").distinct().count()
    unread = matches.filter(read_at=None).values("card").distinct().count()
    state = [
        (
            *(getattr(entry.filter, name) for name in ("pk", "name", "active", "error")),
            *(entry.total, entry.unread, entry.left, entry.refreshed_at),
        )
        for entry in entries
    ]
    mark = hashlib.sha256(repr((state, total, unread)).encode()).hexdigest()[:16]
    return Sidebar(entries, total, unread, mark)


def mark_read(user: User, msgid: str) -> bool:
    """Mark a message read in all of a user's filters; return whether it was new to them."""
    unread = Match.objects.filter(filter__owner=user, msgid=msgid, read_at=None)
    return unread.update(read_at=wall_clock()) > 0


def _seen_by(user: User, path: str, *, retracted: bool) -> Q:
    return Q(**{f"{path}filter__owner": user}) & _listed(user, path, retracted=retracted)


def _listed(user: User, path: str, *, retracted: bool) -> Q:
    # What is shown at once is, though the clock may have been set back since.
    at_once = Q(**{f"{path}shown_at__lte": F(f"{path}stored_at")})
    return Q(
        **{
            f"{path}card__isnull": False,
            f"{path}audience__in": people.audiences(user),
            f"{path}retracted_at__isnull": not retracted,
        }
    ) & (at_once | Q(**{f"{path}shown_at__lte": wall_clock()}))


def _row(card: Card, matches: Sequence[Match], audiences: Sequence[str]) -> Row:
    explanations = [
        sentence for match in matches for sentence in sentences(match.evidence_rows, audiences)
    ]
    return Row(
        card,
        any(match.read_at is None and match.retracted_at is None for match in matches),
        tuple(match.filter.name for match in matches),
        ", ".join(dict.fromkeys(explanations)),
        matches[0].retracted_at,
    )
