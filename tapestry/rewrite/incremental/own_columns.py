"""A message's own columns: matched on arrival, or never."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import MonotoneDisjunct, Variant


def own_columns(message: Binding, disjunct: MonotoneDisjunct) -> tuple[Variant, ...] | None:
    """Return the one variant of a condition on the message's own, unchanging columns.

    Law: matched_at is the message's ``ts``.
    """
    whole = disjunct.conjunction
    if whole.bindings or whole.times or whole.absent:
        return None
    return at_starts("own_columns", message, disjunct)
