"""Wrong aggregates, tops and changes, planted one at a time: the laws must catch each.

Each is a mistake that is easy to make: a row that counts on when its week is over, a tie
ordered wrongly, an audience not passed inwards, a change that is not told.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial

import pytest
from sqlglot import exp

from tapestry.core.clock import NEVER
from tapestry.core.schema import Type
from tapestry.plan import sql
from tapestry.plan.lowering import (
    aggregates,
    candidates,
    key_lookup,
    running_aggregates,
    sweep_line,
    top_k,
)
from tapestry.plan.sql import COMPARISONS
from tapestry.query.tree import nodes as n
from tapestry.rewrite import pipeline
from tapestry.rewrite.incremental import general
from tapestry.rewrite.stages import Conjunction, EventPoint, HavingTest
from tapestry.run import changes
from tests.laws import change_laws, filter_laws, planting

PLANTS = planting.Plants(aggregates=True)
caught_by = PLANTS.caught_by

every_count = partial(
    caught_by, change_laws.every_count_and_every_top_give_the_answer_of_every_instant
)
every_schedule = partial(caught_by, filter_laws.every_schedule_delivers_what_the_oracle_does)
every_change = partial(
    caught_by, change_laws.every_change_in_order_gives_the_answer_of_every_instant
)


# Running totals.


@every_count(seed=1)
def a_row_counts_on_when_its_week_is_over(patch):
    """Omega is left out."""
    patch.setattr(running_aggregates, "expires", lambda total: False)


@every_count(hidden=True)
def a_row_counts_in_the_very_instant_of_an_age_that_is_to_be_passed(patch):
    """Alpha forgets its microsecond."""
    patch.setattr(running_aggregates, "EventPoint", lambda term, shift=0: EventPoint(term))


@every_count(hidden=True)
def a_row_counts_no_more_in_the_last_instant_of_its_week(patch):
    """Omega forgets its microsecond."""
    patch.setattr(running_aggregates, "end", lambda time: EventPoint(time.right))


@every_count(hidden=True)
def what_still_counts_as_a_top_begins_is_not_read(patch):
    """The slice of what lasts begins where the span does."""

    def wrong(rows, point):
        return ((min(row.since for row in rows), NEVER),)

    patch.setattr(running_aggregates, "slices", wrong)


@every_count()
def what_comes_in_an_instant_counts_after_it(patch):
    real = running_aggregates.running_window

    def wrong(aggregate, keys):
        window = real(aggregate, keys)
        first = exp.Ordered(this=exp.column("asked"), desc=True)
        window.args["order"].append("expressions", first)
        return window

    patch.setattr(running_aggregates, "running_window", wrong)


@every_count(seed=2)
def the_sum_of_no_rows_is_nought(patch):
    patch.setattr(running_aggregates, "running_value", lambda total: exp.column("v"))


def change_counted(patch: pytest.MonkeyPatch, change) -> None:
    """Change what is counted, before it is."""
    real = running_aggregates.RunningAggregates.counting_rows

    def wrong(self, total, *args):
        return real(self, change(total), *args)

    patch.setattr(running_aggregates.RunningAggregates, "counting_rows", wrong)


@every_count(hidden=True)
def one_who_votes_twice_counts_twice(patch):
    real = aggregates.aggregate_over
    change_counted(patch, lambda total: replace(total, distinct=False))
    patch.setattr(
        aggregates, "aggregate_over", lambda t, rows: real(replace(t, distinct=False), rows)
    )


# Thresholds.


@every_schedule(hidden=True)
def at_least_is_more_than(patch):
    wrong = COMPARISONS | {">=": sql.gt}
    for module in (aggregates, running_aggregates):
        patch.setattr(module, "COMPARISONS", wrong)


@every_count()
def no_rows_are_not_fewer_than_one(patch):
    patch.setattr(HavingTest, "passes_none", lambda self, constant: False)


@every_schedule()
def a_fast_rule_takes_what_is_counted(patch):
    patch.setattr(pipeline, "_counts", lambda part: False)


@every_count()
def no_vote_is_an_event(patch):
    patch.setattr(general, "_of_aggregate", lambda around, fresh, plain, total: iter(()))


@every_count()
def no_end_of_a_week_is_an_event(patch):
    real = general._of_aggregate

    def wrong(*args):
        arrivals = (EventPoint(n.Column(b.var, "ts", Type.INSTANT)) for b in args[3].bindings)
        kept = set(arrivals)
        return (event for event in real(*args) if event.point in kept)

    patch.setattr(general, "_of_aggregate", wrong)


@caught_by(filter_laws.no_match_and_no_evidence_crosses_an_audience, seed=3)
def an_aggregate_counts_what_its_owner_may_not_see(patch):
    def blind(real):
        def wrong(self, *args):
            seeing = copy(self)
            seeing.joins = copy(self.joins)
            seeing.joins.visible = lambda *_: exp.EQ(this=exp.convert(1), expression=exp.convert(1))
            return real(seeing, *args)

        return wrong

    grouped, running = aggregates.AggregateLowering, running_aggregates.RunningAggregates
    for lowering, name in ((running, "counting_rows"), (grouped, "joined")):
        patch.setattr(lowering, name, blind(getattr(lowering, name)))


# Tops.


@every_count(hidden=True)
def a_change_in_the_last_place_moves_nobody(patch):
    real = sweep_line._Ranking.change
    patch.setattr(sweep_line._Ranking, "change", lambda self, *args: real(self, *args) + 1)


@every_count(hidden=True)
def of_one_value_the_last_message_by_name_is_first(patch):
    class Backwards(str):
        def __lt__(self, other):
            return str(self) > str(other)

    real = sweep_line._Ranking._key

    def wrong(self, msgid):
        key = real(self, msgid)
        return key and (key[0], Backwards(key[1]))

    patch.setattr(sweep_line._Ranking, "_key", wrong)


@every_count()
def all_messages_are_ranked_whatever_they_are(patch):
    real = top_k.conjoined

    def wrong(among, row):
        return real(Conjunction(among.bindings, (), (), ()), row)

    patch.setattr(top_k, "conjoined", wrong)


@every_count(hidden=True)
def a_message_stays_on_top_for_an_instant_more(patch):
    real = sweep_line.SweepLine._periods

    def wrong(self, limit, last, rows):
        for msgid, begins, ends in real(self, limit, last, rows):
            yield msgid, begins, min(ends + 1, last + 1)

    patch.setattr(sweep_line.SweepLine, "_periods", wrong)


@every_count()
def what_pushes_a_message_off_the_top_is_no_event(patch):
    real = general._ranked

    def wrong(around, plain, top):
        return iter(()) if top.negated else real(around, plain, top)

    patch.setattr(general, "_ranked", wrong)


# What new rows reach.


@every_count(hidden=True)
def rows_are_reached_by_the_wrong_column(patch):
    real = key_lookup.BoundViews._key_lookups

    def wrong(self, *args):
        for tied, lookup in real(self, *args):
            yield tied, replace(lookup, column="msgid")

    patch.setattr(key_lookup.BoundViews, "_key_lookups", wrong)


@every_schedule(seed=1)
def of_several_delta_queries_only_one_is_tested(patch):
    real = sql.union

    def wrong(queries, *, distinct=False):
        return real(queries[:1] if distinct else queries, distinct=distinct)

    patch.setattr(sql, "union", wrong)


# Live filters.


@every_count(hidden=True)
def nobody_is_told_who_left_the_top(patch):
    build = candidates.DisjunctLowering
    moved, untested = build._moved, build._untested

    def entered(self, select, msgid, c):
        if isinstance(c, exp.Column) and c.name == "ends":
            c = exp.column("begins", c.table)
        return untested(self, select, msgid, c)

    patch.setattr(build, "_moved", lambda self, top, until, when: moved(self, top, until, "begins"))
    patch.setattr(build, "_untested", entered)


@every_change(hidden=True)
def what_changes_for_all_messages_is_told_of_none(patch):
    real = changes._events
    patch.setattr(changes, "_events", lambda *args: (real(*args)[0], {}))


@every_change(seed=7)
def what_held_at_the_start_is_forgotten(patch):
    real = changes._states

    def wrong(engine, by_id, *args):
        states = real(engine, by_id, *args)
        return {key: row for key, row in states.items() if key[2] != by_id[key[0]].since}

    patch.setattr(changes, "_states", wrong)


@every_change(seed=3)
def what_does_not_match_any_more_is_not_told(patch):
    real = changes._difference

    def wrong(filter_id, msgid, at, before, now):
        return real(filter_id, msgid, at, before, now or before)

    patch.setattr(changes, "_difference", wrong)


@caught_by(change_laws.net_changes_give_the_answer_of_every_run, hidden=True)
def the_net_change_is_the_first_change(patch):
    real = changes.change_windows

    def wrong(engine, subscriptions, instants, *, net):
        runs = real(engine, subscriptions, instants, net=False)
        if not net:
            return runs
        kept = []
        for run, end in zip(runs, instants, strict=True):
            first = {(change.filter_id, change.msgid): change for change in reversed(run)}
            kept.append(sorted((replace(change, at=end) for change in first.values()),
                               key=lambda change: (change.filter_id, change.msgid)))  # fmt: skip
        return kept

    patch.setattr(change_laws, "change_windows", wrong)


@pytest.mark.parametrize("planted", PLANTS.soon_found())
def test_a_planted_fault_is_caught(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search_by_seeds()


@pytest.mark.long
@pytest.mark.parametrize("planted", PLANTS.params())
def test_a_planted_fault_is_caught_in_a_long_campaign(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search()


@pytest.mark.parametrize("examples", [5, pytest.param(25, marks=pytest.mark.long)])
@pytest.mark.parametrize("plant", PLANTS.one_for_each_law(), ids=lambda plant: plant.law.__name__)
def test_nothing_is_caught_where_nothing_is_planted(plant, examples):
    plant.search(examples)
