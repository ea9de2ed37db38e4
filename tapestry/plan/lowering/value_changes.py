"""The statement that a sweep line reads: what messages are ranked by, and how it changes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.group import ConstantRow, constant_table
from tapestry.plan.lowering import running_aggregates
from tapestry.plan.lowering.running_aggregates import SUMS, RunningAggregates
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.plan.relation import Statement
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import NormalAggregate

DISJUNCT_KEY = ("filter_id", "disjunct")

MESSAGE_ROW = (*DISJUNCT_KEY, "msgid", "audience")


def value_changes(
    running: RunningAggregates,
    aggregate: NormalAggregate,
    message: n.Binding,
    constant_rows: Sequence[ConstantRow],
    most: int | None,
    *,
    apart: bool = False,
    after: int | None = None,
) -> Statement:
    """Return the statement for the values at the start of each span, and their changes in it.

    Its rows are ``(filter_id, disjunct, msgid, audience, at, v, n)``.  Of the messages whose
    values do not change only the ``most`` with the highest can matter; without ``most``, each row
    that counts at the start is told by itself.  ``apart``: so is each that ceases to count within
    the span, for its number is to be taken out again exactly.  With ``after``, of an aggregate
    that is the latest instant, only values after it are told.
    """
    assembly = running.assembly
    assembly.relations.append(constant_table("k", constant_rows))
    running.joins.bound_views.constants = "k"
    rows = _counting_rows(running, aggregate, message, constant_rows, after)
    changes = _changes(aggregate, rows)
    change = assembly.name(changes)
    every_change = sql.select_from(change, [*MESSAGE_ROW, "at", "v", "n"])
    if most is None:
        begun = _at(rows, sql.column("since"), sql.column("v"), sql.column("n"))
        return assembly.statement(sql.union([sql.where(begun, *_lasting()), every_change]))
    at_start = assembly.name(_at_start(aggregate, rows, apart))
    touched = assembly.name(sql.distinct(sql.select_from(change, MESSAGE_ROW[:3])))
    start_columns = [*MESSAGE_ROW, "since", "v", "n"]
    valued = sql.left_join(
        sql.select_from(
            at_start,
            start_columns,
            still=sql.is_null(sql.column("filter_id", touched)),
            value=running_aggregates.running_value(aggregate),
        ),
        sql.table(touched),
        sql.all_of(*sql.same(MESSAGE_ROW[:3], at_start, touched)),
    )
    start_columns.append("still")
    highest = sql.window(exp.Max(this=sql.column("value")), MESSAGE_ROW[:3])
    best = sql.select_from(assembly.name(valued), start_columns, best=highest)
    place = sql.window(
        exp.DenseRank(),
        [*DISJUNCT_KEY, "still"],
        sql.ordered("best", descending=True, nulls_first=False),
        sql.ordered("msgid"),
    )
    placed = sql.select_from(assembly.name(best), start_columns, place=place)
    kept = _at(assembly.name(placed), sql.column("since"), sql.column("v"), sql.column("n"))
    matters = sql.le(sql.column("place"), sql.literal(most))
    sql.where(kept, sql.any_of(sql.negate(sql.column("still")), matters))
    told = [kept, every_change]
    if apart:
        begun = _at(rows, sql.column("since"), sql.column("v"), sql.column("n"))
        ceasing = sql.le(sql.column("omega"), sql.column("until"))
        told.append(sql.where(begun, *_lasting(), ceasing))
    return assembly.statement(sql.union(told))


def _counting_rows(
    running: RunningAggregates,
    aggregate: NormalAggregate,
    message: n.Binding,
    constant_rows: Sequence[ConstantRow],
    after: int | None,
) -> str:
    """Return the rows that count, from alpha to omega, with the messages that they count for."""
    span = [*DISJUNCT_KEY, "since", "until"]
    message_columns = [(message.var, "msgid"), (message.var, "audience")]
    counted = running.counting_rows(
        aggregate, Scope("k"), span, message_columns, constant_rows, after
    )
    expires, counts = running_aggregates.expires(aggregate), aggregate.function == "COUNT"
    rows = sql.select_from(
        counted,
        span,
        *(
            sql.alias(sql.column(column_alias(var, name), counted), name)
            for var, name in message_columns
        ),
        sql.column("alpha"),
        sql.column("omega") if expires else sql.alias(sql.literal(None), "omega"),
        sql.alias(sql.column("n"), "v") if counts else sql.column("v"),
        sql.column("n"),
    )
    return running.assembly.name(sql.where(rows, sql.gt(sql.column("n"), sql.literal(0))))


def _changes(aggregate: NormalAggregate, rows: str) -> exp.Query:
    """Return what begins to count within the span, and what ceases to."""
    alpha, omega, since, until = map(sql.column, ("alpha", "omega", "since", "until"))
    begins = _at(rows, alpha, sql.column("v"), sql.column("n"))
    sql.where(begins, sql.gt(alpha.copy(), since), sql.le(alpha.copy(), until))
    if not running_aggregates.expires(aggregate):
        return begins
    less = (sql.alias(exp.Neg(this=sql.column(name)), name) for name in ("v", "n"))
    ends = _at(rows, omega, *less)
    sql.where(
        ends,
        sql.le(alpha.copy(), until.copy()),
        sql.gt(omega.copy(), since.copy()),
        sql.le(omega.copy(), until.copy()),
    )
    return sql.union([begins, ends])


def _at(rows: str, instant: exp.Expr, *changes: exp.Expr) -> exp.Select:
    """Return the rows of messages, with an instant and what changes at it."""
    return sql.select_from(rows, MESSAGE_ROW, sql.alias(instant, "at"), *changes)


def _at_start(aggregate: NormalAggregate, rows: str, apart: bool) -> exp.Select:
    """Return the sums of what counts at the start of the span, for each message row.

    ``apart``: of what counts throughout the span.
    """
    keys = [*MESSAGE_ROW, "since"]
    sums = sql.select_from(
        rows,
        keys,
        v=SUMS[aggregate.function](this=sql.column("v")),
        n=exp.Sum(this=sql.column("n")),
    )
    sql.where(sums, *_lasting("until" if apart else "since"))
    return sql.group_by(sums, *(sql.column(key, rows) for key in keys))


def _lasting(to: str = "since") -> tuple[exp.Expr, exp.Expr]:
    """Return the tests that a row counts at the start of the span, and on to its start or end."""
    alpha, omega, since = map(sql.column, ("alpha", "omega", "since"))
    lasts = sql.any_of(sql.is_null(omega), sql.gt(omega.copy(), sql.column(to)))
    return sql.le(alpha, since), lasts
