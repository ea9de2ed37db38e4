"""Wrong aggregates and tops, planted one at a time: the laws must catch each.

Each is a mistake that is easy to make: a row that counts on when its week is over, a tie
ordered wrongly, an audience not passed inwards.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import change_laws
import laws
import planting
import pytest
from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.plan import ranks, running, sweep, totals
from tapestry.query import nodes as n
from tapestry.rewrite import pipeline
from tapestry.rewrite.incremental import general
from tapestry.rewrite.stages import Conjunction, Measured, Moment

PLANTS = planting.Plants(aggregates=True)
caught_by = PLANTS.caught_by

every_count = caught_by(change_laws.every_count_and_every_top_give_the_answer_of_every_instant)
every_schedule = caught_by(laws.every_schedule_delivers_what_the_oracle_does)


# Running totals.


@every_count
def a_row_counts_on_when_its_week_is_over(patch):
    """Omega is left out."""
    patch.setattr(running, "ends", lambda total: False)


@every_count
def a_row_counts_in_the_very_instant_of_an_age_that_is_to_be_passed(patch):
    """Alpha forgets its microsecond."""
    patch.setattr(running, "Moment", lambda term, shift=0: Moment(term))


@every_count
def a_row_counts_no_more_in_the_last_instant_of_its_week(patch):
    """Omega forgets its microsecond."""
    patch.setattr(running, "end", lambda time: Moment(time.right))


@every_count
def what_comes_in_an_instant_counts_after_it(patch):
    real = running.over

    def wrong(aggregate, keys):
        window = real(aggregate, keys)
        first = exp.Ordered(this=exp.column("asked"), desc=True)
        window.args["order"].append("expressions", first)
        return window

    patch.setattr(running, "over", wrong)


@every_count
def the_sum_of_no_rows_is_nought(patch):
    patch.setattr(running, "value", lambda total: exp.column("v"))


def change_counted(patch: pytest.MonkeyPatch, change) -> None:
    """Change what is counted, before it is."""
    real = totals.Totals.counted

    def wrong(self, total, *args):
        return real(self, change(total), *args)

    patch.setattr(totals.Totals, "counted", wrong)


@every_count
def one_who_votes_twice_counts_twice(patch):
    real = totals.value_of
    change_counted(patch, lambda total: replace(total, distinct=False))
    patch.setattr(totals, "value_of", lambda t, rows: real(replace(t, distinct=False), rows))


# Thresholds.


@every_count
def no_rows_are_not_fewer_than_one(patch):
    patch.setattr(Measured, "passes_none", lambda self, constant: False)


@every_schedule
def a_fast_rule_takes_what_is_counted(patch):
    patch.setattr(pipeline, "_counts", lambda part: False)


@every_count
def no_vote_is_an_event(patch):
    patch.setattr(general, "_counted", lambda around, fresh, plain, total: iter(()))


@every_count
def no_end_of_a_week_is_an_event(patch):
    real = general._counted

    def wrong(*args):
        arrivals = (Moment(n.Column(b.var, "ts", Type.INSTANT)) for b in args[3].bindings)
        kept = set(arrivals)
        return (event for event in real(*args) if event.moment in kept)

    patch.setattr(general, "_counted", wrong)


@caught_by(laws.no_match_and_no_evidence_crosses_an_audience)
def an_aggregate_counts_what_its_owner_may_not_see(patch):
    def blind(real):
        def wrong(self, *args):
            seeing = copy(self)
            seeing.rows = copy(self.rows)
            seeing.rows.visible = lambda *_: exp.EQ(this=exp.convert(1), expression=exp.convert(1))
            return real(seeing, *args)

        return wrong

    for name in ("counted", "joined"):
        patch.setattr(totals.Totals, name, blind(getattr(totals.Totals, name)))


# Tops.


@every_count
def a_change_in_the_last_place_moves_nobody(patch):
    real = sweep._Ranking.change
    patch.setattr(sweep._Ranking, "change", lambda self, *args: real(self, *args) + 1)


@every_count
def of_one_value_the_last_message_by_name_is_first(patch):
    class Backwards(str):
        def __lt__(self, other):
            return str(self) > str(other)

    real = sweep._Ranking._key

    def wrong(self, msgid):
        key = real(self, msgid)
        return key and (key[0], Backwards(key[1]))

    patch.setattr(sweep._Ranking, "_key", wrong)


@every_count
def all_messages_are_ranked_whatever_they_are(patch):
    real = ranks.both

    def wrong(among, row):
        return real(Conjunction(among.bindings, (), (), ()), row)

    patch.setattr(ranks, "both", wrong)


@every_count
def a_message_stays_on_top_for_an_instant_more(patch):
    real = sweep.Sweep._periods

    def wrong(self, limit, last, rows):
        for msgid, begins, ends in real(self, limit, last, rows):
            yield msgid, begins, min(ends + 1, last + 1)

    patch.setattr(sweep.Sweep, "_periods", wrong)


# What new rows reach.


# Live filters.


@pytest.mark.parametrize("planted", PLANTS, ids=lambda planted: planted.name)
def test_a_planted_fault_is_caught(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search()


@pytest.mark.parametrize("plant", PLANTS.one_for_each_law(), ids=lambda one: one.law.__name__)
def test_nothing_is_caught_where_nothing_is_planted(plant):
    plant.search(25)
