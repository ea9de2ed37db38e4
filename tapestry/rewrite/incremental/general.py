"""The general rule: test the whole disjunct at every instant at which it can change."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.nodes import Binding, Column, Condition
from tapestry.rewrite.stages import Conjunction, Moment, MonotoneDisjunct, Variant


def general(message: Binding, disjunct: MonotoneDisjunct) -> tuple[Variant, ...]:
    """Return a variant for every event of the disjunct, negation under negation included.

    Law (DESIGN, section 1): between two events the truth of the disjunct for a message is
    constant.  An event is the ``ts`` of a row that a variable can bind, or an instant at
    which a comparison with ``now()`` flips for such rows; a row counts only beside rows of
    the enclosing variables that satisfy the enclosing ``plain``, all of them visible.
    """
    whole = disjunct.conjunction
    return tuple(
        Variant(
            "general",
            event,
            bindings,
            plain,
            tuple(m for b in bindings if (m := _arrival(b)) != event),
            whole,
            whole.bindings,
        )
        for event, bindings, plain in _events((), (message,), (), whole)
    )


def _events(
    around: tuple[Binding, ...],
    message: tuple[Binding, ...],
    plain: tuple[Condition, ...],
    part: Conjunction,
) -> list[tuple[Moment, tuple[Binding, ...], tuple[Condition, ...]]]:
    fresh = (*message, *part.bindings)
    bindings, plain = (*around, *fresh), (*plain, *part.plain)
    moments = [_arrival(binding) for binding in fresh]
    moments += [Moment(t.right, 1 if t.op in ("<=", ">") else 0) for t in part.times]
    found = [(moment, bindings, plain) for moment in dict.fromkeys(moments)]
    for inner in part.absent:
        found += _events(bindings, (), plain, inner)
    return found


def _arrival(binding: Binding) -> Moment:
    return Moment(Column(binding.var, "ts", Type.INSTANT))
