"""NOT EXISTS over open intervals: tested at the start and where an interval ends."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding, Compare
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.monotone.bound_in_time import end, starts
from tapestry.rewrite.stages import Conjunction, DeltaQuery, MonotoneDisjunct


def absent_after_end(message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of "no reply for the last two weeks" and its like.

    Applies where no NOT EXISTS contains another.  Law: the inside of NOT EXISTS holds for
    each of its bindings over one interval, so NOT EXISTS can turn true only at an
    interval's end; the disjunct begins to hold at its last start or at such an end.  (The
    1992 paper left this case to its technical report.)
    """
    whole = disjunct.conjunction
    if not whole.not_exists or any(part.not_exists for part in whole.not_exists):
        return None
    first = at_starts("absent_after_end", message, disjunct)
    return first + tuple(
        DeltaQuery(
            "absent_after_end",
            end(time),
            (message, *whole.bindings, *part.bindings),
            (*whole.plain, *part.plain),
            (*disjunct.starts, *starts(part)),
            Conjunction((), (), _ends(whole), whole.not_exists),
            whole.bindings,
        )
        for part in whole.not_exists
        for time in _ends(part)
    )


def _ends(part: Conjunction) -> tuple[Compare, ...]:
    return tuple(time for time in part.temporal_predicates if time.op in ("<", "<="))
