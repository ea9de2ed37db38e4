"""Scores and the order they make: as the rules say, at every moment, and of nobody else's mail."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox import counts, importance
from filters.inbox.appraisal import upkeep
from filters.inbox.appraisal.order import is_ready
from filters.inbox.appraisal.rules import Kind, compile_rule, rules_of
from filters.inbox.appraisal.scores import age_score, age_spans, next_turn
from filters.inbox.lists import conversations, listing
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.models import Appraisal, Appraiser, AppraiserRule, Card, Match
from filters.people.models import User
from filters.runs import rounds
from tapestry.core.clock import BEGINNING, DAY, NEVER, WEEK, wall_clock
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.tables.delta.log import Tables
from tests.support.engines import nested_loops
from tests.support.faults.set_asides import Planted
from tests.support.lists.live_filters import arrive, vote

SignIn = Callable[[User], Client]

NOW = 1_790_000_000_000_000

RULES = ((5, "from p1"), (-2, "about odd"), (3, "newer than one week"), (-3, "four weeks old"))


def rule(owner: User, weight: int, text: str) -> None:
    AppraiserRule.objects.create(owner=owner, weight=weight, text=text)
    upkeep.rules_changed(owner)


def many(owner: User, number: int = 120) -> list[Filter]:
    """Give somebody a filter of all messages, one of some, and ties in every respect."""
    dice = random.Random(7)
    filters = [Filter.objects.create(owner=owner, name=name, text="about x") for name in "ab"]
    cards = [
        Card(
            msgid=f"{at}@x",
            audience="public",
            ts=NOW,
            received=NOW - dice.choice((1, 7, 10, 28, 40)) * DAY + dice.randrange(-1, 2),
            sender=f"p{dice.randrange(3)}@x.org",
            subject=("odd", "even")[at % 2],
        )
        for at in range(number)
    ]
    Card.objects.bulk_create(cards)
    at = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), NOW)
    Match.objects.bulk_create(
        Match(
            filter=filter_,
            msgid=card.msgid,
            audience="public",
            card=card,
            read_at=None if dice.random() < 0.2 else NOW,
            retracted_at=NOW if dice.random() < 0.1 else None,
            **at,
        )
        for card in cards
        for filter_ in filters
        if filter_.name == "a" or dice.random() < 0.3
    )
    return filters


def judged(user: User, filter_: Filter | None, unread: int, votes: dict[str, int]) -> list[int]:
    """Return the order by its definition."""
    matches = Match.objects.visible_to(user)
    if filter_ is not None:
        matches = matches.filter(filter=filter_)
    new = set(matches.filter(read_at=None).values_list("card", flat=True))

    def place(card: Any) -> tuple[int, int, int]:
        total = unread * (card.pk in new) + votes.get(card.msgid, 0)
        total += 5 * card.sender.startswith("p1@")
        total -= 2 * (card.subject == "odd")
        total += 3 * (card.received > NOW - WEEK) - 3 * (card.received < NOW - 4 * WEEK)
        return -total, -card.received, -card.pk

    return [card.pk for card in sorted(listing.cards(user, filter_), key=place)]


def test_rules_that_come_back_while_they_are_taken_away_keep_their_scores(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(alice, 5)
    rule(alice, 1, "from p1")
    upkeep.appraise(tables)
    AppraiserRule.objects.all().delete()
    stale = Appraiser.objects.get()
    upkeep.rules_changed(alice)
    monkeypatch.setattr(upkeep.Appraiser.objects, "select_related", lambda _: _Rows([stale]))
    upkeep.appraise(tables)
    rule(alice, 1, "from p1")
    monkeypatch.undo()
    upkeep.appraise(tables)
    assert is_ready(alice) and Appraisal.objects.count() == 5


class _Rows(list[Appraiser]):
    def order_by(self, _: str) -> _Rows:
        return self


@pytest.mark.parametrize("unread", [0, 4, -4])
def test_the_order_is_that_of_its_definition(tables: Tables, alice: User, unread: int) -> None:
    filters = many(alice)
    for weight, text in (*RULES, (unread, "unread"), (1, "per vote")):
        rule(alice, weight, text)
    assert not is_ready(alice)
    vote(tables, "bob", "nothing")
    upkeep.appraise(tables)
    assert is_ready(alice)
    Appraisal.objects.filter(card__msgid__in=("3@x", "4@x")).update(score=90, votes=90)
    votes = {"3@x": 90, "4@x": 90}
    for card in Card.objects.filter(msgid__in=votes):
        votes[card.msgid] -= 5 * card.sender.startswith("p1") - 2 * (card.subject == "odd")
    for filter_ in (None, *filters):
        assert order_of(alice, filter_) == judged(alice, filter_, unread, votes)
    wanted = judged(alice, None, unread, votes)
    pins = {"5@x": 7, "8@x": 9, "6@x": 9}
    for msgid, at in pins.items():
        alice.message_states.create(msgid=msgid, audience="public", pinned_at=at, changed_at=at)
    by_date = list(listing.cards(alice).values_list("pk", flat=True))
    top = [pk for pk in by_date if Card.objects.get(pk=pk).msgid in pins]
    assert top == by_date[: len(top)], "the pinned ones stand first, as in the list by date"
    assert order_of(alice, None) == [*top, *(pk for pk in wanted if pk not in top)]
    assert order_of(alice, filters[0]) == judged(alice, filters[0], unread, votes)
    Card.objects.filter(sender="p2@x.org").update(root="0@x")
    names = dict(Card.objects.values_list("pk", listing.thread()))
    firsts = {names[pk]: pk for pk in reversed(order_of(alice, None, by_message=True))}
    assert set(order_of(alice, None)) == set(firsts.values())


def order_of(user: User, filter_: Filter | None, *, by_message: bool = False) -> list[int]:
    user.conversations = not by_message
    return list(importance.made_order(user, filter_, rules_of(user), NOW).heads)


def test_an_order_is_kept_until_something_comes_to_something_else(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a list is looked at, it is as if it were put in order then."""
    monkeypatch.setattr(conversations, "SHORT", 0)
    many(alice, 30)
    for weight, text in (*RULES, (4, "unread"), (1, "per vote")):
        rule(alice, weight, text)
    upkeep.appraise(tables)
    ages = [read_age for row in rules_of(alice) for read_age in row.ages]
    received = sorted(Card.objects.values_list("received", flat=True))
    turns = [at + age for at in received for age in ages]
    made: list[int] = []
    original = importance.made_order

    def make(*given: Any) -> Any:
        made.append(given[-1])
        return original(*given)

    monkeypatch.setattr(importance, "made_order", make)
    dice, at = random.Random(3), NOW + DAY
    now = [at]
    for module in (importance, conversations):
        monkeypatch.setattr(module, "wall_clock", lambda: now[0])
    for _ in range(40):
        what = dice.random()
        if what < 0.15:
            vote(tables, dice.choice(("bob", "dave")), f"{dice.randrange(30)}@x")
            upkeep.appraise(tables)
        elif what < 0.3:
            Match.objects.filter(msgid=f"{dice.randrange(30)}@x").update(read_at=NOW)
        elif what < 0.6:
            at = min((turn for turn in turns if turn > at), default=at) + dice.randrange(-1, 2)
        now[0] = at
        order = importance.order_of(alice, by_importance=True)
        page, _ = importance.list_page(alice, None, "1", counts.mark_of(alice), order)
        assert list(page) == list(original(alice, None, rules_of(alice), at).heads)
        assert next_turn(rules_of(alice), received, at) > at
    assert len(made) < 40, "some were kept"


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["newer than one week"],
        ["newer than one week", "older than one week", "received = now() - interval '7 days'"],
        ["received - ts < now() - ts - interval '2 days'", "now() - received <> interval '3 days'"],
        ["two days old or newer than one day", "not (older than two days or newer than one day)"],
    ],
)
def test_an_age_comes_to_the_same_for_all_messages_of_a_span(texts: list[str]) -> None:
    context = Context("alice")
    rules = [compile_rule(3**at, text, context) for at, text in enumerate(texts)]
    assert all(rule.kind is Kind.AGE for rule in rules)
    spans = age_spans(rules, NOW)
    assert [span.end for span in spans[:-1]] == [span.begin for span in spans[1:]]
    assert all(one.score != other.score for one, other in pairwise(spans))
    assert (spans[0].begin, spans[-1].end) == (BEGINNING, NEVER)
    conditions = [read(text, context).condition for text in texts]
    for received in (NOW - day * DAY + more for day in range(-1, 9) for more in (-1, 0, 1)):
        rows = {"m": {"ts": received, "received": received}}
        truths = [nested_loops.holds(condition, rows, {}, NOW) for condition in conditions]
        score = sum(rule.weight for rule, holds in zip(rules, truths, strict=True) if holds)
        assert score == age_score(spans, received)


@pytest.mark.usefixtures("engine")
class TestUpkeep:
    def scores(self, user: User) -> dict[str, int]:
        rows = Appraisal.objects.filter(owner=user).select_related("card")
        return {row.card.msgid.partition("@")[0]: row.score for row in rows if not row.is_stale}

    def test_votes_replies_and_new_messages_count_as_they_come(
        self, mail: Tables, bob: User
    ) -> None:
        Filter.objects.create(owner=bob, name="f", text="m.size >= 0 OR TRUE", tql="TRUE")
        rule(bob, 2, "per vote")
        rule(bob, 1, "per reply")
        rule(bob, 5, "from Jones")
        rounds.run_round()
        upkeep.appraise(mail)
        assert self.scores(bob) == {"plan": 2 + 1 + 5, "reply": 0, "parc": 0}
        vote(mail, "alice", "plan", -1.0)
        vote(mail, "dave", "reply")
        vote(mail, "dave", "parc", 1.0, "user:dave")
        arrive(mail, "third", "reply")
        rounds.run_round()
        upkeep.appraise(mail)
        assert self.scores(bob) == {"plan": 0 + 1 + 5, "reply": 2 + 1, "parc": 0, "third": 0}

    def test_a_private_vote_or_reply_counts_for_those_who_see_it_alone(
        self, mail: Tables, alice: User, bob: User
    ) -> None:
        vote(mail, "alice", "plan", 1.0, "user:alice")
        for user in (alice, bob):
            Filter.objects.create(owner=user, name="f", text="about plan", tql="m.msgid HAS 'plan'")
            rule(user, 1, "per vote")
            rule(user, 10, "per reply")
        rounds.run_round()
        upkeep.appraise(mail)
        assert self.scores(alice)["plan"] == 2 + 20
        assert self.scores(bob)["plan"] == 1 + 10

    def test_who_leaves_a_group_sees_no_order_made_of_its_votes(
        self, mail: Tables, bob: User
    ) -> None:
        vote(mail, "alice", "plan", 1.0, "group:parc")
        Filter.objects.create(owner=bob, name="f", text="about plan", tql="m.msgid HAS 'plan'")
        rule(bob, 1, "per vote")
        rounds.run_round()
        upkeep.appraise(mail)
        assert self.scores(bob)["plan"] == 2 and is_ready(bob)
        bob.groups.clear()
        bob = User.objects.get(pk=bob.pk)
        assert not is_ready(bob), "until they are computed anew, the list is by date"
        upkeep.appraise(mail)
        assert self.scores(bob)["plan"] == 1 and is_ready(bob)
        bob.groups.set(Group.objects.all())
        upkeep.appraise(mail)
        assert self.scores(bob)["plan"] == 2

    def test_what_somebody_is_told_in_private_concerns_nobody_else(
        self, mail: Tables, alice: User, bob: User
    ) -> None:
        for person in (alice, bob):
            Filter.objects.create(owner=person, name="f", text="x", tql="m.msgid HAS 'plan'")
            rule(person, 1, "per vote")
        rounds.run_round()
        upkeep.appraise(mail)
        vote(mail, "jones", "plan", 1.0, "user:alice")
        arrive(mail, "secret", "plan", audience="user:alice")
        upkeep._note_new_rows(mail)
        stale = Appraisal.objects.filter(card__msgid="plan@example.org", is_stale=True)
        assert [row.owner for row in stale] == [alice]

    def test_a_message_is_listed_before_it_has_a_score(self, mail: Tables, bob: User) -> None:
        Filter.objects.create(owner=bob, name="f", text="TRUE", tql="TRUE")
        rule(bob, -5, "from Jones")
        rounds.run_round()
        upkeep.appraise(mail)
        arrive(mail, "new")
        rounds.run_round()
        ordered = order_of(bob, None, by_message=True)
        assert len(ordered) == listing.cards(bob).count() == 4
        assert Card.objects.get(pk=ordered[-1]).msgid == "plan@example.org"

    def test_work_in_parts_goes_on_where_it_was_left(
        self, mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(upkeep, "ROWS", 100)
        many(alice, 250)
        rule(alice, 5, "from p1")
        for left in (200 - 50, 50, 0):
            assert upkeep.appraise(mail, 0.0)
            assert Appraisal.objects.filter(is_stale=True).count() == left
            assert not is_ready(alice)
        assert not upkeep.appraise(mail, 0.0)
        assert is_ready(alice)

    def test_other_rules_give_other_scores_and_none_leave_nothing(
        self, mail: Tables, alice: User
    ) -> None:
        many(alice, 9)
        rule(alice, 5, "about odd")
        upkeep.appraise(mail)
        AppraiserRule.objects.update(weight=-1)
        upkeep.rules_changed(alice)
        assert not is_ready(alice)
        upkeep.appraise(mail)
        assert set(self.scores(alice).values()) == {-1, 0}
        rule(alice, 2, "one week old")
        assert is_ready(alice), "ages are computed as the list is read"
        AppraiserRule.objects.all().delete()
        upkeep.rules_changed(alice)
        upkeep.appraise(mail)
        assert not Appraisal.objects.exists() and not Appraiser.objects.exists()

    def test_nobody_without_rules_is_appraised(self, mail: Tables, alice: User, bob: User) -> None:
        rule(alice, 5, "from Jones")
        many(bob, 5)
        refresh_cards(mail)
        upkeep.appraise(mail)
        assert not Appraisal.objects.exists()
        assert wall_clock() > NOW - 100 * WEEK

    def test_who_cannot_be_appraised_reads_why_and_costs_nobody_else(
        self, mail: Tables, alice: User, bob: User, as_user: SignIn, set_asides: Planted,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        for person in (alice, bob):
            rule(person, 5, "from Jones")
        errors, rules_of = set_asides.expect(), upkeep.rules_of

        def fails(user: User) -> Any:
            if user == alice:
                raise KeyError("nobody foresaw this")
            return rules_of(user)

        monkeypatch.setattr(upkeep, "rules_of", fails)
        upkeep.appraise(mail)
        assert len(errors) == 1 and is_ready(bob) and not is_ready(alice)
        for path in ("/by-importance/", "/importance/"):
            page = as_user(alice).get(path).content.decode()
            assert f"cannot be put in order for now. {upkeep.why_not(alice)}" in page, path
