"""Lower top-k for a relation of candidates.

Where it can be, a rank is swept: the values of all messages at the start of a filter's span,
and how they change within it, are the answer of a statement of its own, and
``sweep.py`` works out from when to when each message is among the top.  Otherwise the rank
is worked out anew for each instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from sqlglot import exp

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import Type
from tapestry.plan.group import ConstantRow, constant_table
from tapestry.plan.lowering import running_aggregates
from tapestry.plan.lowering.aggregates import AggregateLowering, value_of
from tapestry.plan.lowering.assembly import Assembly, first
from tapestry.plan.lowering.columns import CANDIDATE_KEY, at_c, select_from, slots
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.plan.lowering.sweep_line import SweepLine
from tapestry.plan.relation import Derived, Field, Statement
from tapestry.query.tree.nodes import Column, Literal
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, NormalAggregate, TopKTest

FILTER = ("filter_id", "disjunct")

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
        self._swept: dict[TopKTest, str] = {}

    def contains(self, top: TopKTest, outer: Scope) -> exp.Expr:
        """Return whether a candidate's message is, or is not, among the top."""
        name = self.at_each(top, outer)
        one = exp.select(exp.convert(1), copy=False).from_(exp.to_table(name), copy=False)
        there = exp.Exists(this=one.where(*same_place(name, top, outer), copy=False))
        return exp.not_(there, copy=False) if top.negated else there

    def at_each(self, top: TopKTest, outer: Scope) -> str:
        """Return the relation ``(filter_id, disjunct, c, msgid)`` of what is on top at each c."""
        if not can_sweep(top):
            return self._anew(top, outer)
        instants = select_from(outer.outer, CANDIDATE_KEY).distinct(copy=False)
        name, periods = self.assembly.name(instants), self.periods(top)
        same = [
            exp.EQ(this=exp.column(key, periods), expression=exp.column(key, name))
            for key in FILTER
        ]
        c = exp.column("c", name)
        select = select_from(name, CANDIDATE_KEY).select(exp.column("msgid", periods))
        select = select.join(exp.to_table(periods), join_type="cross", copy=False).where(
            *same,
            exp.LTE(this=exp.column("begins", periods), expression=c),
            exp.LT(this=c.copy(), expression=exp.column("ends", periods)),
            copy=False,
        )
        return self.assembly.name(select)

    def periods(self, top: TopKTest) -> str:
        """Return the relation of the times in the spans at which messages are among the top."""
        top = replace(top, negated=False)
        if top not in self._swept:
            name = f"periods_{len(self.assembly.derived)}"
            spans = self.assembly.spans
            asked = [
                replace(m, since=spans[m.filter_id][0], until=spans[m.filter_id][1])
                for m in self.constant_rows
                if m.filter_id in spans
            ]
            asked = asked or [replace(self.constant_rows[0], since=BEGINNING, until=BEGINNING)]
            tops = {(m.filter_id, m.disjunct): (_limit(top.limit, m), m.until) for m in asked}
            derived = Derived(
                name, PERIODS, self._values(top, asked), SweepLine(top.aggregate.function, tops)
            )
            self.assembly.derived.append(derived)
            self._swept[top] = name
        return self._swept[top]

    def _values(self, top: TopKTest, constant_rows: Sequence[ConstantRow]) -> Statement:
        """Return the statement for the values at the start of each span, and their changes in it.

        Its rows are ``(filter_id, disjunct, msgid, audience, at, v, n)``.  Of the messages whose
        values do not change only those with the highest can matter.
        """
        assembly = Assembly(self.assembly.spans)
        assembly.relations.append(constant_table("k", constant_rows))
        (among,), (row,) = top.among, top.aggregate.rows
        part = both(among, row)
        total = replace(
            top.aggregate, bindings=(top.binding, *top.aggregate.bindings), rows=(part,)
        )
        key = [(top.binding.var, "msgid"), (top.binding.var, "audience")]
        span = ["since", "until"]
        counted = self.aggregates.elsewhere(assembly).counted(
            total, Scope("k"), [*FILTER, *span], key
        )
        rows = select_from(counted, [*FILTER, *span]).select(
            *(exp.alias_(exp.column(column_alias(*one), counted), one[1]) for one in key),
            "alpha",
            "omega" if running_aggregates.expires(total) else "NULL AS omega",
            "n AS v" if total.function == "COUNT" else "v",
            "n",
        )
        name = assembly.name(rows.where("n > 0"))
        message = [*FILTER, "msgid"]
        names = [*message, "audience"]
        changes: exp.Query = select_from(name, names).select("alpha AS at", "v", "n")
        changes = changes.where("alpha > since AND alpha <= until")
        if running_aggregates.expires(total):
            over = select_from(name, names).select("omega AS at", "-v AS v", "-n AS n")
            over = over.where("alpha <= until AND omega > since AND omega <= until")
            changes = exp.union(changes, over, distinct=False)
        change = assembly.name(changes)
        value = exp.alias_(running_aggregates.SUMS[total.function](this=exp.column("v")), "v")
        before = select_from(name, [*names, "since"]).select(value, "SUM(n) AS n")
        before = before.where("alpha <= since AND (omega IS NULL OR omega > since)")
        before = before.group_by(*(exp.column(one, name) for one in [*names, "since"]))
        base = assembly.name(before)
        touched = assembly.name(select_from(change, message).distinct())
        same = [
            exp.EQ(this=exp.column(one, base), expression=exp.column(one, touched))
            for one in message
        ]
        known = select_from(base, [*names, "since", "v", "n"]).select(
            exp.alias_(
                exp.Is(this=exp.column("filter_id", touched), expression=exp.null()), "still"
            ),
            exp.alias_(running_aggregates.running_value(total), "value"),
        )
        known = known.join(exp.to_table(touched), on=exp.and_(*same), join_type="left")
        valued = assembly.name(known)
        best = select_from(valued, [*names, "since", "v", "n", "still"]).select(
            "MAX(value) OVER (PARTITION BY filter_id, disjunct, msgid) AS best"
        )
        placed = select_from(assembly.name(best), [*names, "since", "v", "n", "still"]).select(
            "DENSE_RANK() OVER (PARTITION BY filter_id, disjunct, still ORDER BY best DESC, msgid)"
            " AS place"
        )
        longest = max((_limit(top.limit, row) for row in constant_rows), default=0)
        kept = select_from(assembly.name(placed), names).select("since AS at", "v", "n")
        kept = kept.where(f"NOT still OR place <= {longest}")
        every = select_from(change, [*names, "at", "v", "n"])
        return assembly.whole(exp.union(kept, every, distinct=False))

    def _anew(self, top: TopKTest, outer: Scope) -> str:
        """Return the relation ``(filter_id, disjunct, c, msgid)``, ranked for each c."""
        wanted = slots((top.limit, top.among, top.aggregate))
        base = self.aggregates.base(outer, wanted, set())
        message = top.binding.var
        parts = [both(among, row) for among, row in product(top.among, top.aggregate.rows)]
        kept = slots(top.limit)
        row = {(message, "msgid"), (message, "audience")}
        rows = self.aggregates.joined(base, top.aggregate, parts, (top.binding,), row, kept)
        keys = [*CANDIDATE_KEY, *(f"p{slot}" for slot in sorted(kept))]
        msgid = exp.column(column_alias(message, "msgid"), rows, quoted=True)
        value = value_of(top.aggregate, rows)
        groups = select_from(rows, keys).select(
            exp.alias_(msgid, "msgid", copy=False), exp.alias_(value, "value", copy=False)
        )
        groups = groups.group_by(
            *(exp.column(key, rows) for key in keys),
            *(exp.column(column_alias(*one), rows, quoted=True) for one in sorted(row)),
        )
        if top.aggregate.function == "COUNT":
            groups = groups.having(exp.GT(this=value.copy(), expression=exp.convert(0)))
        else:
            groups = groups.having(exp.not_(exp.Is(this=value.copy(), expression=exp.null())))
        valued = self.assembly.name(groups)
        best = select_from(valued, [*keys, "msgid"]).select(
            exp.alias_(exp.Max(this=exp.column("value", valued)), "value", copy=False)
        )
        best = best.group_by(*(exp.column(key, valued) for key in [*keys, "msgid"]))
        highest = self.assembly.name(best)
        placed = select_from(highest, [*keys, "msgid"]).select(
            exp.alias_(
                first(CANDIDATE_KEY, ("value", "msgid"), descending="value"), "place", copy=False
            )
        )
        placed_name = self.assembly.name(placed)
        within = exp.LTE(
            this=exp.column("place", placed_name), expression=at_c(placed_name).term(top.limit)
        )
        return self.assembly.name(select_from(placed_name, [*CANDIDATE_KEY, "msgid"]).where(within))


def can_sweep(top: TopKTest) -> bool:
    """Tell whether a rank can be swept: its values can be kept running, and are numbers."""
    if len(top.among) != 1 or len(top.aggregate.rows) != 1:
        return False
    part = both(top.among[0], top.aggregate.rows[0])
    number = top.aggregate.function == "COUNT" or _type(top.aggregate) not in (Type.TEXT, None)
    return number and running_aggregates.can_run(replace(top.aggregate, rows=(part,)))


def _type(total: NormalAggregate) -> Type | None:
    """Return the type of what is added up; of text, whose order engines know best, TEXT."""
    types = {n.type for n in walk(total.term) if isinstance(n, Column)}
    return types.pop() if len(types) == 1 else None


def same_place(name: str, top: TopKTest, scope: Scope) -> list[exp.Expr]:
    """Return the tests that a row of a rank is that of a candidate's message."""
    same: list[exp.Expr] = [
        exp.EQ(this=exp.column(key, name), expression=exp.column(key, scope.outer))
        for key in CANDIDATE_KEY
    ]
    message = exp.EQ(this=exp.column("msgid", name), expression=scope.term(top.message))
    return [*same, message]


def both(one: Conjunction, other: Conjunction) -> Conjunction:
    """Return the conjunction of two."""
    return Conjunction(
        (*one.bindings, *other.bindings),
        (*one.plain, *other.plain),
        (*one.temporal_predicates, *other.temporal_predicates),
        (*one.not_exists, *other.not_exists),
        (*one.having_tests, *other.having_tests),
        (*one.top_k_tests, *other.top_k_tests),
    )


def _limit(limit: Literal, row: ConstantRow) -> int:
    values = {constant.slot: constant.value for constant in row.constants}
    value = limit.value if limit.slot is None else values[limit.slot]
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is not a number of messages")
    return value
