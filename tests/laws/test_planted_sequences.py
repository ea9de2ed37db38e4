"""Wrong ways to write out what goes by an order, planted one at a time (``test_planted.py``)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tapestry.plan import sql
from tapestry.plan.lowering import aggregates, nearness, sweep_line
from tapestry.query.check import checker, sequences, window_functions, windows
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

    patch.setattr(window_functions.Partition, "before", wrong)


@FUNCTIONS.caught_by(SCHEDULES, seed=5)
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
    patch.setattr(window_functions.Partition, "framed", lambda self, row: [])


@LASTS.caught_by(SCHEDULES, seed=3)
def the_first_are_the_last(patch):
    real = sql.ordered
    patch.setattr(sql, "ordered", lambda name, **options: real(name))


@LASTS.caught_by(SCHEDULES, seed=5)
def of_one_instant_the_highest_key_is_last(patch):
    real = sql.ordered
    patch.setattr(sql, "ordered", lambda name, **options: real(name, descending=True))


@LASTS.caught_by(SCHEDULES)
def any_row_counts(patch):
    patch.setattr(
        aggregates.AggregateLowering,
        "_last",
        lambda self, base, aggregate, last, free, wanted: self.joined(
            base, aggregate, aggregate.rows, (), free, wanted
        ),
    )


ALL = [*SEQUENCES.params(), *WINDOWS.params(), *FUNCTIONS.params(), *LASTS.params()]


@pytest.mark.parametrize("planted", ALL)
def test_a_planted_rule_is_caught(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search_by_seeds()
