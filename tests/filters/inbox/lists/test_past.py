"""Law: a list as of an instant is the list that was shown then, whatever has happened since."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from filters.authoring.models import Filter
from filters.inbox.lists import listing, past
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.lists.past import Past
from filters.inbox.lists.past_lines import PastLine
from filters.inbox.lists.rows import page_rows, rows_of
from filters.inbox.models import Card, FormerMatch, FormerMute, FormerState, Match, fold
from filters.inbox.past_views import _instant
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.lists import SHELVES, cards_of, states_of
from filters.people.models import User
from filters.runs.store.filter_store import DjangoFilterStore
from tapestry.core.clock import DAY, HOUR, MINUTE, SECOND, to_datetime, wall_clock
from tapestry.core.ports import Change
from tapestry.core.ports import Match as Found
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import letters
from tests.support.set_clock import SetClock

MSGIDS = ("a", "b", "c")

START = 1_790_000_000 * SECOND

KINDS = ("keep", "live", "late", "acting", "skipping")
"""Filters: one keeps, one is live, one shows what it finds at eight, two act, one of them live."""

ACTS = tuple(ACTIONS)

Line = tuple[str, bool, bool]
"""A message, whether it is unread, and whether it is starred."""


class Desk:
    """A person's filters and lists, what happens to them, and what was seen of them."""

    def __init__(self, user: User, tables: Tables, clock: SetClock) -> None:
        self.user, self.tables, self.clock = user, tables, clock
        letters(tables, *MSGIDS[:2], root="thread")
        letters(tables, *MSGIDS[2:])
        self.filters = [self._filter(kind) for kind in KINDS]
        self.present: set[tuple[int, str]] = set()
        self.steps: list[Any] = []
        self.seen: list[tuple[int, dict[str, list[Line]]]] = []
        self._commit([], [])

    def _filter(self, kind: str) -> Filter:
        return Filter.objects.create(
            owner=self.user, name=kind, text="…", tql="…", start=self.clock.now,
            since=self.clock.now,
            mode="live" if kind in ("live", "acting") else "keep",
            timeliness="daily at 08:00" if kind == "late" else "",
            acts={"acting": "star read done", "skipping": "skip", "live": "top"}.get(kind, ""),
        )  # fmt: skip

    def _commit(self, matches: list[Found], changes: list[Change]) -> None:
        until = self.clock.now
        due = DjangoFilterStore().due(until)
        assert DjangoFilterStore().commit(due, until, matches, changes)

    def turn(self, number: int, msgid: str) -> None:
        """A filter finds a message; a live one lets it go if it has it."""
        filter_, pair, at = self.filters[number], (number, msgid), self.clock.now
        is_there = pair in self.present
        if filter_.is_live:
            op = "delete" if is_there else "insert"
            self._commit([], [Change(filter_.pk, msgid, op, at, "public", 0, (msgid,))])
            self.present ^= {pair}
        elif not is_there:
            self._commit([Found(filter_.pk, msgid, "public", at, 0, (msgid,))], [])
            self.present.add(pair)

    def act(self, action: str, msgid: str, until: int) -> None:
        card = Card.objects.filter(msgid=msgid).first()
        target = steps.Target(msgid, "public", card.root if card else msgid)
        if Match.objects.filter(filter__owner=self.user, msgid=msgid, card__isnull=False).exists():
            self.steps.append(steps.act(self.user, ACTIONS[action], [target], until))

    def undo(self) -> None:
        if self.steps:
            steps.undo(self.user, self.steps.pop().pk)

    def unfold(self) -> None:
        """Open what a filter found in mail of before, in the inbox."""
        self._with_lines().filter(unfolded_at=None).update(unfolded_at=self.clock.now)

    def fold(self) -> None:
        """Make it one line again."""
        fold(self._with_lines())

    def _with_lines(self) -> QuerySet[Filter]:
        return Filter.objects.filter(pk__in=[filter_.pk for filter_ in self.filters[:2]])

    def join(self) -> None:
        """The message that two answer comes late, and answers another one."""
        if not Card.objects.filter(root="top").exists():
            letters(self.tables, "thread", root="top")

    def look(self) -> None:
        """Keep what all lists show now."""
        self.seen.append((self.clock.now, {name: self._shown(name) for name in self.names()}))

    def names(self) -> list[str]:
        return ["", *KINDS, *SHELVES]

    def _shown(self, name: str) -> list[Line]:
        shelf = SHELVES.get(name)
        if shelf is not None and shelf.field:
            rows = rows_of(self.user, cards_of(list(states_of(self.user, shelf))))
        else:
            filter_ = dict(zip(KINDS, self.filters, strict=True)).get(name)
            cards = listing.cards(self.user, filter_, muted=shelf is not None)
            page: Any = Paginator(cards, 50).get_page(1)
            rows = page_rows(self.user, page, filter_)
        return [(row.card.msgid, row.unread, row.is_starred) for row in rows]

    def as_of(self, at: int, name: str, begin: int, end: int) -> list[Line]:
        then, shelf = Past(self.user, at), SHELVES.get(name)
        lines: list[PastLine]
        if shelf is not None and shelf.field:
            lines = then.shelf(shelf.field, begin, end)
        else:
            filter_ = dict(zip(KINDS, self.filters, strict=True)).get(name)
            lines = then.page(begin, end, filter_, muted=shelf is not None)
        return [(line.card.msgid, line.is_unread, line.is_starred) for line in lines]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return SetClock(START, monkeypatch)


def played(desk: Desk, lots: Random, size: int) -> None:
    """Have so much happen, and look at all lists now and then."""
    for _ in range(size):
        desk.clock.now += lots.choice((MINUTE, 5 * MINUTE, HOUR, 9 * HOUR))
        what, msgid = lots.random(), lots.choice(MSGIDS)
        if what < 0.3:
            desk.turn(lots.randrange(len(KINDS)), msgid)
        elif what < 0.4:
            desk.undo()
        elif what < 0.45:
            lots.choice((desk.unfold, desk.fold))()
        elif what < 0.48:
            desk.join()
        else:
            until = desk.clock.now + lots.choice((MINUTE, HOUR, DAY))
            desk.act(lots.choice(ACTS), msgid, until)
        if lots.random() < 0.8:
            refresh_cards(desk.tables)
        if lots.random() < 0.4:
            desk.clock.now += 1
            desk.look()


@settings(
    max_examples=2,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32), size=st.integers(25, 35))
def test_a_list_as_of_an_instant_is_what_was_shown_then(
    carol: User,
    tables: Tables,
    clock: SetClock,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    size: int,
) -> None:
    clock.now = START
    Filter.objects.filter(owner=carol).delete()
    for model in (FormerState, FormerMatch, FormerMute):
        model.objects.all().delete()
    Card.objects.all().delete()
    carol.mutes.all().delete()
    carol.message_states.all().delete()
    carol.triage_steps.all().delete()
    desk = Desk(carol, tables, clock)
    Filter.objects.filter(name__in=KINDS[:2]).update(folds_before=START + DAY)
    played(desk, Random(seed), size)
    clock.now += HOUR
    lots = Random(seed)
    for at, lists in desk.seen:
        for name in lots.sample(sorted(lists), 3):
            shown, begin = lists[name], lots.randrange(3)
            monkeypatch.setattr(past, "MOST", lots.choice((0, 4000)))  # far down, or not
            assert desk.as_of(at, name, 0, 50) == shown, (name, at, seed, size)
            assert desk.as_of(at, name, begin, begin + 1) == shown[begin : begin + 1], (name, at)


class TestPage:
    def test_it_shows_a_list_as_it_was_in_the_time_of_the_person(
        self, bob: User, tables: Tables, clock: SetClock, as_user: Callable[[User], Client]
    ) -> None:
        User.objects.filter(pk=bob.pk).update(date_joined=to_datetime(clock.now - DAY))
        desk = Desk(User.objects.get(pk=bob.pk), tables, clock)
        desk.turn(0, "c")
        refresh_cards(tables)
        clock.now += DAY
        desk.act("done", "c", 0)
        client = as_user(bob)
        before = to_datetime(clock.now - HOUR).astimezone(bob.zone).isoformat()[:19]
        for name in ("", "in/keep"):
            page = client.get("/as-of/", {"list": name, "at": before})
            assert [line.card.msgid for line in page.context["lines"]] == ["c"]
            assert b"Unread then" in page.content and b"This is the past" in page.content
            assert b"<button" not in page.content.partition(b"past-lines")[2].partition(b"</ul>")[0]
        assert client.get("/as-of/", {"list": "done", "at": before}).context["lines"] == []
        after = to_datetime(clock.now).astimezone(bob.zone).isoformat()[:19]
        clock.now += HOUR
        done = client.get("/as-of/", {"list": "done", "at": f"{after}.999"})
        assert [line.card.msgid for line in done.context["lines"]] == ["c"]
        for address in ("/", "/in/keep/", "/starred/"):
            assert b'action="/as-of/"' in client.get(address).content

    def test_what_cannot_be_shown_says_why(
        self, bob: User, carol: User, tables: Tables, as_user: Callable[[User], Client]
    ) -> None:
        Filter.objects.create(owner=carol, name="hers", text="…", tql="…")
        client, joined = as_user(bob), to_datetime(wall_clock()) - timedelta(days=3)
        User.objects.filter(pk=bob.pk).update(date_joined=joined)
        now = to_datetime(wall_clock()).isoformat()[:16]
        for query, sentence in (
            ({"at": "yesterday"}, "Say as of when."),
            ({"at": "9999-12-31T23:59"}, "That time is still to come."),
            ({"at": now, "list": "in/hers"}, "There is no such list."),
            ({"at": now, "list": "hidden"}, "There is no such list."),
            ({"at": joined.isoformat()[:10] + "T23:59", "page": "0"}, "There is no such page."),
        ):
            page = client.get("/as-of/", query)
            assert (page.status_code, sentence in page.content.decode()) == (400, True), query
        assert client.get("/as-of/").status_code == 200
        page = client.get("/as-of/", {"at": "2001-01-01T00:00"})
        assert b"The record of your lists begins with your account" in page.content

    def test_clocks_that_are_changed_give_one_answer(self, bob: User) -> None:
        gap, fold = _instant(bob, "2026-03-29T02:30"), _instant(bob, "2025-10-26T02:30")
        assert to_datetime(gap).isoformat() == "2026-03-29T01:30:00+00:00"
        assert to_datetime(fold).isoformat() == "2025-10-26T00:30:00+00:00"

    def test_its_cost_follows_the_page(
        self,
        bob: User,
        tables: Tables,
        clock: SetClock,
        as_user: Callable[[User], Client],
        django_assert_max_num_queries: Any,
    ) -> None:
        User.objects.filter(pk=bob.pk).update(date_joined=to_datetime(clock.now - DAY))
        desk = Desk(bob, tables, clock)
        msgids = [f"m{number}" for number in range(120)]
        letters(tables, *msgids)
        at = clock.now
        desk._commit([Found(desk.filters[0].pk, m, "public", at, 0, (m,)) for m in msgids], [])
        refresh_cards(tables)
        clock.now += HOUR
        client = as_user(bob)
        when = to_datetime(clock.now - MINUTE).astimezone(bob.zone).isoformat()[:19]
        shown: list[str] = []
        for number in ("1", "2", "3"):
            with django_assert_max_num_queries(36):
                page = client.get("/as-of/", {"at": when, "page": number})
            shown += [line.card.msgid for line in page.context["lines"]]
        assert sorted(shown) == sorted(msgids)
        assert 'rel="next"' not in page.content.decode()
