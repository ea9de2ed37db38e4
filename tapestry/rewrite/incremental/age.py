"""Age: the message's own columns and ``now()``."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def age(message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of a condition on the message alone that time makes true.

    Law: matched_at is the last start, if it comes before the first end (section 4.2 of the
    paper); "two weeks old" reads the slice of messages that become so in the window.
    """
    whole = disjunct.conjunction
    if whole.bindings or not whole.temporal_predicates or whole.not_exists:
        return None
    return at_starts("age", message, disjunct)
