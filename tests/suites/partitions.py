"""A filter cut into three by any condition, and a condition asked where no index can use it.

Both are laws of SQLancer (Rigger and Su): ternary logic partitioning (TLP, OOPSLA 2020) and a
non-optimizing reference engine (NoREC, ESEC/FSE 2020).  Neither needs to know the right answer.

TQL cannot say that a condition is unknown.  Whether it is true can be asked of the same row by
another variable, ``EXISTS (x: x.msgid = m.msgid AND x.audience = m.audience AND p(x))``, which is
never unknown: so p is unknown where neither this nor the same of NOT p holds.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from hypothesis import strategies as st

from tapestry.core.schema import MESSAGES, Type
from tapestry.query.tree import nodes as n
from tests.support.generators import random_filters
from tests.support.generators.terms import column, conjoin

M = n.Binding("m", MESSAGES)


@st.composite
def conditions(draw: st.DrawFn, aggregates: bool = False) -> n.Condition:
    """Draw a condition on the message ``m``."""
    query = draw(random_filters.queries(depth=1, size=2, aggregates=aggregates))
    return renamed(query.condition, "m", "p")


def parts(condition: n.Condition, cut: n.Condition) -> list[n.Condition]:
    """Return a condition where another is true, where it is false, and where it is unknown."""
    never = [n.Not(wrapped(n.Not(cut), "x")), n.Not(wrapped(cut, "y"))]
    return [conjoin([condition, more]) for more in (cut, n.Not(cut), conjoin(never))]


def wrapped(condition: n.Condition, var: str) -> n.Condition:
    """Return whether a condition is true, asked of the same row by a variable of this name."""
    row = n.Binding(var, MESSAGES)
    return n.Exists((row,), _of_same_row(condition, row))


def counted(condition: n.Condition, var: str) -> n.Condition:
    """Return the same by counting rows."""
    row = n.Binding(var, MESSAGES)
    rows = n.Aggregate("COUNT", False, None, (row,), _of_same_row(condition, row), Type.INTEGER)
    return n.Threshold(rows, ">=", n.Literal(1, Type.INTEGER))


def _of_same_row(condition: n.Condition, row: n.Binding) -> n.Condition:
    same = [n.Compare("=", column(row, name), column(M, name)) for name in ("msgid", "audience")]
    return conjoin([*same, renamed(condition, row.var, row.var)])


def renamed(node: Any, message: str, suffix: str) -> Any:
    """Return a condition on another message, with names of variables of its own."""
    if isinstance(node, tuple):
        return tuple(renamed(part, message, suffix) for part in node)
    if isinstance(node, n.Column | n.Binding):
        return replace(node, var=message if node.var == "m" else f"{node.var}{suffix}")
    if not isinstance(node, n.Node):
        return node
    changed = {f.name: renamed(getattr(node, f.name), message, suffix) for f in fields(node)}
    return replace(node, **{name: value for name, value in changed.items() if name != "span"})
