"""Running aggregates: an aggregate at many instants for the price of one.

A row counts from an instant on (alpha, when it arrives or an age is reached) and perhaps
until another (omega, when its week is over, in a sliding window): +value at alpha, -value at
omega (a retraction, or negative tuple), and the aggregate at an instant is the sum of all
before it.  The alpha and omega tuples are those of [Law11 §8].
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from tapestry.core.clock import NEVER
from tapestry.core.schema import BOUNDED, INSTANTS, Type
from tapestry.plan import sql
from tapestry.plan.group import ConstantRow, slices
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import CandidateJoins, VariableColumn, semi_join, slots
from tapestry.plan.lowering.scope import Scope, column_alias, table_column
from tapestry.plan.lowering.set_join import unnest_outer
from tapestry.plan.relation import Range
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import SHARES
from tapestry.rewrite.monotone.bound_in_time import arrival, end
from tapestry.rewrite.stages import EventPoint, HavingTest, NormalAggregate

SUMS = {"SUM": exp.Sum, "AVG": exp.Sum, "COUNT": exp.Sum, "MIN": exp.Min, "MAX": exp.Max}
SUMS |= dict.fromkeys(SHARES, exp.Sum)
"""Totals that are kept running of an aggregate's values."""


def can_run(aggregate: NormalAggregate) -> bool:
    """Tell whether an aggregate can be kept running, exactly.

    Each of its rows must count over one interval: nothing is nested in what they meet, and no
    other row pushes it out of the last.  What must be taken out again must be a whole number, for
    floating-point sums do not come back to where they were; and a minimum, or a value added up
    once, cannot be taken out.
    """
    if not counts_over_intervals(aggregate):
        return False
    if not expires(aggregate):
        return not aggregate.distinct or aggregate.function in ("COUNT", "MIN", "MAX", *SHARES)
    term = aggregate.term
    exact = isinstance(term, n.Column | n.Arith | n.Call) and term.type is Type.INTEGER
    summed = aggregate.function in ("SUM", "AVG") and exact and not aggregate.distinct
    return summed or aggregate.function in ("COUNT", *SHARES)


def counts_over_intervals(aggregate: NormalAggregate) -> bool:
    """Tell whether each row of an aggregate counts over one interval."""
    rows = aggregate.rows
    last = aggregate.among and aggregate.among.limit
    return len(rows) == 1 and not (rows[0].nested or rows[0].bindings or last)


def expires(aggregate: NormalAggregate) -> bool:
    """Tell whether rows of an aggregate cease to count."""
    return any(time.op in ("<", "<=") for row in aggregate.rows for time in row.temporal_predicates)


def counting_interval(
    aggregate: NormalAggregate, scope: Scope
) -> tuple[exp.Expr, exp.Expr | None, list[exp.Expr]]:
    """Return a row's alpha, its omega, and the conditions under which it counts at all."""
    times = aggregate.rows[0].temporal_predicates
    begins = list(map(arrival, aggregate.bindings))
    begins += [EventPoint(t.right, 1 if t.op == ">" else 0) for t in times if t.op in (">", ">=")]
    ends = [end(time) for time in times if time.op in ("<", "<=")]
    known = [
        sql.negate(sql.is_null(scope.term(point.term)))
        for point in (*begins, *ends)
        if point.anchor is None or point.anchor[0].name not in INSTANTS
    ]
    alpha = _extreme(exp.Greatest, [scope.instant(point) for point in begins])
    if not ends:
        return alpha, None, known
    omega = _extreme(exp.Least, [scope.instant(point) for point in ends])
    return alpha, omega, [*known, sql.lt(alpha.copy(), omega.copy())]


def _extreme(kind: type[exp.Func], terms: Sequence[exp.Expr]) -> exp.Expr:
    return terms[0] if len(terms) == 1 else kind(this=terms[0], expressions=list(terms[1:]))


def running_window(aggregate: exp.Expr, keys: Sequence[str]) -> exp.Expr:
    """Return an aggregate of all up to a row's instant, those of the same instant included."""
    return sql.window(aggregate, keys, sql.ordered("c"), quoted=True)


def running_value(aggregate: NormalAggregate) -> exp.Expr:
    """Return the aggregate from its running columns ``v`` (of values) and ``n`` (their number)."""
    if aggregate.function == "COUNT":
        return sql.column("n")
    value, number = sql.column("v"), sql.column("n")
    if aggregate.function == "AVG":
        return _quotient(value, number)
    return exp.Case(ifs=[exp.If(this=sql.gt(number, sql.literal(0)), true=value)])


def _quotient(value: exp.Expr, number: exp.Expr) -> exp.Expr:
    part = sql.cast(value, "double")
    quotient = exp.Div(this=part, expression=number.copy(), typed=False, safe=False)
    return exp.Case(ifs=[exp.If(this=sql.gt(number, sql.literal(0)), true=quotient)])


def share_value(among: n.Among, passing: exp.Expr, number: exp.Expr, scope: Scope) -> exp.Expr:
    """Return which share of a number of rows passes, or the tile of the row that comes next."""
    if among.tiles is None:
        return _quotient(passing, number)
    tiles, one = scope.term(among.tiles), sql.literal(1)
    least = _binary(exp.IntDiv, number, tiles)
    longer = _binary(exp.Mod, number, tiles)
    most = _binary(exp.Add, least, one)
    early = _binary(exp.Add, _binary(exp.IntDiv, passing, most), one)
    late = _binary(exp.IntDiv, _binary(exp.Sub, passing, longer), least)
    return (
        exp.Case()
        .when(sql.lt(passing.copy(), _binary(exp.Mul, longer, most)), early, copy=False)
        .when(sql.lt(passing.copy(), number.copy()), _binary(exp.Add, late, one), copy=False)
    )


def _binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return sql.paren(kind(this=left.copy(), expression=right.copy()))


class RunningAggregates:
    """Lowers running aggregates for one group, into one assembly."""

    def __init__(self, assembly: Assembly, joins: CandidateJoins) -> None:
        self.assembly = assembly
        self.joins = joins

    def having_test(
        self, test: HavingTest, base: str, free: Collection[VariableColumn], outer: Scope
    ) -> exp.Expr:
        """Return whether the running aggregate passes the test at a candidate's instant.

        The rows of a group are read once: not for every instant, nor for every filter that
        counts the same ones and compares with something else.
        """
        aggregate = test.aggregate
        parameters = [f"p{slot}" for slot in sorted(slots(aggregate))]
        group = ["audiences", *parameters, *sorted(column_alias(*column) for column in free)]
        name = self.assembly.name(sql.distinct(sql.select_from(base, group)))
        rows = self.counting_rows(aggregate, Scope(name), group)
        summed = sql.column("n" if aggregate.function == "COUNT" else "v")
        number = sql.column("n")
        changes = [_change(rows, group, "alpha", summed, number)]
        if expires(aggregate):
            less = (exp.Neg(this=summed.copy()), exp.Neg(this=number.copy()))
            changes.append(_change(rows, group, "omega", *less))
        at_c = [*group, "c"]
        instants = self.assembly.name(sql.distinct(sql.select_from(base, at_c)))
        asked = _change(instants, group, "c", sql.literal(None), sql.literal(0), asked=True)
        every = self.assembly.name(sql.union([*changes, asked]))
        value: exp.Expr = SUMS[aggregate.function](this=sql.column("v"))
        running = sql.select_from(
            every,
            at_c,
            sql.alias(running_window(value, group), "v"),
            sql.alias(running_window(exp.Sum(this=sql.column("n")), group), "n"),
            sql.column("asked"),
        )
        name = self.assembly.name(running)
        value = running_value(aggregate)
        if aggregate.among:
            numbers = sql.column("v", name), sql.column("n", name)
            value = share_value(aggregate.among, *numbers, Scope(name))
        valued = sql.select_from(name, at_c, value=value)
        sql.where(valued, sql.eq(sql.column("asked"), sql.literal(1)))
        result = self.assembly.name(valued)
        passes = sql.COMPARISONS[test.op](sql.column("value", result), outer.term(test.constant))
        return semi_join(result, at_c, outer, passes)

    def counting_rows(
        self,
        aggregate: NormalAggregate,
        outer: Scope,
        group: Sequence[str],
        columns: Sequence[VariableColumn] = (),
        spans: Sequence[ConstantRow] = (),
        after: int | None = None,
    ) -> str:
        """Return the rows that count for each group: from alpha to omega, a value v, n of them.

        A group is a row of ``group``, columns of the outer relation, and ``columns``.  With
        ``spans``, rows that count no more where the first of them begins may be left out.
        ``after``: only the values after an instant, of an aggregate that is the latest instant.
        """
        plain, bound = aggregate.rows[0].plain, [binding.var for binding in aggregate.bindings]
        outer, same = unnest_outer(self.assembly, plain, bound, outer)
        scope = outer.binding(*bound)
        select = sql.select(source=sql.table(outer.outer))
        driver, ranges, by = _lasting_slice(aggregate, spans)
        if after is not None and (latest := latest_of(aggregate)):
            (driver, by), ranges = latest, ((after, NEVER),)
            sql.where(select, sql.gt(table_column(driver.var, by), sql.literal(after)))
        tables = self.joins.bound_views.tables(aggregate.bindings, plain, driver, ranges, by=by)
        same += self.joins.bound_views.set_joins(aggregate.bindings, scope)
        for binding, table in zip(aggregate.bindings, tables, strict=True):
            sql.where(sql.cross_join(select, table), self.joins.visible(binding, scope))
        alpha, omega, known = counting_interval(aggregate, scope)
        sql.where(select, *same, *map(scope.condition, plain), *known)
        sql.add_columns(
            select,
            *(sql.column(key, outer.outer, quoted=True) for key in group),
            *(
                sql.alias(table_column(*column), column_alias(*column), quoted=True)
                for column in columns
            ),
            sql.alias(alpha, "alpha"),
        )
        if omega is not None:
            sql.add_columns(select, sql.alias(omega, "omega"))
        value, number = sql.literal(1), sql.literal(1)
        if aggregate.term is not None:
            value = scope.term(aggregate.term)
            missing = exp.If(this=sql.is_null(value.copy()), true=sql.literal(0))
            number = exp.Case(ifs=[missing], default=sql.literal(1))
        sql.add_columns(select, sql.alias(number, "n"))
        alike = [*group, *(column_alias(*column) for column in columns)]
        if aggregate.function in SHARES:
            return self._passing(aggregate, select, scope, value, alike, expire=omega is not None)
        name = self.assembly.name(sql.add_columns(select, sql.alias(value, "v")))
        if not (aggregate.distinct and aggregate.function == "COUNT"):
            return name
        return self._each_value_once(name, [*alike, "v", "n"], expire=omega is not None)

    def _passing(
        self,
        aggregate: NormalAggregate,
        rows: exp.Select,
        scope: Scope,
        value: exp.Expr,
        alike: list[str],
        *,
        expire: bool,
    ) -> str:
        """Return rows with ``v`` 1 where they pass the test of a share.

        Of different values, those that count and those that pass are apart, for a value may do
        so from another row on.
        """
        assert aggregate.among
        passing = sql.all_of(
            sql.paren(scope.condition(aggregate.among.test)),
            sql.negate(sql.is_null(value.copy())),
        )
        passes = exp.Case(ifs=[exp.If(this=passing, true=sql.literal(1))], default=sql.literal(0))
        sql.add_columns(rows, sql.alias(passes, "v"))
        if not aggregate.distinct:
            return self.assembly.name(rows)
        name = self.assembly.name(sql.add_columns(rows, sql.alias(value, "k")))
        interval = ["alpha", "omega"] if expire else ["alpha"]
        columns, zero = [*alike, "k", *interval], sql.literal(0)
        counting = sql.select_from(name, columns, v=zero, n=sql.column("n", name))
        found = sql.select_from(name, columns, v=sql.column("v", name), n=zero.copy())
        sql.where(found, sql.eq(sql.column("v", name), sql.literal(1)))
        every = self.assembly.name(sql.union([counting, found]))
        return self._each_value_once(every, [*alike, "k", "v", "n"], expire=expire)

    def _each_value_once(self, name: str, alike: list[str], *, expire: bool) -> str:
        """Return the rows of each value as one, from the first alpha on.

        Where rows expire, those whose intervals overlap are one (gaps and islands).
        """
        merged: dict[str, exp.Expr] = {"alpha": exp.Min(this=sql.column("alpha"))}
        keys = list(alike)
        if expire:
            interval = ("alpha", "omega")
            greatest = exp.Max(this=sql.column("omega"))
            order = map(sql.ordered, interval)
            last = sql.window(greatest, alike, *order, quoted=True, before=True)
            within = exp.If(this=sql.le(sql.column("alpha"), last), true=sql.literal(0))
            begins = exp.Case(ifs=[within], default=sql.literal(1))
            name = self.assembly.name(sql.select_from(name, [*alike, *interval], begins=begins))
            count = exp.Sum(this=sql.column("begins"))
            island = sql.window(count, alike, *map(sql.ordered, interval), quoted=True)
            name = self.assembly.name(sql.select_from(name, [*alike, *interval], island=island))
            merged["omega"] = exp.Max(this=sql.column("omega"))
            keys.append("island")
        rows = sql.select_from(name, alike, **merged)
        return self.assembly.name(
            sql.group_by(rows, *(sql.column(key, name, quoted=True) for key in keys))
        )


def latest_of(aggregate: NormalAggregate) -> tuple[n.Binding, str] | None:
    """Return the binding and its column of which an aggregate is the latest instant, if it is.

    Nothing of it expires: so what is later than others stays so, but for what is yet to come.
    """
    term = aggregate.term
    if aggregate.function != "MAX" or expires(aggregate) or not isinstance(term, n.Column):
        return None
    binding = next(binding for binding in aggregate.bindings if binding.var == term.var)
    return (binding, term.name) if term.name in BOUNDED[binding.table] else None


def _lasting_slice(
    aggregate: NormalAggregate, spans: Sequence[ConstantRow]
) -> tuple[n.Binding | None, tuple[Range, ...] | None, str]:
    """Return which rows of an aggregate to read by a slice of which column, if any.

    Those whose week is over before the spans begin count for nothing: they are not read.
    """
    bindings = {binding.var: binding for binding in aggregate.bindings}
    ends = [end(t) for t in aggregate.rows[0].temporal_predicates if t.op in ("<", "<=")]
    anchors = [(point, point.anchor[0]) for point in ends if point.anchor and not point.waits]
    for point, column in anchors if spans else ():
        driver = bindings.get(column.var)
        if driver is not None and column.name in BOUNDED[driver.table]:
            from_then_on = [replace(span, until=NEVER) for span in spans]
            return driver, slices(from_then_on, point), column.name
    return None, None, "ts"


def _change(
    name: str, group: Sequence[str], at: str, v: exp.Expr, n: exp.Expr, asked: bool = False
) -> exp.Select:
    """Return what a relation adds to the running aggregate of each group, and when."""
    c, asking = sql.column(at, name), sql.literal(1 if asked else 0)
    return sql.select_from(name, group, c=c, v=v, n=n, asked=asking)
