"""Wrong ways to write out what goes by an order, planted one at a time (``test_planted.py``)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.lowering import aggregates, nearness, running_aggregates, sweep_line
from tapestry.query.check import checker, sequences, window_functions, windows
from tapestry.query.check.partitions import Partition
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import FLIPPED, transform
from tapestry.rewrite import pipeline
from tapestry.rewrite.incremental.at_starts import at_starts
from tests.laws import planting, sequence_laws

SEQUENCES, WINDOWS = planting.Plants("sequences"), planting.Plants("windows")
FUNCTIONS, LASTS = planting.Plants("functions"), planting.Plants("lasts")
SCHEDULES = sequence_laws.every_schedule_delivers_what_a_literal_reading_does


def change_operators(patch, module, name, old, new):
    """Have a function of a module make comparisons with another operator."""
    real = getattr(module, name)

    def change(node):
        found = isinstance(node, n.Compare) and node.op == old
        return replace(node, op=new) if found else node

    def wrong(*args):
        made = real(*args)
        if isinstance(made, list):
            return [transform(part, change) for part in made]
        return transform(made, change)

    patch.setattr(module, name, wrong)


@SEQUENCES.caught_by(SCHEDULES, seed=1)
def what_comes_at_the_same_instant_comes_after(patch):
    change_operators(patch, sequences, "_follows", "<", "<=")


@SEQUENCES.caught_by(SCHEDULES, seed=4)
def the_last_microsecond_is_too_late(patch):
    change_operators(patch, sequences, "_follows", "<=", "<")


@SEQUENCES.caught_by(SCHEDULES, seed=4)
def a_silence_is_over_a_microsecond_too_early(patch):
    change_operators(patch, sequences, "_is_over", ">", ">=")


@SEQUENCES.caught_by(SCHEDULES, seed=12)
def what_must_not_come_is_looked_for_after_the_end(patch):
    real = sequences._follows

    def wrong(before, after, step):
        return real(before, after, step) if step else []

    patch.setattr(sequences, "_follows", wrong)


@WINDOWS.caught_by(SCHEDULES)
def a_tie_at_the_edge_of_a_window_is_left_open(patch):
    real = windows._is_beyond
    patch.setattr(windows, "_is_beyond", lambda *args: real(*args).args[0])


@WINDOWS.caught_by(SCHEDULES)
def the_newest_are_taken_for_all_that_matters(patch):
    patch.setattr(sweep_line.SweepLine, "is_full", lambda *_: True)


@FUNCTIONS.caught_by(SCHEDULES, seed=2)
def rows_are_looked_up_near_those_that_ask_the_wrong_way_round(patch):
    patch.setattr(nearness, "FLIPPED", {op: op for op in FLIPPED})


@WINDOWS.caught_by(SCHEDULES)
def a_window_is_one_too_long(patch):
    def wrong(*args):
        found = windows.last_of_each(*args)
        parts = list(found.args) if isinstance(found, n.And) else [found]
        parts[-1] = replace(parts[-1], op="<=")
        return n.And.of(parts)

    patch.setattr(checker, "last_of_each", wrong)


@WINDOWS.caught_by(SCHEDULES, seed=23)
def a_count_that_can_fall_is_tested_at_the_start_alone(patch):
    def at_start(message, disjunct):
        return at_starts("wrong", message, disjunct)

    real = pipeline._fast_rules
    patch.setattr(
        pipeline, "_fast_rules", lambda part: (at_start,) if part.having_tests else real(part)
    )


@FUNCTIONS.caught_by(SCHEDULES)
def peers_have_one_place(patch):
    def wrong(self, one, other, tie="<"):
        return self.earlier(one, other)

    patch.setattr(Partition, "before", wrong)


@FUNCTIONS.caught_by(SCHEDULES, seed=8)
def any_row_before_is_the_one_before(patch):
    real = window_functions.row_of_value
    patch.setattr(window_functions, "row_of_value", lambda partition: real(partition)[:-1])


@FUNCTIONS.caught_by(SCHEDULES)
def a_rank_is_the_number_of_rows_before(patch):
    patch.setattr(window_functions, "_less_one", lambda *args: args)


@FUNCTIONS.caught_by(SCHEDULES, seed=4)
def what_has_no_value_is_not_equal_to_another(patch):
    real = window_functions.of_rows
    patch.setattr(checker, "of_rows", lambda *args, negated: real(*args, negated=False))


@FUNCTIONS.caught_by(SCHEDULES)
def a_frame_is_the_whole_partition(patch):
    patch.setattr(Partition, "framed", lambda self, row: [])


@LASTS.caught_by(SCHEDULES, seed=5)
def the_first_are_the_last(patch):
    real = sql.ordered
    patch.setattr(sql, "ordered", lambda name, **options: real(name))


@LASTS.caught_by(SCHEDULES, seed=5)
def of_one_instant_the_highest_key_is_last(patch):
    real = sql.ordered
    patch.setattr(sql, "ordered", lambda name, **options: real(name, descending=True))


@LASTS.caught_by(SCHEDULES, seed=24)
def any_row_counts(patch):
    real = aggregates.AggregateLowering._last

    def wrong(self, base, aggregate, among, *args):
        limit = replace(among.limit, value=99, slot=None)
        return real(self, base, aggregate, replace(among, limit=limit), *args)

    patch.setattr(aggregates.AggregateLowering, "_last", wrong)


@FUNCTIONS.caught_by(SCHEDULES, seed=2)
def a_message_alone_has_no_percent_rank(patch):
    patch.setattr(window_functions, "holds_of_zero", lambda *_: False)


@FUNCTIONS.caught_by(SCHEDULES, seed=2)
def copies_are_counted_in_a_share(patch):
    real = window_functions._relative

    def wrong(*args, negated):
        return transform(
            real(*args, negated=negated),
            lambda node: replace(node, distinct=False) if isinstance(node, n.Aggregate) else node,
        )

    patch.setattr(window_functions, "_relative", wrong)


@FUNCTIONS.caught_by(SCHEDULES, seed=2)
def the_first_tiles_are_no_longer_than_the_last(patch):
    patch.setattr(exp, "Mod", lambda **_: sql.literal(0))


@FUNCTIONS.caught_by(SCHEDULES, seed=2)
def a_share_is_of_the_rows_that_pass(patch):
    real = running_aggregates.share_value

    def wrong(among, passing, number, scope):
        return real(among, passing, number if among.tiles else passing.copy(), scope)

    for module in (aggregates, running_aggregates):
        patch.setattr(module, "share_value", wrong)


@FUNCTIONS.caught_by(SCHEDULES)
def equal_values_count_apart_in_a_running_share(patch):
    real = running_aggregates.RunningAggregates._passing

    def wrong(self, aggregate, *args, **options):
        return real(self, replace(aggregate, distinct=False), *args, **options)

    patch.setattr(running_aggregates.RunningAggregates, "_passing", wrong)


ALL = [*SEQUENCES.params(), *WINDOWS.params(), *FUNCTIONS.params(), *LASTS.params()]


@pytest.mark.parametrize("planted", ALL)
def test_a_planted_rule_is_caught(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search_by_seeds()
