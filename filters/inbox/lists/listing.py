"""What an inbox lists: a person's matches, as their audiences and timeliness let them be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from django.core.paginator import Page
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
from filters.inbox.lists.days import local_day, sql_day
from filters.inbox.lists.sentences import sentences
from filters.inbox.models import (
    Card,
    Match,
    MessageState,
    is_seen_in,
    is_visible_to,
    is_waiting,
    muted_roots,
    returned,
)
from filters.people import people
from filters.people.models import User
from filters.people.names.source_names import import_words
from filters.runs.store.schedule import plan_held
from filters.site.work import services
from filters.site.work.batching import KEYS, in_batches
from tapestry.core.clock import BEGINNING, wall_clock
from tapestry.tables.read.messages import same_message_id


@dataclass(frozen=True, slots=True)
class Block:
    """The messages of one import in a list that matched as they came, and how many they are.

    ``words`` say which import it is, as far as its reader may know.
    """

    name: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list: the message, whether it is unread, which filters it is in, and why.

    ``text`` is that which found it in the filter of the list, in the words of its match.
    ``moved_at`` is the instant at which it matched, or left in the list of those that left;
    ``day`` is the reader's day then.  ``block`` is that of an import, None for other messages.
    ``shares_id``: another message that the reader may see has its Message-ID.  ``returned_at``:
    when it came back, if it was snoozed.
    """

    card: Card
    unread: bool
    names: tuple[str, ...]
    text: str
    explanation: str
    moved_at: int
    day: date | None
    block: Block | None
    shares_id: bool
    is_starred: bool
    is_muted: bool
    returned_at: int | None


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
    snoozed stands where it came back.  ``retracted``: those that were there and have left, by the
    day they left.  ``muted``: those of muted threads, which are not in the inbox.
    """
    seen = is_visible_to(user, "matches__", retracted=retracted)
    if filter_ is not None:
        seen &= Q(matches__filter=filter_)
    moved_at: Any = Max("matches__retracted_at" if retracted else "matches__matched_at")
    found = Card.objects.filter(seen)
    rank: Any = F("received")
    if not retracted:
        found = found.listed(user)
        back = returned(user)
        if back.exists():
            at = back.filter(msgid=OuterRef("msgid")).values("snoozed_until")[:1]
            is_back = When(msgid__in=back.values("msgid"), then=Subquery(at))
            found = found.annotate(back_at=Case(is_back, default=Value(BEGINNING)))
            moved_at = Greatest(moved_at, F("back_at"))
            rank = Greatest(rank, F("back_at"))
    shown: QuerySet[Card] = found
    if muted:
        shown = _of_muted_threads(user, found)
    elif filter_ is None:
        shown = found.unmuted(user)
    return (
        shown.annotate(moved_at=moved_at)
        .annotate(day=sql_day("moved_at", user.zone))
        .annotate(block=_block())
        .annotate(rank=rank)
        .order_by("-day", "block", "-rank", "-moved_at", "-pk")
    )


def keys(user: User, filter_: Filter | None = None) -> QuerySet[Match, int]:
    """Return the primary keys of ``cards`` in their order, as if nothing had come back.

    This reads less of each card than ``cards``, of which all columns are grouped.
    """
    return (
        Match.objects.in_list(user, filter_)
        .order_by()
        .values("card")
        .annotate(
            moved_at=Max("matched_at"),
            ts=Max("card__ts"),
            imported=Max("card__imported"),
            rank=Max("card__received"),
        )
        .annotate(day=sql_day("moved_at", user.zone))
        .annotate(block=_block())
        .order_by("-day", "block", "-rank", "-moved_at", "-card")
        .values_list(F("card"), flat=True)
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


def rows(
    user: User, page: Page[Card], filter_: Filter | None = None, *, retracted: bool = False
) -> list[Row]:
    """Return the lines of a list for one page of its cards.

    Those of the inbox are about all filters that found a message, those of ``filter_`` about
    that filter alone.
    """
    page_cards: list[Any] = list(page)
    named = {(card.day, card.block) for card in page_cards if card.block}
    blocks = _blocks(user, page.paginator.object_list, sorted(named))
    lines = rows_of(user, page_cards, filter_, retracted=retracted)
    return [
        replace(line, block=blocks.get((card.day, card.block)))
        for card, line in zip(page_cards, lines, strict=True)
    ]


def _blocks(
    user: User, found: Any, named: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], Block]:
    """Return the blocks of a list that a page shows, by day and name, counted in one query."""
    if not named:
        return {}
    counts = found.order_by().aggregate(
        **{
            f"block_{number}": Count("pk", filter=Q(day=day, block=name))
            for number, (day, name) in enumerate(named)
        }
    )
    return {
        (day, name): Block(name, import_words(user, name), counts[f"block_{number}"])
        for number, (day, name) in enumerate(named)
    }


def rows_of(
    user: User,
    page: Sequence[Card],
    filter_: Filter | None = None,
    *,
    retracted: bool = False,
    moved_at: Mapping[str, int] | None = None,
) -> list[Row]:
    """Return the lines of some cards, which are in no block.

    ``moved_at`` is when each, by msgid, came into the list; without it, when it matched, came
    back, or left.
    """
    audiences, zone = people.audiences(user), user.zone
    by_card: dict[int, list[Match]] = defaultdict(list)
    visible = Match.objects.visible_to(user, retracted=retracted)
    matches = visible.filter(card__in=page).select_related("filter")
    if filter_ is not None:
        matches = matches.filter(filter=filter_)
    for match in matches.order_by("filter__name"):
        by_card[match.card_id or 0].append(match)
    msgids = [card.msgid for card in page]
    shared = same_message_id(services.tables(), msgids, audiences)
    known, now = MessageState.objects.of_messages(user, msgids), wall_clock()
    roots = muted_roots(user).filter(root__in={card.root for card in page})
    muted = set(roots.values_list("root", flat=True))
    return [
        _row(
            card,
            by_card[card.pk],
            audiences,
            zone,
            known.get(card.msgid),
            None if moved_at is None else moved_at[card.msgid],
            now,
            shares_id=card.msgid in shared,
            is_muted=card.root in muted,
        )
        for card in page
    ]


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


def _row(
    card: Card,
    matches: Sequence[Match],
    audiences: Sequence[str],
    zone: ZoneInfo,
    state: MessageState | None,
    moved_at: int | None,
    now: int,
    *,
    shares_id: bool,
    is_muted: bool,
) -> Row:
    evidence = [row for match in matches for row in match.evidence_rows]
    until = None if state is None or state.done_at is not None else state.snoozed_until
    returned_at = until if until is not None and until <= now else None
    if moved_at is None:
        instants = [
            match.matched_at if match.retracted_at is None else match.retracted_at
            for match in matches
        ]
        if returned_at is not None:
            instants.append(returned_at)
        moved_at = max(instants, default=card.ts)  # its matches left since the page was read
    first = matches[0] if matches else None
    return Row(
        card,
        any(match.read_at is None and match.retracted_at is None for match in matches),
        tuple(match.filter.display_name for match in matches),
        "" if first is None else first.explanation or first.filter.display_text,
        "; ".join(sentences(evidence, audiences)),
        moved_at,
        local_day(moved_at, zone),
        None,
        shares_id,
        is_starred=state is not None and state.starred_at is not None,
        is_muted=is_muted,
        returned_at=returned_at,
    )
