"""Live filters: a message is in the list while it matches, and only then."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError
from django.test import Client

from filters import listing, live, parts, rounds, writing
from filters.annotate import annotate
from filters.cards import store_cards
from filters.models import Card, Filter, Match
from filters.people import audiences, context
from filters.stores import DjangoClock, DjangoFilterStore, latest_instant
from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.core.message import Annotation, Message
from tapestry.core.ports import Change
from tapestry.run.ask import ask
from tapestry.tables.append import append_annotations, append_messages
from tapestry.tables.log import Tables

pytestmark = pytest.mark.usefixtures("engine")

SignIn = Callable[[User], Client]

SCORE = "SUM(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 0"


def arrive(tables: Tables, name: str, parent: str | None = None, **more: str) -> str:
    """A message arrives, an answer to a parent if one is named; return its Message-ID."""
    msgid = f"{name}@example.org"
    answered = f"{parent}@example.org" if parent else None
    new = Message(msgid, subject=name, sender=f"{name}@x.org", inreplyto=answered, **more)
    append_messages(tables, DjangoClock(), [new])
    return msgid


def vote(tables: Tables, voter: str, name: str, number: float = 1.0) -> None:
    new = Annotation(f"{voter}.{number}.{name}", f"{name}@example.org", voter, "vote", None, number)
    append_annotations(tables, DjangoClock(), [new])


def install(owner: User, text: str, name: str = "f", **options: object) -> Filter:
    return writing.install(owner, text, name=name, mode=Filter.Mode.LIVE, **options)


def run(*names: str) -> None:
    """Let time pass: one run."""
    rounds.run_round()


def listed(user: User, *, gone: bool = False) -> set[str]:
    """Return what a user's list holds, or what has left it, by the names of the messages."""
    found = listing.visible(user, gone=gone).values_list("msgid", flat=True)
    return {msgid.partition("@")[0] for msgid in found}


def left(user: User) -> set[str]:
    return listed(user, gone=True)


def match(name: str) -> Match:
    return Match.objects.get(msgid=f"{name}@example.org")


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
        assert match("why").gone_at is not None

    def test_it_leaves_as_time_passes(self, tables: Tables, carol: User) -> None:
        arrive(tables, "fresh")
        install(carol, "newer than 2 hours")
        run()
        assert listed(carol) == {"fresh"}
        rounds.run_round(latest_instant() + 3 * HOUR)
        assert (listed(carol), left(carol)) == (set(), {"fresh"})

    def test_a_filter_that_keeps_is_as_it_was(self, tables: Tables, carol: User) -> None:
        arrive(tables, "why")
        writing.install(carol, "with no reply", name="f")
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

    def test_what_leaves_and_comes_back_between_two_runs_comes_back_too(
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
            writing.change(changed, changed.text, existing=True)
        elif chance.random() < 0.1:
            Filter.objects.filter(pk=changed.pk).update(active=False)
        if chance.random() < 0.4:
            Filter.objects.update(active=True)
            until = rounds.run_round(latest_instant() + chance.choice([0, HOUR])).until
            for (user, text), each in filters.items():
                answer = ask(parts.engine_on, tables, text, context(user), audiences(user), until)
                held = listing.visible(user).filter(filter=each).values_list("msgid", flat=True)
                assert sorted(held) == sorted(card.msgid for card in answer.cards), text


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
        [row] = listing.rows(carol, listing.cards(carol))
        assert row.why == "Ann replied"

    def test_the_page_hears_of_it(self, tables: Tables, carol: User) -> None:
        arrive(tables, "why")
        arrive(tables, "zeal", "why", sender_name="Zoe")
        install(carol, "replied to")
        run()
        mark = listing.sidebar(carol).mark
        run()
        assert listing.sidebar(carol).mark == mark
        arrive(tables, "air", "why", sender_name="Ann")
        run()
        assert listing.sidebar(carol).mark != mark


class TestChangingIt:
    def test_another_text_lets_go_of_what_the_old_one_held(
        self, tables: Tables, carol: User
    ) -> None:
        made = install(carol, "about cricket or about golf")
        for name in ("cricket", "golf", "tennis"):
            arrive(tables, name)
        run()
        listing.mark_read(carol, "golf@example.org")
        writing.change(made, "about golf or about tennis")
        run()
        assert (listed(carol), left(carol)) == ({"golf", "tennis"}, {"cricket"})
        assert match("golf").read_at is not None

    def test_a_filter_that_kept_lets_go_once_it_is_live(self, tables: Tables, carol: User) -> None:
        made = writing.install(carol, "with no reply", name="f")
        arrive(tables, "why")
        run()
        arrive(tables, "because", "why")
        run()
        assert listed(carol) == {"why", "because"}
        writing.change(made, made.text, mode=Filter.Mode.LIVE)
        assert made.is_live and made.since == BEGINNING
        run()
        assert (listed(carol), left(carol)) == ({"because"}, {"why"})

    def test_a_live_filter_that_is_to_keep_has_all_that_ever_matched(
        self, tables: Tables, carol: User
    ) -> None:
        arrive(tables, "early")
        made = install(carol, "with no reply")
        run()
        arrive(tables, "answer", "early")
        run()
        assert (listed(carol), left(carol)) == ({"answer"}, {"early"})
        arrive(tables, "brief")
        arrive(tables, "reply", "brief")
        writing.change(made, made.text, mode=Filter.Mode.KEEP)
        run()
        assert listed(carol) == {"early", "answer", "brief", "reply"}
        assert left(carol) == set()

    def test_what_a_filter_that_kept_had_left_to_run_is_dropped(
        self, tables: Tables, carol: User
    ) -> None:
        made = writing.install(carol, "about golf", name="f")
        arrive(tables, "golf")
        writing.change(made, "about tennis")
        assert made.rests.count() == 1
        writing.change(made, "about tennis", mode=Filter.Mode.LIVE)
        assert made.rests.count() == 0
        run()
        assert listed(carol) == set()

    def test_another_name_alone_leaves_it_where_it_stands(
        self, tables: Tables, carol: User
    ) -> None:
        made = install(carol, "with no reply")
        arrive(tables, "why")
        run()
        made.refresh_from_db()
        since = made.since
        writing.change(made, made.text, name="g", timeliness="hourly", mode=Filter.Mode.LIVE)
        assert (made.since, made.revision) == (since, 0)

    def test_it_follows_a_filter_that_it_refers_to(
        self, tables: Tables, bob: User, carol: User
    ) -> None:
        sport = writing.install(bob, "about golf", name="sport", visibility="shared")
        install(carol, "in bob's sport and with no reply")
        for name in ("golf", "tennis"):
            arrive(tables, name)
        run()
        assert listed(carol) == {"golf"}
        writing.change(sport, "about tennis")
        run()
        assert (listed(carol), left(carol)) == ({"tennis"}, {"golf"})

    def test_paused_it_holds_what_it_held_and_then_catches_up(
        self, tables: Tables, carol: User
    ) -> None:
        made = install(carol, "with no reply")
        arrive(tables, "why")
        run()
        Filter.objects.update(active=False)
        arrive(tables, "because", "why")
        run()
        assert listed(carol) == {"why"}
        writing.resume(made)
        run()
        assert (listed(carol), left(carol)) == ({"because"}, {"why"})


class TestStoring:
    """All or nothing, and only what the run was about."""

    def change(self, of: Filter, name: str, op: str, at: int) -> Change:
        return Change(of.pk, f"{name}@example.org", op, at, "public", 0, ())  # type: ignore[arg-type]

    def test_a_window_that_is_refused_stores_nothing(self, tables: Tables, carol: User) -> None:
        made = install(carol, "with no reply")
        arrive(tables, "why")
        run()
        store = DjangoFilterStore()
        until = latest_instant() + 1
        due = store.due(until)
        Filter.objects.update(revision=1)
        told = [self.change(made, "why", "delete", 5), self.change(made, "how", "insert", 6)]
        assert not store.commit(due, until, [], told)
        assert [each.msgid for each in Match.objects.all()] == ["why@example.org"]
        assert match("why").gone_at is None

    def test_a_failure_in_the_middle_stores_nothing(
        self, tables: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = install(carol, "with no reply")
        arrive(tables, "why")
        run()
        before = Filter.objects.get().since
        store = DjangoFilterStore()
        until = latest_instant() + 1

        def fail(*_: object) -> None:
            raise IntegrityError

        monkeypatch.setattr(live, "_leave_out", fail)
        Filter.objects.update(since=BEGINNING)
        with pytest.raises(IntegrityError):
            store.commit(store.due(until), until, [], [self.change(made, "why", "delete", 5)])
        assert match("why").gone_at is None
        assert Filter.objects.get().since == BEGINNING
        monkeypatch.undo()
        Filter.objects.update(since=before)

    def test_cards_and_reasons_that_a_killed_round_left_out_come_with_the_next(
        self, tables: Tables, carol: User
    ) -> None:
        arrive(tables, "why")
        arrive(tables, "zeal", "why", sender_name="Zoe")
        install(carol, "replied to")
        run()
        Card.objects.all().delete()
        Match.objects.update(told_at=None, because=[])
        assert listed(carol) == set()
        run()
        [row] = listing.rows(carol, listing.cards(carol))
        assert row.why == "Zoe replied"

    def test_many_changes_go_in_together(self, tables: Tables, carol: User) -> None:
        made = install(carol, "with no reply")
        store = DjangoFilterStore()
        names = [f"m{i}" for i in range(1300)]
        inserts = [self.change(made, name, "insert", 5) for name in names]
        assert store.commit(store.due(10), 10, [], inserts)
        assert Match.objects.filter(gone_at=None).count() == 1300
        again = [self.change(made, name, "update", 12) for name in names[:400]]
        leaving = [self.change(made, name, "delete", 13) for name in names[300:]]
        assert store.commit(store.due(20), 20, [], again + leaving)
        assert Match.objects.filter(gone_at=None).count() == 300
        back = [self.change(made, name, "insert", 25) for name in names]
        assert store.commit(store.due(30), 30, [], back)
        assert Match.objects.filter(gone_at=None).count() == 1300

    def test_the_fate_of_a_message_is_its_last_change(self) -> None:
        def fate(*ops: str) -> tuple[str, int | None]:
            told = [Change(1, "a@x", op, at) for at, op in enumerate(ops)]  # type: ignore[arg-type]
            [found] = live.fates(told).values()
            return found.last.op, found.began

        assert fate("insert") == ("insert", 0)
        assert fate("insert", "update") == ("update", 0)
        assert fate("insert", "delete") == ("delete", None)
        assert fate("delete", "insert", "update") == ("update", 1)
        assert fate("update") == ("update", None)
        assert fate("delete", "insert", "delete") == ("delete", None)


class TestAudiences:
    def test_a_private_answer_is_none_to_those_who_cannot_see_it(
        self, mail: Tables, alice: User, bob: User
    ) -> None:
        for user in (alice, bob):
            install(user, "starting a thread with no reply by mary@example.org")
        run()
        assert "plan" not in listed(alice)
        assert "plan" in listed(bob)

    def test_a_private_vote_moves_nothing_of_others(
        self, mail: Tables, bob: User, carol: User
    ) -> None:
        for user in (bob, carol):
            install(user, SCORE)
        run()
        assert listed(bob) == listed(carol) == {"plan"}
        annotate(bob, "plan@example.org", "public", "vote", number=-1, private=True)
        run()
        assert (listed(bob), listed(carol)) == (set(), {"plan"})

    def test_who_leaves_or_joins_a_group_sees_its_mail_accordingly(
        self, mail: Tables, bob: User
    ) -> None:
        install(bob, "starting a thread")
        run()
        assert listed(bob) == {"plan", "parc"}
        bob.groups.clear()
        run()
        assert (listed(bob), left(bob)) == ({"plan"}, set())
        Group.objects.get(name="parc").user_set.add(bob)
        run()
        assert (listed(bob), left(bob)) == ({"plan", "parc"}, set())

    def test_a_group_that_is_deleted_is_left_by_all(self, mail: Tables, bob: User) -> None:
        install(bob, "starting a thread")
        run()
        Group.objects.get(name="parc").delete()
        run()
        assert listed(bob) == {"plan"}

    def test_answers_in_a_group_count_from_when_one_is_in_it(
        self, mail: Tables, carol: User, alice: User
    ) -> None:
        append_messages(
            mail,
            DjangoClock(),
            [Message("inner@example.org", inreplyto="reply@example.org", audience="group:parc")],
        )
        install(carol, "replies with no reply")
        run()
        assert listed(carol) == {"reply"}
        carol.groups.set(Group.objects.all())
        run()
        assert (listed(carol), left(carol)) == ({"inner"}, {"reply"})


class TestPages:
    def test_the_list_of_what_left_says_when(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        arrive(tables, "why")
        install(carol, "with no reply")
        run()
        client = as_user(carol)
        assert "no longer match" not in client.get("/in/f/").content.decode()
        assert "Nothing has left yet." in client.get("/in/f/gone/").content.decode()
        arrive(tables, "because", "why")
        run()
        page = client.get("/in/f/").content.decode()
        assert '<span class="subject">because' in page and '<span class="subject">why' not in page
        assert '<a href="/in/f/gone/">1 message that no longer matches</a>' in page
        page = client.get("/in/f/gone/").content.decode()
        assert '<span class="subject">why' in page and '<span class="subject">because' not in page
        assert "left just now" in page

    def test_it_is_in_no_other_list_any_more(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        arrive(tables, "why")
        install(carol, "with no reply")
        run()
        arrive(tables, "because", "why")
        run()
        response = as_user(carol).get("/")
        assert [row.card.subject for row in response.context["rows"]] == ["because"]
        assert response.context["sidebar"].total == response.context["sidebar"].unread == 1
        [entry] = response.context["sidebar"].entries
        assert (entry.total, entry.unread, entry.left) == (1, 1, 1)

    def test_a_message_that_left_says_so_on_its_own_page(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        arrive(tables, "why")
        install(carol, "with no reply")
        run()
        arrive(tables, "because", "why")
        run()
        page = as_user(carol).get("/message/", {"id": "why@example.org"}).content.decode()
        assert "left just now" in page

    def test_nobody_else_sees_what_left(
        self, tables: Tables, bob: User, carol: User, as_user: SignIn
    ) -> None:
        install(carol, "with no reply")
        assert as_user(bob).get("/in/f/gone/").status_code == 404

    def test_the_list_of_filters_says_which_are_live(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        arrive(tables, "why")
        install(carol, "with no reply")
        run()
        arrive(tables, "because", "why")
        run()
        page = as_user(carol).get("/filters/").content.decode()
        assert ">live</span>" in page
        assert "<strong>1</strong> match now" in page
        assert '<a href="/in/f/gone/"><strong>1</strong> has left</a>' in page

    def test_an_empty_one_says_that_nothing_matches_now(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        install(carol, "with no reply")
        assert "Nothing matches now" in as_user(carol).get("/in/f/").content.decode()


def test_cards_are_given_once(tables: Tables, carol: User) -> None:
    arrive(tables, "why")
    install(carol, "with no reply")
    run()
    assert store_cards(tables) == 0
