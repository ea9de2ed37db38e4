"""A message's own columns: matched on arrival, or never."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def own_columns(message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return the one delta query of a condition on the message's own, unchanging columns.

    Law: matched_at is the message's ``ts``.
    """
    whole = disjunct.conjunction
    if whole.bindings or whole.temporal_predicates or whole.not_exists:
        return None
    return at_starts("own_columns", message, disjunct)
