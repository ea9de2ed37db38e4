"""What an inbox lists: a person's matches, as their audiences and timeliness let them be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, TextField, Value, When

from filters.accounts import people
from filters.inbox.days import local_day, sql_day
from filters.inbox.sentences import sentences
from filters.models import Card, Filter, Match
from filters.runtime import services
from filters.runtime.opaque_keys import keyed_digest
from filters.store import shared_window
from filters.store.schedule import is_due, is_waiting, plan_held
from tapestry.core.clock import wall_clock
from tapestry.tables.read import same_message_id


@dataclass(frozen=True, slots=True)
class Block:
    """The messages of one import in a list that matched as they came, and how many they are."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list: the message, whether it is unread, which filters it is in, and why.

    ``text`` is that which found it in the filter of the list, in the words of its match.
    ``moved_at`` is the instant at which it matched, or left in the list of those that left;
    ``day`` is the reader's day then.  ``block`` is that of an import, None for other messages.
    ``shares_id``: another message that the reader may see has its Message-ID.
    """

    card: Card
    unread: bool
    names: tuple[str, ...]
    text: str
    explanation: str
    moved_at: int
    day: date
    block: Block | None
    shares_id: bool


@dataclass(frozen=True, slots=True)
class Sidebar:
    """A person's filters with their counts; ``mark`` changes whenever any of it does.

    Each filter has ``total``, ``unread`` and ``left`` (how many messages no longer match),
    ``waiting`` (how many are to be shown later, from ``waits_until`` on), and ``refreshed_at``: the
    last instant at which a line of its list was written.
    """

    filters: tuple[Filter, ...]
    total: int
    unread: int
    mark: str

    @property
    def searching(self) -> bool:
        """Tell whether any filter still has to look through existing mail."""
        return any(filter_.is_searching for filter_ in self.filters)


_MARKED = (
    *("pk", "name", "active", "error", "is_searching"),
    *("total", "unread", "left", "waiting", "waits_until", "refreshed_at"),
)
"""Fields of a filter in the sidebar that its mark covers."""


def visible(user: User, *, retracted: bool = False) -> QuerySet[Match]:
    """Return the matches that a user may see, and whose time to be shown has come."""
    return Match.objects.filter(_seen_by(user, "", retracted=retracted))


def cards(user: User, filter_: Filter | None = None, *, retracted: bool = False) -> QuerySet[Card]:
    """Return the messages in a user's inbox, or of a filter, by the day they matched.

    The newest day is first, and in a day the message that was received last; those that matched
    as they were imported come behind the others of the day, by ``block``.  ``retracted``:
    those that were there and have left, by the day they left.
    """
    seen = _seen_by(user, "matches__", retracted=retracted)
    if filter_ is not None:
        seen &= Q(matches__filter=filter_)
    return (
        Card.objects.filter(seen)
        .annotate(moved_at=Max("matches__retracted_at" if retracted else "matches__matched_at"))
        .annotate(day=sql_day("moved_at", people.time_zone(user)))
        .annotate(
            block=Case(When(moved_at=F("ts"), then=F("imported")), default=Value("", TextField()))
        )
        .order_by("-day", "block", "-received", "-moved_at", "-pk")
    )


def rows(
    user: User, page: Iterable[Card], filter_: Filter | None = None, *, retracted: bool = False
) -> list[Row]:
    """Return the lines of a list for one page of its cards.

    Those of the inbox are about all filters that found a message, those of ``filter_`` about
    that filter alone.
    """
    page_cards: list[Any] = list(page)
    audiences, zone = people.audiences(user), people.time_zone(user)
    by_card: dict[int, list[Match]] = defaultdict(list)
    matches = (
        visible(user, retracted=retracted).filter(card__in=page_cards).select_related("filter")
    )
    if filter_ is not None:
        matches = matches.filter(filter=filter_)
    for match in matches.order_by("filter__name"):
        by_card[match.card_id or 0].append(match)
    blocks: dict[tuple[int, str], Block] = {}
    for day, name in {(card.day, card.block) for card in page_cards if card.block}:
        same = cards(user, filter_, retracted=retracted).filter(Q(day=day, block=name))
        blocks[day, name] = Block(name, same.count())
    shared = same_message_id(services.tables(), [card.msgid for card in page_cards], audiences)
    return [
        _row(
            card,
            by_card[card.pk],
            audiences,
            zone,
            blocks.get((card.day, card.block)),
            shares_id=card.msgid in shared,
        )
        for card in page_cards
    ]


def sidebar(user: User) -> Sidebar:
    audiences, path = people.audiences(user), "matches__"
    kept, due, later = _kept(audiences, path), is_due(path), is_waiting(path)
    left = _kept(audiences, path, retracted=True)
    filters = (
        Filter.objects.filter(owner=user)
        .annotate(
            total=Count("matches", filter=kept & due),
            unread=Count("matches", filter=kept & due & Q(matches__read_at=None)),
            left=Count("matches", filter=left & due),
            waiting=Count("matches", filter=kept & later),
            waits_until=Min("matches__shown_at", filter=kept & later),
            refreshed_at=Max("matches__refreshed_at", filter=kept & due),
        )
        .order_by("name")
    )
    shared_window.show_position(filters)
    matches = Match.objects.filter(_kept(audiences, ""), is_due(""), filter__owner=user)
    total = matches.values("card").distinct().count()
    unread = matches.filter(read_at=None).values("card").distinct().count()
    state = [tuple(getattr(filter_, field) for field in _MARKED) for filter_ in filters]
    mark = keyed_digest("sidebar", repr((state, total, unread)))[:16]
    return Sidebar(tuple(filters), total, unread, mark)


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of a filter's list beside its lines.

    ``searching``: a run still has to look through existing mail, or what it found is not listed
    yet.  ``waiting`` counts what is to be shown later, ``until`` is when the first of it is, and
    ``at_once`` tells whether all of it is shown then.
    """

    searching: bool
    waiting: int
    until: int | None
    at_once: bool


def progress(user: User, filter_: Filter) -> Progress:
    """Return what is known of a filter of this user; its watermark is the one shown."""
    audiences = people.audiences(user)
    waiting = _kept(audiences, "") & is_waiting("")
    stored = Match.objects.filter(filter=filter_, audience__in=audiences, retracted_at=None)
    counts = stored.aggregate(
        unlisted=Count("pk", filter=Q(card=None)),
        waiting=Count("pk", filter=waiting),
        first=Min("shown_at", filter=waiting),
        last=Max("shown_at", filter=waiting),
    )
    searching = filter_.is_searching or counts["unlisted"] > 0
    first, last = counts["first"], counts["last"]
    return Progress(searching, counts["waiting"], first, at_once=first == last)


def show_now(filter_: Filter) -> int:
    """Show at once what a filter would show later; return how much that was."""
    now = wall_clock()
    waiting = Match.objects.filter(filter=filter_, retracted_at=None, shown_at__gt=now)
    return waiting.update(shown_at=now)


def mark_read(user: User, msgid: str) -> bool:
    """Mark a message read in all of a user's filters; return whether it was new to them."""
    unread = Match.objects.filter(filter__owner=user, msgid=msgid, read_at=None)
    with transaction.atomic():
        filter_ids = list(unread.values_list("filter_id", flat=True))
        unread.update(read_at=wall_clock())
        plan_held(filter_ids)
    return bool(filter_ids)


def mark_all_read(user: User, filter_: Filter | None = None) -> None:
    """Mark all that a user sees as read: of a filter, or of all their filters."""
    unread = visible(user).filter(read_at=None)
    filters = Filter.objects.filter(owner=user)
    if filter_ is not None:
        unread, filters = unread.filter(filter=filter_), filters.filter(pk=filter_.pk)
    with transaction.atomic():
        unread.update(read_at=wall_clock())
        plan_held(filters.filter(while_unread=True).values_list("pk", flat=True))


def _seen_by(user: User, path: str, *, retracted: bool) -> Q:
    kept = _kept(people.audiences(user), path, retracted=retracted)
    return Q(**{f"{path}filter__owner": user}) & kept & is_due(path)


def _kept(audiences: Sequence[str], path: str, *, retracted: bool = False) -> Q:
    """Return that a match is listed for these audiences as soon as its time has come."""
    return Q(
        **{
            f"{path}card__isnull": False,
            f"{path}audience__in": audiences,
            f"{path}retracted_at__isnull": not retracted,
        }
    )


def _row(
    card: Card,
    matches: Sequence[Match],
    audiences: Sequence[str],
    zone: ZoneInfo,
    block: Block | None,
    *,
    shares_id: bool,
) -> Row:
    evidence = [row for match in matches for row in match.evidence_rows]
    moved_at = max(
        match.matched_at if match.retracted_at is None else match.retracted_at for match in matches
    )
    return Row(
        card,
        any(match.read_at is None and match.retracted_at is None for match in matches),
        tuple(match.filter.name for match in matches),
        matches[0].explanation or matches[0].filter.display_text,
        "; ".join(sentences(evidence, audiences)),
        moved_at,
        local_day(moved_at, zone),
        block,
        shares_id,
    )
