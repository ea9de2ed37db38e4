"""A sweep line over changes of values: from when to when each message is among the top."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import isfinite
from operator import add, itemgetter
from typing import Any

Value = Any
"""A number: what a message is ranked by."""

Period = tuple[int, int, str, int, int]
"""Filter, disjunct, msgid, the first instant among the top, and the first that is not."""


@dataclass(frozen=True)
class SweepLine:
    """The top of each (filter, disjunct) over a span of time.

    ``tops`` says how many are on top, and what the last instant is.  Rows are
    ``(filter_id, disjunct, msgid, audience, at, v, n)``: from ``at`` on, v is added to the
    aggregate of a message's row, and n to the number of what it counts.
    """

    function: str
    tops: Mapping[tuple[int, int], tuple[int, int]]

    def __call__(self, rows: Iterable[Sequence[Any]]) -> tuple[Period, ...]:
        """Return the periods of all.

        >>> votes = [(1, 0, "a", "", 5, 2, 1), (1, 0, "b", "", 7, 3, 1), (1, 0, "b", "", 9, -2, 1)]
        >>> SweepLine("SUM", {(1, 0): (1, 10)})(votes)
        ((1, 0, 'a', 5, 7), (1, 0, 'b', 7, 9), (1, 0, 'a', 9, 11))
        """
        by_disjunct: dict[tuple[int, int], list[Sequence[Any]]] = defaultdict(list)
        for row in rows:
            by_disjunct[row[0], row[1]].append(row)
        return tuple(
            (*key, *period)
            for key, changes in by_disjunct.items()
            for period in self._periods(*self.tops[key], changes)
        )

    def is_full(self, starts: Mapping[tuple[int, int], int], rows: Iterable[Sequence[Any]]) -> bool:
        """Tell whether each top is full by the rows at its start.

        >>> sweep = SweepLine("MAX", {(1, 0): (2, 10)})
        >>> rows = [(1, 0, "a", "", 5, 2, 1), (1, 0, "b", "", 7, 3, 1)]
        >>> sweep.is_full({(1, 0): 5}, rows), sweep.is_full({(1, 0): 7}, rows)
        (False, True)
        """
        begun: dict[tuple[int, int], set[str]] = defaultdict(set)
        for row in rows:
            if row[4] <= starts[row[0], row[1]]:
                begun[row[0], row[1]].add(row[2])
        return all(len(begun[key]) >= limit for key, (limit, _) in self.tops.items())

    def _periods(
        self, limit: int, last: int, rows: list[Sequence[Any]]
    ) -> Iterator[tuple[str, int, int]]:
        ranking = _Ranking(self.function)
        since: dict[str, int] = {}
        for at, changes in groupby(sorted(rows, key=itemgetter(4)), key=itemgetter(4)):
            place = min([ranking.change(*row[2:4], *row[5:7]) for row in changes])
            if place >= limit:
                continue
            top = ranking.first(limit)
            for msgid in sorted(since.keys() - top):
                yield msgid, since.pop(msgid), at
            for msgid in top - since.keys():
                since[msgid] = at
        for msgid, begins in since.items():
            yield msgid, begins, last + 1


class _Ranking:
    """Messages by value, the highest first; of several audiences, the highest value counts.

    Floating-point numbers are added as fractions, and the sum is rounded once: it comes back to
    where it was when a number is taken out again, and no order of adding is another sum.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._add = {"MIN": min, "MAX": max}.get(function, add)
        self._aggregates: dict[str, dict[str, tuple[Value, int]]] = defaultdict(dict)
        self._order: list[tuple[Value, str]] = []

    def first(self, limit: int) -> set[str]:
        return {msgid for _, msgid in self._order[:limit]}

    def change(self, msgid: str, audience: str, v: Value, n: int) -> int:
        """Change a row's aggregate, and return the first place that this can have moved."""
        if self._add is add and isinstance(v, float) and isfinite(v):
            v = Fraction(v)
        rows = self._aggregates[msgid]
        before = self._key(msgid)
        old, count = rows.get(audience, (None, 0))
        rows[audience] = (v if old is None else self._add(old, v), count + n)
        after = self._key(msgid)
        if before == after:
            return len(self._order)
        places = []
        if before is not None:
            places.append(bisect_left(self._order, before))
            del self._order[places[0]]
        if after is not None:
            insort(self._order, after)
            places.append(bisect_left(self._order, after))
        return min(places)

    def _key(self, msgid: str) -> tuple[Value, str] | None:
        values = [self._value(v, n) for v, n in self._aggregates[msgid].values() if n]
        return (-max(values), msgid) if values else None

    def _value(self, v: Value, n: int) -> Value:
        if self._function == "COUNT":
            return n
        value = v / n if self._function == "AVG" else v
        return float(value) if isinstance(value, Fraction) else value
