"""An anti-join whose inside only ever turns true: tested at the earliest instant."""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.monotonicity import Monotonicity, analyze
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def absent_at_start(
    message: n.Binding, disjunct: MonotoneDisjunct
) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of a disjunct in which every NOT EXISTS can only turn false.

    Law: the first instant at which a binding can hold is C, its last start.  NOT EXISTS that
    is false at C stays false [Terry92 §4.3, with ``x.ts <= C`` for its ``<``].

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(absent_at_start, "m.ts < now() - 1 day AND NOT EXISTS (r: r.size > m.size)")
    C is just after m.ts + 1 day: NOT EXISTS (r: r.size > m.size AND r.ts <= C)
    """
    conjunction = disjunct.conjunction
    if not conjunction.not_exists:
        return None
    if analyze(conjunction).monotonicity is Monotonicity.AT_EVENTS:
        return None
    return at_starts("absent_at_start", message, disjunct)
