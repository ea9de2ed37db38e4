"""Live filters: a message is in the list while it matches, and only then."""

from __future__ import annotations

import random

import pytest
from django.core.paginator import Paginator

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox import counts
from filters.inbox.lists import listing
from filters.inbox.lists.rows import page_rows
from filters.inbox.models import Match
from filters.people.models import User
from filters.people.people import audiences, context
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoFilterStore, latest_instant
from filters.site.work.parts import services
from tapestry.core.clock import HOUR, wall_clock
from tapestry.run.ask import Question, ask
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import SCORE, arrive, install, left, listed, match, run, vote

pytestmark = pytest.mark.usefixtures("engine")


def waiting(user: User) -> int:
    return sum(getattr(filter_, "waiting", 0) for filter_ in counts.sidebar(user).filters)


class TestLeaving:
    def test_what_needs_an_answer_leaves_when_somebody_gives_one(
        self, tables: Tables, carol: User
    ) -> None:
        arrive(tables, "why")
        arrive(tables, "how")
        install(carol, "with no reply")
        run()
        assert listed(carol) == {"why", "how"}
        arrive(tables, "because", "why")
        run()
        assert (listed(carol), left(carol)) == ({"how", "because"}, {"why"})
        assert match("why").retracted_at is not None

    def test_it_leaves_as_time_passes(self, tables: Tables, carol: User) -> None:
        arrive(tables, "fresh")
        install(carol, "newer than 2 hours")
        run()
        assert listed(carol) == {"fresh"}
        rounds.run_round(latest_instant() + 3 * HOUR)
        assert (listed(carol), left(carol)) == (set(), {"fresh"})

    def test_a_filter_that_keeps_is_as_it_was(self, tables: Tables, carol: User) -> None:
        arrive(tables, "why")
        lifecycle.install(carol, "with no reply", name="f")
        run()
        arrive(tables, "because", "why")
        run()
        assert (listed(carol), left(carol)) == ({"why", "because"}, set())

    def test_it_comes_back_unread_when_it_matches_again(self, tables: Tables, carol: User) -> None:
        arrive(tables, "plan")
        vote(tables, "ann", "plan")
        install(carol, SCORE)
        run()
        listing.mark_read(carol, "plan@example.org")
        first = match("plan").matched_at
        vote(tables, "bob", "plan", -1.0)
        run()
        assert (listed(carol), left(carol)) == (set(), {"plan"})
        vote(tables, "cy", "plan")
        run()
        assert (listed(carol), left(carol)) == ({"plan"}, set())
        assert match("plan").read_at is None
        assert match("plan").matched_at > first

    def test_what_leaves_and_comes_back_between_two_runs_comes_back(
        self, tables: Tables, carol: User
    ) -> None:
        arrive(tables, "plan")
        vote(tables, "ann", "plan")
        install(carol, SCORE)
        run()
        listing.mark_read(carol, "plan@example.org")
        vote(tables, "bob", "plan", -1.0)
        vote(tables, "cy", "plan")
        run()
        assert listed(carol) == {"plan"}
        assert match("plan").read_at is None

    def test_what_came_and_went_between_two_runs_was_never_there(
        self, tables: Tables, carol: User
    ) -> None:
        install(carol, "with no reply", existing=False)
        arrive(tables, "why")
        arrive(tables, "because", "why")
        run()
        assert listed(carol) == {"because"}
        assert not Match.objects.filter(msgid="why@example.org").exists()

    def test_what_left_before_it_was_to_be_shown_is_not_in_what_left_either(
        self, tables: Tables, carol: User
    ) -> None:
        install(carol, "with no reply", timeliness="hourly")
        arrive(tables, "why")
        run()
        assert listed(carol) == set()
        arrive(tables, "because", "why")
        run()
        Match.objects.update(shown_at=wall_clock())
        assert (listed(carol), left(carol)) == ({"because"}, set())

    def test_pages_say_how_much_waits_once_some_of_it_has_left(
        self, tables: Tables, carol: User
    ) -> None:
        for name in ("plan", "plot"):
            arrive(tables, name)
            vote(tables, "ann", name)
        install(carol, SCORE, timeliness="hourly")
        run()
        assert waiting(carol) == 2
        vote(tables, "bob", "plan", -1.0)
        run()
        assert waiting(carol) == 1

    @pytest.mark.parametrize("position", [None, 8])
    def test_what_comes_back_and_leaves_before_it_is_shown_has_left_when_it_had_before(
        self, tables: Tables, carol: User, position: int | None
    ) -> None:
        arrive(tables, "plan")
        vote(tables, "ann", "plan")
        install(carol, SCORE)
        run()
        Match.objects.update(sequence=7)
        vote(tables, "bob", "plan", -1.0)
        run()
        Match.objects.update(sequence=position)
        before = match("plan")
        Filter.objects.update(timeliness="hourly")
        vote(tables, "cy", "plan")
        run()
        assert (listed(carol), left(carol)) == (set(), set())
        vote(tables, "dee", "plan", -1.0)
        run()
        assert (listed(carol), left(carol)) == (set(), {"plan"})
        after = match("plan")
        assert (after.retracted_at, after.sequence) == (before.retracted_at, position)
        vote(tables, "eve", "plan")
        run()
        Match.objects.update(shown_at=wall_clock())
        assert (listed(carol), match("plan").sequence) == ({"plan"}, None)

    @pytest.mark.parametrize("runs_between", [False, True])
    def test_what_was_shown_and_leaves_unseen_as_it_has_come_back_has_left_when_it_first_did(
        self, tables: Tables, carol: User, runs_between: bool
    ) -> None:
        arrive(tables, "plan")
        vote(tables, "ann", "plan")
        install(carol, SCORE)
        run()
        Match.objects.update(sequence=7)
        Filter.objects.update(timeliness="hourly")
        before = latest_instant()
        for voter, number in [("bob", -1.0), ("cy", 1.0), ("dee", -1.0), ("eve", 1.0)]:
            vote(tables, voter, "plan", number)
            if voter == "bob":
                first_left = latest_instant()
            if runs_between or voter in ("cy", "eve"):
                run()
        assert (listed(carol), left(carol)) == (set(), set())
        vote(tables, "flo", "plan", -1.0)
        run()
        assert (listed(carol), left(carol)) == (set(), {"plan"})
        retracted_at = match("plan").retracted_at
        assert retracted_at is not None and before < retracted_at <= first_left
        assert match("plan").sequence is None

    @pytest.mark.parametrize("how", [{"stored_at": 2 * HOUR}, {"sequence": 7}])
    def test_what_was_shown_leaves_a_trace_though_the_clock_was_set_back(
        self, tables: Tables, carol: User, how: dict[str, int]
    ) -> None:
        now = wall_clock()
        arrive(tables, "why")
        install(carol, "with no reply")
        run()
        later = {"stored_at": now + how["stored_at"]} if "stored_at" in how else how
        Match.objects.update(shown_at=now + HOUR, **later)
        arrive(tables, "because", "why")
        run()
        assert match("why").retracted_at is not None

    def test_from_now_on_leaves_out_what_matches_now(self, tables: Tables, carol: User) -> None:
        arrive(tables, "old")
        install(carol, "with no reply", existing=False)
        arrive(tables, "new")
        run()
        assert listed(carol) == {"new"}
        arrive(tables, "answer", "old")
        arrive(tables, "another", "new")
        run()
        assert (listed(carol), left(carol)) == ({"answer", "another"}, {"new"})

    def test_it_is_the_same_however_often_it_runs(
        self, tables: Tables, bob: User, carol: User
    ) -> None:
        install(bob, SCORE)
        install(carol, SCORE)
        arrive(tables, "plan")
        arrive(tables, "plot")
        store = DjangoFilterStore()
        for number, (name, worth) in enumerate(
            [("plan", 1.0), ("plot", 1.0), ("plan", -2.0), ("plot", 1.0), ("plan", 3.0)]
        ):
            vote(tables, f"v{number}", name, worth)
            Filter.objects.filter(owner=carol).update(active=False)
            assert len(store.due(wall_clock() + HOUR)) == 1
            run()
        Filter.objects.update(active=True)
        run()
        assert listed(bob) == listed(carol) == {"plan", "plot"}
        for name in ("plan", "plot"):
            hers, his = Match.objects.filter(msgid=f"{name}@example.org").order_by("filter__owner")
            assert (hers.matched_at, hers.evidence) == (his.matched_at, his.evidence)


TEXTS = (
    "with no reply",
    "newer than 2 hours",
    "with a score above 0",
    "among the top 2 by votes",
    "replied to and not voted for by v0",
    "among the top 2 by votes and with no reply",
)


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))]


@pytest.mark.parametrize("seed", SEEDS)
def test_after_every_run_the_list_is_what_the_filter_answers(
    tables: Tables, alice: User, bob: User, seed: int
) -> None:
    chance = random.Random(seed)
    filters = {
        (user, text): install(user, text, f"f{number}")
        for number, text in enumerate(TEXTS)
        for user in (alice, bob)
    }
    names: list[str] = []
    for step in range(24):
        private = {"audience": chance.choice(["public", "public", "user:alice", "group:parc"])}
        if not names or chance.random() < 0.4:
            parent = chance.choice([None, *names[-3:]])
            names.append(f"m{step}")
            arrive(tables, names[-1], parent, **private)
        else:
            vote(tables, f"v{step % 3}", chance.choice(names), chance.choice([1.0, 1.0, -1.0]))
        changed = chance.choice(list(filters.values()))
        if chance.random() < 0.1:
            lifecycle.change(changed, changed.text, existing=True)
        elif chance.random() < 0.1:
            Filter.objects.filter(pk=changed.pk).update(active=False)
        if chance.random() < 0.4:
            Filter.objects.update(active=True)
            until = rounds.run_round(latest_instant() + chance.choice([0, HOUR])).until
            for (user, text), installed in filters.items():
                question = Question(text, context(user), audiences(user), until)
                answer = ask(services.engine_on, tables, question)
                shown = (
                    Match.objects.visible_to(user)
                    .filter(filter=installed)
                    .values_list("msgid", flat=True)
                )
                assert sorted(shown) == sorted(card.msgid for card in answer.cards), text


class TestMatchingOtherwise:
    def test_another_reason_takes_the_place_of_the_old(self, tables: Tables, carol: User) -> None:
        arrive(tables, "why")
        arrive(tables, "zeal", "why", sender_name="Zoe")
        install(carol, "replied to")
        run()
        listing.mark_read(carol, "why@example.org")
        before = match("why")
        assert before.evidence == ["zeal@example.org"]
        arrive(tables, "air", "why", sender_name="Ann")
        run()
        after = match("why")
        assert after.evidence == ["air@example.org"]
        assert (after.matched_at, after.read_at) == (before.matched_at, before.read_at)
        [row] = page_rows(carol, Paginator(listing.cards(carol), 50).get_page(1))
        assert row.explanation.startswith("Ann replied on ")

    def test_the_page_hears_of_it(self, tables: Tables, carol: User) -> None:
        arrive(tables, "why")
        arrive(tables, "zeal", "why", sender_name="Zoe")
        install(carol, "replied to")
        run()
        mark = counts.sidebar(carol).mark
        run()
        assert counts.sidebar(carol).mark == mark
        arrive(tables, "air", "why", sender_name="Ann")
        run()
        assert counts.sidebar(carol).mark != mark
