"""Semi-joins and anti-joins: IN (SELECT …) to EXISTS, with the NULLs that SQL gives NOT IN."""

from __future__ import annotations

from tapestry.core.schema import BOUNDED, KEY_COLUMN, MESSAGES
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import change_conditions


def expand_in_query(condition: n.Condition) -> n.Condition:
    """Return the condition without IN (SELECT …); NOT must have been pushed inwards.

    Law: the rows for which the condition is true stay the same.  ``a IN (S)`` is true if
    some b of S equals a; ``a NOT IN (S)`` is true if no b of S equals a *and* neither a nor
    any b is NULL, unless S is empty.

    >>> from tapestry.rewrite.examples import condition, show
    >>> text = "m.list NOT IN (SELECT r.list FROM messages r WHERE r.size > 1)"
    >>> show(expand_in_query(condition(text)))
    NOT EXISTS (r: r.size > 1 AND (m.list = r.list OR m.list IS NULL OR r.list IS NULL))
    """
    return change_conditions(change_conditions(condition, _expand_negative), _expand_positive)


def _expand_negative(node: n.Condition) -> n.Condition:
    if isinstance(node, n.Not) and isinstance(node.arg, n.InQuery):
        query = node.arg
        tables = {b.var: b.table for b in query.bindings}
        unknown = [n.IsNull(t) for t in (query.term, query.value) if _nullable(t, tables)]
        not_unequal = n.Or((_equal(query), *unknown)) if unknown else _equal(query)
        return n.Not(
            n.Exists(query.bindings, n.And((query.condition, not_unequal))), span=node.span
        )
    return node


def _expand_positive(node: n.Condition) -> n.Condition:
    if isinstance(node, n.InQuery):
        return n.Exists(node.bindings, n.And((node.condition, _equal(node))), span=node.span)
    return node


def _nullable(term: n.Term, tables: dict[str, str]) -> bool:
    """Tell whether a term can be NULL; the message delivered is always ``m``."""
    if not isinstance(term, n.Column):
        return True
    table = MESSAGES if term.var == "m" else tables.get(term.var, "")
    return term.name not in (KEY_COLUMN.get(table), *BOUNDED.get(table, ()))


def _equal(query: n.InQuery) -> n.Compare:
    return n.Compare("=", query.term, query.value, span=query.span)
