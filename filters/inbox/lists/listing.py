"""What an inbox lists: a person's matches, as their audiences and timeliness let them be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import (
    Case,
    Count,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Greatest

from filters.authoring.models import Filter
from filters.inbox.lists.cards import cards_aside
from filters.inbox.lists.days import sql_day
from filters.inbox.models import (
    Card,
    Match,
    MessageState,
    by_code_point,
    is_seen_in,
    is_unfolded,
    is_visible_to,
    is_waiting,
    muted_roots,
    returned,
)
from filters.people import people
from filters.people.models import User
from filters.runs.store.schedule import plan_held
from filters.site.work.db.batching import KEYS, in_batches
from tapestry.core.clock import BEGINNING, wall_clock


def cards(
    user: User,
    filter_: Filter | None = None,
    *,
    retracted: bool = False,
    muted: bool = False,
) -> QuerySet[Card]:
    """Return the messages in a user's inbox, or of a filter, by the day they matched.

    The newest day is first, and in a day the message that was received last; those that matched
    as they were imported come behind the others of the day, by ``block``.  A message that was
    snoozed stands where it came back, and one that is pinned at the top of the inbox.
    ``retracted``: those that were there and have left, by the day they left.  ``muted``: those of
    muted threads, which are not in the inbox.
    """
    seen = is_visible_to(user, "matches__", retracted=retracted)
    is_inbox = filter_ is None and not muted and not retracted
    if filter_ is not None:
        seen &= Q(matches__filter=filter_)
    if is_inbox:
        seen &= is_unfolded("matches__")
    moved_at: Any = Max("matches__retracted_at" if retracted else "matches__matched_at")
    found = Card.objects.filter(seen)
    rank: Any = F("received")
    if not retracted:
        found = found.in_inbox(user) if is_inbox else found.listed(user)
        back: QuerySet[Any] = returned(user, inbox=is_inbox)
        if back.exists():
            at = back.filter(msgid=OuterRef("msgid")).values("stands_at")[:1]
            is_back = When(msgid__in=back.values("msgid"), then=Subquery(at))
            found = found.annotate(back_at=Case(is_back, default=Value(BEGINNING)))
            moved_at = Greatest(moved_at, F("back_at"))
            rank = Greatest(rank, F("back_at"))
    shown: QuerySet[Card] = _of_muted_threads(user, found) if muted else found
    return (
        shown.annotate(moved_at=moved_at)
        .annotate(day=sql_day("moved_at", user.zone))
        .annotate(block=_block())
        .annotate(rank=rank)
        .order_by("-day", by_code_point("block"), "-rank", "-moved_at", "-pk")
    )


def keys(user: User, filter_: Filter | None = None) -> QuerySet[Match, int]:
    """Return the primary keys of ``cards`` in their order, as if nothing had come back.

    This reads less of each card than ``cards``, of which all columns are grouped.
    """
    listed = Match.objects.in_list(user, filter_)
    ordered = _ordered(listed, user, Max("matched_at"), Max("card__received"))
    return ordered.values_list(F("card"), flat=True)


def places(user: User, filter_: Filter | None = None) -> QuerySet[Match, Any]:
    """Return the key, conversation, day and block of each of ``cards``, in their order."""
    back = returned(user, inbox=filter_ is None)
    ordered: Any = ordered_matches(Match.objects.in_list(user, filter_), user, back)
    named = ordered.annotate(conversation=Max(thread("card__")))
    found: QuerySet[Match, Any] = named.values_list("card", "conversation", "day", "block")
    return found


def ordered_matches(
    matches: QuerySet[Match], user: User, back: QuerySet[Any, Any]
) -> QuerySet[Any, Any]:
    """Return the keys of the cards of matches in the order of ``cards``, with what it is made of.

    ``back`` are states of messages that stand elsewhere, which are ``returned``.
    """
    moved_at: Any = F("matched_at")
    rank: Any = F("card__received")
    if back.exists():
        at = back.filter(msgid=OuterRef("msgid")).values("stands_at")[:1]
        is_back = When(msgid__in=back.values("msgid"), then=Subquery(at))
        back_at = Case(is_back, default=Value(BEGINNING))
        moved_at, rank = Greatest(moved_at, back_at), Greatest(rank, back_at)
    return _ordered(matches, user, Max(moved_at), Max(rank))


def thread(path: str = "") -> Case:
    """Return the name of the conversation of a card, by this path of relations: its root."""
    unknown = When(**{f"{path}root": ""}, then=F(f"{path}msgid"))
    return Case(unknown, default=F(f"{path}root"))


def _ordered(matches: QuerySet[Match], user: User, moved_at: Max, rank: Max) -> QuerySet[Any, Any]:
    return (
        matches.order_by()
        .values("card")
        .annotate(moved_at=moved_at, ts=Max("card__ts"), imported=Max("card__imported"), rank=rank)
        .annotate(day=sql_day("moved_at", user.zone))
        .annotate(block=_block())
        .order_by("-day", by_code_point("block"), "-rank", "-moved_at", "-card")
    )


def _block() -> Case:
    """Return the import of a card that matched as it came, an empty text for others."""
    return Case(When(moved_at=F("ts"), then=F("imported")), default=Value("", TextField()))


def _of_muted_threads(user: User, found: QuerySet[Card]) -> QuerySet[Card]:
    """Return those of the cards that are of muted threads, read by their roots while these are few.

    Planned as one statement, all of the inbox would be read for them.
    """
    of_threads = Card.objects.filter(root__in=muted_roots(user))
    keys = of_threads.values_list("pk", flat=True)[: KEYS + 1]
    if len(keys) > KEYS:
        return found.filter(root__in=muted_roots(user))
    return next(in_batches(found, keys), found.none())


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of a filter's list beside its lines.

    ``searching``: a run still has to look through existing mail, or what it found is not listed
    yet.  ``waiting`` counts what is to be shown later, ``until`` is when the first of it is, and
    ``at_once`` tells whether all of it is shown then.  ``kept_back`` counts what cannot be listed
    for an error of this site, and ``why_not`` says why.
    """

    searching: bool
    waiting: int
    until: int | None
    at_once: bool
    kept_back: int = 0
    why_not: str = ""


def progress(user: User, filter_: Filter) -> Progress:
    """Return what is known of a filter of this user; its watermark is the one shown."""
    audiences = people.audiences(user)
    waiting = is_seen_in(audiences) & is_waiting()
    stored = Match.objects.filter(filter=filter_, audience__in=audiences, retracted_at=None)
    counts = stored.aggregate(
        unlisted=Count("pk", filter=Q(card=None)),
        waiting=Count("pk", filter=waiting),
        first=Min("shown_at", filter=waiting),
        last=Max("shown_at", filter=waiting),
    )
    kept_back, why_not = cards_aside(stored) if counts["unlisted"] else (0, "")
    searching = filter_.is_searching or counts["unlisted"] > kept_back
    first, last = counts["first"], counts["last"]
    return Progress(searching, counts["waiting"], first, first == last, kept_back, why_not)


def show_now(filter_: Filter) -> int:
    """Show at once what a filter would show later; return how much that was."""
    now = wall_clock()
    unreleased = Match.objects.filter(filter=filter_, retracted_at=None, sequence=None)
    return unreleased.filter(shown_at__gt=now).update(shown_at=now)


def mark_read(user: User, msgid: str) -> bool:
    """Mark a message read in all of a user's filters; return whether it was new to them.

    One that is snoozed stays unread: it comes back so.
    """
    state = MessageState.objects.of_messages(user, [msgid]).get(msgid)
    if state is not None and (state.snoozed_until or BEGINNING) > wall_clock():
        return False
    unread = Match.objects.filter(filter__owner=user, msgid=msgid, read_at=None)
    with transaction.atomic():
        filter_ids = list(unread.values_list("filter_id", flat=True))
        unread.update(read_at=wall_clock())
        plan_held(filter_ids)
    return bool(filter_ids)
