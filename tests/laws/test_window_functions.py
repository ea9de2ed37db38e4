"""The judge of window functions, against an engine that has them: SQLite's own OVER."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from tapestry.core.schema import COLUMNS, MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RANKS, SHIFTS, VALUES
from tests.laws.filter_laws import QUICK
from tests.support.engines import nested_loops, window_functions
from tests.support.generators import random_filters, rows
from tests.support.generators.terms import TRUE, integer
from tests.support.oracle.values import cell


def drawn(writer) -> n.Over:
    """Draw a window function that SQL has, too, and whose value its standard does not leave open.

    Who is the last of peers is open there, so the values of other rows are of frames of rows.
    """
    name = writer.pick(*RANKS, *VALUES, "COUNT", "SUM", "AVG", "MIN", "MAX")
    over = replace(writer._over(n.Binding("m", MESSAGES), name), condition=TRUE, distinct=False)
    if over.order and name in VALUES and name not in SHIFTS:
        low, high = writer.pick((None, 0), (-1, 1), (-2, 0), (0, None), (1, 2), (None, -1))
        ends = [None if end is None else integer(end) for end in (low, high)]
        over = replace(over, frame=n.Frame(True, *ends))
    return over


def in_sql(over: n.Over) -> str:
    """Return the query of the msgids with the values of a window function."""
    term = exp.column(over.term.name) if isinstance(over.term, n.Column) else None
    star = exp.Star() if over.name == "COUNT" else None
    number = exp.convert(over.count.value) if over.count else None
    arguments = [part for part in (term or star, number) if part is not None]
    keys = [exp.column(column.name) for column in over.per]
    there = list(keys)
    order = []
    if over.order:
        there.append(exp.column(over.order.name))
        order.append(exp.Ordered(this=exp.column(over.order.name), desc=over.descending))
        by_rows = over.name in ("ROW_NUMBER", "NTILE", *SHIFTS)
        by_peers = not by_rows and not (over.frame and over.frame.rows)
        order += [] if by_peers else [exp.Ordered(this=exp.column("msgid"))]
    window = exp.Window(
        this=exp.Anonymous(this=over.name, expressions=arguments),
        partition_by=keys,
        order=exp.Order(expressions=order) if order else None,
        spec=frame_of(over.frame) if over.frame else None,
    )
    known = [exp.not_(exp.Is(this=column.copy(), expression=exp.null())) for column in there]
    select = exp.select("msgid", exp.alias_(window, "value")).from_("messages").where(*known)
    return select.sql(dialect="sqlite")


def frame_of(frame: n.Frame) -> exp.WindowSpec:
    low, low_side = end_of(frame.low, "PRECEDING")
    high, high_side = end_of(frame.high, "FOLLOWING")
    kind = "ROWS" if frame.rows else "RANGE"
    ends = {"start": low, "start_side": low_side, "end": high, "end_side": high_side}
    return exp.WindowSpec(kind=kind, **ends)


def end_of(bound: n.Literal | None, unbounded: str) -> tuple[str | exp.Expr, str | None]:
    if bound is None:
        return "UNBOUNDED", unbounded
    if not bound.value:
        return "CURRENT ROW", None
    return exp.convert(abs(bound.value)), "PRECEDING" if bound.value < 0 else "FOLLOWING"


@QUICK
@given(st.data())
def test_a_partition_is_read_as_sqlite_reads_it(draw):
    over = drawn(random_filters._Writer(draw.draw, random_filters._Limits()))
    mail = list({row["msgid"]: row for row in draw.draw(rows.partitions())[MESSAGES]}.values())
    db = sqlite3.connect(":memory:")
    names = [name for name, kind in COLUMNS[MESSAGES].items() if kind is not Type.SET]
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    table = exp.Schema(this=exp.to_table("messages"), expressions=columns)
    db.execute(exp.Create(this=table, kind="TABLE").sql(dialect="sqlite"))
    values = [[cell(row, name, COLUMNS[MESSAGES][name]) for name in names] for row in mail]
    marks = exp.Values(expressions=[exp.Tuple(expressions=[exp.Placeholder() for _ in names])])
    insert = exp.Insert(this=exp.to_table("messages"), expression=marks)
    db.executemany(insert.sql(dialect="sqlite"), values)
    visible = {MESSAGES: mail, "annotations": []}

    def found(row):
        return window_functions.values_of(
            over,
            {"m": row},
            visible,
            lambda condition, bound: nested_loops.holds(condition, bound, visible, 99),
            lambda term, bound: nested_loops.value(term, bound, 99),
        )

    by_engine = dict(db.execute(in_sql(over)))
    assert {row["msgid"]: found(row) for row in mail} == {
        row["msgid"]: [by_engine.get(row["msgid"])] for row in mail
    }
