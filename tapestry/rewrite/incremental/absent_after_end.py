"""An anti-join over intervals: tested at the start and where an interval ends."""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.monotone.bound_in_time import end, starts, upper_bounds
from tapestry.rewrite.stages import Conjunction, DeltaQuery, MonotoneDisjunct


def absent_after_end(
    message: n.Binding, disjunct: MonotoneDisjunct
) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of "no reply for the last two weeks" and its like.

    Applies where no NOT EXISTS contains another.  Law: the inside of NOT EXISTS holds for each of
    its bindings over one interval, so NOT EXISTS can turn true only at an interval's end.  The
    disjunct begins to hold at its last start or at such an end.  ([Terry92] leaves this case to
    a technical report.)

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(absent_after_end, "NOT EXISTS (r: r.ts > now() - 1 day)")
    C is m.ts: NOT EXISTS (r: r.ts <= C AND C < r.ts + 1 day)
    C is r.ts + 1 day: m.ts <= C AND r.ts <= C AND NOT EXISTS (r: r.ts <= C AND C < r.ts + 1 day)
    """
    conjunction = disjunct.conjunction
    if not conjunction.not_exists or any(inner.not_exists for inner in conjunction.not_exists):
        return None
    test = Conjunction(
        temporal_predicates=upper_bounds(conjunction), not_exists=conjunction.not_exists
    )
    return at_starts("absent_after_end", message, disjunct) + tuple(
        DeltaQuery(
            "absent_after_end",
            end(bound),
            (message, *conjunction.bindings, *inner.bindings),
            (*conjunction.plain, *inner.plain),
            (*disjunct.starts, *starts(inner)),
            test,
            conjunction.bindings,
        )
        for inner in conjunction.not_exists
        for bound in upper_bounds(inner)
    )
