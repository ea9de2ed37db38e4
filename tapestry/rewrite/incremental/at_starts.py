"""The delta queries of a disjunct that can only begin to hold at its last start."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.monotone.bound_in_time import end, surely_before, upper_bounds
from tapestry.rewrite.stages import Conjunction, DeltaQuery, MonotoneDisjunct


def at_starts(rule: str, message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...]:
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
    return tuple(
        DeltaQuery(
            rule,
            start,
            (message, *conjunction.bindings),
            conjunction.plain,
            tuple(other for other in disjunct.starts if other != start),
            Conjunction(
                (),
                (),
                tuple(
                    bound
                    for bound in upper_bounds(conjunction)
                    if not surely_before(start, end(bound))
                ),
                conjunction.not_exists,
            ),
            conjunction.bindings,
        )
        for start in disjunct.starts
    )
