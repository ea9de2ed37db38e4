"""Sets of instants, and truth as a function of time.

A set is a sorted tuple of disjoint half-open spans ``(from, until)`` of whole microseconds.  A
truth is a pair of such sets: when a condition is true, and when it is false; at every other
instant it is unknown (NULL).  So one look at a filter says what it answers at all instants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

FOREVER = 1 << 62
Spans = tuple[tuple[int, int], ...]
Truth3 = tuple[Spans, Spans]

NONE: Spans = ()
ALL: Spans = ((-FOREVER, FOREVER),)
TRUE: Truth3 = (ALL, NONE)
FALSE: Truth3 = (NONE, ALL)
UNKNOWN: Truth3 = (NONE, NONE)


def union(a: Spans, b: Spans) -> Spans:
    """Return the instants of either."""
    if not a or b is ALL:
        return b
    if not b or a is ALL:
        return a
    return union_all([a, b])


def union_all(sets: Iterable[Spans]) -> Spans:
    """Return the instants of any; spans that touch become one.

    >>> union_all([((1, 3), (7, 9)), ((3, 4),), ((8, 12),)])
    ((1, 4), (7, 12))
    """
    pieces = sorted(span for spans in sets for span in spans)
    if len(pieces) < 2:
        return tuple(pieces)
    found = []
    start, end = pieces[0]
    for first, last in pieces[1:]:
        if first > end:
            found.append((start, end))
            start, end = first, last
        elif last > end:
            end = last
    found.append((start, end))
    return ALL if found == [(-FOREVER, FOREVER)] else tuple(found)


def meet(a: Spans, b: Spans) -> Spans:
    """Return the instants of both.

    >>> meet(((1, 5), (7, 9)), ((3, 8),))
    ((3, 5), (7, 8))
    """
    if a is ALL or not b:
        return b
    if b is ALL or not a:
        return a
    if len(a) == 1 == len(b):  # nearly all are
        (begin, last), (other_begin, other_last) = a[0], b[0]
        if begin >= other_begin and last <= other_last:
            return a
        if begin < other_begin:
            begin = other_begin
        if last > other_last:
            last = other_last
        return ((begin, last),) if begin < last else NONE
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start = max(a[i][0], b[j][0])
        end = min(a[i][1], b[j][1])
        if start < end:
            found.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def without(a: Spans) -> Spans:
    """Return all other instants.

    >>> without(((1, 5),)) == ((-FOREVER, 1), (5, FOREVER))
    True
    """
    if not a:
        return ALL
    if a is ALL:
        return NONE
    found, at = [], -FOREVER
    for start, end in a:
        if at < start:
            found.append((at, start))
        at = end
    if at < FOREVER:
        found.append((at, FOREVER))
    return tuple(found)


def holds(a: Spans, t: int) -> bool:
    """Return whether an instant is one of a set."""
    return any(start <= t < end for start, end in a)


def known(value: bool | None) -> Truth3:
    """Return a truth that does not change."""
    return UNKNOWN if value is None else TRUE if value else FALSE


def sure(spans: Spans) -> Truth3:
    """Return what is true then and else false."""
    return spans, without(spans)


def flip(slope: int, height: int, op: str) -> Truth3:
    """Return when ``slope * t + height op 0`` holds, for whole instants ``t``.

    >>> flip(1, -10, ">")[0] == ((11, FOREVER),), flip(-2, 7, ">=")[0] == ((-FOREVER, 4),)
    (True, True)
    """
    if slope == 0:
        return known(COMPARE[op](height, 0))
    if op in ("=", "<>"):
        root, rest = divmod(-height, slope)
        exact = ((root, root + 1),) if rest == 0 else NONE
        return sure(exact) if op == "=" else sure(without(exact))
    if slope < 0:
        slope, height, op = -slope, -height, {"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]
    below = -((height) // slope)  # the least t with slope * t + height >= 0
    after = -height // slope + 1  # the least t with slope * t + height > 0
    start = after if op in (">", "<=") else below
    later: Spans = ((start, FOREVER),)
    return sure(later) if op[0] == ">" else sure(without(later))


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<>": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
