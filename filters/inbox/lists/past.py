"""Lists as they were at an instant: what was listed then, each message in the state it had.

    present rows that were not changed since ─ one ordered statement ┐
    messages of which a row was changed since ─ put together here ───┴─ merged ─> a page

The record of changes is that of ``filters.inbox.models.past``.  What the reader may no longer see,
and what filters found that are deleted, is not there.  Law: a list as of an instant is the list
that was shown then.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from filters.authoring.models import Filter
from filters.inbox.lists.conversations import Order, kept
from filters.inbox.lists.days import local_day
from filters.inbox.lists.listing import ordered_matches
from filters.inbox.lists.past_lines import (
    Item,
    PastLine,
    is_hidden_then,
    item_of,
    merged,
    name_as_of,
    place_of,
    renamed_since,
    stands_at,
    width,
)
from filters.inbox.models import (
    TOP,
    Card,
    FormerMatch,
    FormerMute,
    FormerState,
    FormerUnfolding,
    Match,
    MessageState,
    Mute,
    is_unfolded,
    standing_elsewhere,
)
from filters.people import people
from filters.people.models import User
from filters.site.work.db.batching import batched, in_batches
from tapestry.core.clock import MINUTE, to_datetime, to_instant, wall_clock

WINDOWS = (1, 4, 16, 64, 256)
"""Days before the instant, its own the first, of which a page is tried to be made alone."""

MOST = 4_000
"""Messages before the end of a page from which on no such part is tried."""

SETTLED = 5 * MINUTE
"""How long ago an instant is before which nothing is still being stored."""

_EPOCH = date(1970, 1, 1)


class Past:
    """What a person's lists were as of an instant, inclusive."""

    def __init__(self, user: User, at: int) -> None:
        self.user, self.at = user, at
        self._audiences = people.audiences(user)
        self._since = {"owner": user, "until__gt": at}

    def page(
        self, begin: int, end: int, filter_: Filter | None = None, *, muted: bool = False
    ) -> list[PastLine]:
        """Return the lines from ``begin`` to ``end`` of the inbox, a filter's list, or the muted.

        As ``listing.cards`` has them: those of the last day first.
        """
        if end > MOST and self.at <= wall_clock() - SETTLED:
            return self._further(begin, end, filter_, muted=muted)
        changed = self._items(self._changed(), filter_, muted=muted)
        skipped = max(0, begin - len(changed))
        kept = self._unchanged(filter_, skipped, end, muted=muted)
        items = merged(kept, changed)[begin - skipped : end - skipped]
        return self._lines(items, filter_)

    def _further(
        self, begin: int, end: int, filter_: Filter | None, *, muted: bool
    ) -> list[PastLine]:
        """Return lines far down a list: its order is kept, for the past stays as it was.

        Until the person sees other mail, or changes a filter.
        """

        def make() -> Order:
            changed = self._items(self._changed(), filter_, muted=muted)
            kept_so = self._unchanged(filter_, 0, None, muted=muted)
            return Order(array("q", [item.card for item in merged(kept_so, changed)]))

        own = Filter.objects.filter(owner=self.user).aggregate(Count("pk"), Max("updated"))
        name = f"as of {self.at} {'muted' if muted else filter_ and filter_.pk}"
        mark = repr((own, self._audiences, self.user.time_zone))
        heads = list(kept(self.user, name, mark, make).heads[begin:end])
        msgids = Card.objects.filter(pk__in=heads).values_list("msgid", flat=True)
        items = {item.card: item for item in self._items(set(msgids), filter_, muted=muted)}
        return self._lines([items[key] for key in heads if key in items], filter_)

    def _matches(self) -> QuerySet[Match]:
        return Match.objects.filter(
            Q(listed_at=None) | Q(listed_at__lte=self.at),
            filter__owner=self.user,
            audience__in=self._audiences,
            card__isnull=False,
        )

    def _unchanged(
        self, filter_: Filter | None, begin: int, end: int | None, *, muted: bool
    ) -> list[Item]:
        """Return a part of the list, in order, of what is as it was then."""
        matches = self._matches().filter(
            retracted_at=None, stored_at__lte=self.at, shown_at__lte=self.at
        )
        if filter_ is not None:
            matches = matches.filter(filter=filter_)
        elif not muted:
            matches = matches.filter(is_unfolded(at=self.at))
        for former in (FormerMatch, FormerState):
            matches = matches.exclude(
                msgid__in=former.objects.filter(**self._since).values("msgid")
            )
        lifted = FormerMute.objects.filter(**self._since)
        matches = matches.exclude(card__root__in=lifted.values("root"))
        matches = matches.exclude(card__in=renamed_since(self.user, self.at).values("card"))
        states = MessageState.objects.filter(owner=self.user, changed_at__lte=self.at)
        is_hidden = Q(done_at__isnull=False) | Q(snoozed_until__gt=self.at)
        is_inbox = filter_ is None and not muted
        if is_inbox:
            is_hidden |= Q(skipped_at__isnull=False)
        hidden = states.filter(is_hidden, msgid=OuterRef("msgid"))
        matches = matches.exclude(Exists(hidden))
        mutes = Mute.objects.filter(owner=self.user, at__lte=self.at).values("root")
        if muted:
            matches = matches.filter(card__root__in=mutes)
        elif filter_ is None:
            matches = matches.exclude(card__root__in=mutes)
        back = standing_elsewhere(states, self.at, inbox=is_inbox)
        matches = self._newest(matches, back, MOST if end is None else end)
        ordered: Any = ordered_matches(matches, self.user, back)
        rows = ordered.values_list("day", "block", "rank", "moved_at", "card")[begin:end]
        return [item_of(*row) for row in rows]

    def _newest(
        self, matches: QuerySet[Match], back: QuerySet[MessageState, Any], count: int
    ) -> QuerySet[Match]:
        """Return matches of the last days before the instant, if they are so many messages."""
        zone = self.user.zone
        last = to_datetime(self.at).astimezone(zone).date()
        keys: set[int] = set()
        for days in WINDOWS if count < MOST else ():
            begin = datetime.combine(last - timedelta(days=days - 1), datetime.min.time(), zone)
            newest: Any = matches.filter(matched_at__gte=to_instant(begin)).order_by()
            keys = set(newest.values_list("card", flat=True).distinct()[:MOST])
            if len(keys) >= count:
                break
        seen = Card.objects.visible_to(self.user).filter(msgid__in=back.values("msgid"))
        came = set(seen.values_list("pk", flat=True)[:MOST])
        if not count <= len(keys) < MOST or len(keys | came) >= MOST:
            return matches
        [cards] = in_batches(Card.objects.order_by(), keys | came)
        return matches.filter(card__in=cards.values("pk"))

    def _changed(self) -> set[str]:
        """Return the messages of which any row was changed since."""
        msgids: set[str] = set()
        for former in (FormerMatch, FormerState):
            found = former.objects.filter(**self._since).values_list("msgid", flat=True)
            msgids.update(found.distinct())
        lifted = FormerMute.objects.filter(**self._since).values("root")
        seen = Card.objects.visible_to(self.user).filter(root__in=lifted)
        msgids.update(seen.values_list("msgid", flat=True))
        msgids.update(renamed_since(self.user, self.at).values_list("card__msgid", flat=True))
        return msgids

    def _items(self, msgids: Collection[str], filter_: Filter | None, *, muted: bool) -> list[Item]:
        """Return those of some messages that were in a list, in order."""
        items: list[Item] = []
        for batch in batched(sorted(msgids)):
            for card, matches in self._listed(batch, filter_).items():
                state = self._states[card.msgid]
                is_inbox = filter_ is None and not muted
                if is_inbox:
                    matches = [row for row in matches if not self._is_folded(row)]
                if not matches:
                    continue
                if is_hidden_then(state, self.at, inbox=is_inbox):
                    continue
                is_muted = card.root in self._muted
                if is_muted is not muted and (muted or filter_ is None):
                    continue
                moved_at = max(row.matched_at for row in matches)
                back = stands_at(state, self.at, inbox=is_inbox)
                rank = card.received if back is None else max(card.received, back)
                moved_at = moved_at if back is None else max(moved_at, back)
                block = card.imported if moved_at == card.ts else ""
                day = (local_day(moved_at, self.user.zone) - _EPOCH).days
                items.append(item_of(day, block, rank, moved_at, card.pk))
        return sorted(items, key=place_of)

    def _listed(
        self, msgids: Collection[str], filter_: Filter | None
    ) -> dict[Card, list[Match | FormerMatch]]:
        """Return the matches of messages as they were then, if they were listed, by their cards."""
        present = self._matches().filter(msgid__in=msgids).select_related("card", "filter")
        if filter_ is not None:
            present = present.filter(filter=filter_)
        rows = {row.pk: row for row in present.order_by("filter__name")}
        versions: dict[int, Any] = dict(rows)
        former = FormerMatch.objects.filter(**self._since, msgid__in=msgids)
        # Their present rows may have been listed anew since.
        others = Match.objects.filter(
            filter__owner=self.user, audience__in=self._audiences, card__isnull=False,
            pk__in=former.values("match"),
        )  # fmt: skip
        if filter_ is not None:
            others = others.filter(filter=filter_)
        rows |= {row.pk: row for row in others.select_related("card", "filter")}
        for row in former.order_by("-pk"):
            versions[row.match_id] = row
        listed: dict[Card, list[Match | FormerMatch]] = defaultdict(list)
        for key, match in rows.items():
            version = versions.get(key)
            if version is not None and self._is_listed(version) and match.card is not None:
                version.name = match.filter.display_name
                version.of = match.filter
                listed[match.card].append(version)
        self._states = self._states_of(msgids)
        name_as_of(self.at, listed)
        self._muted = self._muted_of({card.root for card in listed})
        return listed

    def _is_listed(self, row: Any) -> bool:
        had_card = isinstance(row, Match) or row.listed_at is not None
        was_listed = row.listed_at is None or row.listed_at <= self.at
        was_shown = row.stored_at <= self.at and row.shown_at <= self.at
        return had_card and was_listed and was_shown and row.retracted_at is None

    def _is_folded(self, row: Any) -> bool:
        """Tell whether a match was one line with others, as one of mail of before."""
        before, opened = row.of.folds_before, row.of.unfolded_at
        was_opened = row.of.pk in self._opened or (opened is not None and opened <= self.at)
        return before is not None and row.matched_at <= before and not was_opened

    @cached_property
    def _opened(self) -> set[int]:
        """The filters of which mail of before was shown then, and was folded since."""
        opened = FormerUnfolding.objects.filter(**self._since, at__lte=self.at)
        return set(opened.values_list("filter", flat=True))

    def _states_of(self, msgids: Collection[str]) -> dict[str, Any]:
        """Return what the person had done with messages, None where that was nothing."""
        own = MessageState.objects.filter(owner=self.user, msgid__in=msgids)
        states: dict[str, Any] = {row.msgid: row for row in own}
        former = FormerState.objects.filter(**self._since, msgid__in=msgids)
        states |= {row.msgid: row for row in former.order_by("-pk")}
        return {
            msgid: state if state is not None and state.changed_at <= self.at else None
            for msgid in msgids
            for state in [states.get(msgid)]
        }

    def _muted_of(self, roots: Collection[str]) -> set[str]:
        muted: set[str] = set()
        for model, mine in ((Mute, {"owner": self.user}), (FormerMute, self._since)):
            for batch in batched(sorted(roots)):
                was = model.objects.filter(**mine, at__lte=self.at, root__in=batch)
                muted.update(was.values_list("root", flat=True))
        return muted

    def _lines(self, items: Sequence[Item], filter_: Filter | None) -> list[PastLine]:
        cards = Card.objects.in_bulk([item.card for item in items])
        name_as_of(self.at, cards.values())
        listed = self._listed({card.msgid for card in cards.values()}, filter_)
        return [
            self._line(cards[item.card], item.place[3] * -1, listed.get(cards[item.card], []))
            for item in items
            if item.card in cards
        ]

    def _line(self, card: Card, moved_at: int, matches: Iterable[Any]) -> PastLine:
        state = self._states.get(card.msgid)
        found = list(matches)
        return PastLine(
            card,
            moved_at % TOP,
            None if moved_at >= TOP else local_day(moved_at, self.user.zone),
            any(row.read_at is None or row.read_at > self.at for row in found),
            state is not None and state.starred_at is not None,
            card.root in self._muted,
            tuple(row.name for row in found),
            is_at_top=moved_at >= TOP,
        )

    def shelf(self, field: str, begin: int, end: int) -> list[PastLine]:
        """Return the lines of a shelf: what was starred, done or snoozed, in its order."""
        later = {"snoozed_until__gt": self.at} if field == "snoozed_until" else {}
        there = {f"{field}__isnull": False, "changed_at__lte": self.at, **later}
        former = FormerState.objects.filter(**self._since)
        visible = Card.objects.visible_to(self.user).filter(made_at__lte=self.at)
        kept = MessageState.objects.filter(
            Exists(visible.filter(msgid=OuterRef("msgid"))), owner=self.user, **there
        ).exclude(msgid__in=former.values("msgid"))
        rows: list[tuple[tuple[int, int], str, str]] = []
        sign = 1 if field == "snoozed_until" else -1
        changed = sorted(set(former.values_list("msgid", flat=True)))
        for batch in batched(changed):
            seen = set(visible.filter(msgid__in=batch).values_list("msgid", flat=True))
            for msgid, state in self._states_of(batch).items():
                value: Any = None if state is None else getattr(state, field)
                is_there = value is not None and (not later or value > self.at)
                if is_there and msgid in seen:
                    key = state.key if isinstance(state, FormerState) else state.pk
                    rows.append(((sign * value, sign * key), msgid, state.audience))
        skipped = max(0, begin - len(rows))
        order = (field, "pk") if sign > 0 else (f"-{field}", "-pk")
        columns = (field, "pk", "msgid", "audience")
        for value, key, msgid, audience in kept.order_by(*order).values_list(*columns)[skipped:end]:
            rows.append(((sign * value, sign * key), msgid, audience))
        page = sorted(rows)[begin - skipped : end - skipped]
        return self._shelved([(sign * place[0], *copy) for place, *copy in page])

    def _shelved(self, page: Sequence[Any]) -> list[PastLine]:
        msgids = {msgid for _, msgid, _ in page}
        copies: dict[str, list[Card]] = defaultdict(list)
        made = Card.objects.visible_to(self.user).filter(made_at__lte=self.at)
        for card in made.filter(msgid__in=msgids):
            insort(copies[card.msgid], card, key=width)
        name_as_of(self.at, [card for same in copies.values() for card in same])
        listed = self._listed(msgids, None)
        lines = []
        for value, msgid, audience in page:
            same = [card for card in copies[msgid] if card.audience == audience]
            card = (same or copies[msgid])[0]
            self._muted |= self._muted_of({card.root})
            lines.append(self._line(card, value, listed.get(card, [])))
        return lines
