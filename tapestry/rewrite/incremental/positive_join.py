"""A join of what exists: matched when the last of its rows arrives."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def positive_join(message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return a delta query for each table of a join, driven by that table's new rows.

    Law: matched_at is the least, over the bindings, of the last start before the first end
    (section 5 of the paper, exact where rows of one batch share a ``ts``).
    """
    whole = disjunct.conjunction
    if not whole.bindings or whole.not_exists:
        return None
    return at_starts("positive_join", message, disjunct)
