"""The delta rule of a disjunct that can only begin to hold at its last start.

Its delta queries are the delta expressions of joins [OracleCQ07], one for each table with new rows.
"""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.monotone.bound_in_time import end, surely_before, upper_bounds
from tapestry.rewrite.stages import Conjunction, DeltaQuery, MonotoneDisjunct


def at_starts(rule: str, message: n.Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...]:
    """Return one delta query per start, driven by it, for the bindings in which it is the last.

    Law: for a binding that holds in [C, D), C = max(starts), exactly C is a candidate, by
    the delta query of each start that equals C (more than one if they tie).  This is the split
    by driving table at the end of [Terry92 §6.2], with ``>=`` for its ``>``.

    >>> from tapestry.rewrite.examples import DELIVERED, disjunct, show
    >>> show(at_starts("age", DELIVERED, disjunct("m.date <= now() AND m.ts > now() - 1 day")))
    C is m.date: m.ts <= C AND C < m.ts + 1 day
    C is m.ts: m.date <= C
    """
    conjunction = disjunct.conjunction
    bindings, bounds = (message, *conjunction.bindings), upper_bounds(conjunction)
    delta_queries: list[DeltaQuery] = []
    for start in disjunct.starts:
        others = tuple(other for other in disjunct.starts if other != start)
        later = tuple(bound for bound in bounds if not surely_before(start, end(bound)))
        test = Conjunction(
            temporal_predicates=later,
            not_exists=conjunction.not_exists,
            having_tests=conjunction.having_tests,
        )
        delta_queries.append(
            DeltaQuery(rule, start, bindings, conjunction.plain, others, test, conjunction.bindings)
        )
    return tuple(delta_queries)
