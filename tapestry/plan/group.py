"""A signature group: disjuncts that share a plan, and the constant table that parameterises it.

These are the group, the group plan and the constant table of [Chen00 §3.2.2].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tapestry.core.accents import fold_accents
from tapestry.core.clock import BEGINNING
from tapestry.core.schema import Type
from tapestry.plan.relation import Field, Range, Relation
from tapestry.plan.signature import Constant, Value, integer_value, values_by_slot
from tapestry.plan.text_predicates import like_regex
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import EventPoint, IncrementalDisjunct

MOST_RANGES = 16
"""More slices of a table than this are read as one, from the first to the last."""


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """A row of the constant table: a disjunct's constants, what its filter may see, its window."""

    filter_id: int
    disjunct: int
    constants: tuple[Constant, ...]
    audiences: tuple[str, ...]
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class SignatureGroup:
    """Disjuncts that share a plan: the plan of the first, and a constant row for each."""

    disjunct: IncrementalDisjunct
    rows: tuple[ConstantRow, ...]


def constant_table(name: str, rows: Sequence[ConstantRow]) -> Relation:
    """Return the constant table of a group as a relation; of LIKE it has regular expressions.

    Of HAS it has words without accents.
    """
    fields = (
        Field("filter_id", Type.INTEGER),
        Field("disjunct", Type.INTEGER),
        Field("since", Type.INSTANT),
        Field("until", Type.INSTANT),
        Field("audiences", Type.TEXT, many=True),
        *(Field(f"p{c.slot}", c.type, c.many) for c in rows[0].constants),
    )
    values = tuple(
        (r.filter_id, r.disjunct, r.since, r.until, r.audiences, *map(_cell, r.constants))
        for r in rows
    )
    return Relation(name, fields, values)


def _cell(constant: Constant) -> Value:
    match constant.use:
        case "like":
            return like_regex(str(constant.value))
        case "has":
            return fold_accents(str(constant.value))
    return constant.value


def slices(rows: Sequence[ConstantRow], event: EventPoint) -> tuple[Range, ...]:
    """Return the ranges of the event's column that can put it into a row's window.

    The event is a column and an offset, perhaps with constants that differ between the
    rows; "two weeks old" gives the slice of rows that became so in the window, by the clock of
    the filter.
    """
    if event.anchor is None:
        return ((BEGINNING, max(row.until for row in rows)),)
    _, constant, slotted = event.anchor
    wanted = []
    for row in rows:
        values = values_by_slot(row.constants)
        offset = constant + sum(sign * integer_value(length, values) for sign, length in slotted)
        low, high = row.since, row.until
        if isinstance(event.term, n.Reached):
            low, high = (integer_value(end, values) for end in (event.term.low, event.term.high))
        wanted.append((max(low - offset, BEGINNING), high - offset))
    ranges = merge(wanted)
    return ranges if len(ranges) <= MOST_RANGES else ((ranges[0][0], ranges[-1][1]),)


def merge(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return the ranges sorted, with overlapping ones joined.

    >>> merge([(5, 9), (1, 3), (2, 4)])
    ((1, 4), (5, 9))
    """
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)
