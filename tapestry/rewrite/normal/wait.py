"""The filters that wait: ``now()`` is their own clock, which stands while a source is behind."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import change_conditions, is_temporal

_PLACE = n.Literal(0, Type.INSTANT)


def wait(condition: n.Condition) -> n.Condition:
    """Return a condition whose comparisons with ``now()`` flip as the filter's clock reaches them.

    Law: with the clock W, which never falls, ``W(t) >= e`` is ``t >= reached(e)``, and ``W(t) < e``
    is ``t < reached(e)``; time being discrete, ``> e`` is ``>= e + 1 µs``.  So all that is known
    of intervals of time holds, and rows are visible and annotations stand by ``t``.

    >>> from tapestry.rewrite.examples import condition, show
    >>> from tapestry.rewrite.normal.isolate_now import isolate_now
    >>> show(wait(isolate_now(condition("m.ts < now() - 2 weeks"))))
    now() >= reached(m.ts + 2 weeks + 0.000001 seconds)
    """
    return change_conditions(condition, _wait)


def _wait(node: n.Condition) -> n.Condition:
    if not isinstance(node, n.Compare) or not is_temporal(node):
        return node
    if isinstance(node.right, n.Reached):
        return node
    term = node.right
    if node.op in (">", "<="):
        term = n.Arith("+", term, n.Literal(1, Type.DURATION), Type.INSTANT)
    op = ">=" if node.op in (">", ">=") else "<"
    return n.Compare(op, n.Now(), n.Reached(term, _PLACE, _PLACE, _PLACE), span=node.span)
