"""Live filters: what an edit does to the list, and how it is stored."""

from __future__ import annotations

from typing import Literal

import pytest
from django.db import IntegrityError

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.inbox.lists.rows import rows_of
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.store import live_changes
from filters.runs.store.filter_store import DjangoFilterStore, latest_instant
from filters.site.work.db.batching import BATCH_SIZE
from tapestry.core.clock import BEGINNING
from tapestry.core.ports import Change
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import arrive, install, left, listed, match, run

pytestmark = pytest.mark.usefixtures("engine")

Op = Literal["insert", "delete", "update"]


class TestChangingIt:
    def test_another_text_lets_go_of_what_the_old_one_held(
        self, tables: Tables, carol: User
    ) -> None:
        made = install(carol, "about cricket or about golf")
        for name in ("cricket", "golf", "tennis"):
            arrive(tables, name)
        run()
        listing.mark_read(carol, "golf@example.org")
        lifecycle.change(made, "about golf or about tennis")
        run()
        assert (listed(carol), left(carol)) == ({"golf", "tennis"}, {"cricket"})
        assert match("golf").read_at is not None

    def test_a_filter_that_kept_lets_go_once_it_is_live(self, tables: Tables, carol: User) -> None:
        made = lifecycle.install(carol, "with no reply", name="f")
        arrive(tables, "why")
        run()
        arrive(tables, "because", "why")
        run()
        assert listed(carol) == {"why", "because"}
        lifecycle.change(made, made.text, mode=Filter.Mode.LIVE)
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
        lifecycle.change(made, made.text, mode=Filter.Mode.KEEP)
        run()
        assert listed(carol) == {"early", "answer", "brief", "reply"}
        assert left(carol) == set()

    def test_one_that_is_to_keep_another_text_has_what_came_before_that(
        self, tables: Tables, carol: User
    ) -> None:
        made = install(carol, "about golf and with no reply")
        arrive(tables, "golf")
        run()
        arrive(tables, "more golf")
        lifecycle.change(made, "about tennis", mode=Filter.Mode.KEEP)
        arrive(tables, "still golf")
        arrive(tables, "tennis")
        run()
        assert listed(carol) == {"golf", "more golf", "tennis"}

    def test_what_a_filter_that_kept_had_left_to_run_is_dropped(
        self, tables: Tables, carol: User
    ) -> None:
        made = lifecycle.install(carol, "about golf", name="f")
        arrive(tables, "golf")
        lifecycle.change(made, "about tennis")
        assert made.pending_windows.count() == 1
        lifecycle.change(made, "about tennis", mode=Filter.Mode.LIVE)
        assert made.pending_windows.count() == 0
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
        lifecycle.change(made, made.text, name="g", timeliness="hourly", mode=Filter.Mode.LIVE)
        assert (made.since, made.revision) == (since, 0)

    def test_it_follows_a_filter_that_it_refers_to(
        self, tables: Tables, bob: User, carol: User
    ) -> None:
        sport = lifecycle.install(bob, "about golf", name="sport", visibility="shared")
        install(carol, "in bob's sport and with no reply")
        for name in ("golf", "tennis"):
            arrive(tables, name)
        run()
        assert listed(carol) == {"golf"}
        lifecycle.change(sport, "about tennis")
        run()
        assert (listed(carol), left(carol)) == ({"tennis"}, {"golf"})

    def test_ended_it_holds_what_it_held_until_it_is_set_going_again(
        self, tables: Tables, bob: User, carol: User
    ) -> None:
        sport = lifecycle.install(bob, "about golf", name="sport", visibility="shared")
        for name in ("golf", "tennis"):
            arrive(tables, name)
        made = install(carol, "in bob's sport and with no reply", end=latest_instant())
        run()
        lifecycle.change(sport, "about tennis")
        run()
        made.refresh_from_db()
        assert made.has_ended
        assert (listed(carol), left(carol)) == ({"golf"}, set())
        lifecycle.change(made, made.text, end=None)
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
        lifecycle.resume(made)
        run()
        assert (listed(carol), left(carol)) == ({"because"}, {"why"})


class TestStoring:
    """All or nothing, and only what the run was about."""

    def change(self, of: Filter, name: str, op: Op, at: int) -> Change:
        return Change(of.pk, f"{name}@example.org", op, at, "public", 0, ())

    def test_a_window_that_is_refused_stores_nothing(self, tables: Tables, carol: User) -> None:
        made = install(carol, "with no reply")
        arrive(tables, "why")
        run()
        store = DjangoFilterStore()
        until = latest_instant() + 1
        due = store.due(until)
        Filter.objects.update(revision=1)
        changes = [self.change(made, "why", "delete", 5), self.change(made, "how", "insert", 6)]
        assert not store.commit(due, until, [], changes)
        assert [stored.msgid for stored in Match.objects.all()] == ["why@example.org"]
        assert match("why").retracted_at is None

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

        monkeypatch.setattr(live_changes, "_retract_absent", fail)
        Filter.objects.update(since=BEGINNING)
        with pytest.raises(IntegrityError):
            store.commit(store.due(until), until, [], [self.change(made, "why", "delete", 5)])
        assert match("why").retracted_at is None
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
        Match.objects.update(refreshed_at=None, evidence_rows=[])
        assert listed(carol) == set()
        run()
        [row] = rows_of(carol, list(listing.cards(carol)))
        assert row.explanation.startswith("Zoe replied on ")

    @pytest.mark.parametrize(
        ("scale", "size"), [(1, 50), pytest.param(10, BATCH_SIZE, marks=pytest.mark.long)]
    )
    def test_many_changes_go_in_together(
        self, tables: Tables, carol: User, monkeypatch: pytest.MonkeyPatch, scale: int, size: int
    ) -> None:
        monkeypatch.setattr(live_changes, "BATCH_SIZE", size)
        made = install(carol, "with no reply")
        store = DjangoFilterStore()
        names = [f"m{i}" for i in range(130 * scale)]
        inserts = [self.change(made, name, "insert", 5) for name in names]
        assert store.commit(store.due(10), 10, [], inserts)
        assert Match.objects.filter(retracted_at=None).count() == 130 * scale
        again = [self.change(made, name, "update", 12) for name in names[: 40 * scale]]
        leaving = [self.change(made, name, "delete", 13) for name in names[30 * scale :]]
        assert store.commit(store.due(20), 20, [], again + leaving)
        assert Match.objects.filter(retracted_at=None).count() == 30 * scale
        back = [self.change(made, name, "insert", 25) for name in names]
        assert store.commit(store.due(30), 30, [], back)
        assert Match.objects.filter(retracted_at=None).count() == 130 * scale

    def test_the_fate_of_a_message_is_its_last_change(self) -> None:
        def fate(*ops: Op) -> tuple[str, int | None]:
            changes = [Change(1, "a@x", op, at) for at, op in enumerate(ops)]
            [net] = live_changes.net_changes(changes).values()
            return net.last.op, net.began

        assert fate("insert") == ("insert", 0)
        assert fate("insert", "update") == ("update", 0)
        assert fate("insert", "delete") == ("delete", None)
        assert fate("delete", "insert", "update") == ("update", 1)
        assert fate("update") == ("update", None)
        assert fate("delete", "insert", "delete") == ("delete", None)
