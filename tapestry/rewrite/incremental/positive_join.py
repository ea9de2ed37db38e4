"""A join of rows that exist: matched when the last of its rows arrives."""

from __future__ import annotations

from tapestry.query.tree import nodes as n
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def positive_join(message: n.Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return a delta query for each table of a semi-join, driven by that table's new rows.

    Law: matched_at is the least, over the bindings, of the last start before the first end
    [Terry92 §5]; it is exact where rows of one batch share a ``ts``.

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(positive_join, "EXISTS (r: r.inreplyto = m.msgid)")
    C is m.ts: r.inreplyto = m.msgid AND r.ts <= C
    C is r.ts: r.inreplyto = m.msgid AND m.ts <= C
    """
    conjunction = disjunct.conjunction
    if not conjunction.bindings or conjunction.not_exists:
        return None
    return at_starts("positive_join", message, disjunct)
