"""Filters' texts to stages, and stages to text: for the examples in this room's docstrings."""

from __future__ import annotations

from collections.abc import Callable

from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.printer import print_condition, print_term
from tapestry.rewrite.pipeline import monotone, normal
from tapestry.rewrite.restore import conjunction_condition, delta_query_condition
from tapestry.rewrite.stages import Conjunction, DeltaQuery, EventPoint, MonotoneDisjunct

DELIVERED = n.Binding(MESSAGE, MESSAGES)
"""The message that a filter is about."""


def condition(text: str) -> n.Condition:
    """Return the checked condition of a filter.

    >>> print_condition(condition("NOT m.size<1"))
    'NOT m.size < 1'
    """
    return read(text, Context()).condition


def conjunction(text: str) -> Conjunction:
    """Return the first disjunct of a filter in normal form.

    >>> show((conjunction("NOT (m.size < 10 OR m.list = 'a')"),))
    m.size >= 10 AND m.list <> 'a'
    """
    return normal(read(text, Context())).disjuncts[0]


def disjunct(text: str) -> MonotoneDisjunct:
    """Return the first disjunct of a filter, with its interval.

    >>> [point(start) for start in disjunct("m.date <= now()").starts]
    ['m.date', 'm.ts']
    """
    return monotone(normal(read(text, Context()))).disjuncts[0]


def point(event: EventPoint) -> str:
    """Return an event point as text.

    >>> point(EventPoint(n.Column("m", "ts"))), point(EventPoint(n.Column("m", "ts"), 1))
    ('m.ts', 'just after m.ts')
    """
    shown = print_term(event.term)
    return f"just after {shown}" if event.shift else shown


def show(stage: n.Condition | tuple[Conjunction | DeltaQuery, ...]) -> None:
    """Print a condition, or each conjunction or delta query on a line of its own.

    That C, the candidate's instant, is in the window (since, until] is left out.

    >>> show(condition("m.size > 1 and m.list = 'a'"))
    m.size > 1 AND m.list = 'a'
    """
    for part in stage if isinstance(stage, tuple) else (stage,):
        match part:
            case Conjunction():
                print(print_condition(conjunction_condition(part)))
            case DeltaQuery():
                shown = print_condition(delta_query_condition(part))
                inside = shown.removeprefix("since < C AND C <= until").removeprefix(" AND ")
                print(f"C is {point(part.event)}: {inside or 'TRUE'}")
            case _:
                print(print_condition(part))


def show_fast(
    rule: Callable[[n.Binding, MonotoneDisjunct], tuple[DeltaQuery, ...] | None], text: str
) -> None:
    """Print the delta queries that a fast rule makes of a filter's first disjunct, if any.

    >>> from tapestry.rewrite.incremental.own_columns import own_columns
    >>> show_fast(own_columns, "m.size > 1024")
    C is m.ts: m.size > 1024
    """
    show(rule(DELIVERED, disjunct(text)) or ())
