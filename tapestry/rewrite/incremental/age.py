"""Age: the message's own columns and ``now()``, a temporal filter."""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def age(message: n.Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of a condition on the message alone that time makes true.

    Law: matched_at is the last start, if it comes before the first end [Terry92 §4.2].  "Two
    weeks old" reads only the slice of messages that become so in the window.

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(age, "m.ts < now() - 2 weeks AND m.size > 1024")
    C is just after m.ts + 2 weeks: m.size > 1024
    """
    conjunction = disjunct.conjunction
    if conjunction.bindings or not conjunction.temporal_predicates or conjunction.not_exists:
        return None
    return at_starts("age", message, disjunct)
