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
from filters.inbox import explanation
from filters.models import Card, Filter, Match
from filters.store import shared_window
from tapestry.core.clock import wall_clock


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: the message, whether it is unread, and why it is here.

    ``retracted_at`` is the instant at which it left, in the list of what has.
    """

    card: Card
    unread: bool
    names: tuple[str, ...]
    why: str
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


def visible(user: User, *, gone: bool = False) -> QuerySet[Match]:
    """Return the matches that a user may see, and wants to by now; or those that left."""
    return Match.objects.filter(_seen_by(user, "", gone=gone))


def cards(user: User, one: Filter | None = None, *, gone: bool = False) -> QuerySet[Card]:
    """Return the messages in a user's inbox, or of one filter, last matched first.

    ``gone``: those that were there and have left, the last to leave first.
    """
    seen = _seen_by(user, "matches__", gone=gone)
    if one is not None:
        seen &= Q(matches__filter=one)
    return (
        Card.objects.filter(seen)
        .annotate(moved_at=Max("matches__retracted_at" if gone else "matches__matched_at"))
        .order_by("-moved_at", Coalesce("date", "ts").desc(), "-pk")
    )


def rows(
    user: User, page: Iterable[Card], one: Filter | None = None, *, gone: bool = False
) -> list[Row]:
    """Return the lines of a list for one page of its cards.

    They name all filters that a message is in; of what has left ``one``, that alone counts.
    """
    shown = list(page)
    audiences = people.audiences(user)
    found: dict[int, list[Match]] = defaultdict(list)
    matches = visible(user, gone=gone).filter(card__in=shown).select_related("filter")
    if one is not None and gone:
        matches = matches.filter(filter=one)
    for match in matches.order_by("filter__name"):
        found[match.card_id or 0].append(match)
    return [_row(card, found[card.pk], audiences) for card in shown]


def sidebar(user: User) -> Sidebar:
    """Return a user's filters with their counts."""
    seen = _listed(user, "matches__", gone=False)
    mine = Filter.objects.filter(owner=user).annotate(
        total=Count("matches", filter=seen),
        unread=Count("matches", filter=seen & Q(matches__read_at=None)),
        left=Count("matches", filter=_listed(user, "matches__", gone=True)),
        refreshed_at=Max("matches__refreshed_at", filter=seen),
    )
    mine = mine.order_by("name")
    shared_window.show_position(mine)
    entries = tuple(
        Entry(each, each.total, each.unread, each.left, each.refreshed_at) for each in mine
    )
    matches = visible(user)
    total = matches.values("card").distinct().count()
    unread = matches.filter(read_at=None).values("card").distinct().count()
    state = [
        (
            one.pk,
            one.name,
            one.active,
            one.error,
            each.total,
            each.unread,
            each.left,
            each.refreshed_at,
        )
        for each in entries
        for one in [each.filter]
    ]
    mark = hashlib.sha256(repr((state, total, unread)).encode()).hexdigest()[:16]
    return Sidebar(entries, total, unread, mark)


def mark_read(user: User, msgid: str) -> bool:
    """Mark a message read in all of a user's filters; return whether it was new to them."""
    unread = Match.objects.filter(filter__owner=user, msgid=msgid, read_at=None)
    return unread.update(read_at=wall_clock()) > 0


def _seen_by(user: User, path: str, *, gone: bool) -> Q:
    return Q(**{f"{path}filter__owner": user}) & _listed(user, path, gone=gone)


def _listed(user: User, path: str, *, gone: bool) -> Q:
    # What is shown at once is, though the clock may have been set back since.
    at_once = Q(**{f"{path}shown_at__lte": F(f"{path}stored_at")})
    return Q(
        **{
            f"{path}card__isnull": False,
            f"{path}audience__in": people.audiences(user),
            f"{path}retracted_at__isnull": not gone,
        }
    ) & (at_once | Q(**{f"{path}shown_at__lte": wall_clock()}))


def _row(card: Card, matches: Sequence[Match], audiences: Sequence[str]) -> Row:
    reasons = [
        word for match in matches for word in explanation.visible(match.evidence_rows, audiences)
    ]
    return Row(
        card,
        any(match.read_at is None and match.retracted_at is None for match in matches),
        tuple(match.filter.name for match in matches),
        ", ".join(dict.fromkeys(reasons)),
        matches[0].retracted_at,
    )
