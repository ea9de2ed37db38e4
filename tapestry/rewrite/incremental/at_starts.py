"""The delta queries of a disjunct that can only begin to hold at its last start."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.monotone.bound_in_time import end, surely_before
from tapestry.rewrite.stages import Conjunction, DeltaQuery, MonotoneDisjunct


def at_starts(rule: str, message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...]:
    """Return one delta query per start, driven by it, for the bindings in which it is the last.

    Law: for a binding that holds in [C, D), C = max(starts), exactly C is a candidate, by
    the delta query of each start that equals C (more than one if they tie).  This is the split
    by driving table at the end of section 6.2 of the paper, with ``>=`` for its ``>``.
    """
    whole = disjunct.conjunction
    return tuple(
        DeltaQuery(
            rule,
            start,
            (message, *whole.bindings),
            whole.plain,
            tuple(other for other in disjunct.starts if other != start),
            Conjunction(
                (),
                (),
                tuple(
                    time
                    for time in whole.temporal_predicates
                    if time.op in ("<", "<=") and not surely_before(start, end(time))
                ),
                whole.not_exists,
            ),
            whole.bindings,
        )
        for start in disjunct.starts
    )
