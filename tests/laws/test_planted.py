"""Wrong rules, planted one at a time: the laws must catch each within a bounded search.

Each is a mistake that is easy to make: ``<`` for ``<=``, a dropped delta query, an event
that was forgotten, NULLs taken lightly, an audience not passed inwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.plan.group import slices
from tapestry.plan.lowering import candidates, nested
from tapestry.query.tree import nodes as n
from tapestry.query.tree import walk
from tapestry.rewrite import pipeline
from tapestry.rewrite.incremental import (
    absent_after_end,
    absent_at_start,
    age,
    at_starts,
    general,
    own_columns,
    positive_join,
)
from tapestry.rewrite.monotone import bound_in_time
from tapestry.rewrite.normal.distribute import distribute
from tapestry.rewrite.stages import Conjunction, DeltaQuery, EventPoint
from tapestry.run import execute
from tests.laws import filter_laws, planting

FAST_RULES = (own_columns, age, positive_join, absent_at_start, absent_after_end)

PLANTS = planting.Plants()
caught_by = PLANTS.caught_by


def change_starts(
    patch: pytest.MonkeyPatch, change: Callable[[DeltaQuery], DeltaQuery | None]
) -> None:
    """Change, or drop, every delta query of the fast rules that is driven by a start."""
    real = at_starts.at_starts

    def wrong(rule, message, disjunct):
        delta_queries = real(rule, message, disjunct)
        return tuple(v for v in map(change, delta_queries) if v is not None) or delta_queries[:1]

    for room in FAST_RULES:
        patch.setattr(room, "at_starts", wrong)


def change_normal(patch: pytest.MonkeyPatch, name: str, wrong) -> None:
    rules = tuple(wrong if rule.__name__ == name else rule for rule in pipeline.NORMAL)
    patch.setattr(pipeline, "NORMAL", rules)


def change_general(patch: pytest.MonkeyPatch, keep) -> None:
    """Leave out events of the general rule: ``keep(event, bindings, whole)``."""

    def wrong(message, disjunct):
        delta_queries = general.general(message, disjunct)
        return tuple(v for v in delta_queries if keep(v, disjunct.conjunction)) or delta_queries[:1]

    patch.setattr(pipeline, "general", wrong)


# The normal stage.


@caught_by(filter_laws.normal_rules_keep_the_rows_and_do_nothing_twice, seed=6)
def the_opposite_of_less_is_greater(patch):
    patch.setitem(walk.NEGATED, "<", ">")


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, hidden=True)
def now_moves_to_the_left_and_its_operator_stays(patch):
    patch.setitem(walk.FLIPPED, "<", "<")


@caught_by(filter_laws.normal_rules_keep_the_rows_and_do_nothing_twice, hidden=True)
def not_in_forgets_nulls(patch):
    def change(node):
        if isinstance(node, n.InQuery):
            equal = n.Compare("=", node.term, node.value)
            return n.Exists(node.bindings, n.And((node.condition, equal)))
        return node

    change_normal(patch, "expand_in_query", lambda tree: walk.transform(tree, change))


@caught_by(filter_laws.normal_rules_keep_the_rows_and_do_nothing_twice)
def not_of_an_and_stays_an_and(patch):
    def change(node):
        if isinstance(node, n.Not) and isinstance(node.arg, n.And):
            return n.And(tuple(n.Not(arg) for arg in node.arg.args))
        return node

    real = pipeline.NORMAL[0]
    change_normal(patch, "push_not", lambda tree: real(walk.transform(tree, change)))


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, hidden=True)
def not_exists_over_an_or_keeps_one_part(patch):
    real = distribute

    def wrong(tree):
        return tuple(replace(part, not_exists=part.not_exists[:1]) for part in real(tree))

    patch.setattr(pipeline, "distribute", wrong)


# Intervals of time.


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, hidden=True)
def an_end_forgets_its_microsecond(patch):
    for room in (bound_in_time, at_starts, absent_after_end):
        patch.setattr(room, "end", lambda time: EventPoint(time.right))


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does)
def a_start_forgets_its_microsecond(patch):
    change_starts(patch, lambda v: replace(v, event=replace(v.event, shift=0)))


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, seed=2)
def a_row_counts_before_it_arrived(patch):
    real = bound_in_time.starts

    def wrong(conjunction: Conjunction, *more):
        arrivals = {EventPoint(n.Column(b.var, "ts", Type.INSTANT)) for b in conjunction.bindings}
        instants = real(conjunction, *more)
        return tuple(m for m in instants if m not in arrivals) or instants

    patch.setattr(bound_in_time, "starts", wrong)


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, seed=2)
def a_rule_for_once_and_for_all_takes_what_comes_and_goes(patch):
    def wrong(message, disjunct):
        if not disjunct.conjunction.not_exists:
            return None
        return at_starts.at_starts("absent_at_start", message, disjunct)

    patch.setattr(pipeline, "FAST", (wrong, *pipeline.FAST))


# The incremental stage.


@caught_by(filter_laws.fast_rules_equal_the_general_rule, seed=3)
def a_delta_query_is_dropped(patch):
    real = at_starts.at_starts
    patch.setattr(positive_join, "at_starts", lambda *args: real(*args)[:1])


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, hidden=True)
def ties_are_lost(patch):
    def change(delta_query):
        return replace(
            delta_query, before=tuple(replace(m, shift=m.shift + 1) for m in delta_query.before)
        )

    change_starts(patch, change)


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does)
def other_starts_are_not_waited_for(patch):
    change_starts(patch, lambda v: replace(v, before=()))


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, seed=2)
def an_upper_bound_is_ignored(patch):
    change_starts(patch, lambda v: replace(v, test=replace(v.test, temporal_predicates=())))


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, seed=2)
def nothing_is_looked_for_after_an_interval_ends(patch):
    def wrong(message, disjunct):
        delta_queries = absent_after_end.absent_after_end(message, disjunct)
        return delta_queries and tuple(v for v in delta_queries if v.event in disjunct.starts)

    patch.setattr(pipeline, "FAST", (*pipeline.FAST[:-1], wrong))


@caught_by(filter_laws.the_general_rule_delivers_what_the_oracle_does, hidden=True)
def events_inside_not_exists_are_forgotten(patch):
    def keep(delta_query, conjunction):
        return len(delta_query.bindings) <= 1 + len(conjunction.bindings)

    change_general(patch, keep)


@caught_by(filter_laws.the_general_rule_delivers_what_the_oracle_does)
def events_of_now_are_forgotten(patch):
    def keep(delta_query, conjunction):
        return isinstance(delta_query.event.term, n.Column) and delta_query.event.term.name == "ts"

    change_general(patch, keep)


# The plan and the run.


@caught_by(filter_laws.no_match_and_no_evidence_crosses_an_audience, seed=4)
def not_exists_looks_at_all_audiences(patch):
    class Blind(nested.NestedLowering):
        def _not_exists(self, part, outer):
            builder = Seeing(self)
            return super(Blind, builder)._not_exists(part, outer)

    class Seeing(Blind):
        def __init__(self, builder):
            self.__dict__ = builder.__dict__

        def visible(self, binding, scope):
            return exp.EQ(this=exp.convert(1), expression=exp.convert(1))

    patch.setattr(candidates, "NestedLowering", Blind)


@caught_by(filter_laws.every_schedule_delivers_what_the_oracle_does, hidden=True)
def a_slice_forgets_how_far_its_event_is(patch):
    real = slices
    patch.setattr(
        candidates, "slices", lambda ms, event, *a: real(ms, EventPoint(_column(event)), *a)
    )


def _column(event: EventPoint) -> n.Term:
    return event.anchor[0] if event.anchor is not None else event.term


@caught_by(filter_laws.filters_run_together_deliver_what_each_would_alone, seed=1)
def a_group_sees_what_its_first_filter_may_see(patch):
    real = execute.signature_groups

    def wrong(windows):
        return [
            replace(
                group,
                rows=tuple(replace(m, audiences=group.rows[0].audiences) for m in group.rows),
            )
            for group in real(windows)
        ]

    patch.setattr(execute, "signature_groups", wrong)


@caught_by(filter_laws.what_matched_at_the_start_is_not_delivered, seed=1)
def what_matched_at_the_start_is_delivered_again(patch):
    patch.setattr(execute, "matched_at_start", lambda *args: set())


@pytest.mark.parametrize("planted", PLANTS.soon_found())
def test_a_planted_rule_is_caught(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search_by_seeds()


@pytest.mark.long
@pytest.mark.parametrize("planted", PLANTS.params())
def test_a_planted_rule_is_caught_in_a_long_campaign(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search()


@pytest.mark.parametrize("examples", [5, pytest.param(25, marks=pytest.mark.long)])
@pytest.mark.parametrize("plant", PLANTS.one_for_each_law(), ids=lambda plant: plant.law.__name__)
def test_nothing_is_caught_where_nothing_is_planted(plant, examples):
    plant.search(examples)
