"""A message's own columns: matched on arrival, or never."""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def own_columns(message: n.Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return the one delta query of a condition on the message's own, unchanging columns.

    Law: matched_at is the message's ``ts``.

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(own_columns, "m.size > 1024")
    C is m.ts: m.size > 1024
    """
    conjunction = disjunct.conjunction
    if conjunction.bindings or conjunction.temporal_predicates or conjunction.not_exists:
        return None
    return at_starts("own_columns", message, disjunct)
