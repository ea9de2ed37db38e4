"""Lower top-k for a relation of candidates.

Where it can be, a top-k is swept: the values of all messages at the start of a filter's span,
and how they change within it, are the answer of a statement of its own (``value_changes.py``),
and ``sweep_line.py`` works out from when to when each message is among the top.  Otherwise
messages are ranked anew for each instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import product
from operator import add, attrgetter

from sqlglot import exp

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import Type
from tapestry.plan.group import ConstantRow
from tapestry.plan.lowering import running_aggregates, sql
from tapestry.plan.lowering.aggregates import AggregateLowering, aggregate_over
from tapestry.plan.lowering.assembly import Assembly, row_number
from tapestry.plan.lowering.columns import CANDIDATE_KEY, at_c, slots
from tapestry.plan.lowering.running_aggregates import RunningAggregates
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.plan.lowering.sweep_line import SweepLine
from tapestry.plan.lowering.value_changes import DISJUNCT_KEY, value_changes
from tapestry.plan.relation import Derived, Field
from tapestry.plan.signature import integer_value, values_by_slot
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, NormalAggregate, TopKTest

PERIODS = (
    Field("filter_id", Type.INTEGER),
    Field("disjunct", Type.INTEGER),
    Field("msgid", Type.TEXT),
    Field("begins", Type.INSTANT),
    Field("ends", Type.INSTANT),
)
"""A message is among the top of a filter's disjunct from one instant to before another."""


class TopKLowering:
    """Lowers for the constant rows of one group, into one assembly."""

    def __init__(
        self,
        assembly: Assembly,
        constant_rows: Sequence[ConstantRow],
        aggregates: AggregateLowering,
    ) -> None:
        self.assembly = assembly
        self.constant_rows = constant_rows
        self.aggregates = aggregates
        self._periods: dict[TopKTest, str] = {}

    def contains(self, top: TopKTest, outer: Scope) -> exp.Expr:
        """Return whether a candidate's message is, or is not, among the top."""
        name = self.at_each(top, outer)
        rows = sql.select(sql.literal(1), source=sql.table(name))
        among = sql.exists(sql.where(rows, *same_message(name, top, outer)))
        return sql.negate(among) if top.negated else among

    def at_each(self, top: TopKTest, outer: Scope) -> str:
        """Return the relation ``(filter_id, disjunct, c, msgid)`` of what is on top at each c."""
        if not can_sweep(top):
            return self._ranked_at_each(top, outer)
        instants = sql.distinct(sql.select_from(outer.outer, CANDIDATE_KEY))
        name, periods = self.assembly.name(instants), self.periods(top)
        c = sql.column("c", name)
        select = sql.select_from(name, CANDIDATE_KEY, sql.column("msgid", periods))
        sql.cross_join(select, sql.table(periods))
        sql.where(
            select,
            *sql.same(DISJUNCT_KEY, periods, name),
            sql.le(sql.column("begins", periods), c),
            sql.lt(c.copy(), sql.column("ends", periods)),
        )
        return self.assembly.name(select)

    def periods(self, top: TopKTest) -> str:
        """Return the relation of the times in the spans at which messages are among the top."""
        top = replace(top, negated=False)
        if top not in self._periods:
            name = f"periods_{len(self.assembly.derived)}"
            spans = self.assembly.spans
            asked = (row for row in self.constant_rows if row.filter_id in spans)
            windows = ((row, *spans[row.filter_id]) for row in asked)
            rows = [replace(row, since=since, until=until) for row, since, until in windows]
            rows = rows or [replace(self.constant_rows[0], since=BEGINNING, until=BEGINNING)]
            limits = [integer_value(top.limit, values_by_slot(row.constants)) for row in rows]
            tops = {
                (row.filter_id, row.disjunct): (limit, row.until)
                for row, limit in zip(rows, limits, strict=True)
            }
            assembly = Assembly(spans)
            running = RunningAggregates(assembly, self.aggregates.joins.elsewhere(assembly))
            aggregate = _with_messages(top)
            statement = value_changes(running, aggregate, top.binding, rows, max(limits))
            sweep = SweepLine(aggregate.function, tops)
            self.assembly.derived.append(Derived(name, PERIODS, statement, sweep))
            self._periods[top] = name
        return self._periods[top]

    def _ranked_at_each(self, top: TopKTest, outer: Scope) -> str:
        """Return the relation ``(filter_id, disjunct, c, msgid)``, ranked for each c."""
        base = self.aggregates.base(outer, slots((top.limit, top.among, top.aggregate)), set())
        message, aggregate = top.binding.var, top.aggregate
        parts = [conjoined(among, row) for among, row in product(top.among, aggregate.rows)]
        limits = slots(top.limit)
        message_row = [(message, "audience"), (message, "msgid")]
        rows = self.aggregates.joined(base, aggregate, parts, (top.binding,), message_row, limits)
        keys = [*CANDIDATE_KEY, *(f"p{slot}" for slot in sorted(limits))]
        value = aggregate_over(aggregate, rows)
        msgid = sql.column(column_alias(message, "msgid"), rows, quoted=True)
        values = sql.group_by(
            sql.select_from(rows, keys, msgid=msgid, value=value),
            *(sql.column(key, rows) for key in keys),
            *(sql.column(column_alias(*name), rows, quoted=True) for name in message_row),
        )
        if aggregate.function == "COUNT":
            sql.having(values, sql.gt(value.copy(), sql.literal(0)))
        else:
            sql.having(values, sql.negate(sql.is_null(value.copy())))
        # Of several audiences, the highest value counts.
        valued = self.assembly.name(values)
        highest = exp.Max(this=sql.column("value", valued))
        best = sql.group_by(
            sql.select_from(valued, [*keys, "msgid"], value=highest),
            *(sql.column(key, valued) for key in [*keys, "msgid"]),
        )
        place = row_number(CANDIDATE_KEY, ("value", "msgid"), descending="value")
        ranked = self.assembly.name(
            sql.select_from(self.assembly.name(best), [*keys, "msgid"], place=place)
        )
        within = sql.le(sql.column("place", ranked), at_c(ranked).term(top.limit))
        return self.assembly.name(
            sql.where(sql.select_from(ranked, [*CANDIDATE_KEY, "msgid"]), within)
        )


def can_sweep(top: TopKTest) -> bool:
    """Tell whether a top-k can be swept: its values can be kept running, and are numbers."""
    if len(top.among) != 1 or len(top.aggregate.rows) != 1:
        return False
    aggregate = top.aggregate
    number = aggregate.function == "COUNT" or _type(aggregate) not in (Type.TEXT, None)
    rows = (conjoined(top.among[0], aggregate.rows[0]),)
    return number and running_aggregates.can_run(replace(aggregate, rows=rows))


def _with_messages(top: TopKTest) -> NormalAggregate:
    """Return the aggregate of a top-k that can be swept, over the messages ranked besides."""
    (among,), (row,) = top.among, top.aggregate.rows
    bindings = (top.binding, *top.aggregate.bindings)
    return replace(top.aggregate, bindings=bindings, rows=(conjoined(among, row),))


def _type(aggregate: NormalAggregate) -> Type | None:
    """Return the type of what is added up; of text, whose order engines know best, TEXT."""
    types = {node.type for node in walk(aggregate.term) if isinstance(node, n.Column)}
    return types.pop() if len(types) == 1 else None


def same_message(name: str, top: TopKTest, scope: Scope) -> list[exp.Expr]:
    """Return the tests that a row of a top-k is that of a candidate's message."""
    same = [sql.eq(sql.column(key, name), scope.outer_column(key)) for key in CANDIDATE_KEY]
    return [*same, sql.eq(sql.column("msgid", name), scope.term(top.message))]


def conjoined(left: Conjunction, right: Conjunction) -> Conjunction:
    """Return the AND of two conjunctions."""
    return Conjunction(*map(add, _PARTS(left), _PARTS(right)))


_PARTS = attrgetter(*(field.name for field in fields(Conjunction)))
