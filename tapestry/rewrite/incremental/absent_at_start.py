"""NOT EXISTS whose inside only ever turns true: tested at the earliest instant."""

from __future__ import annotations

from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.incremental.at_starts import at_starts
from tapestry.rewrite.monotonicity import Monotonicity, analyze
from tapestry.rewrite.stages import DeltaQuery, MonotoneDisjunct


def absent_at_start(message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...] | None:
    """Return the delta queries of a disjunct in which every NOT EXISTS can only turn false.

    Law: a binding's first instant is C, the last start, or it has none: NOT EXISTS that is
    false at C stays false (section 4.3 of the paper, with ``x.ts <= C`` for its ``<``).
    """
    whole = disjunct.conjunction
    if not whole.not_exists or analyze(whole).monotonicity is Monotonicity.AT_EVENTS:
        return None
    return at_starts("absent_at_start", message, disjunct)
