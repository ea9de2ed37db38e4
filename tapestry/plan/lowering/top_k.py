"""Lower top-k for a relation of candidates.

Where it can be, a top-k is swept: the values of all messages at the start of a filter's span,
and how they change within it, are the answer of a statement of its own (``value_changes.py``),
and ``sweep_line.py`` works out from when to when each message is among the top.  Otherwise
messages are ranked anew for each instant.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import product
from operator import add, attrgetter

from sqlglot import exp

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import RETRACTED, Type
from tapestry.plan import sql
from tapestry.plan.group import ConstantRow, constant_table
from tapestry.plan.lowering import running_aggregates
from tapestry.plan.lowering.aggregates import AggregateLowering, aggregate_over
from tapestry.plan.lowering.assembly import Assembly, row_number
from tapestry.plan.lowering.columns import CANDIDATE_KEY, at_c, slots
from tapestry.plan.lowering.running_aggregates import RunningAggregates
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.plan.lowering.sweep_line import SweepLine
from tapestry.plan.lowering.value_changes import DISJUNCT_KEY, value_changes
from tapestry.plan.relation import Derived, Field, Newest, Statement
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
        name, same = self.on_top(top, outer, outer)
        rows = sql.select(sql.literal(1), source=sql.table(name))
        among = sql.exists(sql.where(rows, *same))
        return sql.negate(among) if top.negated else among

    def on_top(self, top: TopKTest, outer: Scope, scope: Scope) -> tuple[str, list[exp.Expr]]:
        """Return a relation of what is on top, and the tests that the top's message is.

        ``scope`` has the message, ``outer`` the candidates at whose c it is asked.
        """
        if not self.is_swept(top):
            name = self._ranked_at_each(top, outer)
            same = [sql.eq(sql.column(key, name), outer.outer_column(key)) for key in CANDIDATE_KEY]
        else:
            name, c = self.periods(top), outer.term(n.Now())
            same = sql.same(DISJUNCT_KEY, name, outer.outer)
            same.append(sql.le(sql.column("begins", name), c))
            same.append(sql.lt(c.copy(), sql.column("ends", name)))
        return name, [*same, sql.eq(sql.column("msgid", name), scope.term(top.message))]

    def is_swept(self, top: TopKTest) -> bool:
        """Tell whether a top-k is swept; at one instant it is ranked in the statement itself."""
        return not self.assembly.is_of_one_instant and can_sweep(top)

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
            sweep = SweepLine(top.aggregate.function, tops)
            statement = self._values(top, rows, max(limits))
            newest = self._newest(top, rows, max(limits), sweep)
            self.assembly.derived.append(Derived(name, PERIODS, statement, sweep, newest=newest))
            self._periods[top] = name
        return self._periods[top]

    def _values(
        self, top: TopKTest, rows: Sequence[ConstantRow], most: int, after: int | None = None
    ) -> Statement:
        """Return the statement for the values of messages; ``after``: those after an instant."""
        assembly = Assembly(self.assembly.spans)
        running = RunningAggregates(assembly, self.aggregates.joins.elsewhere(assembly))
        aggregate = _with_messages(top)
        exact, apart = adds_fractions(aggregate), only_retracted(aggregate)
        wanted = None if exact and not apart else most
        return value_changes(
            running, aggregate, top.binding, rows, wanted, apart=exact and apart, after=after
        )

    def _newest(
        self, top: TopKTest, rows: Sequence[ConstantRow], most: int, sweep: SweepLine
    ) -> Newest | None:
        """Return the rows that decide a top by the latest instant, if they fill it at the start.

        All others are below them, and stay so: nothing that fills it ever leaves but for what is
        later.
        """
        latest = running_aggregates.latest_of(_with_messages(top))
        if latest is None:
            return None
        starts = {(row.filter_id, row.disjunct): row.since for row in rows}
        values = partial(self._values, top, rows, most)
        binding, by = latest
        is_full = partial(sweep.is_full, starts)
        return Newest(binding.table, by, min(starts.values()), values, is_full)

    def _instants(self, outer: Scope, parameters: Collection[int]) -> str:
        """Return the relation of the instants at which each filter is asked, with its constants."""
        if not self.assembly.is_of_one_instant:
            return self.aggregates.base(outer, parameters, set())
        spans, rows = self.assembly.spans, self.constant_rows
        asked = [
            replace(row, since=spans[row.filter_id][0]) for row in rows if row.filter_id in spans
        ]
        name = f"instants_{len(self.assembly.relations)}"
        self.assembly.relations.append(constant_table(name, asked or rows[:1]))
        columns = [
            "filter_id",
            "disjunct",
            "audiences",
            *(f"p{slot}" for slot in sorted(parameters)),
        ]
        return self.assembly.name(sql.select_from(name, columns, c=sql.column("since", name)))

    def _ranked_at_each(self, top: TopKTest, outer: Scope) -> str:
        """Return the relation ``(filter_id, disjunct, c, msgid)``, ranked for each c."""
        base = self._instants(outer, slots((top.limit, top.among, top.aggregate)))
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
    ranked = _with_messages(top)
    return number and (running_aggregates.can_run(ranked) or adds_fractions(ranked))


def adds_fractions(aggregate: NormalAggregate) -> bool:
    """Tell whether a sum is to be swept row by row: its numbers are added, and taken out again.

    The sweep adds them as fractions, for floating-point sums do not come back to where they were.
    """
    summed = aggregate.function in ("SUM", "AVG") and not aggregate.distinct
    counted = running_aggregates.counts_over_intervals(aggregate)
    expires = running_aggregates.expires(aggregate)
    return summed and counted and expires and _type(aggregate) is Type.NUMBER


def only_retracted(aggregate: NormalAggregate) -> bool:
    """Tell whether rows of an aggregate cease to count only as they are taken back.

    They are few: all others are added up in the statement.
    """
    times = (time for row in aggregate.rows for time in row.temporal_predicates)
    ends = [time.right for time in times if time.op in ("<", "<=")]
    return all(isinstance(end, n.Column) and end.name == RETRACTED for end in ends)


def counts_all_rows(top: TopKTest) -> bool:
    """Tell whether what a top ranks by is read anew in each window, however old it is."""
    parts = [conjoined(among, row) for among, row in product(top.among, top.aggregate.rows)]
    bindings = (top.binding, *top.aggregate.bindings)
    aggregates = [replace(top.aggregate, bindings=bindings, rows=(part,)) for part in parts]
    return any(
        only_retracted(aggregate) and running_aggregates.latest_of(aggregate) is None
        for aggregate in aggregates
    )


def _with_messages(top: TopKTest) -> NormalAggregate:
    """Return the aggregate of a top-k that can be swept, over the messages ranked besides."""
    (among,), (row,) = top.among, top.aggregate.rows
    bindings = (top.binding, *top.aggregate.bindings)
    return replace(top.aggregate, bindings=bindings, rows=(conjoined(among, row),))


def _type(aggregate: NormalAggregate) -> Type | None:
    """Return the type of what is added up; of text, whose order engines know best, TEXT."""
    types = {node.type for node in walk(aggregate.term) if isinstance(node, n.Column)}
    return types.pop() if len(types) == 1 else None


def conjoined(left: Conjunction, right: Conjunction) -> Conjunction:
    """Return the AND of two conjunctions."""
    return Conjunction(*map(add, _PARTS(left), _PARTS(right)))


_PARTS = attrgetter(*(field.name for field in fields(Conjunction)))
