"""Running totals: an aggregate at many instants for the price of one.

A row counts from an instant on (alpha, when it arrives or an age is reached) and perhaps
until another (omega, when its week is over): +value at alpha, -value at omega, and the total
at an instant is the sum of all before it.  (Alpha and omega tuples: Law, Wang and Zaniolo on
query languages and data models for data streams, section 8.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.plan.lowering.scope import Scope
from tapestry.query.tree.nodes import Arith, Call, Column
from tapestry.rewrite.monotone.bound_in_time import end
from tapestry.rewrite.stages import EventPoint, NormalAggregate

SUMS = {"SUM": exp.Sum, "AVG": exp.Sum, "COUNT": exp.Sum, "MIN": exp.Min, "MAX": exp.Max}
"""What is kept running of an aggregate's values."""


def can_run(total: NormalAggregate) -> bool:
    """Tell whether an aggregate can be kept running, exactly.

    Each of its rows must count over one interval: nothing is nested in what they meet.  What
    must be taken out again must be a whole number, for floating-point sums do not come back
    to where they were; and a minimum, or a value counted once, cannot be taken out.
    """
    if len(total.rows) != 1 or total.rows[0].nested or total.rows[0].bindings:
        return False
    if not expires(total):
        return not total.distinct or total.function in ("COUNT", "MIN", "MAX")
    exact = isinstance(total.term, Column | Arith | Call) and total.term.type is Type.INTEGER
    summed = total.function == "COUNT" or (total.function in ("SUM", "AVG") and exact)
    return summed and not total.distinct


def expires(total: NormalAggregate) -> bool:
    """Tell whether rows of an aggregate cease to count."""
    return any(time.op in ("<", "<=") for row in total.rows for time in row.temporal_predicates)


def counting_interval(
    total: NormalAggregate, scope: Scope
) -> tuple[exp.Expr, exp.Expr | None, list[exp.Expr]]:
    """Return a row's alpha, its omega, and the conditions under which it counts at all."""
    row = total.rows[0]
    begins = [EventPoint(Column(binding.var, "ts", Type.INSTANT)) for binding in total.bindings]
    begins += [
        EventPoint(t.right, 1 if t.op == ">" else 0)
        for t in row.temporal_predicates
        if t.op in (">", ">=")
    ]
    over = [end(time) for time in row.temporal_predicates if time.op in ("<", "<=")]
    known: list[exp.Expr] = [
        exp.not_(exp.Is(this=scope.term(moment.term), expression=exp.null()), copy=False)
        for moment in (*begins, *over)
        if moment.anchor is None or moment.anchor[0].name != "ts"
    ]
    alpha = _extreme(exp.Greatest, [scope.moment(moment) for moment in begins])
    if not over:
        return alpha, None, known
    omega = _extreme(exp.Least, [scope.moment(moment) for moment in over])
    known.append(exp.LT(this=alpha.copy(), expression=omega.copy()))
    return alpha, omega, known


def _extreme(kind: type[exp.Func], terms: Sequence[exp.Expr]) -> exp.Expr:
    return terms[0] if len(terms) == 1 else kind(this=terms[0], expressions=list(terms[1:]))


def running_window(aggregate: exp.Expr, keys: Sequence[str]) -> exp.Window:
    """Return an aggregate of all up to a row's instant, those of the same instant included."""
    return exp.Window(
        this=aggregate,
        partition_by=[exp.column(key, quoted=True) for key in keys],
        order=exp.Order(expressions=[exp.Ordered(this=exp.column("c"), nulls_first=True)]),
    )


def running_value(total: NormalAggregate) -> exp.Expr:
    """Return the aggregate from its running columns ``v`` (of values) and ``n`` (their number)."""
    if total.function == "COUNT":
        return exp.column("n")
    known = exp.GT(this=exp.column("n"), expression=exp.convert(0))
    whole: Any = exp.column("v")
    if total.function == "AVG":
        whole = exp.Div(
            this=exp.cast(whole, "double"), expression=exp.column("n"), typed=False, safe=False
        )
    return exp.Case(ifs=[exp.If(this=known, true=whole)])
