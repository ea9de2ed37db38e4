"""Aggregates and ranks as functions of time: their values change where a row begins or ceases."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.simulation.auditor.nodes import SHARES, Aggregate, Binding, Fold
from tests.simulation.auditor.sequences import moment
from tests.simulation.auditor.spans import FOREVER, Spans, meet, union_all
from tests.support.engines import folds

Counted = tuple[Any, Spans]
"""A value, and when it counts."""

Segment = tuple[int, int, Any]
"""From when until when an aggregate has a value."""


def segments(aggregate: Aggregate, counted: list[Counted]) -> list[Segment]:
    """Return the values of an aggregate over all of time, in order and without a gap."""
    changes: list[tuple[int, int, Any]] = []
    for value, spans in counted:
        if value is not None:
            for start, end in spans:
                changes.append((start, 1, value))
                changes.append((end, -1, value))
    changes.sort(key=lambda change: change[0])
    found: list[Segment] = []
    rows: Counter[Any] = Counter()
    at, i = -FOREVER, 0
    while i < len(changes):
        instant = changes[i][0]
        if at < instant:
            found.append((at, instant, _value(aggregate, rows)))
            at = instant
        while i < len(changes) and changes[i][0] == instant:
            _, plus, value = changes[i]
            rows[value] += plus
            i += 1
    if at < FOREVER:
        found.append((at, FOREVER, _value(aggregate, rows)))
    return found


def placed(
    env: dict[str, dict[str, Any]], bindings: tuple[Binding, ...], values: list[Any]
) -> tuple[Any, ...] | None:
    """Return the values of bound rows with the place of these in the order in which all came.

    None where a value is NULL: such a row does not count.
    """
    if None in values:
        return None
    rows = [env[binding.var] for binding in bindings]
    mail = tuple(row["received"] for row in rows if "annid" not in row)
    keys = tuple(row["annid" if "annid" in row else "msgid"] for row in rows)
    came = max(row["ts"] for row in rows)
    return (came, mail, keys, tuple(row["audience"] for row in rows)), tuple(values)


def _value(aggregate: Aggregate, rows: Counter[Any]) -> Any:
    """Return an aggregate of values, each so many times; sums are exact."""
    if isinstance(aggregate.term, Fold):
        return folds.value(aggregate.term.definition, [row for _, row in sorted(rows.elements())])
    there = [value for value, times in rows.items() if times]
    if aggregate.function in SHARES:
        every = [passes for _, passes in (there if aggregate.distinct else rows.elements())]
        return _share(aggregate, sum(every), every.count(False))
    if aggregate.function == "COUNT":
        return len(there) if aggregate.distinct else rows.total()
    if not there:
        return None
    if aggregate.function in ("MIN", "MAX"):
        return min(there) if aggregate.function == "MIN" else max(there)
    times = dict.fromkeys(there, 1) if aggregate.distinct else rows
    total = sum((Fraction(value) * times[value] for value in there), Fraction())
    if aggregate.function == "AVG":
        total /= len(there) if aggregate.distinct else rows.total()
    return int(total) if total.denominator == 1 else float(total)


def _share(aggregate: Aggregate, passing: int, number: int) -> float | int | None:
    if aggregate.tiles:
        return folds.tile(passing, number, aggregate.tiles)
    return passing / number if number else None


Place = tuple[int, str]
"""The place of a row among others: the lowest is the last of them."""


def place(row: dict[str, Any]) -> Place:
    """Return the place of a row by its instant, then by its key."""
    return -moment(row), row["annid" if "annid" in row else "msgid"]


def of_the_last(rows: list[tuple[Place, Spans]], limit: int) -> list[Spans]:
    """Return of each row when it is among the last so many of those that are there then."""
    instants = sorted({at for _, spans in rows for span in spans for at in span})
    found: list[list[tuple[int, int]]] = [[] for _ in rows]
    for start, end in pairwise(instants):
        there = [i for i, (_, spans) in enumerate(rows) if meet(spans, ((start, end),))]
        last = sorted({rows[i][0] for i in there})[:limit]
        for i in there:
            if rows[i][0] in last:
                found[i].append((start, end))
    return [union_all([(span,) for span in spans]) for spans in found]


def ranked(
    rows: list[tuple[str, Spans, list[Segment]]], limit: int, counts: bool
) -> dict[str, Spans]:
    """Return when each message is among the first ``limit``.

    ``rows`` has a message's msgid, when the row is ranked, and its values; several rows of one
    msgid are ranked once, by the highest.  A count of 0, and a NULL, has no rank.
    """
    changes: list[tuple[int, int, int, Any]] = []
    for number, (_, spans, values) in enumerate(rows):
        for start, end, value in values:
            if value is None or (counts and value == 0):
                continue
            for first, last in meet(spans, ((start, end),)):
                changes.append((first, 1, number, value))
                changes.append((last, 0, number, None))
    changes.sort(key=lambda change: change[:2])  # what ends goes before what begins
    now: dict[int, Any] = {}
    found: dict[str, list[tuple[int, int]]] = {}
    for i, (instant, begins, number, value) in enumerate(changes):
        if begins:
            now[number] = value
        else:
            now.pop(number, None)
        until = changes[i + 1][0] if i + 1 < len(changes) else FOREVER
        if until == instant or not now:
            continue
        best: dict[str, Any] = {}
        for number, value in now.items():
            msgid = rows[number][0]
            if msgid not in best or best[msgid] < value:
                best[msgid] = value
        order = sorted(sorted(best), key=best.__getitem__, reverse=True)
        for msgid in order[:limit]:
            found.setdefault(msgid, []).append((instant, until))
    return {msgid: union_all([tuple(spans)]) for msgid, spans in found.items()}
