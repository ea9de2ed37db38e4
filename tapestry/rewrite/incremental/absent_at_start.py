"""An anti-join or a COUNT below a bound that only ever turns false: tested at the start."""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.monotonicity import Monotonicity, analyze
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def absent_at_start(
    message: n.Binding, disjunct: MonotoneDisjunct
) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of a disjunct whose tests of other rows can only turn false.

    Law: the first instant at which a binding can hold is C, its last start.  NOT EXISTS that
    is false at C stays false [Terry92 §4.3, with ``x.ts <= C`` for its ``<``], and so does a COUNT
    below a bound, of rows that count for good: NOT EXISTS is a COUNT below one.

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(absent_at_start, "m.ts < now() - 1 day AND NOT EXISTS (r: r.size > m.size)")
    C is just after m.ts + 1 day: NOT EXISTS (r: r.size > m.size AND r.ts <= C)
    """
    conjunction = disjunct.conjunction
    if not conjunction.not_exists and not conjunction.having_tests:
        return None
    if analyze(conjunction).monotonicity is Monotonicity.AT_EVENTS:
        return None
    return at_starts("absent_at_start", message, disjunct)
