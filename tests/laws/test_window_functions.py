"""The judge of window functions, against an engine that has them: SQLite's own OVER."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.schema import COLUMNS, MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RANKS, SHIFTS, VALUES
from tests.laws.filter_laws import QUICK
from tests.support.engines import nested_loops, window_functions
from tests.support.generators import random_filters, rows
from tests.support.generators.terms import TRUE, integer
from tests.support.oracle_values import cell


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
    term = over.term.name if isinstance(over.term, n.Column) else "*" * (over.name == "COUNT")
    count = f", {over.count.value}" if over.count else ""
    per = ", ".join(column.name for column in over.per)
    there = [f"{column.name} IS NOT NULL" for column in over.per]
    order = ""
    if over.order:
        there.append(f"{over.order.name} IS NOT NULL")
        by_peers = over.name not in ("ROW_NUMBER", *SHIFTS) and not (over.frame and over.frame.rows)
        tie = "" if by_peers else ", msgid"
        order = f"ORDER BY {over.order.name}{' DESC' * over.descending}{tie}"
    frame = ""
    if over.frame:
        ends = (end_of(over.frame.low, "PRECEDING"), end_of(over.frame.high, "FOLLOWING"))
        kind = "ROWS" if over.frame.rows else "RANGE"
        frame = f"{kind} BETWEEN {' AND '.join(ends)}"
    value = f"{over.name}({term}{count}) OVER (PARTITION BY {per} {order} {frame})"
    return f"SELECT msgid, {value} FROM messages WHERE {' AND '.join(there)}"


def end_of(bound: n.Literal | None, unbounded: str) -> str:
    if bound is None:
        return f"UNBOUNDED {unbounded}"
    if not bound.value:
        return "CURRENT ROW"
    way = "PRECEDING" if bound.value < 0 else "FOLLOWING"
    return f"{abs(bound.value)} {way}"


@QUICK
@given(st.data())
def test_a_partition_is_read_as_sqlite_reads_it(draw):
    over = drawn(random_filters._Writer(draw.draw, random_filters._Limits()))
    mail = list({row["msgid"]: row for row in draw.draw(rows.partitions())[MESSAGES]}.values())
    db = sqlite3.connect(":memory:")
    names = [name for name, kind in COLUMNS[MESSAGES].items() if kind is not Type.SET]
    quoted = ", ".join(f'"{name}"' for name in names)
    db.execute(f"CREATE TABLE messages ({quoted})")
    values = [[cell(row, name, COLUMNS[MESSAGES][name]) for name in names] for row in mail]
    db.executemany(f"INSERT INTO messages VALUES ({', '.join('?' * len(names))})", values)
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
